"""Positions of ratios and other positive values on a logarithmic axis, in percent of its length. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

THRESHOLD = 1.05  # of significance: the band around 1 extends from its inverse to it
_TICKS = (1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
_OF_CHANGES = (  # in the order of importance
    *(1, 2, 0.5, 5, 0.2, 10, 0.1, 20, 0.05, 50, 0.02, 100, 0.01),
    *(1.5, 0.7, 3, 0.3, 1.2, 0.8, 1.1, 0.9),
)
_ROUND = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}
_APART, _ROUND_APART = 9.0, 6.0  # percent between labels
_STEPS = (
    (1,),
    (1, 3),
    (1, 2, 5),
    (1, 1.5, 2, 3, 5, 7),
    (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9),
    tuple(number / 10 for number in range(10, 100, 2)),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis from ``low`` to ``high``. ``threshold`` is that of significance; ``steps`` are the possible
    ticks of ratios, in the order in which they take room.
    """

    low: float
    high: float
    threshold: float = THRESHOLD
    steps: Sequence[float] = _TICKS

    def position(self, value: float) -> float:
        """The position in percent; a value outside the axis is at its end."""
        inside = min(max(value, self.low), self.high)
        return 100 * math.log(inside / self.low) / math.log(self.high / self.low)

    @property
    def band(self) -> tuple[float, float]:
        """The significance band: its left end and its width."""
        left = self.position(1 / self.threshold)
        return left, self.position(self.threshold) - left

    @property
    def ticks(self) -> list[float]:
        """The ratios that have room for a label."""
        chosen: list[float] = []
        for tick in self.steps:
            place = self.position(tick)
            room = min((abs(place - self.position(other)) for other in chosen), default=100.0)
            if self.low <= tick <= self.high and room > (_ROUND_APART if tick in _ROUND else _APART):
                chosen.append(tick)
        return chosen


def of_ratios(ratios: Iterable[tuple[float, float | None, float | None]]) -> Axis:
    """The axis of ratios with their intervals: 1 is always on it."""
    ends = [end for each in ratios for end in each if end is not None and end > 0] or [1.0]
    return Axis(max(0.5, min(0.95, *ends, 1.0) * 0.94), max(1.6, max(ends) * 1.12))


def of_changes(ratios: Iterable[tuple[float, float | None, float | None]], threshold: float) -> Axis:
    """The axis of ratios of one run to another, with their intervals: 1 is on it, with room on both sides."""
    ends = [end for each in ratios for end in each if end is not None and end > 0]
    return Axis(min(0.8, *ends, 1.0) / 1.08, max(1.25, *ends, 1.0) * 1.08, threshold, _OF_CHANGES)


def around(values: Sequence[float], margin: float) -> Axis:
    """The axis of positive values with some room at both ends; values close together are in its middle."""
    low, high = min(values), max(values)
    if high / low < 1.4:
        middle = math.sqrt(low * high)
        low, high = middle / 1.22, middle * 1.22
    return Axis(low / margin, high * margin)


def ticks(axis: Axis, room: float) -> list[float]:
    """Round values of an axis, with at least ``room`` percent between them."""
    for steps in _STEPS:
        inside = [
            value
            for exponent in range(-10, 13)
            for value in (step * 10.0**exponent for step in steps)
            if axis.low <= value <= axis.high
        ]
        if len(inside) > 2:
            break
    chosen: list[float] = []
    for value in inside:
        if not chosen or axis.position(value) - axis.position(chosen[-1]) >= room:
            chosen.append(value)
    return chosen
