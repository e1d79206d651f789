"""Ranks of variants over several cases, from means of ratios and their intervals. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_analysis.resampling import Rounds, Spread, spread
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Case:
    """The ratio of a variant to the fastest one in a case, with its interval and the underlying times."""

    ratio: float
    low: float
    high: float
    rounds: Rounds


def geometric_mean(ratios: Sequence[float]) -> float | None:
    """The geometric mean of ratios; ``None`` for no ratios."""
    return math.exp(_mean_logarithm(ratios)) if ratios else None


def judged(variants: Sequence[Sequence[Case]]) -> list[tuple[int | None, Bounds]]:
    """Return each variant's rank and the interval of its mean, from ratios in the same cases for all variants.

    A variant that is significantly slower than ``k`` others has rank k + 1: the whole interval of the difference lies
    beyond the significance threshold. A rank is ``None`` where it contradicts the order of means.
    """
    count = len(variants[0])
    means = [_mean_logarithm([case.ratio for case in cases]) for cases in variants]
    if count == 1:  # a single case: its own interval, which is exact
        bounds: list[Bounds] = [(cases[0].low, cases[0].high) for cases in variants]
        slower = [
            [own[0].low / other[0].high > SIGNIFICANCE_THRESHOLD for other in variants if other is not own]
            for own in variants
        ]
    else:
        scatter = spread([[case.rounds for case in same] for same in zip(*variants, strict=True)])
        halves = [scatter.half_width(place) for place in range(len(variants))]
        bounds = [(math.exp(m - h), math.exp(m + h)) for m, h in zip(means, halves, strict=True)]
        slower = [_slower(place, means, scatter) for place in range(len(variants))]
    ranks = _consistent(means, [1 + sum(others) for others in slower])
    return list(zip(ranks, bounds, strict=True))


def _mean_logarithm(ratios: Sequence[float]) -> float:
    return math.fsum(map(math.log, ratios)) / len(ratios)


def _consistent(means: Sequence[float], ranks: Sequence[int]) -> list[int | None]:
    """The ranks that are consistent with the means: no rank is better than that of a smaller mean."""
    return [
        rank if all(ranks[other] <= rank for other in range(len(means)) if means[other] < mean) else None
        for mean, rank in zip(means, ranks, strict=True)
    ]


def _slower(place: int, means: Sequence[float], scatter: Spread) -> list[bool]:
    """Per other variant, whether this one is significantly slower."""
    others = [other for other in range(len(means)) if other != place]
    return [
        means[place] - means[other] - scatter.half_width(place, other) > math.log(SIGNIFICANCE_THRESHOLD)
        for other in others
    ]
