"""Callers who leave before they are answered: what is done on their behalf ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_GONE = {"type": "http.disconnect"}


class Caller:
    """Who waits for the answer to one request. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._has_left = False
        self._end: Callable[[], None] | None = None

    @contextmanager
    def awaiting(self, end: Callable[[], None]) -> Iterator[None]:
        """While this lasts ``end`` is called if the caller leaves; at once where it has left already."""
        with self._lock:
            self._end, has_left = end, self._has_left
        try:
            if has_left:
                end()
            yield
        finally:
            with self._lock:
                self._end = None

    def leave(self) -> None:
        """Note that nobody waits any more."""
        with self._lock:
            self._has_left, end = True, self._end
        if end is not None:
            end()


_CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)


@contextmanager
def awaited(end: Callable[[], None]) -> Iterator[None]:
    """:meth:`Caller.awaiting` of the request that is being answered; nothing where there is none."""
    caller = _CALLER.get()
    if caller is None:
        yield
        return
    with caller.awaiting(end):
        yield


class Attended:
    """Notices when a caller leaves. It belongs behind what has read the body: that must come as one message."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller, body = Caller(), await receive()
        _CALLER.set(caller)
        watching = asyncio.ensure_future(_watch(caller, receive))
        try:
            await self._app(scope, _Body(body, watching), send)
        finally:
            watching.cancel()


class _Body:
    """The body, and then that the caller has left, once it has."""

    def __init__(self, body: Message, watching: asyncio.Future[None]) -> None:
        self._body: Message | None = body
        self._watching = watching

    async def __call__(self) -> Message:
        if self._body is None:
            await asyncio.wait({self._watching})
            return _GONE
        body, self._body = self._body, None
        return body


async def _watch(caller: Caller, receive: Receive) -> None:
    while (await receive())["type"] != _GONE["type"]:
        continue
    await asyncio.to_thread(caller.leave)
