"""Change points of histories: where they are, and how often there is one without a change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ciphermark_analysis.family import ERROR
from ciphermark_analysis.history import ChangePoint, change_points, rule

THRESHOLD = 1.05


def result(median: float, low: float | None, high: float | None) -> dict[str, Any]:
    return {
        "n": 10,
        "processes": 2,
        "threshold": THRESHOLD,
        "median": median,
        "low": low,
        "high": high,
        "undisturbed_share": 1.0,
        "slowdown": 1.0,
        "reference_kernel_s": None,
        "memory_kernel_s": None,
    }


def runs(*medians: float, width: float = 1.01) -> list[dict[str, Any]]:
    return [result(median, median / width, median * width) for median in medians]


def points(history: list[dict[str, Any]], threshold: float = THRESHOLD) -> list[ChangePoint]:
    return change_points(history, rule([history], threshold))


def positions(history: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(point.earliest, point.latest) for point in points(history)]


@pytest.mark.parametrize(
    ("medians", "expected"),
    [
        ((), []),
        ((1.0,), []),
        ((1.0, 1.04, 0.99, 1.03), []),  # within the threshold
        ((1.0, 1.2), [(1, 1)]),
        ((1.0, 1.01, 1.2, 1.21, 1.2), [(2, 2)]),
        ((1.2, 1.0, 1.0, 1.3, 1.31), [(1, 1), (3, 3)]),
        ((1.0, 1.06, 1.12), [(1, 2)]),  # the run in between fits both levels
        ((1.0, 1.05, 1.1, 1.15, 1.2, 1.25), [(2, 2), (4, 4)]),
    ],
)
def test_a_history_has_the_fewest_levels(medians: tuple[float, ...], expected: list[tuple[int, int]]) -> None:
    assert positions(runs(*medians)) == expected


def test_a_change_point_has_the_ratio_of_the_levels_around_it() -> None:
    slower, faster = points(runs(1.0, 1.0, 1.0, 1.3, 1.3, 0.65))
    assert (slower.ratio, faster.ratio) == (pytest.approx(1.3), pytest.approx(0.5))
    (gradual,) = points(runs(1.0, 1.06, 1.12))
    assert gradual.ratio == pytest.approx(1.12)  # the run in between is of neither level


def test_a_run_without_an_interval_changes_nothing() -> None:
    history = runs(1.0, 1.0, 1.3)
    history[1] = result(9.0, None, None)
    assert positions(history) == [(1, 2)]


def test_wide_intervals_and_many_results_hide_a_change() -> None:
    assert positions(runs(1.0, 1.2, width=1.1)) == []
    history = runs(1.0, 1.12, width=1.02)
    assert [len(change_points(history, rule([history] * count))) for count in (1, 10_000)] == [1, 0]


HISTORIES, RUNS, NOISE = 400, 12, 0.03


@pytest.mark.parametrize(("step", "most"), [(0.0, 0), (0.3, 1)], ids=["no change", "one change"])
def test_false_change_points_are_as_rare_as_stated(step: float, most: int) -> None:
    """Normal estimates with known errors have exact simultaneous intervals, and there is no threshold to help.

    Each history has more change points than true ones with a probability of at most ``ERROR``. By Hoeffding's
    inequality, the number of such histories among ``HISTORIES`` exceeds (ERROR + t) · HISTORIES with a probability of
    at most exp(−2 · HISTORIES · t²), which is 1e-9 for this t.
    """
    t = math.sqrt(math.log(1e9) / (2 * HISTORIES))
    generator = np.random.default_rng()
    half_width = 1.959963985 * NOISE
    false_alarms = 0
    for _ in range(HISTORIES):
        levels = np.where(np.arange(RUNS) < generator.integers(1, RUNS), 0.0, step)
        history = [
            result(math.exp(x), math.exp(x - half_width), math.exp(x + half_width))
            for x in generator.normal(levels, NOISE)
        ]
        false_alarms += len(points(history, threshold=1.0)) > most
    assert false_alarms <= (ERROR + t) * HISTORIES


def test_a_large_change_is_found_where_it_is() -> None:
    """The threshold and the widened interval of a ratio make 9.7%, which is 8.5 standard errors of two runs. One of the
    66 pairs of one level in 200 histories is beyond it with a probability of 66 · 200 · 1.9e-17, below 1e-9. Runs of
    different levels are 21 standard errors beyond it.
    """
    generator = np.random.default_rng()
    for _ in range(200):
        place = int(generator.integers(1, RUNS))
        values = np.exp(generator.normal(np.where(np.arange(RUNS) < place, 0.0, math.log(1.4)), 0.008))
        assert positions(runs(*values, width=1.02)) == [(place, place)]
