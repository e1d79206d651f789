"""Who may look: everybody who reaches a dashboard on loopback; elsewhere who has its token."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ciphermark_core.errors import UserError
from ciphermark_present import formats
from ciphermark_web import environment

LOGIN_PATH = "/login"
COOKIE = "ciphermark"
_OPEN = ("/healthz", "/readyz", LOGIN_PATH)
_OPEN_FOLDER = "/assets/"
_LARGEST_FORM_BYTES = 1 << 18


class ForeignError(UserError):
    """Another site made the request."""


class Guarded:
    """Sends browsers without the cookie to the log-in page; programs may send the token as a bearer."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or is_open(scope["path"]) or self._is_known(Headers(scope=scope)):
            await self._app(scope, receive, send)
        elif scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", ""):
            place = scope["path"] + (f"?{scope['query_string'].decode()}" if scope["query_string"] else "")
            await RedirectResponse(f"{LOGIN_PATH}?next={quote(place)}", 303)(scope, receive, send)
        else:
            headers = {"WWW-Authenticate": "Bearer"}
            await PlainTextResponse("Log in first.", 401, headers)(scope, receive, send)

    def _is_known(self, headers: Headers) -> bool:
        given = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        is_ours = hmac.compare_digest(given.encode(), proof(self._token).encode())
        return is_ours or environment.carries(self._token, headers.get("authorization"))


def is_open(path: str) -> bool:
    """Whether everybody may have what is at a path: it tells nothing of what was measured."""
    return path in _OPEN or path.startswith(_OPEN_FOLDER)


def proof(token: str) -> str:
    """What the cookie holds: it shows that its owner knew the token, and does not tell it."""
    return hmac.new(token.encode(), b"ciphermark dashboard", hashlib.sha256).hexdigest()


def is_right(token: str, given: str) -> bool:
    """Whether what was typed is the token; takes as long for any wrong one."""
    return hmac.compare_digest(given.strip().encode(), token.encode())


def place_within(asked: str) -> str:
    """Where to go after the log-in: a path of this site, whatever was asked for."""
    parts = urlsplit(asked)
    is_ours = asked.startswith("/") and not asked.startswith(("//", "/\\")) and not parts.netloc
    return asked if is_ours else "/"


async def form(request: Request) -> dict[str, str]:
    """The fields of a form of ours. Raises :class:`ForeignError` where another site sent it."""
    origin = request.headers.get("origin")
    if origin is None or urlsplit(origin).netloc != request.headers.get("host"):
        raise ForeignError("Only this site's own pages may send forms here.")
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > _LARGEST_FORM_BYTES:
            raise UserError(f"A form of more than {formats.size(_LARGEST_FORM_BYTES)} is too large.")
    return {name: values[0] for name, values in parse_qs(data.decode(errors="replace")).items()}
