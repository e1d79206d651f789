"""Wall time of a party's steps."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter_ns

from ciphermark_core.metrics import METRICS
from ciphermark_measure.probe import Probe


class WallTime(Probe):
    """By ``CLOCK_MONOTONIC``. Loops over operations tell their time themselves, from closer by."""

    metrics = (METRICS["time"],)
    spans = frozenset({"step"})
    _start_ns = 0

    def start(self) -> None:
        self._start_ns = perf_counter_ns()

    def stop(self) -> Mapping[str, float]:
        return {"time": (perf_counter_ns() - self._start_ns) / 1e9}
