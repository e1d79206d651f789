"""Memory by the kernel's own account: the high-water mark of the resident set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ciphermark_core.metrics import METRICS
from ciphermark_measure.probe import Probe

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc(5): resets the high-water mark of the resident set


class PeakMemory(Probe):
    """Resets the mark, which takes the longer the more memory there is: where something is timed, it is not used."""

    metrics = (METRICS["peak_memory"],)
    spans = frozenset({"request", "alone"})

    def available(self) -> str | None:
        """See :meth:`Probe.available`. Tried out: kernels refuse in more than one way."""
        try:
            self.start()
        except OSError as error:
            return f"the kernel lets no process reset its high-water mark ({error})"
        return None if self.stop() else f"the kernel tells no high-water mark in {_STATUS}"

    def start(self) -> None:
        """See :meth:`Probe.start`: sets the mark to the present resident set."""
        _CLEAR_REFS.write_text(_RESET_PEAK)

    def stop(self) -> Mapping[str, float]:
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return {"peak_memory": int(line.split()[1]) * 1024.0}
        return {}
