"""Connecting to PostgreSQL, and saying what is wrong when that fails."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ReadOnlySqlTransaction

from ciphermark_core.errors import UserError
from ciphermark_db.errors import DatabaseUnavailable

CONNECT_TIMEOUT_S = 10
# Of SQLSTATEs: insufficient resources (a full disk among them), an operator's intervention, errors of the system.
_PASSING = ("53", "57P", "58")
_ENDED = "57P"


def connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection in autocommit mode, so that every transaction in the code is a visible block.

    Raises ``UserError`` for text that is no connection URL, ``DatabaseUnavailable`` when no server answers.
    """
    try:
        place(url)
    except psycopg.ProgrammingError as error:
        raise UserError(
            f"not a PostgreSQL URL: {str(error).strip()}. Write postgresql://user@host:port/database"
        ) from None
    try:
        return psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S, application_name="ciphermark"
        )
    except psycopg.OperationalError as error:
        raise unavailable(url, error) from error


def may_pass(error: psycopg.Error) -> bool:
    """Whether a server that answers cannot write now, for reasons of its own: its disk is full, or it is read-only, as
    after a failover.
    """
    return (error.sqlstate or "").startswith(_PASSING) or isinstance(error, ReadOnlySqlTransaction)


def unavailable(url: str, error: psycopg.Error) -> DatabaseUnavailable:
    """The exception for a server at ``url`` that does not answer, or cannot go on."""
    is_ended = (error.sqlstate or "").startswith(_ENDED)
    remedy = (
        "It answers, and can write again once that has passed."
        if may_pass(error) and not is_ended
        else "Start the server, or correct CIPHERMARK_DATABASE_URL; unset it to use the embedded server."
    )
    return DatabaseUnavailable(f"PostgreSQL at {place(url)} cannot be used: {str(error).strip()}\n{remedy}")


def place(url: str) -> str:
    """Where a URL points, without user and password."""
    parts = conninfo_to_dict(url)
    host, port = parts.get("host", "the local socket"), parts.get("port", 5432)
    return f"{host}, port {port}, database {parts.get('dbname', 'of the user')}"
