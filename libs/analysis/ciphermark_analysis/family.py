"""Several results judged together: simultaneous intervals, verdicts about a threshold, and the power of each. Pure.

One in twenty intervals at 95% excludes the true value by chance. A comparison of two builds reports K results at once,
so each interval is widened until all of them hold simultaneously with 95%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from ciphermark_analysis.estimates import CONFIDENCE, Estimate

ERROR = (
    1 - CONFIDENCE
)  # of a whole comparison of equal builds: the probability that it reports any difference
POWER = 0.8  # the probability with which a comparison reports the slowdown that is stated as detectable

Verdict = Literal["faster", "slower", "unchanged", "undecided"]
_quantile = NormalDist().inv_cdf
_OF_ONE = _quantile(1 - ERROR / 2)


@dataclass(frozen=True, slots=True)
class Family:
    """The ratios of times that one comparison judges; ``results`` (K) is their number.

    Their joint rate of false alarms is :data:`ERROR`.
    """

    results: int

    @property
    def widening(self) -> float:
        """The width of a simultaneous interval divided by that of a 95% interval, on the log scale (Bonferroni).

        It is z(1 − α/2K) / z(1 − α/2), with α = :data:`ERROR` and z the quantile of the normal distribution.

        An approximation: order-statistic intervals are not normal. In simulations of equal builds (6 to 64 samples;
        normal, exponential, heavy-tailed and bimodal times) comparisons of 200 results reported a difference in 0 to
        9% without a significance threshold, and in 0 to 5% with that of 5%.
        """
        return self._quantile / _OF_ONE

    def simultaneous(self, ratio: Estimate) -> Estimate:
        """Widen the 95% interval of a ratio to the simultaneous interval of the family."""
        if ratio.low is None or ratio.high is None:
            return ratio
        low, high = (
            (bound / ratio.median) ** self.widening * ratio.median for bound in (ratio.low, ratio.high)
        )
        return Estimate(ratio.n, ratio.median, low, high)

    def detectable(self, ratio: Estimate, threshold: float) -> float | None:
        """The smallest true slowdown (a factor) that is reported as ``slower`` with probability :data:`POWER`.

        ``None`` without an interval. ``ratio`` has its 95% interval. On the log scale, the standard error is half of
        its width divided by z(1 − α/2). The slowdown is log ``threshold`` + (z(1 − α/2K) + z(POWER)) times that error.
        """
        if ratio.low is None or ratio.high is None or ratio.low <= 0:
            return None
        error = math.log(ratio.high / ratio.low) / (2 * _OF_ONE)
        return threshold * math.exp((self._quantile + _quantile(POWER)) * error)

    @property
    def _quantile(self) -> float:
        return _quantile(1 - ERROR / (2 * max(1, self.results)))


ONE = Family(1)


def decided(ratio: Estimate, threshold: float) -> Verdict:
    """The verdict on b from a ratio of times a/b and a threshold (a factor).

    It is decided where the whole interval lies beyond the threshold on one side, or within it on both.
    """
    if ratio.low is None or ratio.high is None:
        return "undecided"
    if ratio.low > threshold:
        return "faster"
    if ratio.high < 1 / threshold:
        return "slower"
    return "unchanged" if 1 / threshold <= ratio.low and ratio.high <= threshold else "undecided"
