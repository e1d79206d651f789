"""Verdicts of several results together: the rate of false alarms of a whole comparison, and what it would find."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ciphermark_analysis.estimates import Estimate, Estimates, Segments, ratios_of
from ciphermark_analysis.family import ERROR, POWER, Family, decided

SAMPLES = 16


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.06, 1.2, "faster"),
        (0.8, 0.94, "slower"),
        (0.96, 1.04, "unchanged"),
        (1 / 1.05, 1.05, "unchanged"),
        (0.602, 1.16, "undecided"),  # has room for a slowdown of 66%
        (0.94, 1.04, "undecided"),
        (0.96, 1.06, "undecided"),
        (None, 1.0, "undecided"),
        (1.0, None, "undecided"),
    ],
)
def test_a_result_is_unchanged_where_its_whole_interval_lies_within_the_threshold(low, high, verdict):
    assert decided(Estimate(8, 1.0, low, high), 1.05) == verdict


def test_of_one_result_the_interval_stays():
    ratio = Estimate(8, 1.0, 0.9, 1.2)
    assert Family(1).simultaneous(ratio) == Estimate(8, 1.0, pytest.approx(0.9), pytest.approx(1.2))
    assert Family(1).widening == Family(0).widening == pytest.approx(1)


def test_intervals_widen_on_the_log_scale():
    family = Family(100)
    assert family.widening == pytest.approx(
        3.4808 / 1.9600, rel=1e-4
    )  # normal quantiles of 0.99975 and 0.975
    wide = family.simultaneous(Estimate(8, 2.0, 1.8, 2.4))
    assert math.log(2.0 / wide.low) == pytest.approx(family.widening * math.log(2.0 / 1.8))
    assert math.log(wide.high / 2.0) == pytest.approx(family.widening * math.log(2.4 / 2.0))
    assert family.simultaneous(Estimate(3, 2.0, None, None)) == Estimate(3, 2.0, None, None)
    assert family.detectable(Estimate(3, 2.0, None, None), 1.05) is None


# Seeds are fixed: nothing here fails by chance.
def pairs(seed: int, slowdown: float = 1.0, results: int = 200) -> tuple[Estimates, list[Estimate]]:
    """Ratios of the medians of equal builds, b's times multiplied by ``slowdown``; all as one, and one by one."""
    draw = np.random.default_rng(seed)
    segment = np.repeat(np.arange(results), SAMPLES)
    sides = (
        Segments.of(factor * np.exp(draw.normal(0, 0.05, len(segment))), segment).estimates(
            np.zeros(results, bool)
        )
        for factor in (1.0, slowdown)
    )
    ratios = ratios_of(*sides)
    return ratios, [ratios[number] for number in range(results)]


def test_equal_builds_differ_in_five_percent_of_comparisons_at_most():
    """Without any threshold; 40 comparisons of 200 results. Intervals of one result each would differ in nearly all."""
    alarms, alarms_alone = 0, 0
    for seed in range(40):
        _, ratios = pairs(seed)
        family = Family(len(ratios))
        alarms += any(decided(family.simultaneous(ratio), 1.0) in ("slower", "faster") for ratio in ratios)
        alarms_alone += any(decided(ratio, 1.0) in ("slower", "faster") for ratio in ratios)
    assert alarms <= 40 * ERROR
    assert alarms_alone > 20


def test_the_detectable_slowdown_is_reported_about_as_often_as_stated():
    family = Family(200)
    _, equal = pairs(1)
    typical = float(np.median([family.detectable(ratio, 1.05) for ratio in equal]))
    _, slower = pairs(2, typical)
    reported = sum(decided(family.simultaneous(ratio), 1.05) == "slower" for ratio in slower) / len(slower)
    assert POWER - 0.15 <= reported <= POWER + 0.15


def test_every_ratio_is_that_of_its_own_pair():
    every, ratios = pairs(3, results=5)
    assert [ratio.median for ratio in ratios] == every.median.tolist()
