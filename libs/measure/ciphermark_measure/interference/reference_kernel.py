"""The reference kernel: a short fixed workload, executed around samples in the same process and on the same core.

Most of it is bound by throughput, like the libraries' own transforms, and the rest by latency. A second thread on the
core, or a lower frequency, slows it by about as much as the libraries, or somewhat less (``GAIN`` of
:mod:`ciphermark_measure.interference.host_state`). It fits the core's own caches, so it does not detect evictions from
the shared one. The memory kernel does: it reads a buffer larger than the core's caches once.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

# The version of the work: times of different kernels are not comparable.
KERNEL = 2
MEMORY_KERNEL = 1

_LIBRARY = Path(__file__).parents[1] / "native" / "_reference_kernel.so"  # where setup puts it
_KERNELS = ("ciphermark_reference_kernel", "ciphermark_memory")
# The minimum of so many counts: an interrupt affects one of them, a disturbed state all.
_REPEATS = 3


class ReferenceKernel:
    """The kernel. :func:`reason_against` reports whether it is available here."""

    def __init__(self) -> None:
        self._kernel = _library().ciphermark_reference_kernel
        self._kernel.restype = ctypes.c_int64
        self._kernel.argtypes = [ctypes.c_int64]
        self._kernel(1)  # initializes its data

    def read_ns(self) -> int:
        """Execute it, for about 0.17 ms; returns its time in nanoseconds."""
        return int(self._kernel(_REPEATS))


class Memory:
    """The memory kernel: 4 MiB, which stay in the shared cache unless other work evicts them.

    Nothing is allocated before the first reading, so that a process without readings has no additional memory.
    """

    def __init__(self) -> None:
        self._kernel = _library().ciphermark_memory
        self._kernel.restype = ctypes.c_int64
        self._is_made = False

    def read_ns(self) -> int:
        """Read the buffer once: 0.04 ms from the shared cache, 0.25 ms from memory. Returns its time in nanoseconds."""
        if not self._is_made:
            self._kernel()  # its buffer is in the caches now: a first reading is meaningless
            self._is_made = True
        return int(self._kernel())


@cache
def reason_against() -> str | None:
    """Why this process has no reference kernel, or ``None``."""
    try:
        library = _library()
    except OSError as error:
        return f"{_LIBRARY.name} cannot be loaded ({error}); run `python3 setup/install.py`"
    if not all(hasattr(library, name) for name in _KERNELS):
        return f"{_LIBRARY.name} is of older sources; run `python3 setup/install.py`"
    return None


def _library() -> Any:
    return ctypes.CDLL(str(_LIBRARY))
