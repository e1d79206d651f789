"""Access control: a dashboard on loopback is open; elsewhere a visitor needs its token or must be a user."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ciphermark_core.errors import UserError
from ciphermark_dashboards.templating import ACTOR
from ciphermark_present import formats
from ciphermark_web.keyring import Keyring, Principal, Role, digest_of
from ciphermark_web.layers import READING

LOGIN_PATH = "/login"
LOGOUT_PATH = "/logout"
COOKIE = "ciphermark"
SESSION_S = 12 * 3600
_MAX_SESSIONS = 10_000
_DELAY_S, _LONGEST_DELAY_S, _REMEMBERED_S = 0.5, 8.0, 60.0
_OPEN = ("/healthz", "/readyz", LOGIN_PATH)
_OPEN_FOLDER = "/assets/"
_LARGEST_FORM_BYTES = 1 << 18


class ForeignError(UserError):
    """Another site made the request."""


@dataclass(frozen=True, slots=True)
class _Session:
    """The holder of a session, by the digest of the token, and the session's end."""

    digest: str
    ends_at_s: float


class Sessions:
    """The sessions of logged-in visitors, by random ids. They live in this process: a restart ends them.

    A session ends when its time is over, at log-out, and with the token that opened it.
    """

    def __init__(self, keyring: Keyring, clock: Callable[[], float] = monotonic) -> None:
        self.keyring = keyring
        self._clock = clock
        self._sessions: dict[str, _Session] = {}

    def opened(self, token: str) -> str | None:
        """The id of a new session; ``None`` for an unknown token."""
        if self.keyring.principal(token) is None:
            return None
        now_s = self._clock()
        self._sessions = {key: each for key, each in self._sessions.items() if each.ends_at_s > now_s}
        if len(self._sessions) >= _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]  # the oldest
        session_id = secrets.token_urlsafe(32)
        self._sessions[session_id] = _Session(digest_of(token.strip()), now_s + SESSION_S)
        return session_id

    def principal(self, session_id: str) -> Principal | None:
        """The current principal of a session; ``None`` without a valid one."""
        session = self._sessions.get(session_id)
        if session is None or session.ends_at_s <= self._clock():
            return None
        return self.keyring.holder(session.digest)

    def close(self, session_id: str) -> None:
        """End a session, if it exists."""
        self._sessions.pop(session_id, None)


class WrongTokens:
    """The delay of the answer to an invalid token. It grows with each invalid token of the last minute, from any
    sender.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._times_s: deque[float] = deque(maxlen=16)

    def delay_s(self) -> float:
        """Count one more invalid token, and return the delay of its answer."""
        now_s = self._clock()
        self._times_s.append(now_s)
        recent = sum(now_s - each < _REMEMBERED_S for each in self._times_s)
        return min(_DELAY_S * 2.0 ** (recent - 1), _LONGEST_DELAY_S)


class Guarded:
    """Redirects browsers without a session to the log-in page, and refuses changes to readers. Programs may send a
    token as a bearer. Routes find the principal in the scope, as ``principal``.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self._app = app
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        principal = self._sessions.principal(session_id_in(headers)) or self._sessions.keyring.bearer(
            headers.get("authorization")
        )
        if principal is not None:
            scope["principal"] = principal
            ACTOR.set(principal.name)
            is_small = scope["path"] != LOGOUT_PATH and not principal.may(_role_for(scope["method"]))
            refusal = PlainTextResponse(
                f"{principal.name} has the role {principal.role}; this action requires submitter.", 403
            )
            await (refusal if is_small else self._app)(scope, receive, send)
        elif scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            place = scope["path"] + (f"?{scope['query_string'].decode()}" if scope["query_string"] else "")
            await RedirectResponse(f"{LOGIN_PATH}?next={quote(place)}", 303)(scope, receive, send)
        else:
            challenge = {"WWW-Authenticate": "Bearer"}
            await PlainTextResponse("Log in first.", 401, challenge)(scope, receive, send)


def _role_for(method: str) -> Role:
    return "reader" if method in READING else "submitter"


def session_id_in(headers: Headers) -> str:
    """The id of the session that a request names; empty where it names none."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def is_over_tls(request: Request) -> bool:
    """Whether the browser speaks TLS, with this service or with a proxy in front of it. A browser that claims TLS
    without using it gets a cookie that it does not send back.
    """
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))


def is_open(path: str) -> bool:
    """Whether a path is open to everybody: it reveals no measured results."""
    return path in _OPEN or path.startswith(_OPEN_FOLDER)


def place_within(asked: str) -> str:
    """The destination after the log-in: a path of this site, whatever was requested."""
    parts = urlsplit(asked)
    is_ours = asked.startswith("/") and not asked.startswith(("//", "/\\")) and not parts.netloc
    return asked if is_ours else "/"


async def form(request: Request) -> dict[str, str]:
    """The fields of a form of this site. Raises :class:`ForeignError` where another site sent it."""
    origin = request.headers.get("origin")
    if origin is None or urlsplit(origin).netloc != request.headers.get("host"):
        raise ForeignError("This site accepts forms only from its own pages.")
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > _LARGEST_FORM_BYTES:
            raise UserError(f"The form exceeds {formats.size(_LARGEST_FORM_BYTES)}.")
    return {name: values[0] for name, values in parse_qs(data.decode(errors="replace")).items()}
