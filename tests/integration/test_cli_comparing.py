"""What is compared on the command line: one security level unless asked otherwise, chains, and published values."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from command import Ciphermark
from dashboard import dashboard, rows_of

from ciphermark_core.model import ParameterSpec, Sample
from ciphermark_db.database import Database
from ciphermark_present.query import AS_MEASURED

SPEC = ParameterSpec("bfv", 4096, None, 65537)
CHAIN = ParameterSpec("bgv", 1024, None, 65537, depth=3, ring_dimension_is_minimum=True)


def _outcomes(make, factor):
    """(case, seconds, ring dimension, primes, status): a comparison at two levels, and chains at rings of their own."""
    primes = make.parameters(SPEC).moduli
    mul = {"operation": "mul", "vector_length": 4096, "parameters": SPEC}
    chain = {
        "experiment": "repetition",
        "operation": "mul",
        "vector_length": 16,
        "dimensions": {"repetitions": 3},
        "parameters": CHAIN,
    }
    given = replace(CHAIN, ring_dimension=16384, ring_dimension_is_minimum=False)
    yield make.case("seal", **mul), 0.003 * factor, 4096, primes[:1], "ok"
    yield make.case("pyfhel", **mul), 0.006, 4096, primes[:1], "ok"
    yield make.case("openfhe", **mul), 0.001, 4096, (*primes, 1099511480321), "ok"
    yield make.case("seal", **chain), 0.5, 8192, (*primes, *primes), "ok"
    yield make.case("openfhe", **chain), 0.25, 16384, (*primes,) * 4, "ok"
    yield make.case("pyfhel", **chain), 0.25, 16384, (*primes,) * 4, "budget_exhausted"
    yield make.case("seal", **(chain | {"parameters": given})), 1.0, 16384, (*primes,) * 4, "ok"


def _recorded(database, make, factor=1.0):
    run = make.run()
    database.record_run(run)
    for case, seconds, ring, moduli, status in _outcomes(make, factor):
        made = replace(make.parameters(case.parameters), ring_dimension=ring, moduli=moduli)
        samples = (
            *make.times([seconds] * 6, repetitions=case.dimensions.get("repetitions")),
            Sample("peak_memory", 64e6, "evaluate"),
            Sample("noise_budget", 21.0, "evaluate", repetitions=case.dimensions.get("repetitions")),
        )
        database.record_outcome(make.outcome(run, case, samples, status=status, parameters=made))
    return run.id


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, new_url, make):
    url = new_url()
    with Database.open(url) as database:
        ids = [_recorded(database, make), _recorded(database, make, factor=2.0)]
        weaker = make.run()
        database.record_run(weaker)
        case = make.case("seal", operation="mul", vector_length=4096, parameters=SPEC)
        made = replace(make.parameters(SPEC), moduli=(*make.parameters(SPEC).moduli, 1099511480321))
        database.record_outcome(make.outcome(weaker, case, make.times([0.003] * 6), parameters=made))
    data_directory = tmp_path_factory.mktemp("comparing") / "data"
    return Ciphermark(data_directory, url, {"COLUMNS": "120"}), [
        *ids,
        weaker.id,
    ]  # a table is a block of lines


def _tables(text):
    """Heading and cells of every row, by table: blocks that begin after an empty line."""
    blocks = [block.splitlines() for block in text.strip("\n").split("\n\n")]
    return {lines[0]: lines[1:] for lines in blocks}


def _only(tables, *words):
    (found,) = [lines for heading, lines in tables.items() if all(word in heading for word in words)]
    return found


def test_every_level_has_a_table_of_its_own(recorded):
    ciphermark, ids = recorded
    tables = _tables(ciphermark("results", ids[0], "--details").out)
    strong = _only(tables, "BFV, N = 4096", "Security: 128-bit (2018), 128-bit (2024)")
    assert "1 thread" in strong[0]
    text = "\n".join(strong)
    assert "seal" in text
    assert "pyfhel" in text
    assert "openfhe" not in text
    weak = "\n".join(_only(tables, "BFV, N = 4096", "Security: below 128-bit (2018)"))
    assert "openfhe" in weak
    assert "seal" not in weak


def test_levels_are_mixed_where_asked_and_that_is_said(recorded):
    ciphermark, ids = recorded
    out = ciphermark("results", ids[0], "--details", "--across-security-levels").out
    assert out.startswith("Security levels are mixed (--across-security-levels)")
    table = "\n".join(_only(_tables(out.split("\n\n", 1)[1]), "BFV", "128-bit or below 128-bit (2018)"))
    for name in ("openfhe", "seal", "pyfhel"):
        assert name in table
    assert " ".join(table.split()).count("security 128 against <128") == 2
    assert "mixed" not in ciphermark("results", ids[0]).out


def test_chains_have_their_rings_origins_memory_and_bits(recorded):
    ciphermark, ids = recorded
    tables = _tables(ciphermark("results", ids[0], "--details").out)
    lines = [line.split() for line in _only(tables, "BGV, consecutive mul. Security: 128-bit (2018)")]
    rows = lines[next(place for place, words in enumerate(lines) if words[:2] == ["n", "variant"]) + 1 :]
    assert rows[0][:6] == ["3", "openfhe", "16384", "smallest-secure", "360", "250"]
    assert rows[1][:4] == ["seal", "8192", "smallest-secure", "200"]
    assert rows[2][:4] == ["seal", "16384", "given", "360"]
    assert rows[3][:5] == ["pyfhel", "16384", "smallest-secure", "360", "budget_exhausted"]
    assert "64 MB" in " ".join(rows[0])
    assert "21 bits" in " ".join(rows[0])
    assert "not interleaved" not in " ".join(rows[1])  # one comparison
    assert "not interleaved" in " ".join(rows[2])  # another one: medians are divided


@pytest.mark.parametrize(
    "arguments",
    [
        ("results", "{}"),
        ("results", "{}", "--details", "--notes"),
        ("results", "{}", "--across-security-levels"),
        ("results", "{}", "--published"),
        ("compare", "{}", "{}"),
        ("runs",),
    ],
)
def test_all_output_is_80_columns_wide_where_nobody_says_how_wide(recorded, arguments):
    """Other widths: tests/golden."""
    ciphermark, ids = recorded
    command, *more = arguments
    names = [text.format(run) for text, run in zip(more, ids, strict=False)]
    narrow = replace(ciphermark, extra={})
    lines = narrow(command, *names, *more[len(names) :], code=None).out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_two_runs_are_compared_at_one_level(recorded):
    ciphermark, ids = recorded
    out = ciphermark("compare", ids[0], ids[1], "--all", code=1).out
    assert f"Run A: {ids[0][:8]} of suite quick" in out
    assert f"Run B: {ids[1][:8]} of suite quick" in out
    table = _only(_tables(out), "BFV arithmetic, N = 4096, ", "Security: 128-bit (2018)")
    row = next(line for line in table if "time" in line)
    for word in ("pyfhel", "evaluate", "6 ms", "unchanged"):
        assert word in row
    (slower,) = [line for line in table if "time" in line and "seal" in line]
    for word in ("3 ms", "2.00×", "slower"):
        assert word in slower


def test_the_verdict_comes_first_and_the_largest_changes_alone(recorded):
    ciphermark, ids = recorded
    lines = ciphermark("compare", ids[0], ids[1], code=1).out.splitlines()
    assert lines[0].startswith("1 regression: 1 slower, ")
    assert len(lines) <= 40
    (changed,) = [line for line in lines if line.startswith("slower")]
    for word in ("seal", "mul, BFV, N = 4096, 4096 values", "evaluate, time", "3 ms", "6 ms", "2.00×"):
        assert word in changed
    assert ciphermark("compare", ids[1], ids[0]).out.startswith("No regression: 1 faster, ")
    assert ciphermark("compare", ids[0], "nobody", code=2).err.startswith("no run matches")


def _run_of_three(database, make, factor, reference_kernel_s, **more):
    """A run of three variants, all of which take ``factor`` times as long, beside a reference kernel of that time;
    ``more`` are further facts of its trials.
    """
    run = make.run()
    database.record_run(run)
    facts = {
        "reference_kernel_version": 2.0,
        "reference_kernel_s": reference_kernel_s,
        "reference_kernel_spread": 0.0,
        "reference_kernel_cost_s": 0.0,
    }
    facts |= {
        "timed_samples": 6.0,
        "undisturbed_samples": 6.0,
        "disturbed_phases": 0.0,
        "slowdown": 1.0,
        "sampling_s": 1.0,
        **more,
    }
    for variant, seconds in (("seal", 0.003), ("pyfhel", 0.004), ("tenseal", 0.005)):
        case = make.case(variant, operation="mul", vector_length=4096, parameters=SPEC)
        samples = make.times([seconds * factor] * 6)
        made = replace(make.parameters(SPEC), moduli=make.parameters(SPEC).moduli[:1])
        database.record_outcome(make.outcome(run, case, samples, parameters=made, facts=facts))
    return run.id


def test_what_all_variants_share_is_a_regression_unless_the_reference_kernel_moved_as_well(
    tmp_path, new_url, make
):
    """All three are SEAL: where SEAL became slower, so did all of them, and the host is innocent."""
    ciphermark = Ciphermark(tmp_path / "data", new_url())
    with Database.open(ciphermark.database_url) as database:
        before = _run_of_three(database, make, 1.0, 4e-5)
        library = _run_of_three(database, make, 2.5, 4e-5)
        host = _run_of_three(database, make, 2.6, 8e-5)
    slower = ciphermark("compare", before, library, code=1).out
    assert slower.startswith("3 regressions: 3 slower")
    told = "Results that moved alike in all variants, not explained by the reference kernel: 3 slower"
    assert told in " ".join(slower.split())
    of_host = ciphermark("compare", before, host, code=3).out
    assert of_host.startswith("Undecided: 3 host-wide shift")
    assert "moved alike in all variants" not in " ".join(of_host.split())
    ciphermark("compare", before, library, "--relative-to", "reference_kernel", code=1)


def test_runs_that_were_corrected_by_unlike_rules_have_a_caveat(tmp_path, new_url, make):
    ciphermark = Ciphermark(tmp_path / "data", new_url())
    with Database.open(ciphermark.database_url) as database:
        older = _run_of_three(database, make, 1.0, 4e-5)
        newer, latest = (
            _run_of_three(database, make, 1.0, 4e-5, reference_kernel_gain=1.25) for _ in range(2)
        )
    told = (
        "the runs correct disturbed times by different rules (A: 1× the reference kernel's slowdown; B: 1.25×"
    )
    assert told in " ".join(ciphermark("compare", older, newer).out.split())
    assert "different rules" not in ciphermark("compare", newer, latest).out


def test_figures_are_chosen_by_metric_phase_and_variant(recorded):
    ciphermark, ids = recorded

    def chosen(*options):
        done = ciphermark("compare", ids[0], ids[1], "--format", "json", *options, code=None)
        return done.code, json.loads(done.out)

    code, rows = chosen("--metric", "time", "--variant", "pyfhel", "--phase", "evaluate")
    assert (code, {(row["variant"], row["metric"]) for row in rows}) == (0, {("pyfhel", "time")})
    assert chosen("--variant", "seal")[0] == 1
    assert (
        "--metric speed: these runs contain "
        in ciphermark("compare", ids[0], ids[1], "--metric", "speed", code=2).err
    )


@pytest.fixture(scope="module")
def noisy(tmp_path_factory, new_url, make):
    """Two runs of one build whose times scatter so much that 30% may hide among them, and a third of few samples."""
    url = new_url()
    with Database.open(url) as database:
        for name, shift, count in (("before", 0, 12), ("after", 1, 12), ("short", 0, 3)):
            run = replace(make.run(), label=name)
            database.record_run(run)
            case = make.case("seal", operation="mul", vector_length=4096, parameters=SPEC)
            times = make.times([0.003 * (1 + 0.025 * ((7 * place + shift) % 12)) for place in range(count)])
            database.record_outcome(make.outcome(run, case, times, parameters=make.parameters(SPEC)))
    return Ciphermark(tmp_path_factory.mktemp("noisy") / "data", url)


@pytest.mark.parametrize(
    ("runs", "options", "code", "verdict"),
    [
        (("before", "after"), (), 3, "undecided"),
        (("before", "after"), ("--require-power", "10%"), 3, "undecided"),
        (("before", "after"), ("--require-power", "40%"), 0, "undecided"),
        (("before", "after"), ("--threshold", "40%"), 0, "unchanged"),
        (("before", "short"), ("--require-power", "40%"), 3, "undecided: too few samples in run B"),
    ],
)
def test_what_is_undecided_has_an_exit_code_of_its_own(noisy, runs, options, code, verdict):
    (row,) = json.loads(noisy("compare", *runs, "--format", "json", *options, code=code).out)
    assert row["verdict"] == verdict
    assert (row["detectable_slowdown"] is None) == ("short" in runs)
    out = " ".join(noisy("compare", *runs, "--all", *options, code=code).out.split())
    assert out.startswith("Undecided: " if code else "No regression: ")
    assert ("Compared times: 1; false-alarm rate of the whole comparison: 5%" in out) == ("short" not in runs)


@pytest.mark.parametrize("option", ["--threshold", "--require-power"])
@pytest.mark.parametrize("value", ["5", "0%", "-5%", "2000%", "x"])
def test_a_threshold_is_a_percentage(noisy, option, value):
    mistake = noisy("compare", "before", "after", f"{option}={value}", code=2).err
    assert f"{option} {value}: must be a percentage" in mistake


def test_a_reference_cancels_what_the_host_did(recorded):
    ciphermark, ids = recorded
    rows = json.loads(
        ciphermark(
            "compare", ids[0], ids[1], "--relative-to", "seal", "--metric", "time", "--format", "json"
        ).out
    )
    ratios = {row["variant"]: row["ratio"] for row in rows if row["scheme"] == "bfv" and row["ratio"]}
    # seal took twice as long in b: were that the host, the others would have become twice as fast
    assert ratios == {"seal": 1.0, "pyfhel": 0.5, "openfhe": 0.5}
    assert (
        "both runs need a time of it"
        in ciphermark("compare", ids[0], ids[1], "--relative-to", "nobody", code=2).err
    )


def test_runs_at_unequal_levels_are_compared_only_where_asked(recorded):
    ciphermark, ids = recorded

    def verdict(*options):
        rows = json.loads(ciphermark("compare", ids[0], ids[2], "--format", "json", *options, code=None).out)
        (row,) = [
            r for r in rows if r["variant"] == "seal" and r["metric"] == "time" and r["scheme"] == "bfv"
        ]
        return row["verdict"], row["ratio"], row["remark"], row["a_security_2018"], row["b_security_2018"]

    assert verdict() == (
        "not comparable: security 128 bits against below 128 bits (2018)",
        None,
        "",
        128,
        0,
    )
    assert verdict("--across-security-levels")[:2] == ("unchanged", 1.0)
    assert "security 128 against <128 bits (2018, 2024)" in verdict("--across-security-levels")[2]
    out = ciphermark("compare", ids[0], ids[2], "--across-security-levels").out
    assert "Security levels are mixed" in out
    assert "Security levels are mixed" not in ciphermark("compare", ids[0], ids[2], code=2).out


def test_published_figures_stand_beside_ours_with_their_host(recorded):
    ciphermark, ids = recorded
    tables = _tables(ciphermark("results", ids[0], "--published").out)
    table = _only(tables, "PIR and FHE libraries, 2025", "on an unstated host")
    (row,) = [line for line in table if "ct x ct N=4096" in line]
    for word in ("SEAL", "4.2 ms", "3 ms", "[3, 3]", "seal mul, N 4096, 128-bit (2018)"):
        assert word in row
    (row,) = [line for line in _only(tables, "on Threadripper PRO 3975WX") if "ResNet-20" in line]
    assert "1380 s" in row
    assert row.rstrip().endswith("–")


def test_published_figures_in_other_forms(recorded):
    ciphermark, ids = recorded
    rows = json.loads(ciphermark("results", ids[0], "--published", "--format", "json").out)
    ours = [row for row in rows if row["median"] is not None]
    assert [(row["result"], row["median"], row["published_value"]) for row in ours] == [
        ("ct x ct N=4096", 0.003, pytest.approx(0.0042))
    ]
    assert len(rows) > 40


def test_published_figures_need_no_run(tmp_path, new_url):
    out = Ciphermark(tmp_path / "data", new_url())("results", "--published").out
    assert "no run is recorded yet" in out
    assert "ct x ct N=4096" in out


def test_the_last_run_is_the_default(recorded):
    ciphermark, ids = recorded
    assert ciphermark("results").out == ciphermark("results", ids[2]).out


@pytest.fixture(scope="module")
def slowed(tmp_path_factory, new_url, make):
    """A data directory with two runs of one time; the host of the second was slowed to half the speed, which is
    corrected."""
    url = new_url()
    with Database.open(url) as database:
        for name, slowdown in (("first", 1.0), ("slowed", 2.0)):
            run = replace(make.run(), label=name)
            database.record_run(run)
            case = make.case("seal", operation="mul", vector_length=4096, parameters=SPEC)
            times = [replace(sample, slowdown=slowdown) for sample in make.times([0.003 * slowdown] * 12)]
            database.record_outcome(make.outcome(run, case, times, parameters=make.parameters(SPEC)))
    return Ciphermark(tmp_path_factory.mktemp("slowed") / "data", url)


@pytest.mark.parametrize(("options", "code"), [((), 3), (("--uncorrected",), 1)])
def test_times_are_compared_as_the_clock_measured_them_on_request(slowed, options, code):
    compared = slowed("compare", "first", "slowed", *options, "--format", "json", code=code)
    (row,) = json.loads(compared.out)
    assert row["verdict"] == ("slower" if options else "undecided")
    assert row["ratio"] == pytest.approx(2.0 if options else 1.0)
    assert (AS_MEASURED in slowed("compare", "first", "slowed", *options, code=code).out) == bool(options)


@pytest.mark.parametrize(("options", "median"), [((), 0.003), (("--uncorrected",), 0.006)])
def test_every_form_shows_times_as_the_clock_measured_them_on_request(slowed, tmp_path, options, median):
    """Forms of a report say the same (test_dashboards_report.py): of them one is enough."""

    def written(command: str, form: str, *more: str) -> str:
        path = tmp_path / f"file.{form}"
        slowed(command, *more, "slowed", *options, "--output", str(path))
        return path.read_text()

    (row,) = csv.DictReader(io.StringIO(written("results", "csv")))
    assert (float(row["median"]), float(row["uncorrected_median"])) == (median, 0.006)
    assert (row["mad"] == "") == bool(options)
    reports = (
        [written("report", "md")] if options else []
    )  # others: tests/integration/test_dashboards_report.py
    for text in (slowed("results", "slowed", *options).out, written("results", "md"), *reports):
        words = " ".join(text.split())
        assert re.search(rf"\b{median * 1000:g}(\.00)? ms", words), text
        assert (AS_MEASURED in words) == bool(options), text
    (row,) = csv.DictReader(io.StringIO(written("figure", "csv", "latency")))
    assert float(row["median"]) == median
    drawn = written("figure", "json", "latency")
    assert (AS_MEASURED in drawn) == bool(options)


@pytest.mark.parametrize(("times", "median"), [("corrected", "3.00 ms"), ("uncorrected", "6.00 ms")])
def test_pages_show_times_as_the_clock_measured_them_on_request(slowed, times, median):
    with dashboard(slowed.database_url) as browser:
        (row,) = rows_of(browser, "matrix", run="slowed", times=times)
        case = urlencode({"run": "slowed", "case": row["comparison_group"], "times": times})
        for page in (f"/ranking?run=slowed&times={times}", f"/case?{case}"):
            text = browser.get(page).text
            assert f">{median}<" in text
            assert ("as the clock measured them" in text) == (times == "uncorrected")
        query = browser.get(f"/figures/matrix.sql?run=slowed&times={times}").text
    assert query.startswith("set search_path = uncorrected, public;") == (times == "uncorrected")


def test_one_connection_answers_both_in_turns(slowed):
    """PostgreSQL refuses a prepared statement whose columns or their types differ in the other schema."""
    with dashboard(slowed.database_url) as browser:
        pages = ("/ranking?run=slowed", "/ranking?run=slowed&times=uncorrected", "/ranking?run=slowed")
        codes = [browser.get(page).status_code for page in pages for _ in range(8)]
    assert set(codes) == {200}
