"""Layers around the routes of a service: accepted requests, callers who leave, unavailable dependencies.

All routes but health require the token, and a body has a limit and a content type. Work for a caller who leaves is
ended. While the application waits for an unavailable server, a layer answers in its place.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ciphermark_web.keyring import Keyring, Principal
from ciphermark_web.problems import Problem


@dataclass(frozen=True, slots=True)
class BodyRule:
    """The content type and the size that a route accepts."""

    media_type: str
    max_bytes: int


JSON = BodyRule("application/json", 1 << 20)
_PATIENCE = 4  # a body this many times too large is not read at all


class Limited:
    """Checks every body by the rule of its path: by default, JSON of at most 1 MiB.

    The body is read whole, and passed on only if it satisfies the rule.
    """

    def __init__(self, app: ASGIApp, rules: Mapping[str, BodyRule]) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        rule = self._rules.get(scope["path"], JSON)
        headers = Headers(scope=scope)
        if _declared_bytes(headers) > _PATIENCE * rule.max_bytes:
            raise _too_large(rule)
        body = await _body(receive, rule)
        if body is None:
            return  # the caller left
        if body:
            _require_media_type(headers.get("content-type", ""), rule)
            _require_utf8(body)
        await self._app(
            scope, _Replayed({"type": "http.request", "body": body, "more_body": False}, receive), send
        )


class _Replayed:
    """A first message that was received already, followed by the later ones."""

    def __init__(self, first: Message, receive: Receive) -> None:
        self._first: Message | None = first
        self._receive = receive

    async def __call__(self) -> Message:
        if self._first is None:
            return await self._receive()
        first, self._first = self._first, None
        return first


def _declared_bytes(headers: Headers) -> int:
    declared = headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()):
        raise Problem("malformed", "the Content-Length is no number")
    return int(declared)


async def _body(receive: Receive, rule: BodyRule) -> bytes | None:
    """The body, or ``None`` where the caller leaves; raises ``Problem`` for a body that is too large.

    A slightly too large body is read to its end and discarded: callers that are still writing would miss the reason of
    the refusal.
    """
    chunks: list[bytes] = []
    size = 0
    has_more = True
    while has_more and size <= _PATIENCE * rule.max_bytes:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        has_more = message.get("more_body", False)
        size += len(chunk)
        if size <= rule.max_bytes:
            chunks.append(chunk)
    if size > rule.max_bytes:
        raise _too_large(rule)
    return b"".join(chunks)


def _too_large(rule: BodyRule) -> Problem:
    return Problem(
        "too-large", f"a body may have {rule.max_bytes} bytes here", headers={"Connection": "close"}
    )


def _require_utf8(body: bytes) -> None:
    """Refuse UTF-16 and UTF-32, which Python's JSON reads by default. Other invalid bytes are left to its reader."""
    if not json.detect_encoding(body).startswith("utf-8"):
        raise Problem("malformed", "the body is not UTF-8")


def _require_media_type(content_type: str, rule: BodyRule) -> None:
    given, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if given.strip().lower() != rule.media_type or charset not in ("", "charset=utf-8"):
        raise Problem("wrong-content-type", f"send {rule.media_type} here, in UTF-8")


OPEN_PATHS = ("/healthz", "/readyz")


READING = ("GET", "HEAD", "OPTIONS")
ACTOR_HEADER = "x-actor"


class Guarded:
    """Answers 401 to requests without a token that the service accepts, and 403 to users without a sufficient role:
    readers read, submitters change. Routes find the caller in the scope, as ``principal``.
    """

    def __init__(self, app: ASGIApp, keyring: Keyring) -> None:
        self._app = app
        self._keyring = keyring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            scope["principal"] = self._principal(scope)
        await self._app(scope, receive, send)

    def _principal(self, scope: Scope) -> Principal:
        """The principal of a request; raises ``Problem`` for an unauthorized one."""
        headers = Headers(scope=scope)
        caller = self._keyring.bearer(headers.get("authorization"))
        if caller is None:
            raise Problem(
                "unauthorized",
                "send `Authorization: Bearer …` with this service's token",
                headers={"WWW-Authenticate": "Bearer"},
            )
        principal = caller.acting_for(headers.get(ACTOR_HEADER, ""))
        structlog.contextvars.bind_contextvars(actor=principal.name)
        if not principal.may("reader" if scope["method"] in READING else "submitter"):
            raise Problem("forbidden", f"{principal.name} is a {principal.role}; this needs a submitter")
        return principal


_GONE = {"type": "http.disconnect"}


class Caller:
    """The caller that waits for the response to one request. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._has_left = False
        self._end: Callable[[], None] | None = None

    @contextmanager
    def awaiting(self, end: Callable[[], None]) -> Iterator[None]:
        """Inside, ``end`` is called if the caller leaves; at once where it has left already."""
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
        """Note that the caller has left."""
        with self._lock:
            self._has_left, end = True, self._end
        if end is not None:
            end()


_CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)


@contextmanager
def awaited(end: Callable[[], None]) -> Iterator[None]:
    """:meth:`Caller.awaiting` for the current request; no effect where there is none."""
    caller = _CALLER.get()
    if caller is None:
        yield
        return
    with caller.awaiting(end):
        yield


class Attended:
    """Detects that a caller leaves. It must follow the layer that has read the body, which must arrive as one
    message.
    """

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

        async def gone() -> Message:
            await asyncio.wait({watching})
            return _GONE

        try:
            await self._app(scope, _Replayed(body, gone), send)
        finally:
            watching.cancel()


async def _watch(caller: Caller, receive: Receive) -> None:
    while (await receive())["type"] != _GONE["type"]:
        continue
    await asyncio.to_thread(caller.leave)


class Monitor(Protocol):
    """Watches a dependency of the application."""

    @property
    def is_away(self) -> bool:
        """Whether the dependency does not respond."""

    async def until_away(self) -> None:
        """Return once the dependency does not respond."""


class Availability:
    """Answers within seconds in place of an application that waits for an unavailable server. Paths that ``needs_none``
    names are left alone, and so is a response that has begun.
    """

    def __init__(
        self, app: ASGIApp, monitor: Monitor, needs_none: Callable[[str], bool], answer: ASGIApp
    ) -> None:
        self._app = app
        self._monitor = monitor
        self._needs_none = needs_none
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or self._needs_none(scope["path"]):
            await self._app(scope, receive, send)
            return
        if self._monitor.is_away:
            await self._answer(scope, receive, send)
            return
        sending = _Sending(send)
        work = asyncio.ensure_future(self._app(scope, receive, sending))
        away = asyncio.ensure_future(self._monitor.until_away())
        try:
            work.add_done_callback(_heard)
            await asyncio.wait({work, away}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and not sending.has_begun:
                sending.is_over = True
                work.cancel()
                await self._answer(scope, receive, send)
                return
            await work
        finally:
            away.cancel()
            work.cancel()


class _Sending:
    """Passes messages on until another response has been given."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False
        self.is_over = False

    async def __call__(self, message: Message) -> None:
        if not self.is_over:
            self.has_begun = True
            await self._send(message)


def _heard(work: asyncio.Future[Any]) -> None:
    """Discard the exception of abandoned work, whose caller has had another response."""
    if not work.cancelled():
        work.exception()
