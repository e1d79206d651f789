"""The log of a benchmark worker, and of its attempts at jobs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from ciphermark_web import environment, logs


def configure(environ: Mapping[str, str]) -> None:
    """Log as services do. Raises ``UserError`` for a level that does not exist."""
    level = environment.one_of(environ, "CIPHERMARK_LOG_LEVEL", logs.LEVELS)
    logs.configure("worker", level, environ.get("CIPHERMARK_BENCHMARK_TOKEN") or secrets.token_urlsafe())
