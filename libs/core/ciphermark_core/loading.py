"""Programs while they load their modules."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ciphermark_core import interruption


@contextmanager
def undisturbed() -> Iterator[None]:
    """Load modules without Ctrl-C in the middle of one, which is heard at the end, and without garbage collection: what
    they make stays, and looking through all of it again and again takes a sixth of the time. No later collection looks
    at it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with interruption.held():
            yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def run(load: Callable[[], Callable[[], None]]) -> None:
    """Load a program, run it, and end with ``interruption.EXIT_CODE`` and without a word where Ctrl-C ends it."""
    try:
        with undisturbed():
            program = load()
        program()
    except KeyboardInterrupt:
        sys.exit(interruption.EXIT_CODE)
