"""Opening the database: the server that the environment names, else the embedded one."""

from __future__ import annotations

from importlib import import_module
from urllib.parse import urlsplit

from ciphermark_benchmark.home import Home
from ciphermark_db import embedded
from ciphermark_db.database import Database


def url(home: Home) -> str:
    """URL of the database; starts the embedded server where it is the one."""
    return home.database_url or embedded.ensure_started(home.folder)


def place(home: Home) -> str:
    """Where the data are, without passwords."""
    if home.database_url is None:
        return f"the embedded PostgreSQL of {home.folder}"
    parts = urlsplit(home.database_url)
    return f"PostgreSQL at {parts.hostname or 'localhost'}{parts.path}"


def connected(home: Home, is_to_record: bool = False) -> Database:
    """A connection to the migrated database, which knows every experiment, metric and dimension of this program where
    it was made just now, or ``is_to_record`` what this process may not have planned.
    """
    database = Database.open(url(home))
    if is_to_record or not database.is_current():
        # they register themselves: half a second, which commands that only read do without
        import_module("ciphermark_measure.experiments")
        import_module("ciphermark_workloads.catalogue")
    database.migrate()
    return database


def stop(home: Home) -> None:
    """Stop the embedded server."""
    embedded.stop(home.folder)
