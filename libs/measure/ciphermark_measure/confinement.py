"""What every worker process does first, whatever it serves: keep its output, its limits, its CPUs."""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ciphermark_core import wire

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_CAP_IPC_LOCK = 14
_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4
WHERE = signal.SIGUSR1
_FIRST_TO_GO = "1000"  # of the kernel's scale when memory runs out


def end_with(parent: int, number: int) -> None:
    """Have the kernel send this process a signal when its parent has ended, killed even; now, where it has already."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options ``--cpus`` and ``--memory-mb``."""
    parser.add_argument("--cpus", type=lambda text: {int(cpu) for cpu in text.split(",")}, default=None)
    parser.add_argument("--memory-mb", type=int, required=True)


def own_output() -> BinaryIO:
    """Keep standard output for replies; give libraries standard error instead."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return replies


def confine(memory_mb: int) -> None:
    """Limit private memory, gain no privileges, and die with the process that started this one, or before it where
    memory runs out. Asked by :data:`WHERE`, tell on standard error which calls this process is in, whatever it does.
    """
    faulthandler.register(WHERE)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() == 1:
        sys.exit("the executor is gone")
    limit = memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # a kernel that does not let us
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)


def memory_limit() -> int | None:
    """Bytes of private memory that this process may have (see :func:`confine`); ``None`` without a limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return None if limit == resource.RLIM_INFINITY else limit


def seal() -> None:
    """Let no other process of this user read this one's memory, and no dump or swap space have it.

    ``coredump_filter`` is what MADV_DONTDUMP is for one mapping, for all of them, later ones included. Pages are locked
    where that has no limit: under one, a library's later allocations would fail. Raises ``OSError`` where the kernel
    does not seal. Files of this process in ``/proc`` belong to root from then on: what it writes there must be open.
    """
    Path("/proc/self/coredump_filter").write_text("0")
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel does not keep other processes from this one's memory")
    if _may_lock_all():
        library.mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT)


def _may_lock_all() -> bool:
    """Whether this process may lock memory without a limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    status = Path("/proc/self/status").read_text()
    (effective,) = (line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return limit == resource.RLIM_INFINITY or bool(int(effective, 16) >> _CAP_IPC_LOCK & 1)


def pin(cpus: set[int] | None) -> bool:
    """Keep to these CPUs; False where the kernel or a container forbids it, or none are given."""
    if not cpus:
        return False
    try:
        os.sched_setaffinity(0, cpus)
    except OSError:
        return False
    return True


def send(replies: BinaryIO, reply: object) -> None:
    """Write one reply as a line."""
    data = wire.to_line(reply)
    while data:
        data = data[replies.write(data) :]
