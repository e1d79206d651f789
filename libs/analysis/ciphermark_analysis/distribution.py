"""The empirical distribution of samples. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence


def steps(values: Sequence[float]) -> list[tuple[float, float]]:
    """The empirical distribution function: each different value with the share of values up to it, in order.

    F(x) is the number of values up to x, divided by n (van der Vaart, "Asymptotic Statistics", 1998, chapter 19).
    """
    ordered, n = sorted(values), len(values)
    return [
        (value, number / n)
        for number, value in enumerate(ordered, 1)
        if number == n or ordered[number] != value
    ]


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest of at least one value up to which at least a ``share`` of the values lies."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
