"""Growth of times: the exponent of a power law through measured points, with its interval. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_analysis.resampling import t_quantile


@dataclass(frozen=True, slots=True)
class Exponent:
    """The exponent of the power law through ``n`` points; the bounds are ``None`` with fewer than three."""

    n: int
    value: float
    low: float | None
    high: float | None


def exponent(x: Sequence[float], y: Sequence[float]) -> Exponent:
    """The b of y = a x^b by least squares of ln y on ln x, with its 95% interval b ± t(n − 2) s / √Sxx.

    s² is the sum of squared residuals, divided by n − 2 (Draper and Smith, "Applied Regression Analysis", 3rd edition,
    1998, section 1.4). Raises ``ValueError`` without two different x. All values must be above 0.
    """
    if len(set(x)) < 2:
        raise ValueError("a slope needs two different x")
    n = len(x)
    logs = [(math.log(a), math.log(b)) for a, b in zip(x, y, strict=True)]
    mean_x, mean_y = (math.fsum(values) / n for values in zip(*logs, strict=True))
    sxx = math.fsum((a - mean_x) ** 2 for a, _ in logs)
    value = math.fsum((a - mean_x) * (b - mean_y) for a, b in logs) / sxx
    if n < 3:
        return Exponent(n, value, None, None)
    residuals = math.fsum((b - mean_y - value * (a - mean_x)) ** 2 for a, b in logs)
    half_width = t_quantile(n - 2) * math.sqrt(residuals / (n - 2) / sxx)
    return Exponent(n, value, value - half_width, value + half_width)


def n_log_n(n: float) -> float:
    """N log2 N: the growth of a number-theoretic transform of length N."""
    return n * math.log2(n)
