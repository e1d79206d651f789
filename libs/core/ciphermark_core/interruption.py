"""Ctrl-C (SIGINT) at moments when nobody can deal with it yet: while a program loads, or a process is started."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_CODE = 130  # as shells report a program that Ctrl-C ended
_AGAIN_S = 0.05
_BOTH = {signal.SIGINT, signal.SIGALRM}
_arrived: list[int] = []


@contextmanager
def held() -> Iterator[None]:
    """Hold SIGINT back in this thread: one that arrives meanwhile is delivered in the end.

    Processes that are started meanwhile begin with it held back, until they are ready for :func:`heard`.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def heard() -> Iterator[None]:
    """In the main thread of a process that began with SIGINT held back: the first one raises ``KeyboardInterrupt`` in
    the block, and all that come later are held back or ignored, so that what the block does in its end is done in
    peace.
    """
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    sys.unraisablehook = _interrupt_again
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _BOTH)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _BOTH)


def has_arrived() -> bool:
    """Whether an interruption was :func:`heard` in this process: an error after it may have come of it, as that of a
    statement that was cancelled while the database was being left.
    """
    return bool(_arrived)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _arrived.append(number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised in a destructor, or a weak reference's callback: then once more, elsewhere."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
