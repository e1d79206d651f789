"""Memory by the kernel's own account: the high-water mark of the resident set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from ciphermark_core.metrics import METRICS
from ciphermark_measure.probes.base import Probe

_STATUS = "/proc/self/status"
_CLEAR_REFS = "/proc/self/clear_refs"
_RESET_PEAK = b"5"  # proc(5): resets the high-water mark of the resident set


@cache
def _opened(path: str, flags: int, _pid: int) -> int:
    """A file of this process, kept open: a descriptor inherited from a parent shows the parent's values."""
    return os.open(path, flags)


def keep_open() -> None:
    """Open the file that resets the mark: a process that seals itself cannot open it later. Does nothing where the
    kernel refuses, which the probe reports.
    """
    with suppress(OSError):
        _opened(_CLEAR_REFS, os.O_WRONLY, os.getpid())


class PeakMemory(Probe):
    """Resets the mark, which takes longer with more memory: it is not used where anything is timed."""

    metrics = (METRICS["peak_memory"],)
    spans = frozenset({"request", "alone"})

    def available(self) -> str | None:
        """See :meth:`Probe.available`. Tests the reset itself, since kernels refuse it in several ways."""
        try:
            self.start()
        except OSError as error:
            return f"the kernel lets no process reset its high-water mark ({error})"
        return None if self.stop() else f"the kernel reports no high-water mark in {_STATUS}"

    def start(self) -> None:
        """See :meth:`Probe.start`: sets the mark to the present resident set."""
        os.write(_opened(_CLEAR_REFS, os.O_WRONLY, os.getpid()), _RESET_PEAK)

    def stop(self) -> Mapping[str, float]:
        status = os.pread(_opened(_STATUS, os.O_RDONLY, os.getpid()), 1 << 14, 0)
        _, _, kilobytes = status.partition(b"VmHWM:")
        return {"peak_memory": int(kilobytes.split(maxsplit=1)[0]) * 1024.0} if kilobytes else {}
