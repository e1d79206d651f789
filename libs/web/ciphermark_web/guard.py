"""Nothing but health is answered without the token, and no body is read before."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ciphermark_web import tokens
from ciphermark_web.problems import Problem

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
