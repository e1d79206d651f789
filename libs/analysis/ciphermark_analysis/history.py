"""Change points of a time over the runs of one suite: the fewest constant stretches that the intervals allow. Pure.

A history has one estimate per run, in the order of the runs. Consecutive runs are a *stretch* where one level lies in
all their intervals, each widened by the square root of the significance threshold on both sides. Two runs of one
stretch may therefore differ by the threshold. The history is divided into as few stretches as possible. This is the
principle of K. Frick, A. Munk and H. Sieling, “Multiscale change point inference”, Journal of the Royal Statistical
Society B 76 (2014), 495-580, with the interval of each run as the constraint.

Rate of false alarms: the intervals of all results and runs hold simultaneously, with a probability of 1 − ERROR
(:class:`~ciphermark_analysis.family.Family`). Where they do, the true stretches are one possible partition, so there
are never more change points than true ones. In particular, with that probability, no result without a change beyond
the threshold has a change point.

Position: a partition built from the first run on begins each stretch as late as possible, one built from the last run
on as early as possible. In every partition into the fewest stretches, a change lies between these two positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ciphermark_analysis.estimates import Estimate
from ciphermark_analysis.family import Family

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of the level. ``earliest`` and ``latest`` are the indexes of the first runs at which the new level may
    begin; where they are equal, the position is exact. ``ratio`` is the new level divided by the one before it, of the
    medians that surely belong to these.
    """

    earliest: int
    latest: int
    ratio: float


def change_points(history: Sequence[Estimate], family: Family, threshold: float) -> list[ChangePoint]:
    """The change points of estimates, all above zero, with their 95% intervals; one without an interval has no effect
    on them. ``family`` has the number of all intervals that are judged together, and ``threshold`` is a factor.
    """
    bounds = [_bounds(each, family, threshold) for each in history]
    latest = _starts(bounds)
    if not latest:
        return []
    earliest = [len(bounds) - start for start in reversed(_starts(bounds[::-1]))]
    # From one change point to the next, the runs from the latest start on are surely of one level.
    firsts, ends = (0, *latest), (*earliest, len(bounds))
    levels = [
        median(math.log(each.median) for each in history[first:end])
        for first, end in zip(firsts, ends, strict=True)
    ]
    return [
        ChangePoint(*position, math.exp(after - before))
        for position, before, after in zip(
            zip(earliest, latest, strict=True), levels[:-1], levels[1:], strict=True
        )
    ]


def _bounds(each: Estimate, family: Family, threshold: float) -> Bounds:
    """The levels that an estimate allows."""
    joint = family.simultaneous(each)
    if joint.low is None or joint.high is None:
        return 0.0, math.inf
    margin = math.sqrt(threshold)
    return joint.low / margin, joint.high * margin


def _starts(bounds: Sequence[Bounds]) -> list[int]:
    """The indexes at which a new stretch begins, each as late as the intervals allow."""
    starts = []
    low, high = 0.0, math.inf
    for index, own in enumerate(bounds):
        low, high = max(low, own[0]), min(high, own[1])
        if low > high:
            starts.append(index)
            low, high = own
    return starts
