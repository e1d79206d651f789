"""Opening the database: the server that the environment names, else the embedded one."""

from __future__ import annotations

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


def connected(home: Home) -> Database:
    """A connection to the migrated database."""
    database = Database.open(url(home))
    database.migrate()
    return database


def stop(home: Home) -> None:
    """Stop the embedded server."""
    embedded.stop(home.folder)
