"""The reference kernel: a short fixed piece of work, executed around samples in the process that takes them and on its
core.

Most of it is bound by throughput, as the libraries' own transforms are, and the rest by latency: a thread beside it on
the core, or a lower frequency, slows it by about as much as it slows them, or somewhat less (``GAIN`` of
:mod:`ciphermark_measure.interference.host_state`). It lies in the caches of the core, so it does not see what displaces
data from the shared one. That is what the memory kernel is for: a buffer larger than the core's caches, read once.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

# Which work it is: times of different kernels say nothing of each other.
KERNEL = 2
MEMORY_KERNEL = 1

_LIBRARY = Path(__file__).parents[1] / "native" / "_reference_kernel.so"  # where setup puts it
_KERNELS = ("ciphermark_reference_kernel", "ciphermark_memory")
# The least of so many counts: an interrupt hits one of them, a disturbed state all.
_REPEATS = 3


class ReferenceKernel:
    """The kernel; :func:`reason_against` tells whether it can be made here."""

    def __init__(self) -> None:
        self._kernel = _library().ciphermark_reference_kernel
        self._kernel.restype = ctypes.c_int64
        self._kernel.argtypes = [ctypes.c_int64]
        self._kernel(1)  # makes what it works on

    def read_ns(self) -> int:
        """Execute it, for about 0.17 ms; its time in nanoseconds."""
        return int(self._kernel(_REPEATS))


class Memory:
    """The memory kernel: 4 MiB, which stay in the shared cache unless others displace them.

    Nothing is allocated before the first reading, so that a process that reads nothing has the memory of one without
    it.
    """

    def __init__(self) -> None:
        self._kernel = _library().ciphermark_memory
        self._kernel.restype = ctypes.c_int64
        self._is_made = False

    def read_ns(self) -> int:
        """Read the buffer once, for 0.04 ms from the shared cache and 0.25 ms from memory; its time in nanoseconds."""
        if not self._is_made:
            self._kernel()  # its buffer is in the caches now: what a first reading tells is nothing
            self._is_made = True
        return int(self._kernel())


@cache
def reason_against() -> str | None:
    """Why there is no reference kernel in this process, or ``None``."""
    try:
        library = _library()
    except OSError as error:
        return f"{_LIBRARY.name} cannot be loaded ({error}); run `python3 setup/install.py`"
    if not all(hasattr(library, name) for name in _KERNELS):
        return f"{_LIBRARY.name} is of older sources; run `python3 setup/install.py`"
    return None


def _library() -> Any:
    return ctypes.CDLL(str(_LIBRARY))
