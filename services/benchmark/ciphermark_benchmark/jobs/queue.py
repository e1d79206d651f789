"""The queue: procrastinate's tables in a schema of their own, and how our workers deal with them.

The tables come from the pinned package when the service first starts; nobody else needs them. The package's version
is the comment of the schema; a newer package brings its own migrations.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.schema import SchemaManager
from psycopg import sql

from ciphermark_db.database import connect
from ciphermark_db.sql import blocks

SCHEMA = "queue"
# Of every connection that deals with the queue: its functions name their tables without a schema.
OPTIONS = f"-c search_path={SCHEMA},public -c jit=off"
TASK = "ciphermark.execute"
# A server that was cut off is given up after so many milliseconds, not after a quarter of an hour. Connecting begins
# again every few seconds: the kernel itself would ask ever more rarely, and not hear for a minute that it is back.
CONNECTION: dict[str, Any] = {
    "application_name": "ciphermark",
    "connect_timeout": 5,
    "tcp_user_timeout": 30_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
_POOL: dict[str, Any] = {
    "min_size": 1,
    "timeout": 10.0,
    "max_lifetime": 600.0,
    "reconnect_timeout": 1.0,  # then the next request tries again, rather than the pool after ever longer pauses
}


def install(url: str) -> None:
    """Make the queue's tables, or bring them to the package's version; safe while others do the same."""
    with connect(url) as connection, connection.transaction():
        connection.execute(blocks("jobs")["lock_queue_schema"])
        row = connection.execute(blocks("jobs")["queue_version"]).fetchone()
        if row is None:
            connection.execute(blocks("jobs")["create_queue_schema"])
        installed = None if row is None else str(row[0])
        connection.execute(sql.SQL("set local search_path to {}").format(sql.Identifier(SCHEMA)))
        for text in _steps(installed):
            connection.execute(text.encode())
        _stamp(connection)


def connector(url: str, most: int = 4) -> PsycopgConnector:
    """A connector with up to so many connections, which find the queue's tables."""
    return PsycopgConnector(conninfo=url, kwargs={"options": OPTIONS, **CONNECTION}, max_size=most, **_POOL)


def application(url: str) -> App:
    """procrastinate's application, not yet open."""
    return App(connector=connector(url))


def _steps(installed: str | None) -> list[str]:
    """What brings the tables from a version, or from nothing, to the package's version."""
    if installed is None:
        return [SchemaManager.get_schema()]
    folder = Path(SchemaManager.get_migrations_path())
    later = [path for path in folder.glob("*.sql") if _numbers(path.name.split("_")[0]) > _numbers(installed)]
    return [path.read_text(encoding="utf-8") for path in sorted(later)]


def _numbers(text: str) -> tuple[int, ...]:
    """``03.04.00`` and ``3.4.0`` are the same version."""
    return tuple(int(part) for part in text.split("."))


def _stamp(connection: psycopg.Connection[Any]) -> None:
    statement = sql.SQL("comment on schema {} is {}")
    connection.execute(statement.format(sql.Identifier(SCHEMA), sql.Literal(version("procrastinate"))))
