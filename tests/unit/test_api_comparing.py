"""Rows of two runs out of the pairs of their parts."""

from __future__ import annotations

from ciphermark_benchmark.api.results import Pair, whole


def row(place, a=None, b=None, phase="evaluate"):
    """A figure of two runs; the statuses say which runs have it."""
    return {
        "comparison_group": place,
        "variant": "seal",
        "phase": phase,
        "metric": "time",
        "repetitions": None,
        "a_status": a,
        "b_status": b,
    }


def told(pairs):
    return sorted(
        (row["comparison_group"], str(row["a_run_id"]), str(row["b_run_id"])) for row in whole(pairs)
    )


def test_runs_of_one_part_are_compared_as_they_are():
    rows = [row("add", "ok", "ok"), row("mul", "ok"), row("sub", b="ok")]
    assert told([Pair("a1", "b1", rows)]) == [
        ("add", "a1", "b1"),
        ("mul", "a1", "None"),
        ("sub", "None", "b1"),
    ]


def test_a_case_is_found_in_whatever_part_has_it():
    pairs = [
        Pair("a1", "b1", [row("add", "ok", "ok"), row("mul", b="ok"), row("sub", "ok")]),
        Pair("a2", "b1", [row("mul", "ok", "ok"), row("add", b="ok"), row("negate", "ok")]),
    ]
    assert told(pairs) == [
        ("add", "a1", "b1"),
        ("mul", "a2", "b1"),
        ("negate", "a2", "None"),
        ("sub", "a1", "None"),
    ]


def test_what_no_part_of_the_other_run_has_is_told_once():
    pairs = [Pair("a1", "b1", [row("add", "ok")]), Pair("a1", "b2", [row("add", "ok")])]
    assert told(pairs) == [("add", "a1", "None")]


def test_a_case_that_several_parts_measured_has_a_row_for_each():
    pairs = [Pair("a1", "b1", [row("add", "ok", "ok")]), Pair("a2", "b1", [row("add", "ok", "ok")])]
    assert told(pairs) == [("add", "a1", "b1"), ("add", "a2", "b1")]


def test_failures_of_one_case_are_all_kept():
    rows = [row("add", "crashed", phase=None), row("add", "timeout", phase=None)]
    assert [found["a_status"] for found in whole([Pair("a1", "b1", rows)])] == ["crashed", "timeout"]


def test_a_part_compared_with_the_run_that_it_is_of():
    pairs = [
        Pair("p1", "p2", [row("add", "ok"), row("mul", b="ok")]),
        Pair("p2", "p2", [row("mul", "ok", "ok")]),
    ]
    assert told(pairs) == [("add", "p1", "None"), ("mul", "p2", "p2")]
