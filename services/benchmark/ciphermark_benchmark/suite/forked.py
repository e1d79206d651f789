"""Something done by a copy of this process, which others' code may loop or crash in."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")


def forked(action: Callable[[], T], deadline_s: float) -> T | None:
    """What an action returns, done by a forked process without output; ``None`` where that ends without an answer.

    Raises ``TimeoutError`` where it takes longer. Only for a process of one thread.
    """
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(there, action), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(deadline_s):
            raise TimeoutError
        answer: T = here.recv()
        return answer
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()
        here.close()


def _answer(there: Connection, action: Callable[[], object]) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    with suppress(Exception):  # no answer is one
        there.send(action())
