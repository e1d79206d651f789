"""Medians with intervals, of one list of values or of many at once.

Intervals are order-statistic (binomial) confidence intervals of the median: distribution-free, exact in coverage, with
measured values as bounds. They state how well the samples of *this* run determine the median. The significance
threshold of verdicts covers differences between runs (memory layout, host).

Another interval method needs another :func:`bounds` and a new :data:`METHOD`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from ciphermark_analysis.samples import Booleans, Floats, Integers
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD

# The version of results and ratios. A change of any value needs a new one: databases then recompute their rows.
METHOD = 5
CONFIDENCE = 0.95
# For a growing sample with optional stopping: the sizes of its looks, and the ranks that cover the median at all of
# them simultaneously with the confidence above, for every distribution. The number of values below the median is a walk
# of fair coins; the ranks are bounds within which it stays from the first look to the last.
# tests/unit/test_analysis_estimates.py computes the exact probability that it leaves them.
LOOKS = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
_RANKS = (1, 2, 3, 6, 10, 15, 22, 35, 48, 76, 105, 162, 221, 340, 460, 702, 947, 1438, 1934)

Verdict = Literal["faster", "slower", "no difference", "too few samples"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Median with its interval; the bounds are ``None`` where n is too small for one (see the ranks)."""

    n: int
    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Estimates:
    """Like :class:`Estimate`, with an element per segment; bounds are NaN where n is too small."""

    n: Integers
    median: Floats
    low: Floats
    high: Floats

    def __getitem__(self, segment: int) -> Estimate:
        low, high = (
            None if math.isnan(bounds[segment]) else float(bounds[segment])
            for bounds in (self.low, self.high)
        )
        return Estimate(int(self.n[segment]), float(self.median[segment]), low, high)


@dataclass(frozen=True, slots=True)
class Segments:
    """Values in ascending order within each segment; no segment is empty."""

    values: Floats
    starts: Integers
    counts: Integers

    @classmethod
    def of(cls, values: Floats, segment: Integers) -> Segments:
        """Sort values by segment; ``segment`` holds the number of each value's segment: 0, 1, … without gaps."""
        counts = np.bincount(segment)
        return cls(values[np.lexsort((values, segment))], np.cumsum(counts) - counts, counts)

    @property
    def medians(self) -> Floats:
        """The median of each segment."""
        low = self.values[self.starts + (self.counts - 1) // 2]
        high = self.values[self.starts + self.counts // 2]
        middle: Floats = low / 2 + high / 2  # the sum may overflow
        return middle

    @property
    def deviations(self) -> Floats:
        """The median absolute deviation from the median, unscaled, of each segment."""
        distances = np.abs(self.values - np.repeat(self.medians, self.counts))
        return Segments.of(distances, np.repeat(np.arange(len(self.counts)), self.counts)).medians

    @property
    def least(self) -> Floats:
        """The smallest value of each segment."""
        return self.values[self.starts]

    @property
    def largest(self) -> Floats:
        """The largest value of each segment."""
        last: Floats = self.values[self.starts + self.counts - 1]
        return last

    def estimates(self, is_sequential: Booleans) -> Estimates:
        """Median and interval of each segment; ``is_sequential`` where their number depends on the values."""
        low, high = bounds(self, is_sequential)
        return Estimates(self.counts, self.medians, low, high)


def bounds(segments: Segments, is_sequential: Booleans) -> tuple[Floats, Floats]:
    """The interval of each segment's median; NaN where n is too small."""
    is_one = len(segments.counts) == 1  # as between two samples
    sizes, size = (segments.counts, 0) if is_one else np.unique(segments.counts, return_inverse=True)
    ranks = np.array([[rank(int(n), is_sequential=way) or 0 for n in sizes] for way in (False, True)])
    chosen = ranks[is_sequential.astype(np.int64), size]
    is_known = chosen > 0
    low = segments.values[segments.starts + np.maximum(chosen, 1) - 1]
    high = segments.values[segments.starts + segments.counts - np.maximum(chosen, 1)]
    return np.where(is_known, low, np.nan), np.where(is_known, high, np.nan)


def rank(n: int, *, is_sequential: bool) -> int | None:
    """The rank r of the interval from the r-th smallest to the r-th largest of ``n`` values."""
    return sequential_rank(n) if is_sequential else interval_rank(n)


@cache
def interval_rank(n: int, confidence: float = CONFIDENCE) -> int | None:
    """The rank r such that [x_(r), x_(n+1−r)] covers the median with at least ``confidence``.

    Largest r with P(Binomial(n, 1/2) < r) ≤ (1 − confidence) / 2; ``None`` where even r = 1 covers less.
    """
    tail, result = 0.0, 0
    for k in range(n):
        tail += math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))
        if tail > (1 - confidence) / 2:
            break
        result = k + 1
    return result or None


def sequential_rank(n: int) -> int | None:
    """Like :func:`interval_rank`, for a sample whose size depends on its values; ``None`` for n < 8.

    For every stopping time, the interval covers the median with at least :data:`CONFIDENCE`. Between two looks it is
    the rank of the earlier one: the number of values below the median does not decrease.
    """
    looks = bisect_right(LOOKS, n)
    return _RANKS[looks - 1] if looks else None


def estimate(values: Sequence[float], *, is_sequential: bool = False) -> Estimate:
    """Median and interval of at least one value; ``is_sequential`` where their number depends on them.

    Raises ``ValueError`` for no values.
    """
    if not len(values):
        raise ValueError("nothing has no median")
    # one segment needs no grouping, which took most of the time between two samples
    ordered = np.sort(np.asarray(values, np.float64))
    segments = Segments(ordered, np.array([0]), np.array([len(ordered)]))
    return segments.estimates(np.array([is_sequential]))[0]


def verdict(ratio: Estimate, threshold: float = SIGNIFICANCE_THRESHOLD) -> Verdict:
    """The verdict on b from a ratio of times a/b: ``faster`` where a took significantly longer.

    The interval, widened by ``threshold`` on both sides, must exclude 1.
    """
    if ratio.low is None or ratio.high is None:
        return "too few samples"
    if ratio.low > threshold:
        return "faster"
    if ratio.high < 1 / threshold:
        return "slower"
    return "no difference"


def ratio_of(a: Estimate, b: Estimate) -> Estimate:
    """Like :func:`ratios_of`, for two estimates."""
    pair = (
        Estimates(
            *(np.array([math.nan if value is None else value]) for value in (x.n, x.median, x.low, x.high))
        )
        for x in (a, b)
    )
    return ratios_of(*pair)[0]


def ratios_of(a: Estimates, b: Estimates) -> Estimates:
    """Ratios of unpaired medians, element by element; NaN where b's median is 0.

    Intervals are recovered from those of the medians on the log scale (MOVER, ratio of two independent estimates:
    Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and standard deviation", 2012):
    log low = log a/b − sqrt((log a − log a.low)² + (log b.high − log b)²), and log high accordingly. They lie within
    [a.low/b.high, a.high/b.low], the worst case of both. A bound of 0 or less is infinitely far on that scale: the
    ratio then has the low bound 0, or no high one.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        median = np.where(b.median == 0, np.nan, a.median / b.median)
        below = _factor(_distance(a.low, a.median), _distance(b.median, b.high))
        above = _factor(_distance(a.median, a.high), _distance(b.low, b.median))
        low, high = median / below, median * above
    return Estimates(np.minimum(a.n, b.n), median, low, np.where(np.isinf(high), np.nan, high))


def _distance(low: Floats, high: Floats) -> Floats:
    """The distance from a value to a larger one on the log scale; infinite where the smaller one is 0 or less."""
    distance: Floats = np.log(high) - np.log(np.maximum(low, 0.0))
    return distance


def _factor(one: Floats, other: Floats) -> Floats:
    """The factor that combines two independent distances on the log scale."""
    factor: Floats = np.exp(np.hypot(one, other))
    return factor


def inverse(ratio: Estimate) -> Estimate:
    """The inverse ratio; all values must be above 0."""
    low, high = (None if bound is None else 1 / bound for bound in (ratio.high, ratio.low))
    return Estimate(ratio.n, 1 / ratio.median, low, high)
