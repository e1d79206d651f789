"""What becomes of work whose caller leaves, seen through an application that works in a thread."""

from __future__ import annotations

import asyncio
import threading

import pytest
from starlette.concurrency import run_in_threadpool

from ciphermark_web.layers import Attended, Caller, awaited

BODY = {"type": "http.request", "body": b"asked", "more_body": False}
LEFT = {"type": "http.disconnect"}
PATIENCE_S = 60


class Work:
    """Goes on until it is ended, or does nothing."""

    def __init__(self, is_long):
        self.begun, self.ended = threading.Event(), threading.Event()
        self._is_long = is_long

    def __call__(self):
        with awaited(self.ended.set):
            self.begun.set()
            if self._is_long:
                assert self.ended.wait(PATIENCE_S)

    async def answer(self, scope, receive, send):
        assert await receive() == BODY
        await run_in_threadpool(self)
        await send({"type": "http.response.start", "status": 200, "headers": []})


def ask(work, leaves):
    """Send a request of which the caller leaves once the work has begun, or waits; returns what was answered."""
    sent = []

    async def receive():
        if not taken:
            taken.append(True)
            return BODY
        if leaves:
            await asyncio.to_thread(work.begun.wait, PATIENCE_S)
            return LEFT
        return await asyncio.Future()

    async def send(message):
        sent.append(message["type"])

    taken = []
    asyncio.run(Attended(work.answer)({"type": "http"}, receive, send))
    return sent


def test_who_waits_is_answered_and_nothing_is_ended():
    work = Work(is_long=False)
    assert ask(work, leaves=False) == ["http.response.start"]
    assert not work.ended.is_set()


def test_who_leaves_ends_the_work():
    work = Work(is_long=True)
    ask(work, leaves=True)
    assert work.ended.is_set()


def test_who_has_left_before_the_work_begins_ends_it_at_once():
    caller, ended = Caller(), []
    caller.leave()
    with caller.awaiting(lambda: ended.append("at once")):
        assert ended == ["at once"]


def test_work_that_is_done_is_not_ended_afterwards():
    caller, ended = Caller(), []
    with pytest.raises(RuntimeError), caller.awaiting(lambda: ended.append("too late")):
        raise RuntimeError
    caller.leave()
    assert ended == []


def test_work_that_nobody_asked_for_is_left_alone():
    with awaited(lambda: pytest.fail("there is no caller")):
        pass
