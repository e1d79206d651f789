"""Opening the database: the server that the environment names, else the embedded one."""

from __future__ import annotations

from importlib import import_module
from urllib.parse import urlsplit

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_db import embedded
from ciphermark_db.database import Database


def url(data_directory: DataDirectory) -> str:
    """The URL of the database; starts the embedded server if the environment names no other."""
    return data_directory.database_url or embedded.ensure_started(data_directory.folder)


def place(data_directory: DataDirectory) -> str:
    """The location of the data, without passwords."""
    if data_directory.database_url is None:
        return f"the embedded PostgreSQL of {data_directory.folder}"
    parts = urlsplit(data_directory.database_url)
    return f"PostgreSQL at {parts.hostname or 'localhost'}{parts.path}"


def connected(data_directory: DataDirectory, is_to_record: bool = False) -> Database:
    """A connection to the migrated database. If the database was not current, every experiment, metric and dimension of
    this program is registered. With ``is_to_record`` they always are: the caller may record content that this process
    did not plan.
    """
    database = Database.open(url(data_directory))
    if is_to_record or not database.is_current():
        register_all()
    database.migrate()
    return database


def register_all() -> None:
    """Import all modules that register experiments, metrics and dimensions. This takes half a second, which read-only
    commands avoid.
    """
    import_module("ciphermark_measure.experiments")
    import_module("ciphermark_workloads.catalogue")


def stop(data_directory: DataDirectory) -> None:
    """Stop the embedded server."""
    embedded.stop(data_directory.folder)
