"""The worker's own clock, which also checks the clock that the adapters' loops use."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import perf_counter_ns
from typing import NamedTuple, Protocol


class Clock(Protocol):
    """A monotonic clock."""

    def now_ns(self) -> int:
        """Nanoseconds since some fixed point."""
        ...


class MonotonicClock:
    """CLOCK_MONOTONIC: the same for every process of a host."""

    def now_ns(self) -> int:
        """See :class:`Clock`."""
        return perf_counter_ns()


def resolution_ns(clock: Clock, ticks: int = 20) -> int:
    """The smallest step that the clock shows: the minimum difference between two readings that differ."""
    steps = []
    for _ in range(ticks):
        first = now = clock.now_ns()
        while now == first:
            now = clock.now_ns()
        steps.append(now - first)
    return min(steps)


class Observed(NamedTuple):
    """One call of a loop, in nanoseconds: the time that the loop reports, the time that passed around it, and how long
    of that the process waited for its core.
    """

    reported_ns: int
    passed_ns: int
    waited_ns: int = 0

    @property
    def is_astray(self) -> bool:
        """Whether both times differ by more than 5% and 50 µs, the call itself. The process may have waited outside the
        loop: that part of the difference is explained.
        """
        missing_ns = self.passed_ns - self.reported_ns
        unexplained_ns = -missing_ns if missing_ns < 0 else max(0, missing_ns - self.waited_ns)
        return unexplained_ns > 0.05 * self.passed_ns + 50_000


def disagreement(calls: Sequence[Observed]) -> float | None:
    """The ratio of the medians of a loop's own times and of the times observed around it; ``None`` unless more than
    half of the calls are astray.
    """
    if sum(call.is_astray for call in calls) * 2 <= len(calls):
        return None
    return median(call.reported_ns for call in calls) / max(1.0, median(call.passed_ns for call in calls))
