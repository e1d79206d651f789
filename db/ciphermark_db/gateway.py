"""The way into PostgreSQL: records runs and outcomes, answers queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome
from ciphermark_core.run import Run
from ciphermark_db import migrate, rows
from ciphermark_db.connection import connect, may_pass, unavailable
from ciphermark_db.errors import ContentRefused
from ciphermark_db.sql import blocks

QUERY_TIMEOUT_S = 60.0
_OF_CONTENT = (psycopg.DataError, psycopg.IntegrityError)

Params = Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """An answer: column names, and rows in the order of the query."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Database:
    """One connection to one database; for one thread at a time.

    Every method raises :class:`DatabaseUnavailable` when the server does not answer or cannot go on (its disk
    is full); the next call connects anew where needed. What a failed call had begun to record is rolled back.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None

    @classmethod
    def open(cls, url: str) -> Database:
        """Connect to ``url`` (``postgresql://…``)."""
        database = cls(url)
        database._connection = connect(url)
        return database

    def close(self) -> None:
        """Disconnect. The next call would connect again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def migrate(self) -> None:
        """Bring the schema to this program's version; safe while others do the same.

        Raises ``UserError`` when the database is newer or has a migration with another text, and when the server
        is too old or refuses.
        """
        with self._connected() as connection, _complaints(connection):
            migrate.migrate(connection)

    def record_run(self, run: Run, is_imported: bool = False) -> None:
        """Record the run and its host; does nothing when the run is recorded already.

        What PostgreSQL refuses becomes ``UserError``, here and in :meth:`record_outcome`: :class:`ContentRefused` where
        the reason is what it says.
        """
        sql = blocks("record")
        with self._connected() as connection, _complaints(connection), connection.transaction():
            connection.execute(sql["record_host"], rows.host(run.host))
            connection.execute(sql["record_run"], rows.run(run, is_imported))

    def record_outcome(self, outcome: Outcome) -> None:
        """Record the outcome in one transaction; does nothing when its trial is recorded already.

        The trial's run must be recorded before.
        """
        self.record_outcomes([outcome])

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes in one transaction: all of them or none, less those whose trials are recorded already."""
        with self._connected() as connection, _complaints(connection), connection.transaction():
            for statement, described in rows.descriptions(outcomes):
                connection.execute(blocks("record")[statement], described)
            for outcome in sorted(outcomes, key=lambda item: item.trial.id):
                _record_trial(connection, outcome)

    def record_refusals(self, outcomes: Sequence[Outcome], reason: str) -> None:
        """Record that outcomes cannot be recorded, and why."""
        refused = [
            {"trial_id": item.trial.id, "run_id": item.trial.run_id, "reason": ascii(reason)[1:-1]}
            for item in outcomes
        ]
        with self._connected() as connection, _complaints(connection), connection.transaction():
            connection.cursor().executemany(blocks("record")["record_refusal"], refused)

    def analyze(self) -> None:
        """Let PostgreSQL learn what was recorded, so that it plans queries over it well."""
        with self._connected() as connection:
            connection.execute(blocks("record")["analyze"])

    def recorded_trials(self, run_id: str) -> set[str]:
        """The ids of the trials that are recorded, or were refused, of the run and of those that continue it on other
        hosts; empty for an unknown run.
        """
        return {row[0] for row in self._rows("recorded_trials", {"run_id": run_id})}

    def runs_named(self, asked: str) -> list[str]:
        """The id of the run that a text means to the function ``run_named``; two where it may mean several."""
        return [row[0] for row in self._rows("runs_named", {"asked": asked})]

    def label_run(self, run_id: str, label: str | None) -> None:
        """Give a run a label, or take it away."""
        with self._connected() as connection, _complaints(connection), connection.transaction():
            connection.execute(blocks("record")["label_run"], {"id": run_id, "label": label})

    def run_ids(self) -> list[str]:
        """The ids of all runs, oldest first."""
        return [row[0] for row in self._rows("run_ids", {})]

    def programs(self, run_id: str) -> list[tuple[str, str, str, str, bytes]]:
        """Workload, variant, scheme, stage and bytes of every program that a run measured, in this order."""
        rows = self._rows("programs_of_run", {"run_id": run_id})
        return [
            (workload, variant, scheme, stage, bytes(data))
            for workload, variant, scheme, stage, _, data in rows
        ]

    def query(
        self,
        sql: str,
        params: Params | None = None,
        read_only: bool = True,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> Table:
        """Answer one SQL statement, by default in a transaction that cannot write and leaves no trace.

        ``params`` are psycopg's: ``%s`` or ``%(name)s``; without them a ``%`` stands for itself. A statement
        without an answer gives a table without columns. PostgreSQL's complaints become ``UserError``.
        """
        with (
            self._connected() as connection,
            _transaction(connection, read_only),
            _complaints(connection, not read_only),
        ):
            limit = {"milliseconds": str(max(1, round(timeout_s * 1000)))}
            connection.execute(blocks("query")["settle"], limit)
            # prepared: the protocol then takes one statement, so none can follow a "commit"
            cursor = connection.execute(sql.encode(errors="replace"), params, prepare=True)
            if cursor.description is None:
                return Table((), [])
            return Table(tuple(column.name for column in cursor.description), cursor.fetchall())

    def _rows(self, block: str, params: Params) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(blocks("query")[block], params).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._url)
        connection = self._connection
        try:
            yield connection
        except psycopg.Error as error:
            if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) or may_pass(error):
                raise unavailable(self._url, error) from error
            raise


def _record_trial(connection: psycopg.Connection[Any], outcome: Outcome) -> None:
    sql = blocks("record")
    with connection.cursor() as cursor:
        cursor.execute(sql["record_trial"], rows.trial(outcome))
        if cursor.rowcount == 0:
            return
        for use in outcome.programs:
            row = {"trial_id": outcome.trial.id, "stage": use.stage, "program": use.digest}
            cursor.execute(sql["record_trial_program"], row)
            cursor.executemany(sql["record_trial_layer"], rows.layers(outcome.trial.id, use))
        if outcome.samples:
            _record_samples(cursor, outcome)


def _record_samples(cursor: psycopg.Cursor[Any], outcome: Outcome) -> None:
    made = cursor.execute(blocks("record")["record_series"], rows.series(outcome)).fetchall()
    ids = {tuple(place): series_id for *place, series_id in made}
    with cursor.copy(blocks("record")["copy_samples"]) as copy:
        copy.set_types(rows.SAMPLE_TYPES)
        for sample in outcome.samples:
            copy.write_row(rows.sample(ids[rows.place(sample)], sample))


@contextmanager
def _transaction(connection: psycopg.Connection[Any], read_only: bool) -> Iterator[None]:
    """Like psycopg's, but survives a statement that leaves a COPY under way.

    One that can only read is rolled back, and its SET with it.
    """
    connection.execute(blocks("query")["begin_read_only" if read_only else "begin"])
    try:
        yield
        if not read_only:
            connection.commit()
    finally:
        if connection.info.transaction_status == TransactionStatus.ACTIVE:
            connection.close()
        elif not connection.closed:
            connection.rollback()


@contextmanager
def _complaints(connection: psycopg.Connection[Any], is_writing: bool = True) -> Iterator[None]:
    """Turn what PostgreSQL says about a statement into ``UserError``, and about its values into ``ContentRefused``;
    what keeps it from writing anything at all passes.
    """
    try:
        yield
    except psycopg.Error as error:
        if connection.closed or (is_writing and may_pass(error)):
            raise
        hints = (error.diag.message_detail, error.diag.message_hint)
        message = error.diag.message_primary or str(error)
        kind = ContentRefused if isinstance(error, _OF_CONTENT) else UserError
        raise kind("\n".join([f"PostgreSQL: {message}", *filter(None, hints)])) from error
