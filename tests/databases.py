"""A real PostgreSQL: one embedded server per test session, migrated once, and a copy of that wherever asked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an embedded server's superuser."""
    import psycopg  # this file is loaded for tests, too, that need no database

    from ciphermark_db import embedded

    folder = tmp_path_factory.mktemp("server")
    superuser = embedded.ensure_started(folder).replace(
        "postgresql://ciphermark@/ciphermark", "postgresql://postgres@/postgres"
    )
    with psycopg.connect(superuser, autocommit=True) as connection:
        for name in ("fsync", "full_page_writes", "synchronous_commit"):  # it need not outlive the machine
            connection.execute(f"alter system set {name} = off")
        for name in ("min_wal_size", "max_wal_size"):  # every process of tests has a server: disks are small
            connection.execute(f"alter system set {name} = '64MB'")
        connection.execute("select pg_reload_conf()")
    yield superuser
    embedded.stop(folder)


_numbers = itertools.count()


class Databases:
    """Makes databases of a server, each under a name of its own, and drops them."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._names: list[str] = []

    def made(self, model: str = "template1") -> str:
        """URL of a copy of a database, by name or URL, that nobody is connected to; by default of the empty one."""
        name = f"test_{next(_numbers)}"
        model = model.rpartition("@/")[2].partition("?")[0]
        self._execute(f"create database {name} owner ciphermark template {model}")
        self._names.append(name)
        return self._server.replace("postgresql://postgres@/postgres", f"postgresql://ciphermark@/{name}")

    def drop(self) -> None:
        """Drop all that were made, with their connections."""
        self._execute(*(f"drop database {name} with (force)" for name in self._names))

    def _execute(self, *statements: str) -> None:
        import psycopg

        with psycopg.connect(self._server, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@pytest.fixture(scope="session")
def models(server: str) -> Databases:
    """Makes databases that others are copies of: they last as long as the server."""
    return Databases(server)


@pytest.fixture(scope="module")
def databases(server: str) -> Iterator[Databases]:
    """Makes databases that last as long as a module's tests."""
    made = Databases(server)
    yield made
    made.drop()


@pytest.fixture(scope="module")
def empty_url(databases: Databases) -> Callable[[], str]:
    """Makes an empty database and returns its URL."""
    return databases.made


@pytest.fixture(scope="session")
def migrated(models: Databases) -> str:
    """A database with all tables and views, as migrations leave it."""
    from ciphermark_db.database import Database

    url = models.made()
    with Database.open(url) as database:
        database.migrate()
    return url


@pytest.fixture(scope="module")
def new_url(databases: Databases, migrated: str) -> Callable[[], str]:
    """Makes a copy of the migrated database and returns its URL."""
    return lambda: databases.made(migrated)
