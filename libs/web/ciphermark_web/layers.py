"""Layers around the routes of a service: what is accepted, callers who leave, something that is away.

Nothing but health is told without the token, and a body has a limit and a content type. What is done for a caller who
leaves ends. An application that waits for what is away is answered for.
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
_PATIENCE = 4  # a body this many times too large is not even read


class Limited:
    """Holds every body to the rule of its path, JSON of at most 1 MiB unless told otherwise.

    The body is read here, whole, and handed on only when it keeps the rule.
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
    """A first message that was received already, and then whatever comes next."""

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
    """The body, ``None`` where the caller leaves; raises ``Problem`` for one that is too large.

    What is a little too large is read to its end and thrown away: callers that are still writing do not hear why
    they are refused.
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
    """Refuse UTF-16 and UTF-32, which Python's JSON reads unasked. Other bytes that are no text are its reader's."""
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
    """Answers 401 to everything without a token that the service accepts, and 403 to users whose role is too small:
    readers look, submitters change. Routes find in the scope, as ``principal``, for whom it is.
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
        """For whom a request is; raises ``Problem`` where nobody may make it."""
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
    """Who watches what the application depends on."""

    @property
    def is_away(self) -> bool:
        """Whether it does not answer."""

    async def until_away(self) -> None:
        """Return once it does not answer."""


class Availability:
    """Answers, within seconds, for an application that waits for a server that is away. Paths that ``needs_none`` names
    are left alone, and so is an answer that has begun.
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
    """Passes messages on until another answer has been given."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False
        self.is_over = False

    async def __call__(self, message: Message) -> None:
        if not self.is_over:
            self.has_begun = True
            await self._send(message)


def _heard(work: asyncio.Future[Any]) -> None:
    """Whoever has had another answer asks no more what became of the first one."""
    if not work.cancelled():
        work.exception()
