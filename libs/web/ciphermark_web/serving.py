"""Runs an application until it is told to end.

Heads and bodies of requests have deadlines: whoever reaches the port can connect, with or without a token, and uvicorn
itself waits for ever.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import h11
import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from ciphermark_core.errors import UserError
from ciphermark_web import environment, logs

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_FINISHING_S = 5  # what is left to requests in progress when the service is told to end
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a service listens, for whom, and how much it says."""

    service: str
    host: str
    port: int
    token: str
    log_level: str


def listening(service: str, default_port: int, environ: environment.Environ) -> Listening:
    """Read ``CIPHERMARK_HOST``, ``…_PORT``, ``…_LOG_LEVEL`` and the token; raises ``UserError``."""
    return Listening(
        service=service,
        host=environment.text(environ, "CIPHERMARK_HOST", LOOPBACK[0]),
        port=environment.integer(environ, "CIPHERMARK_PORT", default_port, (0, 65535)),
        token=environment.token_of(service, environ),
        log_level=environment.one_of(environ, "CIPHERMARK_LOG_LEVEL", logs.LEVELS),
    )


def serve(app: ASGIApp, at: Listening) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    logs.configure(at.service, at.log_level, at.token)
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
    )


def run(
    service: str,
    default_port: int,
    make: Callable[[Listening, Mapping[str, str]], ASGIApp],
    environ: MutableMapping[str, str],
) -> None:
    """A service's ``main``: read the settings, make the application, serve; exit code 2 for wrong settings.

    Tokens are taken out of ``environ``: no child process needs them.
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


# By what is waited for, as h11 calls it: the head of a request, or the rest of its body.
ALLOWED_S: dict[Any, float] = {h11.IDLE: 10.0, h11.SEND_BODY: 60.0}


class Deadlined(H11Protocol):
    """HTTP as uvicorn speaks it; connections end whose head or body is not there in time, however much of it comes.

    Between two requests, before the first byte of the second, uvicorn's own limit holds.
    """

    _clock: asyncio.TimerHandle | None = None
    _awaited: tuple[Any, object] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """The first head is waited for from now on."""
        super().connection_made(transport)
        self._await((h11.IDLE, None))

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._await(None)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Called by uvicorn whenever something has come, or an answer is complete."""
        super().handle_events()
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
