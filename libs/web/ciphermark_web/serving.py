"""Runs an application until a signal to stop.

Heads and bodies of requests have deadlines: anyone who reaches the port can connect, with or without a token, and
uvicorn itself has no time limit.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h11
import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ciphermark_core.errors import UserError
from ciphermark_web import environment, logs
from ciphermark_web.keyring import Keyring

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_FINISHING_S = 5  # for requests in progress when the service is stopped
_MAX_CONNECTIONS = 768  # with all else below 1,024 files, which is what `select` takes
_OTHER_FILES = 256  # other open files: libraries, pipes, the database, new connections
_BACKLOG = 128  # connections accepted at once, before the first of them is handled
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Listening:
    """A service's address, accepted tokens and log level."""

    service: str
    host: str
    port: int
    keyring: Keyring
    log_level: str


def listening(
    service: str, default_port: int, environ: environment.Environ, users: Path | None = None
) -> Listening:
    """Read ``CIPHERMARK_HOST``, ``…_PORT``, ``…_LOG_LEVEL``, the token and a file of users; raises ``UserError``."""
    return Listening(
        service=service,
        host=environment.text(environ, "CIPHERMARK_HOST", LOOPBACK[0]),
        port=environment.integer(environ, "CIPHERMARK_PORT", default_port, (0, 65535)),
        keyring=environment.keyring_of(service, environ, users),
        log_level=environment.one_of(environ, "CIPHERMARK_LOG_LEVEL", logs.LEVELS),
    )


def serve(app: ASGIApp, at: Listening) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    logs.configure(at.service, at.log_level, lambda: at.keyring.tokens)
    if at.host not in LOOPBACK:
        _log.warning("reachable from other machines over plain HTTP: keep the network private", host=at.host)
    uvicorn.run(
        app,
        host=at.host,
        port=at.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_FINISHING_S,
        timeout_keep_alive=30,
        proxy_headers=False,
        ws="none",
        http=Deadlined,
        backlog=_BACKLOG,
    )


def run(
    service: str,
    default_port: int,
    make: Callable[[Listening, Mapping[str, str]], ASGIApp],
    environ: MutableMapping[str, str],
) -> None:
    """A service's ``main``: read the settings, make the application, serve; exit code 2 for invalid settings.

    Tokens are removed from ``environ``: no child process needs them.
    """
    try:
        at = listening(service, default_port, environ)
        app = make(at, environ)
        environment.forget_tokens(environ)
    except UserError as error:
        sys.exit(_told(service, error))
    serve(app, at)


def _told(service: str, error: UserError) -> int:
    print(f"ciphermark-{service}: {error}", file=sys.stderr)
    return 2


# By the awaited part in h11's terms: the head of a request, or the rest of its body.
ALLOWED_S: dict[Any, float] = {h11.IDLE: 10.0, h11.SEND_BODY: 60.0}


def connection_limit() -> int:
    """The maximum number of a service's connections: below the limit of open files of this process."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(_MAX_CONNECTIONS, max(files - _OTHER_FILES, files // 4))


_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)


class Deadlined(H11Protocol):
    """HTTP as in uvicorn. A connection ends if a head or body is not complete by its deadline, regardless of partial
    data.

    Between two requests, before the first byte of the second, uvicorn's own limit holds. A connection beyond
    :func:`connection_limit` replaces the one that has been without a request for the longest time. It is refused where
    all have a request.
    """

    _clock: asyncio.TimerHandle | None = None
    _awaited: tuple[Any, object] | None = None
    _idle_since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Wait for the first head from now on."""
        super().connection_made(transport)
        self._idle_since_s = self.loop.time()
        self._await((h11.IDLE, None))
        if len(self.connections) > connection_limit():
            self._make_room()

    def _make_room(self) -> None:
        others = [each for each in self.connections if isinstance(each, Deadlined) and each is not self]
        idle = [each for each in others if each.is_idle]
        if not idle:
            self.transport.write(_FULL)
            self.transport.close()
            return
        longest = min(idle, key=lambda each: each._idle_since_s)
        self.connections.discard(longest)  # its loss is reported a little later
        longest.transport.abort()

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress: none has arrived completely, or its response is complete."""
        return self.cycle is None or self.cycle.response_complete

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._await(None)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Called by uvicorn on new data and on a complete response."""
        super().handle_events()
        if not self.is_idle:
            self._idle_since_s = self.loop.time()
        state = self.conn.their_state
        is_begun = state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        self._await((state, self.cycle) if state in ALLOWED_S and is_begun else None)

    def _await(self, awaited: tuple[Any, object] | None) -> None:
        """Begin to wait for the head or the body of one request, or for nothing."""
        if awaited == self._awaited:
            return
        if self._clock is not None:
            self._clock.cancel()
        self._awaited = awaited
        self._clock = None if awaited is None else self.loop.call_later(ALLOWED_S[awaited[0]], self._give_up)

    def _give_up(self) -> None:
        self.transport.abort()
