"""A predicted value with its interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """A predicted value, and the interval that contains the measured one with a probability of 80%."""

    value: float
    low: float
    high: float
