"""Stopping rules for a growing sample. Pure.

Repeated looks that stop once an interval is narrow stop too often by chance: the plain interval of the median then
covers less than it states. Samples with a target precision are therefore judged and shown by the ranks of
:func:`ciphermark_analysis.estimates.sequential_rank`, which hold for every stopping time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_analysis.estimates import estimate
from ciphermark_core.budget import Budget


@dataclass(frozen=True, slots=True)
class Rule:
    """A stopping rule. A sample needs at least ``min_samples`` values and ``min_ns`` of measurement time.

    ``max_ci_half_width`` is the relative half-width of the median's interval. With it, more values are taken until the
    interval is as narrow, or ``max_samples`` or ``max_ns`` is reached.
    """

    min_samples: int
    min_ns: int = 0
    max_ci_half_width: float | None = None
    max_samples: int = 0
    max_ns: int = 0


def rule(budget: Budget, *, has_min_time: bool = True) -> Rule:
    """The rule of a budget; without its minimum time for stages that are not the subject."""
    min_ns = round(budget.min_time_s * 1e9) if has_min_time else 0
    if budget.max_ci_half_width is None:
        return Rule(budget.min_samples, min_ns)
    max_ns = round(budget.max_time_s * 1e9)
    return Rule(budget.min_samples, min_ns, budget.max_ci_half_width, budget.max_samples, max_ns)


def is_enough(rule: Rule, values: Sequence[float], spent_ns: int) -> bool:
    """Whether a sample needs no more ``values``; ``spent_ns`` is the time spent on taking them."""
    count = len(values)
    if count < rule.min_samples or spent_ns < rule.min_ns:
        return False
    if rule.max_ci_half_width is None or count >= rule.max_samples or spent_ns >= rule.max_ns:
        return True
    reached = half_width(values)
    return reached is not None and reached <= rule.max_ci_half_width


def half_width(values: Sequence[float]) -> float | None:
    """Half the width of the median's interval, relative to the median; ``None`` where there is no interval."""
    interval = estimate(values, is_sequential=True)
    if interval.low is None or interval.high is None or interval.median <= 0:
        return None
    return (interval.high - interval.low) / 2 / interval.median
