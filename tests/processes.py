"""Processes that tests start and look at: what they were started with, and waiting for what they bring about."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

# For what must come to be, on a host that other tests, too, keep busy: whatever takes longer hangs. What measures or
# compiles as a whole may take as long as a test may, nearly: see ``timeout`` in pyproject.toml.
PATIENCE_S = 300.0
PATIENCE_OF_RUNS_S = 1100.0
_MIN_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.5
_PAUSE_OF_LOOK = 10


def environment(**variables: str) -> dict[str, str]:
    """The variables of this process but for Ciphermark's, and these."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("CIPHERMARK_")}
    return kept | variables


def command_line(process: psutil.Process) -> list[str]:
    """What a process was started with; nothing of one that has ended meanwhile."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or nothing of it is left but its exit code."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def freeze(first: psutil.Process) -> list[psutil.Process]:
    """Stop a process and all below it; returns those that stand now.

    It stands before those below it are looked up, and so starts no more of them; who ends meanwhile is left out.
    """
    first.suspend()
    frozen = [first]
    for process in first.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.suspend()
            frozen.append(process)
    return frozen


def thaw(frozen: Iterable[psutil.Process]) -> None:
    """Let processes go on that were stopped; those that were killed meanwhile are gone."""
    for process in frozen:
        with suppress(psutil.NoSuchProcess):
            process.resume()


def wait_until(condition: Callable[[], object], what: str, timeout_s: float = PATIENCE_S) -> None:
    """Look until something is so; what never is fails the test.

    Between two looks is ten times as long a pause as a look takes: one that opens a connection, asks a service or goes
    through all processes would otherwise take the core from what it waits for, and from the tests beside it.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        begun_s = time.monotonic()
        if condition():
            return
        now_s = time.monotonic()
        assert now_s < deadline_s, f"in {timeout_s} s it never came to this: {what}"
        time.sleep(min(max(_MIN_PAUSE_S, _PAUSE_OF_LOOK * (now_s - begun_s)), _LONGEST_PAUSE_S))


def touch_new_pages() -> None:
    """Cause at least four page faults: an array may get memory that this process has touched before."""
    with mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.write(b"x" * len(memory))
