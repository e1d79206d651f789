"""Processes that tests start and look at: what they were started with, and waiting for what they bring about."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil


def command_line(process: psutil.Process) -> list[str]:
    """What a process was started with; nothing of one that has ended meanwhile."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def wait_until(condition: Callable[[], object], what: str, timeout_s: float = 120) -> None:
    """Poll until something is so; what never is fails the test."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"in {timeout_s} s it never came to this: {what}"
        time.sleep(0.01)
