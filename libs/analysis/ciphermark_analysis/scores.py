"""Errors of predictions: scores of a number of results, and residuals by operation. Pure.

An error is signed: predicted divided by measured, less one. Means are arithmetic: a geometric mean of percentages
hides large errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CLOSE, FAIR = 0.03, 0.1  # absolute errors; shares of results within them are reported


@dataclass(frozen=True, slots=True)
class Score:
    """The errors of a number of results: the mean of the absolute errors, the error with the largest absolute value,
    the mean of the errors, and the shares of results within 3% and 10%.
    """

    rows: int
    mape: float
    worst: float
    bias: float
    within_close: float
    within_fair: float


def score(errors: Sequence[float]) -> Score | None:
    """The score of signed errors; ``None`` without any."""
    if not errors:
        return None
    count = len(errors)
    sizes = [abs(error) for error in errors]
    return Score(
        rows=count,
        mape=sum(sizes) / count,
        worst=max(errors, key=abs),
        bias=sum(errors) / count,
        within_close=sum(size <= CLOSE for size in sizes) / count,
        within_fair=sum(size <= FAIR for size in sizes) / count,
    )


@dataclass(frozen=True, slots=True)
class Residual:
    """An operation in predicted times: its share of the sum, and the mean error of the results, weighted by the
    predicted time of the operation in them.
    """

    operation: str
    share: float
    error: float
    results: int


def residuals(parts: Iterable[tuple[str, float, float]]) -> list[Residual]:
    """The residuals of operations, the largest share first; of parts with operation, predicted seconds, and the error
    of the result that they belong to.
    """
    by_operation: dict[str, list[tuple[float, float]]] = {}
    for operation, seconds, error in parts:
        by_operation.setdefault(operation, []).append((seconds, error))
    whole = sum(seconds for own in by_operation.values() for seconds, _ in own)
    found = [
        Residual(
            operation=operation,
            share=weight / whole,
            error=sum(seconds * error for seconds, error in own) / weight,
            results=len(own),
        )
        for operation, own in by_operation.items()
        if (weight := sum(seconds for seconds, _ in own))
    ]
    return sorted(found, key=lambda each: (-each.share, each.operation))
