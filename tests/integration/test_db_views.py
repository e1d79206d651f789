"""The views against the Python definitions they must reproduce exactly."""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import median
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ciphermark_analysis import estimates as statistics
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import ParameterSpec, Sample
from ciphermark_core.run import Run
from ciphermark_db.database import Database

SECONDS = st.floats(1e-9, 1e3)
EXAMPLES = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def rows(database: Database, sql: str, *params: Any) -> list[dict[str, Any]]:
    table = database.query(sql, params or None)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def expected(values: list[float]) -> dict[str, Any]:
    found = statistics.estimate(values)
    return {
        "n": found.n,
        "median": found.median,
        "ci_low": found.low,
        "ci_high": found.high,
        "mad": median(abs(value - found.median) for value in values),
        "min": min(values),
        "max": max(values),
    }


@EXAMPLES
@given(st.lists(SECONDS, min_size=1, max_size=60))
def test_results_are_python_s(database: Database, make, values: list[float]) -> None:
    run = make.record(database, {"samples": make.times(values)})
    (row,) = rows(database, "select * from results where run_id = %s", run.id)
    assert {name: row[name] for name in expected(values)} == expected(values)


@EXAMPLES
@given(st.lists(st.tuples(SECONDS, SECONDS), min_size=1, max_size=40))
def test_speedup_is_python_s(database: Database, make, pairs: list[tuple[float, float]]) -> None:
    off, on = (list(side) for side in zip(*pairs, strict=True))
    run = make.record(
        database,
        {"case": make.case("seal"), "samples": make.times(off)},
        {"case": make.case("seal-hexl"), "samples": make.times(on)},
    )
    (row,) = rows(database, "select * from speedup where run_id = %s", run.id)
    ratio = statistics.estimate([a / b for a, b in pairs])
    assert (row["n"], row["ratio"], row["ci_low"], row["ci_high"]) == (
        ratio.n,
        ratio.median,
        ratio.low,
        ratio.high,
    )
    assert row["verdict"] == statistics.verdict(ratio)
    assert (row["variant_off"], row["variant_on"], row["library"]) == ("seal", "seal-hexl", "seal")


@EXAMPLES
@given(st.lists(st.tuples(SECONDS, SECONDS, SECONDS), min_size=1, max_size=20))
def test_ratio_is_python_s(database: Database, make, turns: list[tuple[float, float, float]]) -> None:
    names = ("lattigo", "openfhe", "seal@again")
    times = dict(zip(names, (list(side) for side in zip(*turns, strict=True)), strict=True))
    run = make.record(
        database,
        *({"case": make.case(name), "samples": make.times(values)} for name, values in times.items()),
    )
    found = rows(database, "select * from ranking where run_id = %s order by rank, variant", run.id)
    ranked = sorted(names, key=lambda name: (median(times[name]), name))
    assert [row["variant"] for row in found] == ranked
    for row in found:
        ratio = statistics.estimate(
            [a / b for a, b in zip(times[row["variant"]], times[ranked[0]], strict=True)]
        )
        assert row["fastest_variant"] == ranked[0]
        assert row["median_s"] == median(times[row["variant"]])
        assert (row["n"], row["ratio"], row["ci_low"], row["ci_high"]) == (
            ratio.n, ratio.median, ratio.low, ratio.high
        )  # fmt: skip


THRESHOLD = SIGNIFICANCE_THRESHOLD


def test_the_ratio_s_verdict_is_about_the_variant(database: Database, make) -> None:
    run = make.record(
        database,
        {"case": make.case("lattigo"), "samples": make.times([1.0] * 10)},
        {"case": make.case("openfhe"), "samples": make.times([1.01] * 10)},
        {"case": make.case("seal"), "samples": make.times([2.0] * 10)},
    )
    sql = "select variant, verdict, rank from ranking where run_id = %s order by rank"
    assert database.query(sql, [run.id]).rows == [
        ("lattigo", "no difference", 1),
        ("openfhe", "no difference", 2),
        ("seal", "slower", 3),
    ]


def test_processes_are_pooled_and_warmups_left_out(database: Database, make) -> None:
    warmup = make.times([99.0], is_warmup=True)
    run = make.record(
        database,
        {"samples": (*warmup, *make.times([1.0, 2.0])), "process": 0},
        {"samples": (*warmup, *make.times([3.0, 4.0, 5.0])), "process": 1},
    )
    (row,) = rows(database, "select * from results where run_id = %s", run.id)
    assert (row["n"], row["median"], row["max"]) == (5, 3.0, 5.0)


def test_pairs_are_of_one_process_and_ordinal(database: Database, make) -> None:
    run = make.record(
        database,
        {"case": make.case("seal"), "samples": make.times([4.0, 9.0]), "process": 0},
        {"case": make.case("seal"), "samples": make.times([100.0]), "process": 1},
        {"case": make.case("seal-hexl"), "samples": make.times([2.0]), "process": 0},
        {"case": make.case("seal-hexl"), "samples": make.times([10.0, 1.0]), "process": 1},
        {"case": make.case("seal-hexl"), "samples": make.times([1.0]), "process": 2},
    )
    (row,) = rows(database, "select * from speedup where run_id = %s", run.id)
    assert (row["n"], row["ratio"], row["verdict"]) == (2, 6.0, "too few samples")


def test_only_equal_cases_and_libraries_are_compared(database: Database, make) -> None:
    run = make.record(
        database,
        {"case": make.case("seal"), "samples": make.times([1.0])},
        {"case": make.case("seal-hexl", vector_length=7), "samples": make.times([1.0])},
        {"case": make.case("openfhe-hexl"), "samples": make.times([1.0])},
    )
    assert rows(database, "select * from speedup where run_id = %s", run.id) == []


def test_labelled_variants_are_variants(database: Database, make) -> None:
    run = make.record(
        database,
        *(
            {"case": make.case(name), "samples": make.times([1.0])}
            for name in ("seal", "seal@again", "seal-hexl")
        ),
    )
    sql = "select variant_off from speedup where run_id = %s order by 1"
    assert database.query(sql, [run.id]).rows == [("seal",), ("seal@again",)]
    assert len(rows(database, "select * from ranking where run_id = %s", run.id)) == 3


def test_zero_times_make_no_ratio(database: Database, make) -> None:
    run = make.record(
        database,
        {"case": make.case("seal"), "samples": make.times([1.0, 3.0])},
        {"case": make.case("seal-hexl"), "samples": make.times([0.0, 1.0])},
    )
    (row,) = rows(database, "select * from speedup where run_id = %s", run.id)
    assert (row["n"], row["ratio"]) == (1, 3.0)
    assert len(rows(database, "select * from ranking where run_id = %s", run.id)) == 2


@pytest.fixture
def levels(database: Database, make) -> Run:
    """One comparison with two variants under 128 bits and two at 128, the fastest of all under it."""
    spec = ParameterSpec("bfv", 4096, None, 65537)
    weak = replace(make.parameters(spec), moduli=(*make.parameters(spec).moduli, 1099511480321))
    strong = replace(weak, moduli=weak.moduli[:1])
    return make.record(
        database,
        *(
            {
                "case": make.case(name, parameters=spec),
                "samples": make.times([seconds] * 6),
                "parameters": made,
            }
            for name, seconds, made in (
                ("lattigo", 1.0, weak),
                ("seal", 2.0, strong),
                ("helib", 3.0, weak),
                ("openfhe", 8.0, replace(weak, ring_dimension=8192)),
            )
        ),
    )


def test_every_security_level_has_a_fastest_of_its_own(database: Database, levels: Run) -> None:
    sql = """
        select variant, fastest_variant, security_2018, rank, ratio, is_equal_security, is_equal_parameters,
            fastest_ring_dimension
        from ranking where run_id = %s order by security_2018, rank
    """
    assert database.query(sql, [levels.id]).rows == [
        ("lattigo", "lattigo", 0, 1, 1.0, True, True, 4096),
        ("helib", "lattigo", 0, 2, 3.0, True, True, 4096),
        ("seal", "seal", 128, 1, 1.0, True, True, 4096),
        ("openfhe", "seal", 128, 2, 4.0, True, False, 4096),
    ]


def test_levels_are_mixed_only_where_asked(database: Database, levels: Run) -> None:
    sql = """
        select variant, fastest_variant, rank, ratio, is_equal_security, fastest_security_2018
        from ranking_across_security_levels where run_id = %s order by rank
    """
    assert database.query(sql, [levels.id]).rows == [
        ("lattigo", "lattigo", 1, 1.0, True, 0),
        ("seal", "lattigo", 2, 2.0, False, 0),
        ("helib", "lattigo", 3, 3.0, True, 0),
        ("openfhe", "lattigo", 4, 8.0, False, 0),
    ]


def test_in_best_the_level_is_the_one_asked_for_and_tunings_stay_apart(database: Database, make) -> None:
    spec = ParameterSpec("bfv", 4096, None, 65537)
    larger = make.parameters(spec)
    smaller = replace(larger, moduli=larger.moduli[:1], ring_dimension=16384)
    assert larger.security_2018 < smaller.security_2018
    run = make.record(
        database,
        *(
            {
                "case": make.case(name, parameters=replace(spec, tuning=tuning)),
                "samples": make.times([seconds] * 6),
                "parameters": made,
            }
            for tuning, name, seconds, made in (
                ("matched", "seal", 1.0, larger),
                ("matched", "openfhe", 4.0, smaller),
                ("recommended", "seal", 2.0, larger),
                ("recommended", "openfhe", 6.0, smaller),
            )
        ),
    )
    sql = """
        select tuning, variant, fastest_variant, rank, ratio, is_equal_security
        from ranking where run_id = %s order by tuning, variant
    """
    assert database.query(sql, [run.id]).rows == [
        ("matched", "openfhe", "openfhe", 1, 1.0, True),
        ("matched", "seal", "seal", 1, 1.0, True),
        ("recommended", "openfhe", "seal", 2, 3.0, False),
        ("recommended", "seal", "seal", 1, 1.0, True),
    ]


def test_hexl_is_not_compared_across_security_levels(database: Database, make) -> None:
    spec = ParameterSpec("bfv", 4096, None, 65537)
    weak = replace(make.parameters(spec), moduli=(*make.parameters(spec).moduli, 1099511480321))
    off, on = (make.case(name, parameters=spec) for name in ("seal", "seal-hexl"))
    for made, count in ((weak, 1), (replace(weak, moduli=weak.moduli[:1]), 0)):
        run = make.record(
            database,
            {"case": off, "samples": make.times([2.0]), "parameters": weak},
            {"case": on, "samples": make.times([1.0]), "parameters": made},
        )
        assert len(rows(database, "select * from speedup where run_id = %s", run.id)) == count


@EXAMPLES
@given(st.lists(SECONDS, min_size=1, max_size=20), st.lists(SECONDS, min_size=1, max_size=20))
def test_without_turns_medians_are_divided_as_python_does(
    database: Database, make, first: list[float], second: list[float]
) -> None:
    """Trials that do not overlap in time took no turns, whatever their samples' ordinals say."""
    own, other = sorted((first, second), key=median)
    run = make.record(
        database,
        {"case": make.case("lattigo"), "samples": make.times(own)},
        {
            "case": make.case("openfhe"),
            "samples": make.times(other),
            "started_at": "2025-01-01T00:00:02.6+00:00",
        },
    )
    (row,) = rows(database, "select * from ranking where run_id = %s and variant = 'openfhe'", run.id)
    wanted = statistics.ratio_of(statistics.estimate(other), statistics.estimate(own))
    assert (row["fastest_variant"], row["is_paired"], row["n"]) == ("lattigo", False, wanted.n)
    assert (row["ratio"], row["ci_low"], row["ci_high"]) == (wanted.median, wanted.low, wanted.high)


def test_trials_that_overlap_took_turns(database: Database, make) -> None:
    run = make.record(
        database,
        {"case": make.case("lattigo"), "samples": make.times([1.0, 4.0])},
        {
            "case": make.case("openfhe"),
            "samples": make.times([3.0, 8.0]),
            "started_at": "2025-01-01T00:00:02.4+00:00",
        },
    )
    sql = "select ratio, is_paired, n from ranking where run_id = %s and variant = 'openfhe'"
    assert database.query(sql, [run.id]).rows == [(2.5, True, 2)]


def test_chains_and_real_data_show(database: Database, make) -> None:
    spec = ParameterSpec("bfv", 8192, None, 65537, depth=3, ring_dimension_is_minimum=True)
    case = make.case(
        parameters=spec, experiment="repetition", dimensions={"repetitions": 3, "data_set": "boston"}
    )
    samples = (*make.times([1.0, 2.0], repetitions=3), Sample("peak_memory", 7.0, "evaluate"))
    run = make.record(database, {"case": case, "samples": samples})
    sql = (
        "select metric, repetitions, chain_depth, ring_dimension_is_minimum, data_set from results where run_id = %s "
        "order by metric"
    )
    assert database.query(sql, [run.id]).rows == [
        ("peak_memory", 3, 3, True, "boston"),
        ("time", 3, 3, True, "boston"),
    ]
    sql = (
        "select repetitions, chain_depth, ring_dimension_is_minimum, data_set, case_key from ranking "
        "where run_id = %s"
    )
    assert database.query(sql, [run.id]).rows == [(3, 3, True, "boston", case.key)]


@pytest.mark.parametrize(
    "status", ["incorrect", "crashed", "out_of_memory", "timeout", "cancelled", "budget_exhausted"]
)
def test_failures_show_and_give_no_results(database: Database, make, status: str) -> None:
    run = make.record(
        database,
        {"samples": make.times([1.0, 2.0]), "status": status, "error": "because"},
        {"case": make.case("seal-hexl"), "samples": make.times([1.0])},
    )
    (row,) = rows(database, "select * from results where run_id = %s and variant = 'seal'", run.id)
    assert (row["status"], row["error"], row["library"]) == (status, "because", "seal")
    assert {row[name] for name in (*expected([1.0]), "metric", "phase", "unit")} == {None}
    assert rows(database, "select * from speedup where run_id = %s", run.id) == []
    assert [row["variant"] for row in rows(database, "select * from ranking where run_id = %s", run.id)] == [
        "seal-hexl"
    ]
    stored = "select count(*) from samples where run_id = %s"
    assert database.query(stored, [run.id]).rows == [(3,)]


def test_the_unsupported_have_their_requested_parameters(database: Database, make) -> None:
    spec = ParameterSpec("ckks", 16384, (60, 40, 60), None, 40)
    case = make.case("tenseal", parameters=spec, vector_length=10_000)
    run = make.record(database, {"case": case, "status": "unsupported", "error": "no such operation"})
    (row,) = rows(database, "select * from results where run_id = %s", run.id)
    assert (row["scheme"], row["ring_dimension"], row["modulus_bits"]) == ("ckks", 16384, [60, 40, 60])
    assert (row["vector_length"], row["ciphertexts"], row["case_key"]) == (10_000, 2, case.key)
    assert {
        row[name] for name in ("log_q", "log_qp", "security_2018", "security_2024", "library", "hexl")
    } == {None}


def test_each_status_of_a_case_has_its_row(database: Database, make) -> None:
    run = make.record(
        database,
        {"samples": make.times([1.0]), "process": 0},
        {"status": "crashed", "error": "signal 11", "process": 1},
        {"status": "crashed", "error": "signal 6", "process": 2},
        {"status": "crashed", "error": "signal 6", "process": 3},
    )
    sql = "select status, error, n from results where run_id = %s order by status"
    assert database.query(sql, [run.id]).rows == [("crashed", "signal 11\nsignal 6", None), ("ok", None, 1)]


def test_an_ok_trial_without_samples_shows(database: Database, make) -> None:
    run = make.record(database, {"samples": make.times([1.0], is_warmup=True)})
    (row,) = rows(database, "select * from results where run_id = %s", run.id)
    assert (row["status"], row["metric"], row["n"]) == ("ok", None, None)


def test_results_of_two_builds_are_not_pooled(database: Database, make) -> None:
    other = replace(make.library("seal"), build={"compiler": "clang 19"})
    run = make.record(
        database,
        {"samples": make.times([1.0]), "process": 0},
        {"samples": make.times([3.0]), "process": 1, "library": other},
    )
    sql = "select median from results where run_id = %s order by median"
    assert database.query(sql, [run.id]).rows == [(1.0,), (3.0,)]


@pytest.mark.parametrize(("size", "ciphertexts"), [(1, 1), (8192, 1), (8193, 2), (16384, 2), (100_000, 13)])
def test_ciphertexts(database: Database, make, size: int, ciphertexts: int) -> None:
    run = make.record(database, {"case": make.case(vector_length=size), "samples": make.times([1.0])})
    assert database.query("select ciphertexts from results where run_id = %s", [run.id]).rows == [
        (ciphertexts,)
    ]


def found_depth(depth: int, is_at_max_repetitions: bool) -> tuple[Sample, ...]:
    return (
        Sample("depth", float(depth), "evaluate"),
        Sample("is_at_max_repetitions", float(is_at_max_repetitions), "evaluate"),
    )


def test_depth(database: Database, make) -> None:
    def case(variant: str) -> Any:
        return make.case(variant, experiment="depth", operation="mul", dimensions={"max_repetitions": 8})

    run = make.record(
        database,
        {"case": case("seal"), "samples": found_depth(5, False), "process": 0},
        {"case": case("seal"), "samples": found_depth(8, True), "process": 1},
        {"case": case("lattigo"), "samples": found_depth(8, True)},
        {"case": case("openfhe"), "samples": found_depth(0, False), "status": "budget_exhausted"},
        {"case": case("helib"), "samples": found_depth(3, False), "status": "incorrect"},
        {"case": case("pyfhel"), "status": "unsupported"},
        {"samples": found_depth(4, False)},
    )
    sql = (
        "select variant, depth, is_at_max_repetitions, status, max_repetitions from depths where run_id = %s order "
        "by variant"
    )
    assert database.query(sql, [run.id]).rows == [
        ("helib", None, None, "incorrect", 8),
        ("lattigo", 8, True, "ok", 8),
        ("openfhe", 0, False, "budget_exhausted", 8),
        ("pyfhel", None, None, "unsupported", 8),
        ("seal", 5, False, "ok", 8),
    ]
    results = "select median from results where run_id = %s and variant = 'openfhe' and metric = 'depth'"
    assert database.query(results, [run.id]).rows == [(0.0,)]


def test_noise(database: Database, make) -> None:
    budgets = tuple(
        Sample("noise_budget", value, "evaluate", repetitions=k) for k, value in [(0, 100.0), (1, 70.0)]
    )
    precision = (Sample("precision", 20.5, "evaluate", repetitions=4), *make.times([1.0]))
    case = make.case(experiment="noise", operation="mul")
    run = make.record(
        database,
        {"case": case, "samples": budgets, "status": "budget_exhausted"},
        {"case": replace(case, variant="openfhe"), "samples": precision},
        {"case": replace(case, variant="helib"), "samples": budgets, "status": "incorrect"},
    )
    sql = """
        select variant, repetitions, noise_budget_bits, precision_bits, status
        from noise where run_id = %s order by 1, 2
    """
    assert database.query(sql, [run.id]).rows == [
        ("openfhe", 4, None, 20.5, "ok"),
        ("seal", 0, 100.0, None, "budget_exhausted"),
        ("seal", 1, 70.0, None, "budget_exhausted"),
    ]


def test_security_lists_each_parameter_set_once(database: Database, make) -> None:
    spec = ParameterSpec("bfv", 2048, None, 12289)
    odd = make.parameters(spec, (2**53 + 1, 3))
    asked_otherwise = replace(odd, spec=replace(spec, security=0))
    run = make.record(
        database,
        {"case": make.case("seal", parameters=spec), "parameters": odd, "samples": make.times([1.0])},
        {"case": make.case("helib", parameters=spec), "parameters": asked_otherwise, "status": "crashed"},
    )
    assert run.id in database.run_ids()
    (row,) = rows(database, "select * from security where ring_dimension = 2048")
    assert (row["log_qp"], row["security_2018"], row["security_2024"]) == (
        odd.log_qp, odd.security_2018, odd.security_2024
    )  # fmt: skip
    assert row["variants"] == ["helib", "seal"]


def test_many_samples_in_one_result(database: Database, make) -> None:
    generator = random.Random(5)
    values = [generator.lognormvariate(-6, 0.2) for _ in range(3000)]
    run = make.record(database, {"samples": make.times(values)})
    (row,) = rows(database, "select * from results where run_id = %s", run.id)
    assert {name: row[name] for name in expected(values)} == expected(values)


def test_pseudo_libraries_are_never_ranked(database: Database, make) -> None:
    library = replace(make.library("cleartext"), is_reference=True)
    run = make.record(
        database,
        {"case": make.case("cleartext"), "samples": make.times([1e-6] * 6), "library": library},
        {"case": make.case("seal"), "samples": make.times([1e-3] * 6)},
    )
    ranked = database.query("select variant, fastest_variant from ranking where run_id = %s", [run.id]).rows
    assert ranked == [("seal", "seal")]
