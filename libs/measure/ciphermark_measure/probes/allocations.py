"""Page faults, context switches, CPU time and heap allocations of this process."""

from __future__ import annotations

import ctypes
import resource
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from time import process_time_ns
from typing import Any

from ciphermark_core.metrics import Metric, register
from ciphermark_measure.probes.base import Probe

_LIBRARY = Path(__file__).parents[1] / "native" / "_allocations.so"  # where setup puts it
_NAME = "allocations"


# What other processes of the host influence has no better direction: `compare` would call it a regression.
def _counted(name: str, label: str, sentence: str) -> Metric:
    return register(Metric(name, "count", None, 1.0, label, sentence, probe=_NAME))


class ProcessCosts(Probe):
    """The kernel's account of the process, with all threads, by getrusage(2) and ``CLOCK_PROCESS_CPUTIME_ID``."""

    asked_as = _NAME
    metrics = (
        _counted("minor_faults", "minor page faults", "Page faults that needed no disk."),
        _counted("major_faults", "major page faults", "Page faults that read from a disk."),
        _counted("voluntary_switches", "voluntary switches", "Context switches of a thread that waited."),
        _counted(
            "involuntary_switches",
            "involuntary switches",
            "Context switches of a thread that could continue.",
        ),
        register(
            Metric(
                "task_clock",
                "s",
                None,
                1.0,
                "task clock",
                "CPU time of all threads of the process.",
                probe=_NAME,
            )
        ),
    )
    spans = frozenset({"profile", "step"})
    _usage = resource.getrusage(resource.RUSAGE_SELF)
    _start_ns = 0

    def start(self) -> None:
        self._usage = resource.getrusage(resource.RUSAGE_SELF)
        self._start_ns = process_time_ns()

    def stop(self) -> Mapping[str, float]:
        spent_ns = process_time_ns() - self._start_ns
        before, after = self._usage, resource.getrusage(resource.RUSAGE_SELF)
        return {
            "minor_faults": float(after.ru_minflt - before.ru_minflt),
            "major_faults": float(after.ru_majflt - before.ru_majflt),
            "voluntary_switches": float(after.ru_nvcsw - before.ru_nvcsw),
            "involuntary_switches": float(after.ru_nivcsw - before.ru_nivcsw),
            "task_clock": spent_ns / 1e9,
        }


class HeapAllocations(Probe):
    """Calls of malloc and its relatives through the symbol tables of loaded objects: see ``native/allocations.cpp``.
    Starting takes about a millisecond.
    """

    asked_as = _NAME
    metrics = (
        register(
            Metric(
                "heap_allocations",
                "count",
                "lower",
                1.25,
                "heap allocations",
                "Calls of malloc, calloc, realloc and aligned variants.",
                probe=_NAME,
            )
        ),
        register(
            Metric(
                "heap_bytes",
                "bytes",
                "lower",
                1.05,
                "allocated bytes",
                "Bytes that these calls ask for.",
                probe=_NAME,
            )
        ),
    )
    spans = frozenset({"profile"})

    def available(self) -> str | None:
        """See :meth:`Probe.available`. Counts once: the library may be missing, and tables may be protected."""
        try:
            self.start()
        except OSError as error:
            return f"heap allocations cannot be counted ({error}); run `python3 setup/install.py`"
        self.stop()
        return None

    def start(self) -> None:
        """See :meth:`Probe.start`. Raises ``OSError`` without the library, and where the tables are protected."""
        entries = _library().ciphermark_count_allocations()
        if entries <= 0:
            self.stop()
            raise OSError(-entries, "the tables of functions cannot be written")

    def stop(self) -> Mapping[str, float]:
        counts = (ctypes.c_int64 * 2)()
        _library().ciphermark_counted_allocations(counts)
        return {"heap_allocations": float(counts[0]), "heap_bytes": float(counts[1])}


@cache
def _library() -> Any:
    library = ctypes.CDLL(str(_LIBRARY))
    library.ciphermark_count_allocations.restype = ctypes.c_int64
    return library
