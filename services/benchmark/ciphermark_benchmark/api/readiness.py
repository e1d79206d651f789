"""What the API can answer without, and jobs cannot be executed without: a worker, and space for what is measured."""

from __future__ import annotations

import tempfile
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from ciphermark_db.sql import blocks

NO_WORKER = "no benchmark worker is there: start one with `ciphermark worker`"
_TIMEOUT_S = 3
_PROBE_BYTES = 1 << 16  # more than file systems keep back for those who are there already


def reason_against_workers(url: str, stalled_s: float) -> str | None:
    """Why no job would be executed: no worker is alive, or that is not known."""
    try:
        with psycopg.connect(url, connect_timeout=_TIMEOUT_S, row_factory=dict_row) as connection:
            hosts = connection.execute(blocks("jobs")["hosts"], {"stalled_s": stalled_s}).fetchall()
    except psycopg.Error:
        return "not known: PostgreSQL does not answer"
    return None if any(host["is_alive"] for host in hosts) else NO_WORKER


def reason_against_disk(folder: Path) -> str | None:
    """Why the home takes nothing; without its path, since anyone may ask."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))
    except OSError as error:
        return f"nothing can be written to the home: {error.strerror}"
    return None
