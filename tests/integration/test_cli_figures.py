"""What the command line shows of a recorded run: the same figures in every form, and the right ones."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import PROGRAM, Ciphermark
from processes import PATIENCE_S

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import ParameterSpec
from ciphermark_db.database import Database
from ciphermark_measure import probes

N = 4096
DISTURBED = ("undecided", "not comparable")  # verdicts of times, where others took the core meanwhile
SEAL = {"schemes": ["bfv"], "ring_dimension": [N], "variants": ["seal"]}
EXPERIMENTS = (
    SEAL | {"kind": "arithmetic", "variants": ["cleartext", "seal"], "operations": ["add", "mul"]},
    SEAL | {"kind": "arithmetic", "schemes": ["ckks"], "operations": ["add", "mul_plain"], "scale_bits": 30},
    SEAL | {"kind": "serialization", "operations": ["none"]},
    SEAL | {"kind": "noise", "operations": ["mul"], "vector_length": [16], "max_repetitions": 4},
    SEAL | {"kind": "depth", "operations": ["mul"], "vector_length": [16], "max_repetitions": 4},
    SEAL | {"kind": "rotation", "variants": ["tenseal"], "operations": ["rotate(1)"]},
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, new_url, make):
    """The command line over a run that was executed and an older one of another suite, their ids, what was printed."""
    ciphermark = Ciphermark(tmp_path_factory.mktemp("figures") / "data", new_url())
    other = make.run(suite_name="other")
    with Database.open(ciphermark.database_url) as database:
        database.record_run(other)
        database.record_outcome(make.outcome(other, samples=make.times([0.001] * 6)))
    printed = ciphermark("run", str(ciphermark.suite(*EXPERIMENTS, min_samples=6)))
    (row,) = ciphermark.rows("select id from run where suite = 'planted'")
    return ciphermark, [row["id"], other.id], printed


@pytest.fixture(scope="module")
def results(recorded):
    """Every row of the view ``results`` for the run that was executed."""
    ciphermark, ids, _ = recorded
    return ciphermark.rows(f"select * from results where run_id = '{ids[0]}'")


def chosen(results, **wanted):
    return [row for row in results if all(row[name] == value for name, value in wanted.items())]


def only(results, **wanted):
    (row,) = chosen(results, **wanted)
    return row


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True, default=str))


# One run in every form


def test_json_has_what_sql_answers(recorded, results):
    ciphermark, ids, _ = recorded
    assert in_order(json.loads(ciphermark("results", ids[0], "--format", "json").out)) == in_order(results)
    assert len(results) > 30


def test_csv_has_the_same_numbers(recorded, results):
    ciphermark, ids, _ = recorded
    rows = list(csv.DictReader(io.StringIO(ciphermark("results", ids[0], "--format", "csv").out)))
    assert list(rows[0]) == list(results[0])
    parsed = [{name: _from_csv(text, results[0], name) for name, text in row.items()} for row in rows]
    wanted = [{name: "" if value is None else value for name, value in row.items()} for row in results]
    places = ("case_key", "phase", "metric", "repetitions")
    by_place = {tuple(str(row[name]) for name in places): row for row in parsed}
    assert len(by_place) == len(rows) == len(wanted)
    for row in wanted:
        found = by_place[tuple(str(row[name]) for name in places)]
        for name, value in row.items():
            if name != "started_at":
                assert str(found[name]) == str(value) or float(found[name]) == value, name


def _from_csv(text, like, name):
    if isinstance(like[name], list | dict):
        return json.loads(text) if text else ""
    return text


def test_parquet_has_the_same_numbers(recorded, results, tmp_path):
    ciphermark, ids, _ = recorded
    path = tmp_path / "results.parquet"
    ciphermark("results", ids[0], "--format", "parquet", "--output", str(path))
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        row["started_at"] = row["started_at"].isoformat()
        row["dimensions"] = json.loads(row["dimensions"])
    assert in_order(rows) == in_order(results)


def test_a_run_ends_with_its_table(recorded):
    ciphermark, ids, printed = recorded
    tables = printed.out[printed.out.index("\n") :]
    of_results = [line for line in ciphermark("results", ids[0]).out.splitlines() if "seal" in line]
    assert of_results
    assert of_results == [line for line in tables.splitlines() if "seal" in line][: len(of_results)]


def test_a_run_in_a_pipe_tells_a_line_per_comparison(recorded):
    """Quiet where nobody watches: no progress, no colours."""
    _, _, printed = recorded
    lines = printed.err.splitlines()
    assert all(re.match(r"\d+/7: ", line) for line in lines)
    assert sum(": arithmetic, BFV, N = 4096, " in line and "seal " in line for line in lines) == 2
    assert "\x1b" not in printed.out + printed.err


def test_last_and_the_beginning_of_an_id_name_a_run(recorded):
    ciphermark, ids, _ = recorded
    for name in ("last", ids[0][:8]):
        rows = json.loads(ciphermark("results", name, "--format", "json").out)
        assert {row["run_id"] for row in rows} == {ids[0]}


def test_the_reader_of_the_output_may_leave(recorded):
    ciphermark, ids, _ = recorded
    process = ciphermark.start("results", ids[0], "--format", "json")
    process.stdout.read(1)
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=PATIENCE_S)
    process.stderr.close()
    assert b"Traceback" not in err
    assert b"Exception" not in err


def test_a_phase_that_is_none_is_a_mistake(recorded):
    ciphermark, ids, _ = recorded
    assert "seal" in ciphermark("results", ids[0], "--phase", "encrypt").out
    mistake = ciphermark("results", ids[0], "--phase", "nothing", code=2).err
    assert "--phase nothing: phases of this run are decrypt, " in " ".join(mistake.split())


# Two runs


def test_a_run_differs_from_itself_in_nothing(recorded):
    ciphermark, ids, _ = recorded
    compared = ciphermark("compare", ids[0], ids[0], "--format", "json", code=None)
    assert compared.code in (0, 3)  # of few samples, also among themselves
    rows = json.loads(compared.out)
    verdicts = {row["verdict"] for row in rows}
    kinds = {verdict.partition(": ")[0] for verdict in verdicts}
    # tests run beside others, which disturb samples: too few may be undisturbed
    assert {"unchanged", "not comparable"} <= kinds <= {"unchanged", *DISTURBED}
    reasons = ("both runs are unsupported", "one sample per process")
    told = {verdict.partition(": ")[2] for verdict in verdicts if "not comparable" in verdict}
    assert {reason for reason in told if not reason.startswith(reasons)} == set()
    for row in rows:
        if row["ratio"] is not None:
            assert row["ratio"] == 1
            assert row["a_median"] == row["b_median"]


def test_runs_of_different_suites_are_not_comparable(recorded):
    ciphermark, ids, _ = recorded
    rows = json.loads(ciphermark("compare", ids[0], ids[1], "--format", "json", code=2).out)
    assert rows
    for row in rows:
        assert row["verdict"].startswith("not comparable: only in run ")
        assert row["ratio"] is None
    told = " ".join(ciphermark("compare", ids[0], ids[1], code=2).out.split())
    assert re.match(r"Nothing compared: [\d,]+ not comparable. Most common reason: only in run ", told)
    assert "No regression" not in told


def test_a_comparison_is_the_same_in_every_form(recorded, tmp_path):
    ciphermark, ids, _ = recorded
    rows = json.loads(ciphermark("compare", ids[0], ids[0], "--format", "json", code=None).out)
    text = ciphermark("compare", ids[0], ids[0], "--format", "csv", code=None).out
    assert [row["verdict"] for row in csv.DictReader(io.StringIO(text))] == [row["verdict"] for row in rows]
    path = tmp_path / "compared.parquet"
    ciphermark("compare", ids[0], ids[0], "--format", "parquet", "-o", str(path), code=None)
    read = pq.read_table(path).to_pylist()
    assert [{**row, "dimensions": json.loads(row["dimensions"])} for row in read] == rows


def test_parquet_may_go_through_a_pipe(recorded):
    process = recorded[0].start(
        "sql", "select 7 as n, null as nothing, array[1, 2] as two", "--format", "parquet"
    )
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, b"")
    assert pq.read_table(io.BytesIO(out)).to_pylist() == [{"n": 7, "nothing": None, "two": [1, 2]}]


def test_sql_answers_as_a_table_and_as_csv(recorded):
    query = "select 0.5::float8 as half, null as nothing, 'a,b' as text"
    assert recorded[0]("sql", query).out.split() == ["half", "nothing", "text", "0.5", "a,b"]
    assert recorded[0]("sql", query, "--format", "csv").out == 'half,nothing,text\n0.5,,"a,b"\n'


# The right figures, computed here


@pytest.fixture(scope="module")
def seal():
    return registry.load("seal")


@pytest.fixture(scope="module")
def bfv(seal, results):
    """The parameter set of the recorded run, made once more; key owner and evaluator with fresh keys."""
    plain_modulus = 1032193
    parameters = seal.resolve(ParameterSpec("bfv", N, plain_modulus=plain_modulus))
    owner = seal.key_owner(parameters, KeyRequest.of(relinearization=True))
    return parameters, owner, seal.evaluator(owner.public_material())


def test_the_recorded_parameters_are_seals(results):
    native = pytest.importorskip("_ciphermark_seal")
    chain = native.default_chain(N)
    row = chosen(results, variant="seal", scheme="bfv", operation="add")[0]
    assert row["modulus_bits"] == [prime.bit_length() for prime in chain] == [36, 36, 37]
    assert row["log_qp"] == pytest.approx(sum(math.log2(prime) for prime in chain), abs=1e-9)
    assert row["log_q"] == pytest.approx(sum(math.log2(prime) for prime in chain[:-1]), abs=1e-9)
    assert (row["security_2018"], row["security_2024"]) == (128, 0)
    assert (row["ring_dimension"], row["vector_length"], row["ciphertexts"]) == (N, N, 1)
    assert (row["library"], row["library_version"], row["hexl"]) == ("SEAL", native.seal_version, False)
    ckks = chosen(results, variant="seal", scheme="ckks", operation="add")[0]
    assert ckks["modulus_bits"] == [39, 30, 39]
    assert ckks["vector_length"] == N // 2


def test_the_recorded_moduli_are_seals(recorded):
    native = pytest.importorskip("_ciphermark_seal")
    (row,) = recorded[0].rows(
        "select distinct p.moduli, p.special_moduli, i.plain_modulus from parameter_set p "
        "join case_info i on i.parameter_set_id = p.id "
        f"where i.variant = 'seal' and i.scheme = 'bfv' and i.ring_dimension = {N}"
    )
    assert row["moduli"] + row["special_moduli"] == native.default_chain(N)
    assert row["plain_modulus"] == native.create_chain(N, [20])[0]


def test_the_recorded_sizes_are_those_of_what_seal_writes(results, bfv):
    _, owner, evaluator = bfv
    values = np.arange(N)
    ciphertext = evaluator.load(owner.dump(owner.encrypt(values), "none"))
    expected = {
        "ciphertext": len(evaluator.dump(ciphertext, "none")),
        "plaintext": len(evaluator.dump_plaintext(evaluator.encode(values), "none")),
    } | {
        item: len(owner.dump_key(item, "none"))
        for item in ("parameters", "public_key", "secret_key", "relinearization_keys")
    }
    found = {
        row["phase"]: row["median"] for row in chosen(results, experiment="serialization", metric="size")
    }
    assert {name: found[name] for name in expected} == expected
    # and these are polynomials of N coefficients of 8 bytes per prime, with little around them
    assert found["ciphertext"] - 2 * 2 * N * 8 < 400
    assert found["public_key"] - 2 * 3 * N * 8 < 600
    assert found["relinearization_keys"] - 2 * (2 * 3 * N * 8) < 2000
    expansion = only(results, experiment="serialization", metric="expansion")
    assert expansion["median"] == found["ciphertext"] / (8 * N)


def test_the_recorded_noise_budgets_are_seals(results, bfv):
    _, owner, evaluator = bfv
    values = np.arange(N)
    fresh = owner.encrypt(values)
    there = [evaluator.load(owner.dump(fresh, "none")) for _ in range(2)]
    budgets = {0: owner.noise_budget_bits(fresh)}
    product = evaluator.apply("relinearize", evaluator.apply("mul", *there))
    budgets[1] = owner.noise_budget_bits(owner.load(evaluator.dump(product, "none")))
    found = {
        row["repetitions"]: row["median"]
        for row in chosen(results, experiment="noise", metric="noise_budget", operation="mul")
    }
    for repetitions, budget in budgets.items():
        assert abs(found[repetitions] - budget) <= 2
    added = only(results, scheme="bfv", variant="seal", operation="add", metric="noise_budget")
    total = evaluator.apply("add", *there)
    assert abs(added["median"] - owner.noise_budget_bits(owner.load(evaluator.dump(total, "none")))) <= 2


def test_the_recorded_depth_is_what_really_decrypts(results, bfv):
    parameters, owner, evaluator = bfv
    managed = evaluator.managed()
    values = np.arange(1, N + 1)
    right, depth = values.copy(), 0
    current = other = evaluator.load(owner.dump(owner.encrypt(values), "none"))
    while depth < 4:
        current = managed.apply("mul", current, other)
        right = right * values % parameters.plain_modulus
        if not np.array_equal(owner.decrypt(owner.load(evaluator.dump(current, "none"))), right):
            break
        depth += 1
    assert only(results, experiment="depth", metric="depth")["median"] == depth
    assert only(results, experiment="depth", metric="is_at_max_repetitions")["median"] == (depth == 4)


@pytest.mark.parametrize("operation", ["add", "mul_plain"])
def test_ckks_is_as_precise_as_its_scale_allows(results, operation):
    row = only(results, scheme="ckks", operation=operation, metric="precision")
    assert row["median"] > 30 - math.log2(N) - 9 > 0
    assert row["median"] < 30


def test_times_are_those_of_six_samples(results):
    rows = chosen(results, metric="time", experiment="arithmetic")
    assert {row["phase"] for row in rows} == {"encrypt", "evaluate", "decrypt"}
    for row in rows:
        assert 0 < row["min"] <= row["median"] <= row["max"]
        if row["undisturbed_share"] in (None, 1):  # of others, what others had the core in does not count
            assert row["n"] >= 6
            assert row["ci_low"] <= row["median"] <= row["ci_high"]


@pytest.mark.skipif(
    "peak_memory" in probes.unavailable(), reason="this kernel does not let a process reset its peak"
)
def test_the_peak_memory_of_every_phase_is_recorded(results):
    peaks = {
        row["phase"]: row["median"]
        for row in chosen(results, variant="seal", scheme="bfv", operation="mul", metric="peak_memory")
    }
    assert peaks.keys() == {"keygen", "encrypt", "evaluate", "decrypt"}
    for peak in peaks.values():
        assert 2 * 2 * N * 8 < peak < 1 << 30


def test_what_is_unsupported_has_a_reason_and_no_figure(results):
    row = only(results, variant="tenseal")
    assert row["status"] == "unsupported"
    assert "no rotation" in row["error"]
    assert row["median"] is row["metric"] is row["n"] is None


# SQL can only read: tests/integration/test_db_query.py


def test_sql_cannot_write(recorded):
    ciphermark, _, _ = recorded
    done = ciphermark("sql", "commit; drop table trial cascade", code=2)
    assert done.err.startswith("PostgreSQL: ")
    assert ciphermark.rows("select count(*) > 0 as is_there from trial") == [{"is_there": True}]


def test_sql_says_what_is_wrong_with_a_statement(recorded):
    done = recorded[0]("sql", "select medain from results", code=2)
    assert 'column "medain" does not exist' in done.err
    assert "median" in done.err  # PostgreSQL's own hint


def test_a_percent_sign_is_one(recorded):
    assert recorded[0].rows("select 7 % 4 as rest, 'a%s' like 'a%' as fits") == [{"rest": 3, "fits": True}]


def test_psql_finds_the_database(recorded):
    url = recorded[0]("db", "url").out.strip()
    assert url == recorded[0].database_url


def test_nothing_but_figures_goes_to_a_pipe(recorded):
    ciphermark, ids, _ = recorded
    process = subprocess.run(
        [
            "bash",
            "-c",
            f"'{PROGRAM}' results {ids[0]} --format csv | head -1",
        ],
        env=ciphermark.environment(),
        capture_output=True,
        check=True,
    )
    assert process.stdout.startswith(b"case_info_id,run_id,")
    assert process.stderr == b""


# What people print


def test_the_ending_of_the_file_says_the_format(recorded, tmp_path):
    ciphermark, ids, _ = recorded
    for name, begins in (
        ("a.tex", "% needs"),
        ("a.md", "### BFV"),
        ("a.csv", "case_info_id,run_id,"),
        ("a.json", "["),
        ("a.txt", "Run "),
    ):
        ciphermark("results", ids[0], "-o", str(tmp_path / name))
        assert (tmp_path / name).read_text().startswith(begins)
    for arguments in (("-o", "a.docx"), ("-o", "a.csv", "--format", "json")):
        done = ciphermark("results", ids[0], *arguments, code=2)
        assert done.err.startswith(arguments[1])
    assert (
        "paper.tex: reports are available as .html, .md, .pdf"
        in ciphermark("report", ids[0], "-o", "paper.tex", code=2).err
    )


def test_readers_choose_one_table_and_its_baseline(recorded, tmp_path):
    ciphermark, ids, _ = recorded
    text = ciphermark("results", ids[0], "--format", "md", "--table", "depth").out
    assert re.findall(r"^### (\w+), (\w+)", text, re.MULTILINE) == [("BFV", "depth")]
    text = ciphermark(
        "results", ids[0], "--format", "latex", "--table", "matrix-1", "--relative-to", "seal"
    ).out
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:matrix-1"]
    assert "seal: median time. Others: multiple of it" in text
    wrong = ciphermark("results", ids[0], "--table", "matrx", code=2).err
    assert "tables are matrix, " in wrong
    assert "did you mean 'matrix'?" in wrong
    wrong = ciphermark("results", ids[0], "--relative-to", "sael", code=2).err
    assert "did you mean 'seal'?" in wrong


def test_readers_choose_columns_units_and_exponents(recorded, results):
    ciphermark, ids, _ = recorded
    text = ciphermark("results", ids[0], "--columns", "variant,operation,median", "--format", "csv").out
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["variant", "operation", "median"]
    assert len(rows) == len(results) + 1
    time = only(results, variant="seal", scheme="bfv", operation="mul", phase="evaluate", metric="time")
    told = ciphermark("results", ids[0], "--unit", "us", "--scientific").out
    assert f"{time['median'] * 1e6:.2e} µs" in told
    assert "medain" in ciphermark("results", ids[0], "--columns", "medain", code=2).err
    assert "--unit parsec" in ciphermark("results", ids[0], "--unit", "parsec", code=2).err
