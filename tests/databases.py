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
        connection.execute("select pg_reload_conf()")
    yield superuser
    embedded.stop(folder)


class Databases:
    """Makes databases of a server, each under a name of its own."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._numbers = itertools.count()

    def made(self, model: str = "template1") -> str:
        """URL of a copy of a database, by name or URL, that nobody is connected to; by default of the empty one."""
        import psycopg

        name = f"test_{next(self._numbers)}"
        model = model.rpartition("@/")[2].partition("?")[0]
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f"create database {name} owner ciphermark template {model}")
        return self._server.replace("postgresql://postgres@/postgres", f"postgresql://ciphermark@/{name}")


@pytest.fixture(scope="session")
def databases(server: str) -> Databases:
    return Databases(server)


@pytest.fixture(scope="session")
def empty_url(databases: Databases) -> Callable[[], str]:
    """Makes an empty database and returns its URL."""
    return databases.made


@pytest.fixture(scope="session")
def new_url(databases: Databases) -> Callable[[], str]:
    """Makes a database with all tables and views, as migrations leave it, and returns its URL."""
    from ciphermark_db.database import Database

    model = databases.made()
    with Database.open(model) as database:
        database.migrate()
    return lambda: databases.made(model)
