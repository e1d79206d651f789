"""How much measuring a trial gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """How much measuring a trial gets. ``processes`` is the number of fresh workers per case.

    With a ``precision``, the relative half-width of the median's interval, each timed phase goes on after ``samples``
    and ``min_time_s`` until it is reached, or ``most_samples`` or ``most_time_s`` are.
    """

    processes: int = 1
    samples: int = 10
    warmups: int = 1
    min_time_s: float = 0.3
    timeout_s: float = 300.0
    memory_mb: int = 8192
    precision: float | None = None
    most_samples: int = 64
    most_time_s: float = 10.0
