"""When a growing sample is enough. Pure.

Whoever looks at a sample again and again, and stops when its interval is narrow, stops too often by accident: the plain
interval of the median then covers less than it says. So what has a precision to reach is judged, and shown, by the
ranks of :func:`ciphermark_analysis.estimates.sequential_rank`, which hold for every moment at which one may stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_analysis.estimates import estimate
from ciphermark_core.budget import Budget


@dataclass(frozen=True, slots=True)
class Rule:
    """``samples`` and ``least_ns`` of them are needed in any case; with a ``precision``, the relative half-width of the
    median's interval, more are taken until it is reached, or ``most_samples`` or ``most_ns`` are.
    """

    samples: int
    least_ns: int = 0
    precision: float | None = None
    most_samples: int = 0
    most_ns: int = 0


def rule(budget: Budget, *, has_least_time: bool = True) -> Rule:
    """The rule of a budget; without its least time for phases that are not the subject."""
    least_ns = round(budget.min_time_s * 1e9) if has_least_time else 0
    if budget.precision is None:
        return Rule(budget.samples, least_ns)
    most_ns = round(budget.most_time_s * 1e9)
    return Rule(budget.samples, least_ns, budget.precision, budget.most_samples, most_ns)


def is_enough(rule: Rule, values: Sequence[float], spent_ns: int) -> bool:
    """Whether a sample needs no more ``values``; ``spent_ns`` is the time that taking them took."""
    count = len(values)
    if count < rule.samples or spent_ns < rule.least_ns:
        return False
    if rule.precision is None or count >= rule.most_samples or spent_ns >= rule.most_ns:
        return True
    reached = half_width(values)
    return reached is not None and reached <= rule.precision


def half_width(values: Sequence[float]) -> float | None:
    """Half the width of the median's interval, relative to the median; ``None`` where there is no interval."""
    interval = estimate(values, is_sequential=True)
    if interval.low is None or interval.high is None or interval.median <= 0:
        return None
    return (interval.high - interval.low) / 2 / interval.median
