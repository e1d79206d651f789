"""Change points of a time over the runs of one suite: the fewest constant stretches that comparisons allow. Pure.

A history has one result per run, in the order of the runs. Consecutive runs are a *stretch* where no two of them are
slower or faster than each other, by the rule for two runs (:func:`~ciphermark_analysis.comparison.of_times`). The
history is divided into as few stretches as possible. This is the principle of K. Frick, A. Munk and H. Sieling,
“Multiscale change point inference”, Journal of the Royal Statistical Society B 76 (2014), 495-580, with comparisons of
two runs as the tests.

Rate of false alarms: the intervals of all pairs of runs of all results hold simultaneously, with a probability of
1 − ERROR (:class:`~ciphermark_analysis.family.Family`). Where they do, the true stretches are one possible partition,
so there are never more change points than true ones. In particular, with that probability, no result without a change
beyond the threshold has a change point.

Position: a partition built from the first run on begins each stretch as late as possible, one built from the last run
on as early as possible. In every partition into the fewest stretches, a change lies between these two positions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from ciphermark_analysis import comparison
from ciphermark_analysis.comparison import Rule
from ciphermark_analysis.estimates import Estimates, ratios_of
from ciphermark_analysis.family import Family

Row = Mapping[str, Any]
READ = (
    *("n", "processes", "median", "low", "high", "undisturbed_share", "slowdown"),
    *("reference_kernel_s", "memory_kernel_s"),
)
"""The columns of a result that a change point depends on, in addition to its ``threshold``."""


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of the level. ``earliest`` and ``latest`` are the indexes of the first runs at which the new level may
    begin; where they are equal, the position is exact. ``ratio`` is the new level divided by the one before it, of the
    medians that surely belong to these.
    """

    earliest: int
    latest: int
    ratio: float


def rule(histories: Iterable[Sequence[Row]], threshold: float | None = None) -> Rule:
    """The rule for histories that are judged together: the family has all pairs of runs of each."""
    return Rule(threshold=threshold, family=Family(sum(math.comb(len(runs), 2) for runs in histories)))


def change_points(runs: Sequence[Row], rule: Rule) -> list[ChangePoint]:
    """The change points of a time, whose medians and bounds are above zero; each row is that of one run."""
    differing = _differing(runs, rule)
    if not differing:
        return []
    places = range(len(runs))
    latest = _starts(places, differing)
    earliest = [len(runs) - start for start in reversed(_starts(places[::-1], differing))]
    # From one change point to the next, the runs from the latest start on are surely of one level.
    firsts, ends = (0, *latest), (*earliest, len(runs))
    levels = [
        median(math.log(run["median"]) for run in runs[first:end])
        for first, end in zip(firsts, ends, strict=True)
    ]
    return [
        ChangePoint(*position, math.exp(after - before))
        for position, before, after in zip(
            zip(earliest, latest, strict=True), levels[:-1], levels[1:], strict=True
        )
    ]


def _starts(places: Sequence[int], differing: set[frozenset[int]]) -> list[int]:
    """The positions in a sequence of runs at which a new stretch begins, each as late as possible."""
    starts = [0]
    for position, run in enumerate(places):
        if any(frozenset((other, run)) in differing for other in places[starts[-1] : position]):
            starts.append(position)
    return starts[1:]


def _differing(runs: Sequence[Row], rule: Rule) -> set[frozenset[int]]:
    """The pairs of runs of which one is slower than the other."""
    if len(runs) < 2:
        return set()
    n, middle, low, high = (
        np.array([math.nan if run[name] is None else run[name] for run in runs], np.float64)
        for name in ("n", "median", "low", "high")
    )
    a, b = np.triu_indices(len(runs), 1)
    ratios = ratios_of(
        *(Estimates(n[side].astype(np.int64), middle[side], low[side], high[side]) for side in (a, b))
    )
    least, greatest = (
        ratios.median * (bound / ratios.median) ** rule.family.widening for bound in (ratios.low, ratios.high)
    )
    # The effects of hosts and processes can only take verdicts away.
    threshold = rule.threshold_of(runs[0])
    is_beyond = (least > threshold) | (greatest < 1 / threshold)
    pairs = zip(a[is_beyond].tolist(), b[is_beyond].tolist(), strict=True)
    return {frozenset((one, other)) for one, other in pairs if _differ(runs[one], runs[other], rule)}


def _differ(a: Row, b: Row, rule: Rule) -> bool:
    """Whether one of two results is slower than the other."""
    pair = {f"{side}_{name}": run[name] for side, run in (("a", a), ("b", b)) for name in READ}
    verdict = comparison.of_times({"threshold": a["threshold"], **pair}, "", rule).verdict
    return verdict in ("slower", "faster")
