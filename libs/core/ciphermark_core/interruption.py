"""Ctrl-C (SIGINT) at moments without a handler: while a program loads, or a process is started."""

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
    """Block SIGINT in this thread; a pending one is delivered at the end of the block.

    Processes started in the block begin with SIGINT blocked, until they are ready for :func:`heard`.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def heard() -> Iterator[None]:
    """Receive SIGINT in the main thread of a process that began with it blocked.

    The first SIGINT raises ``KeyboardInterrupt`` in the block. Later ones are blocked or ignored, so that they do not
    interrupt the block's cleanup.
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
    """Whether this process has :func:`heard` an interruption.

    A later error may follow from it, such as that of a statement cancelled while the database connection closes.
    """
    return bool(_arrived)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _arrived.append(number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise it again elsewhere: Python drops exceptions in a destructor or a weak reference's callback."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
