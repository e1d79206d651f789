from __future__ import annotations

import pytest

from ciphermark_db.comparison import Judgement, judged

ROW = {
    "metric": "time",
    "a_n": 10,
    "a_median": 2.0,
    "a_low": 1.9,
    "a_high": 2.1,
    "a_status": "ok",
    "a_security_2018": 128,
    "a_ring_dimension": 4096,
    "a_log_qp": 109.0,
    "b_n": 10,
    "b_median": 1.0,
    "b_low": 0.95,
    "b_high": 1.05,
    "b_status": "ok",
    "b_security_2018": 128,
    "b_ring_dimension": 4096,
    "b_log_qp": 109.0,
}
ABSENT = {
    "n": None,
    "median": None,
    "low": None,
    "high": None,
    "status": None,
    "security_2018": None,
    "ring_dimension": None,
    "log_qp": None,
}


def without(side):
    return {f"{side}_{name}": value for name, value in ABSENT.items()}


def failed(side, status):
    return {f"{side}_{name}": None for name in ("n", "median", "low", "high")} | {f"{side}_status": status}


@pytest.mark.parametrize(
    ("changes", "ratio", "verdict"),
    [
        ({}, 2.0, "faster"),
        ({"b_median": 4.0, "b_low": 3.9, "b_high": 4.1}, 0.5, "slower"),
        ({"b_median": 2.0, "b_low": 1.9, "b_high": 2.1}, 1.0, "no difference"),
        (
            {"b_median": 1.96, "b_low": 1.955, "b_high": 1.965, "a_low": 1.99, "a_high": 2.01},
            2 / 1.96,
            "no difference",
        ),
        ({"a_low": None, "a_high": None, "a_n": 3}, 2.0, "too few samples"),
        ({"b_low": None, "b_high": None, "b_n": 3}, 2.0, "too few samples"),
        ({"b_log_qp": 150.0}, 2.0, "faster"),
        ({"a_status": "exhausted", "b_status": "exhausted"}, 2.0, "faster"),
    ],
)
def test_times_are_compared_with_an_interval(changes, ratio, verdict):
    found = judged(ROW | changes)
    assert found.ratio == pytest.approx(ratio)
    assert found.verdict == verdict
    if verdict != "too few samples":
        assert found.low <= found.ratio <= found.high


@pytest.mark.parametrize(
    ("changes", "ratio", "verdict"),
    [
        ({"metric": "size", "b_median": 2.0}, 1.0, "unchanged"),
        ({"metric": "size"}, 2.0, "changed"),
        ({"metric": "noise_budget", "a_median": 0.0, "b_median": 0.0}, None, "unchanged"),
        ({"metric": "noise_budget", "a_median": 5.0, "b_median": 0.0}, None, "changed"),
        ({"metric": "depth", "a_median": 3.0, "b_median": 4.0}, 0.75, "changed"),
    ],
)
def test_counts_are_equal_or_not(changes, ratio, verdict):
    assert judged(ROW | changes) == Judgement(ratio, None, None, verdict)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (without("a"), "run a has no such case or metric"),
        (without("b"), "run b has no such case or metric"),
        (without("a") | without("b"), "run a has no such case or metric"),
        (failed("a", "crashed"), "run a is crashed"),
        (failed("b", "wrong"), "run b is wrong"),
        (failed("b", "unsupported") | {"b_security_2018": None, "b_log_qp": None}, "run b is unsupported"),
        (failed("a", "crashed") | failed("b", "timed_out"), "run a is crashed"),
        (
            {"b_security_2018": 192},
            "security 128 bits against 192 bits (2018)",
        ),
        (
            {"a_security_2018": 0},
            "security under 128 bits against 128 bits (2018)",
        ),
    ],
)
def test_what_cannot_be_compared_says_why_and_has_no_ratio(changes, reason):
    assert judged(ROW | changes) == Judgement(None, None, None, f"not comparable: {reason}")


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({}, ""),
        ({"b_log_qp": 109.9}, ""),  # within a bit: the same parameters
        ({"b_log_qp": 150.0}, "log QP 109 against 150"),
        ({"b_ring_dimension": 8192}, "N 4096 against 8192"),
        ({"metric": "size", "b_ring_dimension": 8192}, "N 4096 against 8192"),
    ],
)
def test_at_one_level_other_parameters_are_compared_and_told(changes, remark):
    found = judged(ROW | changes)
    assert found.ratio is not None
    assert found.remark == remark


def test_across_levels_is_compared_only_where_asked_and_says_so():
    row = ROW | {"a_security_2018": 0}
    assert judged(row).ratio is None
    found = judged(row, any_security=True)
    assert (found.ratio, found.verdict) == (2.0, "faster")
    assert found.remark == "security <128 against 128 bits (2018)"
