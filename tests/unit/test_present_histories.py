"""Histories of a suite: which times changed, and pictures at their true places."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest

from ciphermark_present import histories

START = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def runs(*medians: float, variant: str = "seal", **other: Any) -> list[dict[str, Any]]:
    """A row per run, each a day after the one before it."""
    return [
        {
            "run_id": f"r{day}",
            "started_at": START + timedelta(days=day),
            "case_key": f"{variant}-key",
            "comparison_group": "c",
            "variant": variant,
            "experiment": "arithmetic",
            "operation": "add",
            "scheme": "bfv",
            "ring_dimension": 8192,
            "tuning": "matched",
            "phase": "evaluate",
            "repetitions": None,
            "vector_length": 8192,
            "data_pattern": "random",
            "data_set": None,
            "threads": 1,
            "n": 10,
            "processes": 2,
            "median": median,
            "threshold": 1.05,
            "low": median * 0.99,
            "high": median * 1.01,
            "undisturbed_share": 1.0,
            "slowdown": 1.0,
            "reference_kernel_s": 5e-5,
            "memory_kernel_s": 5e-5,
        }
        | other
        for day, median in enumerate(medians)
    ]


def test_times_that_changed_come_first_with_words() -> None:
    steady, slower = runs(1.0, 1.0, 1.0), runs(1.0, 1.0, 1.3, variant="openfhe")
    series = histories.of_runs([*steady, *slower])
    assert [each.variant for each in series] == ["openfhe", "seal"]
    assert series[0].sentences == ["openfhe is 1.30× slower from 2026-01-03 12:00 on"]
    assert series[1].sentences == []


def test_a_change_between_several_runs_states_both_ends() -> None:
    (series,) = histories.of_runs(runs(1.0, 1.06, 1.12))
    assert series.sentences == ["seal is 1.12× slower from between 2026-01-02 12:00 and 2026-01-03 12:00 on"]


def test_a_run_with_one_process_decides_large_changes_only() -> None:
    for ratio, count in ((1.2, 0), (1.4, 1)):
        rows = runs(1.0, 1.0, ratio, processes=1)
        assert len(histories.of_runs(rows)[0].points) == count


def test_two_runs_are_no_history() -> None:
    assert histories.of_runs(runs(1.0, 2.0)) == []


@pytest.mark.parametrize(
    "host",
    [
        {},
        {"reference_kernel_s": 6.5e-5},
        {"memory_kernel_s": 8.5e-5},
        {"undisturbed_share": 0.0, "slowdown": None},
    ],
)
def test_a_change_that_the_host_explains_is_none(host: dict[str, Any]) -> None:
    rows = runs(1.0, 1.0, 1.3, 1.0, 1.0)
    rows[2].update(host)
    assert len(histories.of_runs(rows)[0].points) == (0 if host else 2)


def test_pictures_are_those_of_changes_or_of_the_chosen_case() -> None:
    slower = runs(1.0, 1.0, 1.3)
    beside = runs(1.0, 1.0, 1.0, variant="openfhe")
    steady = runs(1.0, 1.0, 1.0, variant="tenseal", comparison_group="d")
    series = histories.of_runs([*slower, *beside, *steady])

    def variants(case: str, changed: list[dict[str, Any]]) -> list[set[str]]:
        return [{each.variant for each in same} for same in histories.pictured(series, case, changed)]

    assert variants("", []) == [{"seal", "openfhe"}]
    assert variants("", [steady[0]]) == [{"seal", "openfhe"}, {"tenseal"}]
    assert variants("d", []) == [{"tenseal"}]
    assert variants("gone", []) == []


def test_a_picture_has_true_distances_and_marks_the_change() -> None:
    rows = runs(1.0, 1.0, 1.3)
    rows[2]["started_at"] = START + timedelta(days=4)
    series = histories.of_runs([*rows, *runs(1.0, 1.0, 1.28, variant="tenseal")])
    picture = histories.picture([each for each in series if each.variant == "seal"], 400, 200)
    (line,) = picture.lines
    first, second, third = (mark.x for mark in line.marks)
    assert third - second == pytest.approx(3 * (second - first), abs=0.3)
    assert line.marks[2].y < line.marks[1].y  # longer is higher
    assert line.marks[0].high < line.marks[0].y < line.marks[0].low
    (shift,) = picture.shifts
    assert (shift.left, shift.label) == (shift.right, "seal 1.30× slower")
    assert second < shift.left < third
    assert picture.dates == ("2026-01-01", "2026-01-05")
    assert picture.title == "seal is 1.30× slower from 2026-01-05 12:00 on"


def test_names_at_the_ends_of_lines_do_not_overlap() -> None:
    rows = [row for name in ("seal", "pyfhel", "tenseal") for row in runs(1.0, 1.0, 1.001, variant=name)]
    picture = histories.picture(histories.of_runs(rows), 400, 200)
    heights = sorted(line.label for line in picture.lines)
    assert all(after - before >= 14 for before, after in pairwise(heights))
    assert picture.title == "No change point in 3 runs"
