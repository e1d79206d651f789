"""Forward migrations: ``migrations/NNNN_name.sql``, each applied once, in order; then views and registries.

All of it is one transaction: a migration that is interrupted leaves the database as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import psycopg

from ciphermark_core.errors import UserError
from ciphermark_db import published, registries, views
from ciphermark_db.sql import blocks

# as libpq writes versions: 15.0
OLDEST_SERVER = 150_000


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. ``checksum`` tells whether its text changed after it was applied."""

    version: int
    name: str
    text: bytes

    @property
    def checksum(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text).hexdigest()


def migrations() -> list[Migration]:
    """All migrations of this program, oldest first."""
    found = (file for file in (files("ciphermark_db") / "migrations").iterdir() if file.name.endswith(".sql"))
    split = ((file.name.removesuffix(".sql").split("_", 1), file.read_bytes()) for file in found)
    return sorted((Migration(int(v), name, text) for (v, name), text in split), key=lambda m: m.version)


def pending(known: list[Migration], applied: Mapping[int, str]) -> list[Migration]:
    """The migrations still to apply, given version → checksum of the applied ones.

    Raises ``UserError`` when the database has one that this program lacks or has with another text.
    """
    by_version = {migration.version: migration for migration in known}
    for version, checksum in applied.items():
        if version not in by_version:
            raise UserError(
                f"the database has migration {version}, this program ends at {max(by_version)}: "
                "update Ciphermark, or use another database"
            )
        if by_version[version].checksum != checksum:
            raise UserError(
                f"migration {version} ({by_version[version].name}) was applied with another text: "
                "use the Ciphermark version that made this database, or another database"
            )
    return [migration for migration in known if migration.version not in applied]


def migrate(connection: psycopg.Connection[Any]) -> None:
    """Apply what is pending, make the views, fill the registries' tables and load published figures.

    Others that migrate the same database meanwhile wait.
    """
    if connection.info.server_version < OLDEST_SERVER:
        raise UserError(
            f"PostgreSQL {connection.info.server_version // 10_000} is too old: "
            f"use {OLDEST_SERVER // 10_000} or later, or unset CIPHERMARK_DATABASE_URL"
        )
    sql, known = blocks("migrate"), views.view_files()
    with _alone(connection), connection.transaction():
        connection.execute(sql["create_schema_migration"])
        steps = pending(migrations(), dict(connection.execute(sql["applied"]).fetchall()))
        if steps or not views.are_made(connection, known):
            views.drop(connection)
            for step in steps:
                _apply(connection, step)
            views.make(connection, known)
        registries.fill(connection)
        published.load(connection)


def _apply(connection: psycopg.Connection[Any], step: Migration) -> None:
    connection.execute(step.text)
    row = {"version": step.version, "name": step.name, "checksum": step.checksum}
    connection.execute(blocks("migrate")["record_migration"], row)


@contextmanager
def _alone(connection: psycopg.Connection[Any]) -> Iterator[None]:
    connection.execute(blocks("migrate")["lock"])
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute(blocks("migrate")["unlock"])
