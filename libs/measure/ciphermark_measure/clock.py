"""The worker's own clock, which also checks the clock that the adapters' loops use."""

from __future__ import annotations

from statistics import median
from time import perf_counter_ns
from typing import Protocol


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


def disagreement(reported_ns: list[int], observed_ns: list[int]) -> float | None:
    """The ratio of the medians of a loop's own times and of the times observed around it, where they disagree.

    ``None`` while they agree: within 5% and 50 µs (the call itself), sample by sample, in more than half of the
    samples. Both lists have one entry per sample.
    """
    pairs = list(zip(reported_ns, observed_ns, strict=True))
    astray = [pair for pair in pairs if abs(pair[0] - pair[1]) > 0.05 * pair[1] + 50_000]
    if len(astray) * 2 <= len(pairs):
        return None
    return median(reported_ns) / max(1.0, median(observed_ns))
