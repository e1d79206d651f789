"""Processes that tests start and look at: what they were started with, and waiting for what they bring about."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

_LEAST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 0.5
_PAUSE_OF_LOOK = 10


def command_line(process: psutil.Process) -> list[str]:
    """What a process was started with; nothing of one that has ended meanwhile."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def wait_until(condition: Callable[[], object], what: str, timeout_s: float = 120) -> None:
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
        time.sleep(min(max(_LEAST_PAUSE_S, _PAUSE_OF_LOOK * (now_s - begun_s)), _LONGEST_PAUSE_S))
