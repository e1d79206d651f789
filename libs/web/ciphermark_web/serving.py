"""Runs an application until it is told to end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass

import structlog
import uvicorn
from starlette.types import ASGIApp

from ciphermark_core.errors import UserError
from ciphermark_web import environment, logs, tokens
from ciphermark_web.deadlines import Deadlined

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
        token=tokens.configured(service, environ),
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
        tokens.forget(environ)
    except UserError as error:
        sys.exit(_told(service, error))
    serve(app, at)


def _told(service: str, error: UserError) -> int:
    print(f"ciphermark-{service}: {error}", file=sys.stderr)
    return 2
