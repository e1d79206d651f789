"""What is computed in a forked process, which begins with this one's memory and leaves nothing behind in it."""

from __future__ import annotations

import ctypes
import mmap
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

import numpy as np

from ciphermark_measure import confinement

R = TypeVar("R")
_THREADS = Path("/proc/self/task")
_MADV_POPULATE_READ = 22
Pages = list[tuple[int, int]]


def is_safe() -> bool:
    """Whether this process is a single thread. A fork has none of the others: a library that waits for its threads,
    as OpenMP does at the end of a parallel region, would wait for ever in it.
    """
    return sum(1 for _ in _THREADS.iterdir()) == 1


def forked(action: Callable[[], R], task: str) -> R:
    """What ``action`` returns in a process forked from this one, so that limits and CPUs are the same.

    The process ends with this one, killed even. Raises what ``action`` raises, and ``RuntimeError`` with the exit code
    (of a signal: its number, negative) where the process that ``task`` ended before it answered.
    """
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
    made: R = answer
    return made


def branch() -> bool:
    """Fork, and wait: True in the new process, which goes on in this one's place, and False in this one when the other
    has ended. Pages of files that are in memory here are in memory there.

    The new process ends with this one, killed even; this one ends as the other one did, unless that exits with 0.
    """
    ours, pages = os.getpid(), file_pages()
    child = os.fork()
    if child == 0:
        confinement.end_with(ours, signal.SIGKILL)
        map_again(pages)
        return True
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        _end_like(code)
    return False


def _end_like(code: int) -> None:
    """End this process by an exit code, or by a signal's number, negative: who waits for it learns what happened."""
    if code < 0:
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(abs(code))


def _answer(action: Callable[[], object], answers: Connection, parent: int) -> None:
    confinement.end_with(parent, signal.SIGKILL)
    try:
        answers.send(action())
    except Exception as error:  # the parent raises it
        answers.send(error)
    os._exit(0)  # nothing of the parent's is this process's to clean up


def file_pages() -> Pages:
    """Address and bytes of what this process has in memory of files, such as libraries. See proc(5): ``pagemap``."""
    found: Pages = []
    with Path("/proc/self/pagemap").open("rb", buffering=0) as entries:
        for line in Path("/proc/self/maps").read_text().splitlines():
            span, rights, _, _, inode = line.split()[:5]
            if inode == "0" or not rights.startswith("r"):
                continue
            start, end = (int(text, 16) for text in span.split("-"))
            data = os.pread(entries.fileno(), (end - start) // mmap.PAGESIZE * 8, start // mmap.PAGESIZE * 8)
            present = np.frombuffer(data, np.uint64) >> np.uint64(63)
            edges = np.flatnonzero(np.diff(present.astype(np.int8), prepend=0, append=0))
            found += [
                (start + int(first) * mmap.PAGESIZE, int(last - first) * mmap.PAGESIZE)
                for first, last in edges.reshape(-1, 2)
            ]
    return found


def map_again(pages: Pages) -> None:
    """Have these pages, which a fork leaves out, in memory again: they belong to a process that uses the library.

    A kernel before Linux 5.14 does not; then they count as they are used.
    """
    library = ctypes.CDLL(None)
    for start, size in pages:
        library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _MADV_POPULATE_READ)
