from __future__ import annotations

import pytest

from ciphermark_analysis.comparison import COLUMNS, Judgement, Rule, judged, settled, with_judgement
from ciphermark_analysis.family import Family
from ciphermark_core.metrics import METRICS

# What each of two runs has of a case, and what of it a run without the case lacks.
OWN = {
    "n": 10,
    "processes": 2,
    "median": 2.0,
    "low": 1.9,
    "high": 2.1,
    "status": "ok",
    "error": None,
    "security_2018": 128,
    "security_2024": 128,
    "security_compared": 128,
    "security_compared_2024": 128,
    "key_switching": "hybrid",
    "decomposition_digits": 3,
    "encryption": "public key",
    "ring_dimension": 4096,
    "log_qp": 109.0,
}
HOST = {
    "is_composite": False,
    "reference_kernel_s": None,
    "memory_kernel_s": None,
    "undisturbed_share": None,
    "slowdown": None,
}
ROW = {
    "variant": "seal",
    "comparison_group": "mul",
    "security_table": "2018",
    "phase": "evaluate",
    "metric": "time",
    "unit": "s",
    "direction": "lower",
    "threshold": 1.05,
    "threshold_kind": "factor",
    **{f"{side}_{name}": value for side in "ab" for name, value in (OWN | HOST).items()},
    **{"b_median": 1.0, "b_low": 0.95, "b_high": 1.05},
}


def without(side):
    return {f"{side}_{name}": None for name in OWN}


def failed(side, status):
    return {f"{side}_{name}": None for name in ("n", "median", "low", "high")} | {f"{side}_status": status}


@pytest.mark.parametrize(
    ("single", "b_median", "verdict"),
    [
        ("", 2.4, "slower"),
        ("a", 2.4, "undecided: one process in run A"),
        ("b", 2.4, "undecided: one process in run B"),
        ("ab", 2.4, "undecided: one process in run A and run B"),
        ("ab", 1.6, "undecided: one process in run A and run B"),
        ("ab", 2.8, "slower"),
        ("ab", 1.4, "faster"),
        ("ab", 2.0, "unchanged"),
        ("ab", 2.1, "undecided"),
    ],
)
def test_one_process_decides_large_differences_only(single, b_median, verdict):
    """An interval of one process does not cover the difference between processes."""
    tight = {"a_low": 1.99, "a_high": 2.01, "b_low": b_median * 0.995, "b_high": b_median * 1.005}
    row = ROW | tight | {"b_median": b_median} | {f"{side}_processes": 1 for side in single}
    judgement = judged(row, Rule())
    assert judgement.verdict == verdict
    assert (judgement.detectable > 1.25) == bool(single)


def test_another_kind_of_encryption_is_remarked_on():
    row = ROW | {"b_encryption": "secret key"}
    assert judged(row, Rule()).remark == "encryption with the public key against the secret key"


@pytest.mark.parametrize(
    ("changes", "ratio", "verdict"),
    [
        ({}, 2.0, "faster"),
        ({"b_median": 4.0, "b_low": 3.9, "b_high": 4.1}, 0.5, "slower"),
        ({"b_median": 2.0, "b_low": 1.9, "b_high": 2.1}, 1.0, "undecided"),  # room for 7% either way
        (
            {"b_median": 1.96, "b_low": 1.955, "b_high": 1.965, "a_low": 1.99, "a_high": 2.01},
            2 / 1.96,
            "unchanged",
        ),
        ({"b_median": 3.0, "b_low": 1.5, "b_high": 3.3}, 2 / 3, "undecided"),
        ({"a_low": None, "a_high": None, "a_n": 3}, 2.0, "undecided: too few samples in run A"),
        ({"b_low": None, "b_high": None, "b_n": 3}, 2.0, "undecided: too few samples in run B"),
        ({"b_log_qp": 150.0}, 2.0, "faster"),
        ({"a_status": "budget_exhausted", "b_status": "budget_exhausted"}, 2.0, "faster"),
    ],
)
def test_times_are_compared_with_an_interval(changes, ratio, verdict):
    found = judged(ROW | changes, Rule())
    assert found.ratio == pytest.approx(ratio)
    assert found.verdict == verdict
    if not verdict.startswith("undecided:"):
        assert found.low <= found.ratio <= found.high


@pytest.mark.parametrize(
    "changes",
    [
        {"b_median": 0.0, "b_low": 0.0, "b_high": 0.0},
        {"b_median": 0.0, "b_low": None, "b_high": None, "b_n": 3},
        {"b_median": -1e-4, "b_low": -2e-4, "b_high": 1e-5},
        {"a_low": -1e-6},
    ],
)
def test_a_time_of_nothing_or_less_is_not_divided(changes):
    found = judged(ROW | {"phase": "train.transfer"} | changes, Rule())
    assert (found.ratio, found.low, found.high) == (None, None, None)
    assert found.verdict.startswith("not comparable: ")


def of(name, **changes):
    metric = METRICS[name]
    traits = {name: getattr(metric, name) for name in ("unit", "direction", "threshold", "threshold_kind")}
    return {"metric": name, **traits, **changes}


SIZE = of("size")


@pytest.mark.parametrize(
    ("changes", "ratio", "verdict"),
    [
        (SIZE | {"b_median": 2.0}, 1.0, "unchanged"),
        (SIZE, 2.0, "better"),
        (of("plaintext_size"), 2.0, "changed"),
        (of("noise_budget", a_median=0.0, b_median=0.0), None, "unchanged"),
        (of("noise_budget", a_median=5.0, b_median=0.0), None, "worse"),
        (of("depth", a_median=3.0, b_median=4.0), 0.75, "better"),
        ({"metric": "cpu_time"}, 2.0, "faster"),
    ],
)
def test_other_metrics_have_a_direction(changes, ratio, verdict):
    found = judged(ROW | changes, Rule())
    assert (found.ratio, found.verdict) == (ratio, verdict)


@pytest.mark.parametrize(
    ("metric", "a", "b", "verdict"),
    [
        ("peak_memory", 118.6, 131.0, "unchanged"),  # Pyfhel's keys on two machines
        ("peak_memory", 100.0, 116.0, "worse"),
        ("peak_memory", 116.0, 100.0, "better"),
        ("size", 100.0, 104.0, "unchanged"),
        ("size", 100.0, 106.0, "worse"),
        ("expansion", 6.6, 13.2, "worse"),
        ("precision", 27.5, 25.5, "unchanged"),
        ("precision", 27.5, 25.4, "worse"),
        ("noise_budget", 100.0, 105.0, "better"),
        ("noise_error", 1e-6, 3e-6, "unchanged"),
        ("noise_error", 1e-6, 5e-6, "worse"),
        ("accuracy", 0.86, 0.85, "worse"),
        ("agreement", 0.99, 1.0, "better"),
        ("depth", 4.0, 3.0, "worse"),
        ("is_at_max_repetitions", 0.0, 1.0, "changed"),
    ],
)
def test_a_difference_must_be_larger_than_chance(metric, a, b, verdict):
    assert METRICS[metric].change(a, b) == verdict


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (without("a"), "only in run B"),
        (without("b"), "only in run A"),
        (without("a") | without("b"), "only in run B"),
        (failed("a", "crashed"), "run A is crashed"),
        (failed("b", "incorrect"), "run B is incorrect"),
        (failed("b", "unsupported") | {"b_security_2018": None, "b_log_qp": None}, "run B is unsupported"),
        (failed("a", "crashed") | failed("b", "timeout"), "run A is crashed; run B is timeout"),
        (failed("a", "ok") | failed("b", "ok"), "both runs are ok without a valid sample"),
        (
            failed("a", "ok") | failed("b", "crashed"),
            "run A is ok without a valid sample; run B is crashed",
        ),
        (
            {"b_security_2018": 192, "b_security_compared": 192},
            "security 128 bits against 192 bits (2018)",
        ),
        (
            {"a_security_2018": 0, "a_security_compared": 0},
            "security below 128 bits against 128 bits (2018)",
        ),
        (
            {"security_table": "2024", "b_security_2024": 0, "b_security_compared_2024": 0},
            "security 128 bits against below 128 bits (2024)",
        ),
        ({"b_is_composite": True}, "composite only in run B"),
    ],
)
def test_what_cannot_be_compared_says_why_and_has_no_ratio(changes, reason):
    assert judged(ROW | changes, Rule()) == Judgement(None, None, None, f"not comparable: {reason}")


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({}, ""),
        ({"b_log_qp": 109.9}, ""),  # within a bit: the same parameters
        ({"b_log_qp": 150.0}, "log QP 109 against 150"),
        ({"b_ring_dimension": 8192}, "N 4096 against 8192"),
        ({"metric": "size", "b_ring_dimension": 8192}, "N 4096 against 8192"),
        (
            {"b_log_qp": 109.9, "b_security_2024": 0, "b_security_compared_2024": 0},
            "security 128 against <128 bits (2024)",
        ),
        (
            {"security_table": "2024", "b_security_2018": 192, "b_security_compared": 192},
            "security 128 against 192 bits (2018)",
        ),
    ],
)
def test_at_one_level_other_parameters_are_compared_and_told(changes, remark):
    found = judged(ROW | changes, Rule())
    assert found.ratio is not None
    assert found.remark == remark


def test_across_levels_is_compared_only_where_asked_and_says_so():
    row = ROW | {"a_security_2018": 0, "a_security_compared": 0}
    assert judged(row, Rule()).ratio is None
    found = judged(row, Rule(across_security_levels=True))
    assert (found.ratio, found.verdict) == (2.0, "faster")
    assert found.remark == "security <128 against 128 bits (2018)"


def ended(side, status, error=None):
    """A case without any result in one run, and as the query has it."""
    other = "a" if side == "b" else "b"
    place = {"phase": None, "metric": None, "unit": None}
    return ROW | place | failed(side, status) | {f"{side}_error": error} | without(other)


def verdicts(*rows):
    place = COLUMNS.index("verdict")
    return [with_judgement(dict.fromkeys(COLUMNS) | row, Rule())[place] for row in settled(rows)]


RESULTS = (ROW | without("b"), ROW | {"metric": "peak_memory", "unit": "bytes"} | without("b"))


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("incorrect", "failed: run B is incorrect: 8192 of 8192 slots are wrong"),
        ("timeout", "failed: run B is timeout: 8192 of 8192 slots are wrong"),
        ("unsupported", "not comparable: run B is unsupported: 8192 of 8192 slots are wrong"),
        ("cancelled", "not comparable: run B is cancelled: 8192 of 8192 slots are wrong"),
    ],
)
def test_a_case_that_ends_without_results_has_one_row_for_it(status, verdict):
    error = "8192 of 8192 slots are wrong\nand a second line"
    assert verdicts(*RESULTS, ended("b", status, error)) == [verdict]
    assert verdicts(ended("b", status, error), *RESULTS) == [verdict]


def test_what_failed_before_and_works_now_is_fixed():
    results = [ROW | without("a")]
    assert verdicts(*results, ended("a", "crashed")) == ["fixed: run A is crashed"]


def test_a_result_of_both_runs_stays_where_a_process_failed_too():
    assert verdicts(ROW, ended("b", "crashed")) == ["faster", "failed: run B is crashed"]


def test_an_ending_of_another_case_changes_nothing():
    other = ended("b", "incorrect") | {"comparison_group": "add"}
    missing = "not comparable: only in run A"
    assert verdicts(*RESULTS, other) == [missing, missing, "not comparable: only in run B"]


def test_the_parameters_of_the_run_with_results_are_kept():
    (row,) = settled([*RESULTS, ended("b", "crashed") | {"b_security_2018": None}])
    assert (row["a_security_2018"], row["a_median"], row["a_status"]) == (128, None, "ok")


def test_a_long_error_is_cut():
    (told,) = verdicts(*RESULTS, ended("b", "incorrect", "x" * 5000))
    assert len(told) < 300


def test_times_of_disturbed_samples_alone_are_undecided():
    disturbed = {"b_undisturbed_share": 0.0, "a_undisturbed_share": 1.0}
    found = judged(ROW | disturbed, Rule())
    assert (found.verdict, found.ratio, found.low) == (
        "undecided: only disturbed samples in run B",
        2.0,
        None,
    )
    assert judged(ROW | disturbed | {"b_undisturbed_share": 0.2}, Rule()).verdict == "faster"
    assert judged(ROW | disturbed | {"b_slowdown": 1.4}, Rule()).verdict == "faster"


@pytest.mark.parametrize(
    ("a_s", "b_s", "expected"),
    [
        (4.6e-5, 4.6e-5, "slower"),
        (4.2e-5, 5.2e-5, "slower"),  # what readings of undisturbed hosts differ by
        (4.6e-5, 2.5e-4, "undecided"),  # the pass of a neighbor: up to 4.3 times as long
        (2.5e-4, 4.6e-5, "slower"),  # memory was faster in b, and b takes longer all the same
        (4.6e-5, None, "slower"),
        (None, 2.5e-4, "slower"),
    ],
)
def test_what_the_shared_cache_explains_is_undecided(a_s, b_s, expected):
    """rotate(-1) of seal-hexl beside two copy loops: 249 µs and 341 µs."""
    own = {
        f"{run}_{name}": value
        for run, time in (("a", 2.49e-4), ("b", 3.41e-4))
        for name, value in {"median": time, "low": 0.99 * time, "high": 1.01 * time}.items()
    }
    found = judged(ROW | own | {"a_memory_kernel_s": a_s, "b_memory_kernel_s": b_s}, Rule())
    assert found.verdict == expected
    assert ("shared cache and memory 4.35× slower in B" in found.remark) == (expected == "undecided")


def test_what_the_reference_kernels_explain_is_undecided_and_is_remarked():
    slowed = ROW | {"a_reference_kernel_s": 8e-5, "b_reference_kernel_s": 4e-5}
    found = judged(slowed, Rule())
    assert (found.verdict, found.ratio, found.kernel_ratio) == ("undecided", 2.0, 2.0)
    assert found.remark == "host 2.00× faster in B by its reference kernel"
    assert judged(slowed | {"a_reference_kernel_s": 5e-5}, Rule()).verdict == "faster"


def test_a_first_execution_is_compared_once_there_are_processes_enough():
    once = of("cold_time") | {"b_n": 1, "b_low": None, "b_high": None}
    reason = "not comparable: one sample per process, too few processes"
    assert judged(ROW | once, Rule()).verdict == reason
    assert judged(ROW | of("cold_time", b_median=0.5, b_low=0.49, b_high=0.51), Rule()).verdict == "faster"


@pytest.mark.parametrize(
    ("metric", "threshold", "verdict"),
    [
        ("time", None, "slower"),
        ("time", 1.5, "unchanged"),
        ("cold_time", None, "unchanged"),  # within the factor of 2 of this metric
        ("cold_time", 1.01, "unchanged"),
        ("cold_time", 3.0, "unchanged"),
    ],
)
def test_a_threshold_replaces_the_usual_one(metric, threshold, verdict):
    quarter_slower = ROW | of(metric, b_median=2.5, b_low=2.49, b_high=2.51, a_low=1.99, a_high=2.01)
    assert judged(quarter_slower, Rule(threshold=threshold)).verdict == verdict


def test_of_many_times_each_has_a_wider_interval():
    slightly = ROW | {"b_median": 2.4, "b_low": 2.25, "b_high": 2.6, "a_low": 1.95, "a_high": 2.05}
    alone, one_of_many = (judged(slightly, Rule(family=Family(k))) for k in (1, 400))
    assert (alone.verdict, one_of_many.verdict) == ("slower", "undecided")
    assert one_of_many.low < alone.low < alone.high < one_of_many.high
    assert 1 < alone.detectable < one_of_many.detectable


def test_what_has_no_interval_of_times_counts_for_no_family():
    rows = [
        ROW,
        ROW | without("b"),
        ROW | SIZE,
        ROW | {"b_low": None, "b_high": None},
        ROW | {"b_undisturbed_share": 0.0},
        ROW | {"a_is_composite": True},
    ]
    assert Rule.over(rows, across_security_levels=False).family == Family(1)
    assert Rule.over(rows * 3, across_security_levels=False).family == Family(3)
