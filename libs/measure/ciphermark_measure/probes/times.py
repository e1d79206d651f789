"""Wall time of a party's steps."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter_ns, process_time_ns

from ciphermark_core.metrics import METRICS
from ciphermark_measure.probes.base import Probe


class WallTime(Probe):
    """Wall time by ``CLOCK_MONOTONIC``. Loops over operations measure their own time with less overhead."""

    metrics = (METRICS["time"],)
    spans = frozenset({"step"})
    _start_ns = 0

    def start(self) -> None:
        self._start_ns = perf_counter_ns()

    def stop(self) -> Mapping[str, float]:
        return {"time": (perf_counter_ns() - self._start_ns) / 1e9}


class CpuTime(Probe):
    """CPU time by ``CLOCK_PROCESS_CPUTIME_ID``. Not for a loop over one primitive: its one thread's CPU time is its
    wall time.
    """

    metrics = (METRICS["cpu_time"],)
    spans = frozenset({"circuit", "step"})
    _start_ns = 0

    def start(self) -> None:
        self._start_ns = process_time_ns()

    def stop(self) -> Mapping[str, float]:
        return {"cpu_time": (process_time_ns() - self._start_ns) / 1e9}
