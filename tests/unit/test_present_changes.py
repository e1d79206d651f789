"""The page of two runs: its verdict in words, what changed, and the axis of ratios."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from ciphermark_analysis.comparison import COLUMNS
from ciphermark_present import changes, ratio_axis
from ciphermark_present.catalogue import comparing

ROW: dict[str, Any] = dict.fromkeys((*COLUMNS, "run_id")) | {
    "run_id": "b",
    "variant": "seal",
    "scheme": "bfv",
    "ring_dimension": 8192,
    "experiment": "arithmetic",
    "operation": "add",
    "phase": "evaluate",
    "vector_length": 8192,
    "data_pattern": "random",
    "threads": 1,
    "metric": "time",
    "unit": "s",
    "comparison_group": "c",
    "tuning": "matched",
    "a_median": 0.002,
    "b_median": 0.002,
    "ratio": 1.0,
    "ratio_low": 0.98,
    "ratio_high": 1.02,
    "detectable_slowdown": 1.12,
    "verdict": "unchanged",
    "remark": "",
}
UNCHANGED = ROW
SLOWER = ROW | {"verdict": "slower", "ratio": 2.0, "ratio_low": 1.6, "ratio_high": 2.5, "b_median": 0.004}
FASTER = ROW | {"verdict": "faster", "ratio": 0.5, "ratio_low": 0.4, "ratio_high": 0.625, "b_median": 0.001}
UNDECIDED = ROW | {"verdict": "undecided: too few samples in run B", "ratio_low": None, "ratio_high": None}
FAILED = ROW | {
    "verdict": "failed: run B is crashed",
    "metric": None,
    "unit": None,
    "ratio": None,
    "b_median": None,
}
WORSE = ROW | {"verdict": "worse", "metric": "noise_budget", "unit": "bits", "ratio": 1.3, "ratio_low": None}
OTHER = ROW | {"verdict": "not comparable: only in run A"}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [SLOWER, SLOWER, FASTER, *[UNCHANGED] * 519, *[UNDECIDED] * 18, OTHER],
            "2 of 540 results are slower, 1 faster, 18 undecided, 519 unchanged.",
        ),
        ([SLOWER, UNCHANGED], "1 of 2 results is slower, 1 unchanged."),
        ([SLOWER], "1 of 1 result is slower."),
        ([FAILED, SLOWER, UNCHANGED], "1 of 3 results is failing, 1 slower, 1 unchanged."),
        ([FASTER, UNCHANGED], "None of 2 results regressed: 1 faster, 1 unchanged."),
        ([OTHER, OTHER | {"verdict": "not comparable: b"}, OTHER], "Nothing can be compared: only in run A."),
        ([], "Nothing can be compared: no results."),
    ],
)
def test_the_verdict_counts_every_result_once(rows: list[dict[str, Any]], sentence: str) -> None:
    assert comparing.headline(rows) == sentence


@pytest.mark.parametrize(
    ("rows", "word", "is_good"),
    [
        ([SLOWER, FASTER], "▼ regression", False),
        ([FASTER, UNCHANGED], "no regression", True),
        ([UNDECIDED, UNCHANGED], "undecided", False),
        ([OTHER], "not compared", False),
    ],
)
def test_the_conclusion_has_a_word(rows: list[dict[str, Any]], word: str, is_good: bool) -> None:
    assert changes.pill(rows) == (word, is_good)


def test_the_power_is_stated_for_typical_and_for_all_times() -> None:
    assert changes.power([UNCHANGED, UNDECIDED]) == "A slowdown of 12% would be found."
    rows = [UNCHANGED, UNCHANGED, UNCHANGED | {"detectable_slowdown": 1.4}]
    assert changes.power(rows) == "A slowdown of 12% would be found in half of the times, one of 40% in all."
    assert changes.power([FAILED | {"detectable_slowdown": None}]) == ""


def test_regressions_come_before_gains_and_the_largest_first() -> None:
    small = SLOWER | {"ratio": 1.25, "variant": "tenseal"}
    sections = changes.sections([FASTER, small, UNCHANGED, SLOWER, FAILED, WORSE, UNDECIDED, OTHER])
    assert [section.title for section in sections] == ["4 regressions", "1 gain"]
    assert [item.kind for item in sections[0].items] == ["failed", "slower", "worse", "slower"]
    assert [item.variant for item in sections[0].items][-1] == "tenseal"
    assert [item.kind for item in changes.undecided([SLOWER, UNDECIDED])] == ["undecided"]
    assert comparing.incomparable([OTHER, SLOWER]) == [("only in run A", 1)]


def test_a_row_has_run_b_divided_by_run_a() -> None:
    (item,) = changes.of_kinds([SLOWER], ["slower"])
    assert item.ratio == 2.0
    assert item.interval == (pytest.approx(1.6), pytest.approx(2.5))
    assert item.values == "2.00 ms → 4.00 ms"
    assert item.name == "add two ciphertexts"
    assert item.place == "BFV, N = 8192, 8,192 values, evaluate time"


@pytest.mark.parametrize("row", [FAILED, WORSE])
def test_a_result_that_is_no_cost_has_no_place_on_the_axis(row: dict[str, Any]) -> None:
    (item,) = changes.of_kinds([row], ["failed", "worse"])
    assert item.ratio is None
    assert item.interval is None


def test_cases_that_differ_in_nothing_else_are_told_apart() -> None:
    rows = [
        SLOWER | {"comparison_group": name, "modulus_bits": [30] * length}
        for name, length in (("x", 3), ("y", 5))
    ]
    assert {item.place.split(", ")[3] for item in changes.of_kinds(rows, ["slower"])} == {
        "90 bits",
        "150 bits",
    }


def test_the_axis_has_room_on_both_sides_and_the_chosen_threshold() -> None:
    axis = changes.axis(changes.of_kinds([SLOWER, FASTER], ["slower", "faster"]), threshold=1.1)
    assert axis.low < 0.4
    assert axis.high > 2.5
    assert 1 in axis.ticks
    assert {0.5, 2} <= set(axis.ticks)
    left, width = axis.band
    assert left == pytest.approx(axis.position(1 / 1.1))
    assert left + width == pytest.approx(axis.position(1.1))


def test_an_axis_of_small_changes_has_ticks() -> None:
    axis = ratio_axis.of_changes([(1.08, 1.06, 1.1)], 1.05)
    assert len(axis.ticks) >= 3
    positions = sorted(map(axis.position, axis.ticks))
    assert all(after - before > 6 for before, after in pairwise(positions))
