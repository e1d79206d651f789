"""Time that a process lost: to other processes that the kernel scheduled instead, and to the hypervisor."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_SCHEDSTAT = "/proc/self/schedstat"
_STAT = Path("/proc/stat")
_STEAL = 8  # proc(5): the eighth value of a line "cpu…", after its name


@cache
def _opened(_pid: int) -> int:
    """The account of this process, kept open: a process that seals itself cannot open it later, and a descriptor
    inherited from a parent shows the parent's account.
    """
    return os.open(_SCHEDSTAT, os.O_RDONLY)


def run_delay_ns() -> int | None:
    """Nanoseconds that this process's first thread was ready to run without a core; ``None`` where unreadable.

    Other threads are not included.
    """
    try:
        return int(os.pread(_opened(os.getpid()), 256, 0).split()[1])
    except (OSError, ValueError, IndexError):
        return None


def steal_s(cpus: Iterable[int]) -> float | None:
    """Seconds for which the hypervisor gave these CPUs to others, to about a hundredth; ``None`` where unreadable."""
    try:
        return steal_of(_STAT.read_text(), cpus) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def steal_of(stat: str, cpus: Iterable[int]) -> int:
    """Ticks of steal time of some CPUs in the text of ``/proc/stat``. Pure."""
    names = {f"cpu{number}" for number in cpus}
    lines = (line.split() for line in stat.splitlines())
    return sum(int(words[_STEAL]) for words in lines if words and words[0] in names)


def unreadable() -> tuple[str, ...]:
    """The accounts that cannot be read here, each with its consequence."""
    messages = []
    if run_delay_ns() is None:
        messages.append(
            f"{_SCHEDSTAT} cannot be read: samples in which another process took the core are not marked"
        )
    if steal_s(os.sched_getaffinity(0)) is None:
        messages.append(f"{_STAT} reports no steal time: CPU time given to other guests is unknown")
    return tuple(messages)


class CpuSteal:
    """Time lost on the CPUs of this process since the object was created."""

    def __init__(self) -> None:
        self._cpus = os.sched_getaffinity(0)
        self._delay_ns, self._steal_s = run_delay_ns(), steal_s(self._cpus)

    def facts(self) -> dict[str, float]:
        """``run_delay_s`` and ``steal_s``, as far as they can be read."""
        delay_ns, steal = run_delay_ns(), steal_s(self._cpus)
        times = {}
        if delay_ns is not None and self._delay_ns is not None:
            times["run_delay_s"] = (delay_ns - self._delay_ns) / 1e9
        if steal is not None and self._steal_s is not None:
            times["steal_s"] = max(0.0, steal - self._steal_s)  # some hypervisors correct their account
        return times
