"""What is accepted: nothing but health without the token; and bodies how large, and of which content type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ciphermark_web import tokens
from ciphermark_web.problems import Problem


@dataclass(frozen=True, slots=True)
class BodyRule:
    """The content type and the size that a route accepts."""

    media_type: str
    most_bytes: int


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
        if _declared_bytes(headers) > _PATIENCE * rule.most_bytes:
            raise _too_large(rule)
        body = await _body(receive, rule)
        if body is None:
            return  # the caller left
        if body:
            _require_media_type(headers.get("content-type", ""), rule)
            _require_utf8(body)
        await self._app(scope, _Replayed(body, receive), send)


class _Replayed:
    """A body that was read already, and then whatever the caller does next."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


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
    while has_more and size <= _PATIENCE * rule.most_bytes:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        has_more = message.get("more_body", False)
        size += len(chunk)
        if size <= rule.most_bytes:
            chunks.append(chunk)
    if size > rule.most_bytes:
        raise _too_large(rule)
    return b"".join(chunks)


def _too_large(rule: BodyRule) -> Problem:
    return Problem(
        "too-large", f"a body may have {rule.most_bytes} bytes here", headers={"Connection": "close"}
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


class Guarded:
    """Answers 401 to everything without the right bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        is_open = scope["type"] != "http" or scope["path"] in OPEN_PATHS
        if not (is_open or tokens.is_right(self._token, Headers(scope=scope).get("authorization"))):
            raise Problem(
                "unauthorized",
                "send `Authorization: Bearer …` with this service's token",
                headers={"WWW-Authenticate": "Bearer"},
            )
        await self._app(scope, receive, send)
