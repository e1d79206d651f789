"""Medians, intervals and verdicts. Pure; the SQL views compute the same figures.

Intervals are order-statistic (binomial) confidence intervals of the median: distribution-free,
exact in coverage, and made of values that were really measured. They say how well the samples
of *this* run fix the median; what differs between runs (memory layout, host) is covered by
:data:`NOISE_FLOOR` in verdicts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

CONFIDENCE = 0.95
# Where somebody looks at a growing sample and stops when he likes what he sees: the sizes at which there is something
# to see, and the ranks that cover the median at all of them at once with the confidence above, for every distribution.
# Of n independent values those below the median are a walk of n fair coins; the ranks are bounds that it stays within
# from the first look to the last. tests/unit/test_core_statistics.py adds up exactly how often it does not.
LOOKS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
_RANKS = (1, 2, 3, 6, 10, 15, 22, 35, 48, 76, 105, 162, 221, 340, 460, 702, 947, 1438, 1934)
# Two processes of one and the same binary differ by up to this factor here (code and page placement);
# `make bench` measures it with an A/A run. No verdict below it.
NOISE_FLOOR = 1.05

Verdict = Literal["faster", "slower", "no difference", "too few samples"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Median with its interval; the bounds are ``None`` where n is too small for one (see the ranks)."""

    n: int
    median: float
    low: float | None
    high: float | None


def interval_rank(n: int, confidence: float = CONFIDENCE) -> int | None:
    """The rank r such that [x_(r), x_(n+1−r)] covers the median with at least ``confidence``.

    Largest r with P(Binomial(n, 1/2) < r) ≤ (1 − confidence) / 2; ``None`` where even r = 1 covers less.
    """
    tail, rank = 0.0, 0
    for k in range(n):
        tail += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
        if tail > (1 - confidence) / 2:
            break
        rank = k + 1
    return rank or None


def sequential_rank(n: int) -> int | None:
    """As :func:`interval_rank`, for a sample whose size depends on its values: whoever stops, whenever and for whatever
    reason, has at least :data:`CONFIDENCE` that the interval covers the median. ``None`` for n < 8.

    Between two looks it is the rank of the earlier one: what is below the median does not become less.
    """
    looks = bisect_right(LOOKS, n)
    return _RANKS[looks - 1] if looks else None


def estimate(values: Sequence[float], *, is_sequential: bool = False) -> Estimate:
    """Median and interval of at least one value; ``is_sequential`` where their number depends on them."""
    ordered = sorted(values)
    rank = sequential_rank(len(ordered)) if is_sequential else interval_rank(len(ordered))
    if rank is None:
        return Estimate(len(ordered), median(ordered), None, None)
    return Estimate(len(ordered), median(ordered), ordered[rank - 1], ordered[-rank])


def verdict(ratio: Estimate, floor: float = NOISE_FLOOR) -> Verdict:
    """What a ratio of times a/b says about b: ``faster`` when a took longer for certain.

    The interval, widened by ``floor`` on both sides, must exclude 1.
    """
    if ratio.low is None or ratio.high is None:
        return "too few samples"
    if ratio.low > floor:
        return "faster"
    if ratio.high < 1 / floor:
        return "slower"
    return "no difference"


def ratio_of(a: Estimate, b: Estimate) -> Estimate:
    """Ratio of two unpaired medians, with the conservative interval [a.low/b.high, a.high/b.low]."""
    low = a.low / b.high if a.low is not None and b.high else None
    high = a.high / b.low if a.high is not None and b.low else None
    return Estimate(min(a.n, b.n), a.median / b.median, low, high)
