"""Sentences of a report: what they count, and what they leave out."""

from __future__ import annotations

from typing import Any

import pytest

from ciphermark_dashboards import report
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.pages import FIGURES
from ciphermark_dashboards.rendering import Filled
from ciphermark_present.query import Answer


def told(name: str, *rows: dict[str, Any]) -> list[str]:
    """The sentences about a figure's rows."""
    place = {"scheme": "bfv", "security_compared": 128, "data_set": "boston"}
    selection = Selection((("run", "r"),), extra=place)
    answer = Answer(tuple(rows[0]), [tuple(row.values()) for row in rows])
    return report.sentences(Filled(FIGURES[name], selection, answer))


def sped(ratio: float, verdict: str) -> dict[str, Any]:
    return {"ratio": ratio, "verdict": verdict}


def ranked(variant: str, mean: float | None, rank: int | None, tuning: str = "matched") -> dict[str, Any]:
    shared = {"common_cases": 3, "is_composite": False, "tuning": tuning}
    return {"variant": variant, "mean_ratio": mean, "rank": rank, **shared}


def test_no_difference_is_no_speedup() -> None:
    rows = (
        sped(5.5, "faster"),
        sped(0.9, "no difference"),
        sped(9.0, "too few samples"),
        sped(0.5, "slower"),
    )
    assert told("speedup", *rows) == [
        "HEXL in BFV at 128 bits (2018): faster in 1 of 4 cases, up to 5.50×; slower in 1, down to 0.500×; "
        "no significant difference in 1; too few samples in 1."
    ]
    assert told("speedup", sped(1.01, "no difference")) == [
        "HEXL in BFV at 128 bits (2018): faster in 0 of 1 case; no significant difference in 1."
    ]


def test_ranks_are_told_as_they_are_shared() -> None:
    over = "(geometric mean of the ratios to the fastest over the 3 cases that all have)."
    shared = (ranked("a", 1.0, 1), ranked("b", 1.02, 1), ranked("c", 4, 3), ranked("d", None, None))
    assert told("leaderboard", *shared) == [
        f"BFV at 128 bits (2018), matched tuning: a 1.00×, b 1.02× share rank 1; rank 3: c 4.00× {over}"
    ]
    assert told("leaderboard", ranked("a", 1.0, None), ranked("b", 2.0, None)) == [
        f"BFV at 128 bits (2018), matched tuning: a 1.00×, b 2.00× {over[:-1]}; too few samples to rank them."
    ]
    assert told("leaderboard", ranked("a", 1.0, 1), ranked("b", 2.0, 2), ranked("c", 7.0, None)) == [
        "BFV at 128 bits (2018), matched tuning: a is fastest in every case; rank 2: b 2.00×; "
        f"unranked, interval too wide: c 7.00× {over}"
    ]
    assert told("leaderboard", ranked("a", 1.0, 1)) == []


def test_each_tuning_has_a_leader_of_its_own() -> None:
    rows = (
        ranked("a", 1.0, 1),
        ranked("b", 3.0, 2),
        ranked("b", 1.0, 1, "recommended"),
        ranked("a", 2.0, 2, "recommended"),
    )
    equal, best = told("leaderboard", *rows)
    assert equal.startswith(
        "BFV at 128 bits (2018), matched tuning: a is fastest in every case; rank 2: b 3.00×"
    )
    assert best.startswith(
        "BFV at 128 bits (2018), recommended tuning: b is fastest in every case; rank 2: a 2.00×"
    )


def test_a_leader_that_is_beaten_somewhere_says_so() -> None:
    (sentence,) = told("leaderboard", ranked("a", 1.25, 1), ranked("b", 3.0, 2))
    assert "a is fastest overall, at 1.25× the time of the fastest of each case; rank 2: b 3.00×" in sentence


def test_depth_says_where_the_search_met_its_cap() -> None:
    row = {
        "operation": "mul",
        "ring_dimension": 8192,
        "variant": "a",
        "depth": 4.0,
        "is_at_max_repetitions": False,
    }
    capped = row | {"operation": "add", "depth": 64.0, "is_at_max_repetitions": True}
    none = row | {"variant": "b", "depth": None}
    assert told("depth", row, capped, none) == [
        "Depth, BFV at 128 bits (2018): maximum number of consecutive operations that decrypt correctly: at least 64 "
        "add (a; N = 8192); 4 mul (a; N = 8192)."
    ]


def test_failures_are_counted_by_variant() -> None:
    outcomes = [
        {"variant": "a", "status": "ok", "trials": 3},
        {"variant": "a", "status": "crashed", "trials": 2},
        {"variant": "b", "status": "unsupported", "trials": 1},
    ]
    first, second = report.counted(outcomes)
    assert first.startswith("6 trials: 3 ok, 2 crashed, 1 unsupported.")
    assert second == (
        "Not measured: a: 2 crashed; b: 1 unsupported. The reasons are under Failed and unsupported trials."
    )


def test_programs_that_differ_are_named() -> None:
    place = {"operation": "lmc-plain", "scheme": "ckks", "comparison_group": "c"}
    same, other = (
        place | {"stage": "train", "is_equal_program": True},
        place | {"stage": "infer", "is_equal_program": False},
    )
    assert told("programs", same, same, other) == [
        "Programs: in 1 of 2 stages that several variants executed, their programs were equal; not in lmc-plain, infer "
        "(CKKS)."
    ]
    assert told("programs", same) == [
        "Programs: in 1 of 1 stages that several variants executed, their programs were equal."
    ]
    assert told("programs", place | {"stage": "train", "is_equal_program": None}) == []


@pytest.mark.parametrize(("table", "level"), [("2018", "128 bits"), ("2024", "below 128 bits")])
def test_sentences_and_charts_of_workloads_have_the_level_of_the_table(table: str, level: str) -> None:
    row = {
        "operation": "product",
        "scheme": "bfv",
        "vector_length": 4,
        "options": None,
        "threads": 1,
        "variant": "seal",
    }
    row |= {"stage": "compute", "part": "", "metric": "time", "median": 0.5, "comparison_group": "c"}
    row |= {"security_2018": 128, "security_2024": 0, "ring_dimension": 8192}
    selection = Selection((("run", "r"),), extra={"table": table})
    item = Filled(FIGURES["workloads"], selection, Answer(tuple(row), [tuple(row.values())]))
    assert report.sentences(item) == [
        f"product in BFV, vector length 4, at {level} ({table}): fastest median time of compute 500 ms (seal)."
    ]
    (mark,) = item.specification["data"]["values"]
    assert mark["panel"] == "compute: product, 4"
    assert item.specification["title"] == [f"All: BFV, {level}"]
