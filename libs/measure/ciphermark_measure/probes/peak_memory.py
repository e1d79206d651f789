"""Memory by the kernel's own account: the high-water mark of the resident set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ciphermark_core.metrics import METRICS
from ciphermark_measure.probes.base import Probe

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc(5): resets the high-water mark of the resident set


_held: dict[int, int] = {}  # the open file by process: a child of ours would reset its parent's mark


def keep_open() -> None:
    """Open what resets the mark for good: a process that seals itself cannot open it later. Does nothing where the
    kernel refuses: the probe tells.
    """
    with suppress(OSError):
        _held[os.getpid()] = os.open(_CLEAR_REFS, os.O_WRONLY)


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
        held = _held.get(os.getpid())
        if held is None:
            _CLEAR_REFS.write_text(_RESET_PEAK)
        else:
            os.write(held, _RESET_PEAK.encode())

    def stop(self) -> Mapping[str, float]:
        _, _, kilobytes = _STATUS.read_bytes().partition(b"VmHWM:")
        return {"peak_memory": int(kilobytes.split(maxsplit=1)[0]) * 1024.0} if kilobytes else {}
