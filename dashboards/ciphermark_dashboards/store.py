"""Reading the views: a pool of read-only connections, and queries in named blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

import psycopg
from psycopg import errors
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Identifier, Literal
from psycopg_pool import ConnectionPool, PoolTimeout

from ciphermark_dashboards.errors import NotFoundError, TooSlowError, UnpreparedError
from ciphermark_db import sql
from ciphermark_db.errors import DatabaseUnavailable

Row = Mapping[str, Any]

QUERY_TIMEOUT_S = 20
_POOL_SIZE = 4
_WAIT_S = 4.0
_RECONNECT_S = 1.0  # then the next request tries again, rather than the pool after ever longer pauses
_READER = "ciphermark_reader"
_SHARED = ("run_figures", "published")  # blocks of the command line that the pages ask too
_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_UNPREPARED = (
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.UndefinedFunction,
    errors.InsufficientPrivilege,
)
_NO_NAME = (errors.InvalidTextRepresentation, errors.CharacterNotInRepertoire, errors.UntranslatableCharacter)


@dataclass(frozen=True, slots=True)
class Answer:
    """Column names, and the rows in the order of the query."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Store:
    """Answers queries; every one in a read-only transaction of the reader's role, with a time limit.

    Raises :class:`DatabaseUnavailable` while PostgreSQL is away; the pool connects again by itself.
    :class:`UnpreparedError` says that the database is not migrated, :class:`TooSlowError` that a query took too long.
    """

    def __init__(self, url: str) -> None:
        self._pool: ConnectionPool[psycopg.Connection[TupleRow]] = ConnectionPool(
            url,
            min_size=1,
            max_size=_POOL_SIZE,
            timeout=_WAIT_S,
            reconnect_timeout=_RECONNECT_S,
            open=False,
            configure=_settle,
            check=ConnectionPool.check_connection,
            kwargs={"autocommit": False, "application_name": "ciphermark-dashboard", "connect_timeout": 5},
        )

    def open(self) -> None:
        """Begin to connect, in the background."""
        self._pool.open(wait=False)

    def close(self) -> None:
        """Disconnect."""
        self._pool.close()

    def __enter__(self) -> Store:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, block: str, params: Row) -> Answer:
        """The answer to a block of ``sql/*.sql``."""
        with self._connected() as connection:
            cursor = connection.execute(blocks()[block].encode(), params)
            assert cursor.description is not None
            return Answer(tuple(column.name for column in cursor.description), cursor.fetchall())

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[TupleRow]]:
        try:
            with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, psycopg.Error) as error:
            _refuse(error)


def _refuse(error: PoolTimeout | psycopg.Error) -> NoReturn:
    """Raise what PostgreSQL's complaint means for a reader."""
    if isinstance(error, errors.QueryCanceled):
        raise TooSlowError(f"The database took more than {QUERY_TIMEOUT_S} s: choose less.") from error
    if isinstance(error, _UNPREPARED):
        raise UnpreparedError(
            "This database has not what this version of Ciphermark reads: run `ciphermark db migrate`."
        ) from error
    if isinstance(error, _NO_NAME) or _is_refused_here(error):
        raise NotFoundError("There is nothing of that name here.") from error
    if isinstance(error, PoolTimeout | psycopg.OperationalError | psycopg.InterfaceError):
        raise DatabaseUnavailable(str(error).strip()) from error
    raise error


def _is_refused_here(error: Exception) -> bool:
    """Whether psycopg refuses to send a parameter: a text with a NUL, which PostgreSQL cannot hold."""
    return isinstance(error, psycopg.DataError) and error.sqlstate is None


def _settle(connection: psycopg.Connection[TupleRow]) -> None:
    """Give up the right to write, by role where we may have the reader's, by setting in any case."""
    connection.execute(blocks()["settle"].encode(), {"timeout_ms": str(QUERY_TIMEOUT_S * 1000)})
    if connection.execute(blocks()["find_reader"].encode(), {"name": _READER}).fetchone():
        with suppress(errors.InsufficientPrivilege), connection.transaction():
            connection.execute(SQL("set role {}").format(Identifier(_READER)))
    connection.commit()


@cache
def blocks() -> dict[str, str]:
    """All blocks of all files in ``sql/`` by name; a block starts at a line ``-- name: <name>``."""
    found = {name: sql.blocks("reports")[name].decode().strip() for name in _SHARED}
    for file in sorted((files(__package__) / "sql").iterdir(), key=lambda item: item.name):
        found |= parsed(file.read_text())
    return found


def parsed(text: str) -> dict[str, str]:
    """The blocks of a text by name."""
    _, *parts = _NAME.split(text)
    return dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))


def with_values(block: str, params: Row) -> str:
    """A block as one can paste it into psql: its parameters written out."""
    text = blocks()[block]
    written = _PLACEHOLDER.sub(lambda match: Literal(params[match[1]]).as_string(None), text)
    return written.replace("%%", "%") + "\n"
