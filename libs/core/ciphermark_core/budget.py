"""How much measuring a trial gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """How much measuring a trial gets. ``processes`` is the number of fresh workers per case.

    With ``max_ci_half_width``, the relative half-width of the median's interval, each timed phase goes on after
    ``min_samples`` and ``min_time_s`` until it is reached, or ``max_samples`` or ``max_time_s`` are.
    """

    processes: int = 1
    min_samples: int = 10
    warmups: int = 1
    min_time_s: float = 0.3
    timeout_s: float = 300.0
    memory_mb: int = 8192
    max_ci_half_width: float | None = None
    max_samples: int = 64
    max_time_s: float = 10.0
