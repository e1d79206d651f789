"""Reading the database: a pool of read-only connections, queries in named blocks, and the run that a name refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import NoReturn

import psycopg
from psycopg import errors
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Identifier, Literal
from psycopg_pool import ConnectionPool, PoolTimeout

from ciphermark_core import descriptor
from ciphermark_core.errors import UserError
from ciphermark_db.database import DatabaseUnavailable
from ciphermark_present.query import Answer, Query, Row

QUERY_TIMEOUT_S = 20
_POOL_SIZE = 4
_WAIT_S = 4.0
_RECONNECT_S = 1.0  # then the next request retries, instead of the pool with growing pauses
_READER = "ciphermark_reader"
_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_UNPREPARED = (
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.UndefinedFunction,
    errors.InsufficientPrivilege,
)
_NO_NAME = (errors.InvalidTextRepresentation, errors.CharacterNotInRepertoire, errors.UntranslatableCharacter)


class NotFoundError(UserError):
    """The object that the address names does not exist."""


class TooSlowError(UserError):
    """The database took too long."""


class UnpreparedError(UserError):
    """The database does not have the tables of this version."""


class Store:
    """Answers queries. Each one is a read-only transaction of the reader's role, with a time limit.

    Raises :class:`DatabaseUnavailable` while PostgreSQL is away; the pool reconnects automatically. Raises
    :class:`UnpreparedError` where the database is not migrated, and :class:`TooSlowError` where a query takes too long.
    With ``is_uncorrected``, all answers are without correction for host interference.
    """

    def __init__(self, url: str, is_uncorrected: bool = False) -> None:
        self.is_uncorrected = is_uncorrected
        self._pool: ConnectionPool[psycopg.Connection[TupleRow]] = ConnectionPool(
            url,
            min_size=1,
            max_size=_POOL_SIZE,
            timeout=_WAIT_S,
            reconnect_timeout=_RECONNECT_S,
            open=False,
            configure=_settle,
            check=ConnectionPool.check_connection,
            kwargs={"autocommit": True, "application_name": "ciphermark-dashboard", "connect_timeout": 5},
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

    def ask(self, block: str, params: Row, is_uncorrected: bool = False) -> Answer:
        """The answer to a block of ``sql/*.sql``."""
        return self.answer(Query(blocks()[block], params, is_uncorrected))

    def answer(self, query: Query) -> Answer:
        """The answer to a figure's query."""
        query = replace(query, is_uncorrected=query.is_uncorrected or self.is_uncorrected)
        with self._connected() as connection:
            if not query.is_uncorrected:
                return _answer(connection, query)
            with connection.transaction():
                connection.execute(blocks()["uncorrected"].encode())
                return _answer(connection, query)

    def run_choices(self) -> Sequence[Row]:
        """The runs that pages offer: the latest 1,000, the latest first."""
        return self.ask("run_choices", {}).mappings

    def run(self, name: str) -> Row:
        """The run that a name refers to, however old: an id or the beginning of it, a label, ``last``, ``last:SUITE``.
        An empty name means the latest run. Raises :class:`NotFoundError` where there is no such run, or an id's
        beginning is ambiguous.
        """
        run = self.find_run(name)
        if run is not None:
            return run
        latest = self.find_run("last")
        if latest is None:
            raise NotFoundError("No run is recorded yet. Start one: `ciphermark run quick`.")
        raise NotFoundError(f"There is no run {name}; the latest is {latest['run_id']}.")

    def find_run(self, name: str) -> Row | None:
        """As :meth:`run`, but ``None`` where there is no such run."""
        rows = self.ask("run_named", {"asked": name}).mappings
        if len(rows) > 1:
            raise NotFoundError(f"Several runs begin with {name}: enter more of the id.")
        return rows[0] if rows else None

    def latest_pair(self, suite: str = "", a: str = "", b: str = "") -> tuple[str, str] | None:
        """The last two runs of a suite: of the named one, else of the suite executed last among those executed twice.
        The named runs are part of the pair. ``None`` where there are no two such runs.
        """
        rows = self.ask("latest_pair", {"suite": suite or None, "a": a or None, "b": b or None}).mappings
        return (rows[0]["run_a"], rows[0]["run_b"]) if rows else None

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[TupleRow]]:
        try:
            with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, psycopg.Error) as error:
            _refuse(error)


def _answer(connection: psycopg.Connection[TupleRow], query: Query) -> Answer:
    # A statement prepared for one schema fails where its columns have other types in the other schema.
    prepare = False if query.is_uncorrected else None
    cursor = connection.execute(query.text.encode(), query.parameters, prepare=prepare)
    assert cursor.description is not None
    return Answer(tuple(column.name for column in cursor.description), cursor.fetchall())


def _refuse(error: PoolTimeout | psycopg.Error) -> NoReturn:
    """Raise the error that PostgreSQL's complaint means for a reader."""
    if isinstance(error, errors.QueryCanceled):
        raise TooSlowError(f"The query took more than {QUERY_TIMEOUT_S} s: select fewer rows.") from error
    if isinstance(error, _UNPREPARED):
        raise UnpreparedError(
            "The schema of this database is outdated: run `ciphermark db migrate`."
        ) from error
    if isinstance(error, _NO_NAME) or _is_refused_here(error):
        raise NotFoundError("This name does not exist.") from error
    if isinstance(error, PoolTimeout | psycopg.OperationalError | psycopg.InterfaceError):
        raise DatabaseUnavailable(str(error).strip()) from error
    raise error


def _is_refused_here(error: Exception) -> bool:
    """Whether psycopg refuses to send a parameter: a text with a NUL, which PostgreSQL cannot store."""
    return isinstance(error, psycopg.DataError) and error.sqlstate is None


def _settle(connection: psycopg.Connection[TupleRow]) -> None:
    """Give up the right to write: by role where the reader's role is allowed, and always by setting."""
    connection.execute(blocks()["settle"].encode(), {"timeout_ms": str(QUERY_TIMEOUT_S * 1000)})
    if connection.execute(blocks()["find_reader"].encode(), {"name": _READER}).fetchone():
        with suppress(errors.InsufficientPrivilege), connection.transaction():
            connection.execute(SQL("set role {}").format(Identifier(_READER)))


@cache
def blocks() -> dict[str, str]:
    """All blocks of all files in ``sql/`` by name; a block starts at a line ``-- name: <name>``.

    ``{filters}`` in them stands for the dimensions that readers choose by.
    """
    statements: dict[str, str] = {}
    dimensions = ", ".join(dimension.name for dimension in descriptor.filters())
    for file in sorted((files(__package__) / "sql").iterdir(), key=lambda item: item.name):
        statements |= parsed(file.read_text().replace("{filters}", dimensions))
    return statements


def parsed(text: str) -> dict[str, str]:
    """The blocks of a text by name."""
    _, *parts = _NAME.split(text)
    return dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))


def with_values(query: Query) -> str:
    """A query with its parameters written out, to paste into psql."""
    values = query.parameters
    written = _PLACEHOLDER.sub(lambda match: Literal(values[match[1]]).as_string(None), query.text)
    before = "set search_path = uncorrected, public;\n" if query.is_uncorrected else ""
    return before + written.replace("%%", "%") + "\n"
