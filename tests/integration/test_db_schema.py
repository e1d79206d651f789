"""Migrations: they produce schema.sql, once, whoever applies them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest

from ciphermark_core.errors import UserError
from ciphermark_db.gateway import Database
from ciphermark_db.migrate import Migration, migrations, pending

VIEWS = (
    "results",
    "speedup",
    "ratio",
    "ratio_any_security",
    "depth",
    "noise",
    "security",
    "published",
    "published_match",
)


@pytest.fixture(scope="module")
def dump(server: str) -> Callable[[str], list[str]]:
    """Dumps the schema of a URL with the server's own pg_dump."""
    with psycopg.connect(server) as connection:
        (folder,) = connection.execute("select setting from pg_config where name = 'BINDIR'").fetchone()

    def dumped(url: str) -> list[str]:
        command = [str(Path(folder) / "pg_dump"), "--schema-only", "--no-owner", url]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return [line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]

    return dumped


def test_migrations_produce_the_schema(new_url: Callable[[], str], dump) -> None:
    migrated, written = new_url(), new_url()
    with Database.open(migrated) as database:
        database.migrate()
    with psycopg.connect(written) as connection:
        connection.execute((files("ciphermark_db") / "schema.sql").read_bytes())
    assert dump(migrated) == dump(written)


def test_migrating_again_changes_nothing(new_url: Callable[[], str], dump) -> None:
    url = new_url()
    with Database.open(url) as database:
        database.migrate()
        before = dump(url), database.query("select * from schema_migration").rows
        database.migrate()
        assert (dump(url), database.query("select * from schema_migration").rows) == before


def test_many_migrate_at_once(new_url: Callable[[], str]) -> None:
    url = new_url()

    def migrate(_: int) -> None:
        with Database.open(url) as database:
            database.migrate()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(migrate, range(6)))
    with Database.open(url) as database:
        assert database.query("select count(*) from schema_migration").rows == [(len(migrations()),)]


def test_versions_are_consecutive() -> None:
    assert [migration.version for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_a_newer_database_is_refused(new_url: Callable[[], str]) -> None:
    with Database.open(new_url()) as database:
        database.migrate()
        database.query("insert into schema_migration values (9999, 'future', 'x')", read_only=False)
        with pytest.raises(UserError, match=r"migration 9999.*update Ciphermark"):
            database.migrate()


def test_a_changed_migration_is_refused() -> None:
    known = [Migration(1, "first", b"select 1"), Migration(2, "second", b"select 2")]
    assert pending(known, {}) == known
    assert pending(known, {1: known[0].checksum}) == known[1:]
    with pytest.raises(UserError, match=r"migration 1 \(first\) was applied with another text"):
        pending(known, {1: known[1].checksum})


def test_a_role_without_rights_is_told(new_url: Callable[[], str], server: str) -> None:
    url = new_url()
    with psycopg.connect(server, autocommit=True) as administrator:
        administrator.execute("create role guest login")
    with (
        Database.open(url.replace("ciphermark@", "guest@")) as database,
        pytest.raises(UserError, match="permission denied for schema public"),
    ):
        database.migrate()


def test_every_view_and_column_is_described(database: Database) -> None:
    undescribed = database.query(
        """
        select c.relname, a.attname
        from pg_class as c
        join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
        where c.relname = any (%s)
          and (col_description(c.oid, a.attnum) is null or obj_description(c.oid, 'pg_class') is null)
        """,
        [list(VIEWS)],
    )
    assert undescribed.rows == []
