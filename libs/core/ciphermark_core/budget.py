"""The measurement budget of a trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """The measurement budget of a trial. ``processes`` is the number of fresh workers per case.

    ``max_ci_half_width`` is the relative half-width of the median's interval. With it, each timed stage continues after
    ``min_samples`` and ``min_time_s`` until it reaches that width, ``max_samples`` or ``max_time_s``. ``probes`` are
    those that a suite asks for, by name.
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
    probes: tuple[str, ...] = ()
