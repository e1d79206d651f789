"""Errors of predictions against measured rows, and which rows count. Pure.

An error is signed: predicted divided by measured, less one. Means are arithmetic: a geometric mean of percentages
hides large errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ciphermark_analysis.scores import Score, score
from ciphermark_model.interpolation import Costs
from ciphermark_model.quantity import Quantity
from ciphermark_model.table import CostTable, Key


@dataclass(frozen=True, slots=True)
class Measured:
    """The median time of a row in seconds with its 95% interval, from ``executions`` in so many ``workers``."""

    median_s: float
    low_s: float
    high_s: float
    executions: int
    workers: int

    @property
    def half_width(self) -> float:
        """Half of the interval's width, relative to the median."""
        return (self.high_s - self.low_s) / (2 * self.median_s)


@dataclass(frozen=True, slots=True)
class Criterion:
    """Which measured rows count. It is stated before rows are measured, and knows no prediction."""

    min_executions: int = 10
    min_workers: int = 2
    max_half_width: float = 0.01

    def reason_against(self, measured: Measured) -> str | None:
        """The reason why a row is void; ``None`` for one that counts."""
        if measured.executions < self.min_executions:
            return f"{measured.executions} execution{'' if measured.executions == 1 else 's'}"
        if measured.workers < self.min_workers:
            return f"{measured.workers} worker{'' if measured.workers == 1 else 's'}"
        if not measured.half_width <= self.max_half_width:
            return f"interval ±{measured.half_width:.1%}"
        return None

    def __str__(self) -> str:
        return (
            f"at least {self.min_executions} executions in at least {self.min_workers} fresh workers, and a 95% "
            f"interval of the median within ±{self.max_half_width:.0%}"
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A program under one variant and its parameters: times predicted by the model and by the published rule
    (``None`` where it has no time of an operation), and the measured one. ``failure`` is the reason where nothing was
    measured, ``uncovered`` names what the prediction lacks.
    """

    case_key: str
    place: tuple[str, ...]
    predicted: Quantity | None
    published_s: float | None
    measured: Measured | None
    failure: str | None = None
    uncovered: tuple[str, ...] = ()

    @property
    def error(self) -> float | None:
        """The signed error of the model's prediction."""
        return None if self.predicted is None else self._error(self.predicted.value)

    @property
    def published_error(self) -> float | None:
        """The signed error of the published rule."""
        return self._error(self.published_s)

    @property
    def is_within_interval(self) -> bool:
        """Whether the prediction's interval contains the measured median."""
        if self.predicted is None or self.measured is None:
            return False
        return self.predicted.low <= self.measured.median_s <= self.predicted.high

    def reason_against(self, criterion: Criterion) -> str | None:
        """The reason why the row does not count; ``None`` for one that does."""
        if self.measured is None:
            return self.failure or "not measured"
        if self.predicted is None:
            return self.failure or "not predicted"
        if self.uncovered:
            return f"not covered: {', '.join(self.uncovered)}"
        return criterion.reason_against(self.measured)

    def _error(self, predicted_s: float | None) -> float | None:
        if predicted_s is None or self.measured is None:
            return None
        return predicted_s / self.measured.median_s - 1


@dataclass(frozen=True, slots=True)
class Proof:
    """Rows that count, rows left out with the reason, and the scores of both rules on the rows that count.

    ``every`` is the model's score on all measured rows with a whole prediction, whatever the criterion. ``coverage`` is
    the share of rows that count whose measured median is in the 80% interval of the prediction.
    """

    criterion: Criterion
    counted: tuple[Row, ...]
    excluded: tuple[tuple[Row, str], ...]
    own: Score | None
    published: Score | None
    every: Score | None
    coverage: float | None


def proof(rows: Sequence[Row], criterion: Criterion) -> Proof:
    """The errors of rows by a criterion."""
    reasons = [(row, row.reason_against(criterion)) for row in rows]
    counted = tuple(row for row, reason in reasons if reason is None)
    return Proof(
        criterion=criterion,
        counted=counted,
        excluded=tuple((row, reason) for row, reason in reasons if reason is not None),
        own=score([row.error for row in counted if row.error is not None]),
        published=score([row.published_error for row in counted if row.published_error is not None]),
        every=score([row.error for row in rows if row.error is not None and not row.uncovered]),
        coverage=sum(row.is_within_interval for row in counted) / len(counted) if counted else None,
    )


Axis = Literal["ring_dimension", "primes"]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Costs that were left out of a table and predicted from the rest: the signed ``errors`` of those that the rest
    covers, and the number of the others.
    """

    errors: Mapping[Key, float]
    uncovered: int


def held_out(table: CostTable, axis: Axis) -> HeldOut:
    """Every second value of an axis left out: of N, or of the number of data primes at each N.

    The smallest and the largest value stay, since nothing is extrapolated.
    """
    series: dict[Key, set[int]] = {}
    for key in table.entries:
        series.setdefault(_series(key, axis), set()).add(getattr(key, axis))
    left_out = {(name, value) for name, values in series.items() for value in sorted(values)[1:-1:2]}
    is_left_out = {key: (_series(key, axis), getattr(key, axis)) in left_out for key in table.entries}
    costs = Costs(
        replace(table, entries={key: cost for key, cost in table.entries.items() if not is_left_out[key]})
    )
    errors: dict[Key, float] = {}
    uncovered = 0
    for key, cost in table.entries.items():
        if is_left_out[key]:
            predicted = costs.of(key)
            if predicted is None:
                uncovered += 1
            else:
                errors[key] = predicted.median / cost.median - 1
    return HeldOut(errors, uncovered)


def _series(key: Key, axis: Axis) -> Key:
    """The key without the axis. Digits and prime sizes follow the number of primes."""
    if axis == "ring_dimension":
        return replace(key, ring_dimension=0)
    return replace(key, primes=0, digits=min(key.digits, 1), wide=min(key.wide, 1))
