"""The settings from the environment, checked at the edge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ciphermark_core.errors import UserError
from ciphermark_dashboards.benchmark import NO_TOKEN, Token
from ciphermark_web import environment as read
from ciphermark_web.keyring import Keyring, users_file
from ciphermark_web.logs import LEVELS
from ciphermark_web.serving import LOOPBACK

_DEFAULT_PORT = 8103
_OWN_TOKEN = ("CIPHERMARK_DASHBOARD_TOKEN", "CIPHERMARK_DASHBOARD_TOKEN_FILE")


@dataclass(frozen=True, slots=True)
class Settings:
    """``benchmark_url`` and ``benchmark_token`` reach the service that starts runs; without them pages only read.

    ``hosts`` are the names that browsers may use for this service, in addition to those of loopback. ``keyring`` has
    the tokens for the log-in; without one, everybody who reaches the service may look. Starting runs requires a log-in.
    ``services_file`` has the state of the other services, where a supervisor writes it.
    """

    database_url: str
    host: str = LOOPBACK[0]
    port: int = _DEFAULT_PORT
    hosts: tuple[str, ...] = ()
    keyring: Keyring | None = None
    benchmark_url: str | None = None
    benchmark_token: Token = NO_TOKEN
    log_level: str = LEVELS[0]
    services_file: Path | None = None


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the variables; raises ``UserError`` where one is missing or invalid."""
    url = environment.get("CIPHERMARK_DATABASE_URL")
    if not url:
        raise UserError(
            "CIPHERMARK_DATABASE_URL is not set: set it to the URL of the PostgreSQL with the runs "
            "(`ciphermark db url` prints that of the embedded server)"
        )
    host = read.text(environment, "CIPHERMARK_HOST", LOOPBACK[0])
    benchmark_url = environment.get("CIPHERMARK_BENCHMARK_URL") or None
    return Settings(
        database_url=url,
        host=host,
        port=read.integer(environment, "CIPHERMARK_PORT", _DEFAULT_PORT, (0, 65535)),
        hosts=tuple(filter(None, environment.get("CIPHERMARK_DASHBOARD_HOSTS", "").split(","))),
        keyring=_keyring(environment, host, benchmark_url),
        benchmark_url=benchmark_url,
        benchmark_token=Token(
            text=environment.get("CIPHERMARK_BENCHMARK_TOKEN") or None,
            file=Path(file) if (file := environment.get("CIPHERMARK_BENCHMARK_TOKEN_FILE")) else None,
        ),
        log_level=read.one_of(environment, "CIPHERMARK_LOG_LEVEL", LEVELS),
        services_file=Path(file) if (file := environment.get("CIPHERMARK_SERVICES_FILE")) else None,
    )


def _keyring(environment: Mapping[str, str], host: str, benchmark_url: str | None) -> Keyring | None:
    if any(environment.get(name) for name in _OWN_TOKEN):
        return read.keyring_of("dashboard", environment, users_file(environment))
    if host not in LOOPBACK:
        why = f"CIPHERMARK_HOST is {host}: others could reach the dashboard"
    elif benchmark_url is not None:
        why = "CIPHERMARK_BENCHMARK_URL is set: any user of this machine could start runs from the dashboard"
    else:
        return None
    raise UserError(
        f"{why}, so it needs a token. Set CIPHERMARK_DASHBOARD_TOKEN_FILE to a file, which is created if missing, "
        "or CIPHERMARK_DASHBOARD_TOKEN"
    )
