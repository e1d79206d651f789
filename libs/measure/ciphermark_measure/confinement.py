"""How a worker process confines itself: its output, limits and CPUs; and forks, where they are safe."""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import mmap
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from ciphermark_core import containment, wire

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_CAP_IPC_LOCK = 14
_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4
WHERE = signal.SIGUSR1
_FIRST_TO_GO = "1000"  # on the kernel's scale of victims when memory runs out


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
    """Limit private memory, gain no privileges, and die with the process that started this one, or before it when
    memory runs out.

    In reply to the signal :data:`WHERE`, print the current calls of this process on standard error.
    """
    faulthandler.register(WHERE)
    containment.adopt()
    containment.end_with_parent(signal.SIGKILL)
    ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
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
    """Keep other processes of this user, core dumps and swap space from reading this process's memory.

    ``coredump_filter`` does for all mappings, later ones included, what MADV_DONTDUMP does for one. Pages are locked
    where locking has no limit: under a limit, a library's later allocations would fail. Raises ``OSError`` where the
    kernel does not seal. Afterwards root owns this process's files in ``/proc``: those that it writes to must be open.
    """
    Path("/proc/self/coredump_filter").write_text("0")
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel does not keep other processes from this one's memory")
    _lock()


def _lock() -> None:
    if _may_lock_all():
        ctypes.CDLL(None).mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT)


def trim() -> None:
    """Return freed memory to the system. Locked pages stay, so a sealed process unlocks its pages meanwhile."""
    is_locked = _locked_kb() > 0
    library = ctypes.CDLL(None)
    if is_locked:
        library.munlockall()
    with suppress(AttributeError):  # a C library without it
        library.malloc_trim(0)
    if is_locked:
        _lock()


def _locked_kb() -> int:
    status = Path("/proc/self/status").read_text()
    (locked,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmLck:"))
    return int(locked)


def _may_lock_all() -> bool:
    """Whether this process may lock memory without a limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    status = Path("/proc/self/status").read_text()
    (effective,) = (line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return limit == resource.RLIM_INFINITY or bool(int(effective, 16) >> _CAP_IPC_LOCK & 1)


def pin(cpus: set[int] | None) -> bool:
    """Restrict this process to these CPUs; False where the kernel or a container forbids it, or none are given."""
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


R = TypeVar("R")
_THREADS = Path("/proc/self/task")
_MADV_POPULATE_READ = 22
_ENTRY_BYTES = 8  # of a page in pagemap
Pages = list[tuple[int, int]]


def can_fork() -> bool:
    """Whether this process is a single thread. A fork has only the calling thread: a library that waits for its
    threads, as OpenMP does at the end of a parallel region, would wait forever in it.
    """
    return sum(1 for _ in _THREADS.iterdir()) == 1


def prepare_forks() -> None:
    """Load what every process forked from this one would load for itself."""
    import multiprocessing.connection  # noqa: F401

    import numpy.random  # noqa: F401


def forked(action: Callable[[], R], task: str) -> R:
    """The return value of ``action`` in a process forked from this one, which has the same limits and CPUs.

    The fork ends with this process, even a killed one. Raises what ``action`` raises. Raises ``RuntimeError`` with the
    exit code (the negative number of a signal) where the process ended by ``task`` before it answered.
    """
    import multiprocessing

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(action, theirs, os.getpid()), daemon=True)
    with ours:
        process.start()
        theirs.close()
        try:
            answer = ours.recv()
        except EOFError:
            process.join()
            raise RuntimeError(f"the process that {task} ended with exit code {process.exitcode}") from None
    process.join()
    if isinstance(answer, Exception):
        raise answer
    outcome: R = answer
    return outcome


def branch() -> bool:
    """Fork and wait. Returns True in the new process, which continues in place of this one, and False in this one once
    the other has ended. Pages of files that are in memory here are in memory there.

    The new process ends with this one, even a killed one. This process ends as the new one did, unless that exits with
    0.
    """
    ours, pages = os.getpid(), file_pages()
    child = os.fork()
    if child == 0:
        containment.end_with(ours, signal.SIGKILL)
        map_again(pages)
        return True
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        containment.end_like(code)
    return False


def _answer(action: Callable[[], object], answers: Connection, parent: int) -> None:
    containment.end_with(parent, signal.SIGKILL)
    try:
        answers.send(action())
    except Exception as error:  # the parent raises it
        answers.send(error)
    os._exit(0)  # cleaning up is the parent's task


def file_pages() -> Pages:
    """Address and size in bytes of the file pages in this process's memory, such as libraries. See proc(5):
    ``pagemap``.
    """
    import numpy as np

    pages: Pages = []
    with Path("/proc/self/pagemap").open("rb", buffering=0) as entries:
        for line in Path("/proc/self/maps").read_text().splitlines():
            span, rights, _, _, inode = line.split()[:5]
            if inode == "0" or not rights.startswith("r"):
                continue
            start, end = (int(text, 16) for text in span.split("-"))
            count, first_page = (end - start) // mmap.PAGESIZE, start // mmap.PAGESIZE
            data = os.pread(entries.fileno(), count * _ENTRY_BYTES, first_page * _ENTRY_BYTES)
            present = np.zeros(len(data) // _ENTRY_BYTES + 2, np.bool_)  # between two that are not
            present[1:-1] = np.frombuffer(data, np.int64) < 0  # the highest bit of an entry
            edges = np.flatnonzero(present[1:] != present[:-1]).tolist()
            pages += [
                (start + first * mmap.PAGESIZE, (last - first) * mmap.PAGESIZE)
                for first, last in zip(edges[::2], edges[1::2], strict=True)
            ]
    return pages


def map_again(pages: Pages) -> None:
    """Map these pages, which a fork leaves out, into memory again: they count for any process that uses the library.

    A kernel before Linux 5.14 cannot; the pages then count once they are used.
    """
    library = ctypes.CDLL(None)
    for start, size in pages:
        library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _MADV_POPULATE_READ)
