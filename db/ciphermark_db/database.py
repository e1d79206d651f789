"""The gateway to PostgreSQL: connects, records runs and outcomes with their statistics, answers queries."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb

from ciphermark_analysis import METHOD
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome
from ciphermark_core.run import Run
from ciphermark_db import moments, recording, schema
from ciphermark_db.sql import blocks

if TYPE_CHECKING:
    from ciphermark_analysis.ratios import Kind, Ratio
    from ciphermark_db.statistics import TrialSamples

CONNECT_TIMEOUT_S = 10
# Client and server drop a silent connection after half a minute; by default this takes 15 minutes to two hours. A
# disconnected client's session would hold its locks that long.
_CLIENT: dict[str, Any] = {
    "tcp_user_timeout": 30_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
_SERVER = (
    "tcp_keepalives_idle=10",
    "tcp_keepalives_interval=5",
    "tcp_keepalives_count=3",
    "tcp_user_timeout=30000",
)
QUERY_TIMEOUT_S = 60.0
_PIECE_ROWS = 1000
_NO_ANSWER = "the statement has no answer: write a query, such as select, table, values, show or explain"
# Computing it reads all trials of a run, which takes ever longer: at most this share of the time is spent on it.
_HOST_STATE_EVERY_S, _HOST_STATE_SHARE = 2.0, 0.01
# SQLSTATE classes: insufficient resources (such as a full disk), operator intervention, system errors.
_PASSING = ("53", "57P", "58")
_ENDED = "57P"
_OF_CONTENT = (psycopg.DataError, psycopg.IntegrityError)

moments.register()

Params = Sequence[Any] | Mapping[str, Any]
Connection = psycopg.Connection[tuple[Any, ...]]


class StoredProgram(NamedTuple):
    """A program that a run measured, and the dimensions of its case; ``content`` is :meth:`Program.to_bytes`."""

    workload: str
    variant: str
    scheme: str
    stage: str
    dimensions: Mapping[str, Any]
    content: bytes

    @property
    def case(self) -> str:
        """Workload, variant, scheme and dimensions, as a name."""
        values = (
            str(value) if name == "data_set" else f"{name} {value}" for name, value in self.dimensions.items()
        )
        return ", ".join((self.workload, self.variant, self.scheme, *values))


class DatabaseUnavailable(Exception):
    """No PostgreSQL server answers. The text names the server, the reason and the remedy; a later retry may succeed."""


class ContentRefused(UserError):
    """PostgreSQL rejects this content, and would reject it again. The text gives the reason."""


def settings(url: str, *options: str) -> dict[str, Any]:
    """psycopg's arguments for a connection that may hold locks. ``options`` are settings of the session, such as
    ``"jit=off"``, in addition to those of the URL or of the variable ``PGOPTIONS``.
    """
    own = str(conninfo_to_dict(url).get("options") or os.environ.get("PGOPTIONS", ""))
    given = " ".join([*filter(None, [own]), *(f"-c {option}" for option in (*_SERVER, *options))])
    return {
        "application_name": "ciphermark",
        "connect_timeout": CONNECT_TIMEOUT_S,
        "options": given,
        **_CLIENT,
    }


def connect(url: str, connect_timeout_s: int = CONNECT_TIMEOUT_S) -> Connection:
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
        own = settings(url) | {"connect_timeout": connect_timeout_s}
        return psycopg.connect(url, autocommit=True, **own)
    except psycopg.OperationalError as error:
        raise unavailable(url, error) from error


def may_pass(error: psycopg.Error) -> bool:
    """Whether a server answers but temporarily cannot write: its disk is full, or it is read-only after a failover."""
    return (error.sqlstate or "").startswith(_PASSING) or isinstance(error, ReadOnlySqlTransaction)


def unavailable(url: str, error: psycopg.Error) -> DatabaseUnavailable:
    """The exception for a server at ``url`` that does not answer or cannot continue."""
    is_ended = (error.sqlstate or "").startswith(_ENDED)
    remedy = (
        "It answers, and can write again once that has passed."
        if may_pass(error) and not is_ended
        else "Start the server, or correct CIPHERMARK_DATABASE_URL; unset it to use the embedded server."
    )
    return DatabaseUnavailable(f"PostgreSQL at {place(url)} cannot be used: {str(error).strip()}\n{remedy}")


def place(url: str) -> str:
    """The server and database of a URL, without user and password."""
    parts = conninfo_to_dict(url)
    host, port = parts.get("host", "the local socket"), parts.get("port", 5432)
    return f"{host}, port {port}, database {parts.get('dbname', 'of the user')}"


@dataclass(frozen=True, slots=True)
class Table:
    """The result of a query: column names, and rows in the query's order."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Database:
    """One connection to one database; for one thread at a time.

    Every method raises :class:`DatabaseUnavailable` if the server does not answer or cannot continue, as with a full
    disk. The next call reconnects if needed. A failed call's transaction is rolled back. With ``is_uncorrected``,
    queries return values without correction for host interference.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.is_uncorrected = False
        self._connection: Connection | None = None
        self._samples: dict[str, TrialSamples] = {}  # latest recorded trials, by their ids
        self._host_state_due: dict[str, float] = {}

    @classmethod
    def open(cls, url: str, connect_timeout_s: int = CONNECT_TIMEOUT_S) -> Database:
        """Connect to ``url`` (``postgresql://…``)."""
        database = cls(url)
        database._connection = connect(url, connect_timeout_s)
        return database

    def close(self) -> None:
        """Disconnect. The next call reconnects."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_current(self) -> bool:
        """Whether the database has this program's views, that is, was migrated by this version or an equivalent one."""
        with self._connected() as connection:
            return schema.is_current(connection)

    def migrate(self) -> None:
        """Update the schema to this program's version; safe while others do the same.

        Raises ``UserError`` if the database is newer or has a migration with another text, and if the server is too old
        or refuses.
        """
        with self._connected() as connection, _complaints(connection):
            schema.migrate(connection)
        self.rebuild()

    def rebuild(self, runs: Sequence[str] | None = None) -> list[str]:
        """Recompute the statistics of runs from their samples, one transaction each, and return the runs' ids. Default:
        the runs whose stored statistics come from an older method than this program's.
        """
        with self._connected() as connection, _complaints(connection):
            if runs is None:
                outdated = connection.execute(blocks("statistics")["outdated"], {"method": METHOD})
                runs = [run_id for (run_id,) in outdated]
            for run_id in runs:
                from ciphermark_db import statistics  # loads numpy

                with connection.transaction():
                    recording.lock_runs(connection, [run_id])
                    statistics.rebuild(connection, run_id)
        return list(runs)

    def record_run(self, run: Run, is_imported: bool = False, continues: str | None = None) -> None:
        """Record the run and its host; does nothing if the run is already recorded. ``continues`` is the run whose job
        this run continues on another host.

        A refusal by PostgreSQL becomes ``UserError``, here and in :meth:`record_outcome`: :class:`ContentRefused` if
        the content is the reason.
        """
        with self._connected() as connection, _complaints(connection), connection.transaction():
            recording.record_run(connection, run, is_imported=is_imported, continues=continues)

    def record_outcome(self, outcome: Outcome) -> None:
        """Record the outcome in one transaction; does nothing if its trial is already recorded.

        Requires that the trial's run is recorded.
        """
        self.record_outcomes([outcome])

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes and the statistics that depend on them in one transaction: all or none. Skips trials that are
        already recorded.
        """
        from ciphermark_db import statistics  # loads numpy

        with self._connected() as connection, _complaints(connection), connection.transaction():
            new = recording.record_outcomes(connection, outcomes)
            samples = statistics.record_samples(connection, new)
            statistics.update(connection, new, self._samples | samples)
            now = monotonic()
            due = {run for item in new if now >= self._host_state_due.get(run := item.trial.run_id, now)}
            for run_id in due:
                statistics.update_host_state(connection, run_id)
            rest_s = max(_HOST_STATE_EVERY_S, (monotonic() - now) / _HOST_STATE_SHARE)
        self._samples = statistics.latest(self._samples | samples)
        self._host_state_due |= dict.fromkeys(due, now + rest_s)

    def import_run(self, run: Run, outcomes: Sequence[Outcome]) -> int:
        """Record a run that was measured elsewhere, with outcomes and statistics, in one transaction; skips what is
        already recorded. Returns the number of new outcomes. Raises ``UserError`` if another run is recorded under this
        id.
        """
        return self._import(recording.record_imported, run, outcomes)

    def has_had_reference(self, run_id: str) -> bool:
        """Whether the reference run was added before, even if it is deleted by now, or is recorded otherwise."""
        return bool(self._rows("has_had_reference", {"run_id": run_id})[0][0])

    def add_reference(self, run: Run, outcomes: Sequence[Outcome]) -> None:
        """As :meth:`import_run`, for a run that Ciphermark ships and that :meth:`has_had_reference` denies."""
        self._import(recording.record_reference, run, outcomes)

    def _import(
        self, record: Callable[[Connection, Run], None], run: Run, outcomes: Sequence[Outcome]
    ) -> int:
        from ciphermark_db import statistics  # loads numpy

        with self._connected() as connection, _complaints(connection), connection.transaction():
            record(connection, run)
            new = recording.record_outcomes(connection, outcomes)
            statistics.update(connection, new, statistics.record_samples(connection, new))
            statistics.update_host_state(connection, run.id)
            _audit(connection, "imported", run.id, f"{len(new)} of {len(outcomes)} trials are new")
        self.analyze()
        return len(new)

    def update_host_state(self, run_id: str) -> None:
        """Compute the host state of a run; :meth:`record_outcomes` does so only at intervals."""
        from ciphermark_db import statistics  # loads numpy

        with self._connected() as connection, _complaints(connection), connection.transaction():
            recording.lock_runs(connection, [run_id])
            statistics.update_host_state(connection, run_id)

    def record_refusals(self, outcomes: Sequence[Outcome], reason: str) -> None:
        """Record that outcomes cannot be recorded, and why."""
        with self._connected() as connection, _complaints(connection), connection.transaction():
            recording.record_refusals(connection, outcomes, reason)

    def record_progress(self, run_id: str, progress: Mapping[str, Any] | None) -> None:
        """Record how far a run's present trial is, and the time; ``None`` between trials."""
        row = {"run_id": run_id, "progress": None if progress is None else Jsonb(progress)}
        with self._connected() as connection, _complaints(connection):
            connection.execute(blocks("record")["record_progress"], row)

    def analyze(self) -> None:
        """Update PostgreSQL's planner statistics after recording."""
        with self._connected() as connection:
            connection.execute(blocks("record")["analyze"])

    def recorded_trials(self, run_id: str) -> set[str]:
        """The ids of recorded or refused trials of the run and of its continuations on other hosts; empty for an
        unknown run.
        """
        return {row[0] for row in self._rows("recorded_trials", {"run_id": run_id})}

    def runs_named(self, asked: str) -> list[str]:
        """The id of the run that a text denotes, by the SQL function ``runs_named``; two ids if it is ambiguous."""
        return [row[0] for row in self._rows("runs_named", {"asked": asked})]

    def label_run(self, run_id: str, label: str | None) -> None:
        """Set or remove a run's label."""
        with self._connected() as connection, _complaints(connection), connection.transaction():
            connection.execute(blocks("record")["label_run"], {"id": run_id, "label": label})
            _audit(connection, "labelled", run_id, label)

    def delete_run(self, run_id: str, actor: str | None = None) -> list[str]:
        """Delete a run and its continuations on other hosts, with all their records; returns their ids. ``actor`` is
        the user who requests it, by default the user of this process. Raises ``UserError`` if the run's job is open.
        """
        sql = blocks("delete")
        with self._connected() as connection, _complaints(connection), connection.transaction():
            connection.execute(sql["lock"])
            runs = [row[0] for row in connection.execute(sql["parts"], {"run_id": run_id})]
            if connection.execute(sql["open_job"], {"runs": runs}).fetchone():
                raise UserError(f"run {run_id} is queued or executed by the service: cancel it first")
            for name, statement in sql.items():
                if name not in ("lock", "parts", "open_job"):
                    connection.execute(statement, {"runs": runs})
            for part in runs:
                _audit(connection, "deleted", part, actor=actor)
        return runs

    def record_prediction(
        self,
        run_id: str,
        case_key: str,
        results: Sequence[Mapping[str, Any]],
        shares: Sequence[Mapping[str, Any]],
    ) -> None:
        """Record what is predicted of a correct case of a run, instead of earlier predictions: rows of the tables
        ``prediction`` and ``prediction_share`` without their case. Does nothing for a case that the run lacks.
        """
        sql = blocks("predictions")
        with self._connected() as connection, _complaints(connection), connection.transaction():
            recording.lock_runs(connection, [run_id])
            found = connection.execute(sql["case"], {"run_id": run_id, "case_key": case_key}).fetchall()
            for (case_info_id,) in found:
                case = {"case_info_id": case_info_id}
                for name in ("forget", "forget_shares"):
                    connection.execute(sql[name], case)
                for name, rows in (("record", results), ("record_share", shares)):
                    connection.cursor().executemany(sql[name], [{**row, **case} for row in rows])

    def run_ids(self) -> list[str]:
        """The ids of all runs, in the order in which they were recorded."""
        return [row[0] for row in self._rows("run_ids", {})]

    def programs(self, run_id: str) -> list[StoredProgram]:
        """Every program that a run measured, sorted by workload, variant, scheme, dimensions and stage."""
        rows = self._rows("programs_of_run", {"run_id": run_id})
        return [StoredProgram._make((*names, bytes(content))) for *names, content, _ in rows]

    def ratios_to(self, variant: str, run_id: str, kind: Kind) -> list[Ratio]:
        """The ratios of a run's times to those of a variant instead of the fastest, computed from the samples."""
        from ciphermark_db import statistics  # loads numpy

        with self._connected() as connection:
            return statistics.relative_to(connection, run_id, kind, variant)

    def report(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """The rows of a block of ``reports.sql``, by column name."""
        table = self.query(blocks("reports")[name].decode(), params)
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    def query(
        self,
        sql: str,
        params: Params | None = None,
        read_only: bool = True,
        timeout_s: float = QUERY_TIMEOUT_S,
        max_rows: int | None = None,
    ) -> Table:
        """Execute one SQL statement, by default in a read-only transaction that leaves no trace.

        ``params`` are psycopg's: ``%s`` or ``%(name)s``; without them a ``%`` is literal. A statement without a result
        yields a table without columns. Raises ``UserError`` for an error of PostgreSQL, and for a result of more than
        ``max_rows`` rows, without reading the rest.
        """
        with (
            self._connected() as connection,
            _transaction(connection, read_only),
            _complaints(connection, not read_only),
        ):
            limit = str(max(1, round(timeout_s * 1000)))
            setting = {"milliseconds": limit, "is_uncorrected": self.is_uncorrected}
            connection.execute(blocks("query")["settle"], setting)
            if max_rows is not None:
                return _bounded(connection, sql, max_rows)
            # prepared: the protocol then accepts one statement only, so none can follow a "commit"
            cursor = connection.execute(sql.encode(errors="replace"), params, prepare=True)
            if cursor.description is None:
                return Table((), [])
            return Table(tuple(column.name for column in cursor.description), cursor.fetchall())

    def _rows(self, block: str, params: Params) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(blocks("query")[block], params).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._url)
        connection = self._connection
        try:
            yield connection
        except psycopg.Error as error:
            if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) or may_pass(error):
                raise unavailable(self._url, error) from error
            raise


def _bounded(connection: Connection, sql: str, max_rows: int) -> Table:
    """The result of one statement, read in pieces up to ``max_rows`` rows. Raises ``UserError`` if there are more rows
    or no table.
    """
    with connection.cursor() as cursor:
        rows: list[tuple[Any, ...]] = []
        for row in _streamed(cursor, sql):
            if len(rows) == max_rows:
                raise UserError(
                    f"the answer has more than {max_rows:,} rows: add a limit, or read it with "
                    'psql "$(ciphermark db url)"'
                )
            rows.append(row)
        if not rows:
            cursor.execute(sql.encode(errors="replace"))  # a stream without rows does not state its columns
        if not cursor.description:
            raise UserError(_NO_ANSWER)
        return Table(tuple(column.name for column in cursor.description), rows)


def _streamed(cursor: psycopg.Cursor[tuple[Any, ...]], sql: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from cursor.stream(sql.encode(errors="replace"), size=_PIECE_ROWS)
    except (psycopg.ProgrammingError, psycopg.InternalError) as error:
        if error.sqlstate is None:  # psycopg's own error about a statement that is no query
            raise UserError(_NO_ANSWER) from error
        raise


@contextmanager
def _transaction(connection: psycopg.Connection[Any], read_only: bool) -> Iterator[None]:
    """Like psycopg's transaction, but survives a statement that leaves a COPY unfinished.

    A read-only transaction is rolled back, together with its SET.
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
    """Turn PostgreSQL's errors about a statement into ``UserError``, and about its values into ``ContentRefused``.
    Errors that prevent all writing pass unchanged.
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


def audit_row(actor: str, action: str, run_id: str, detail: str | None = None) -> dict[str, str | None]:
    """The parameters of the block ``audit`` of ``record.sql``. Pure."""
    return {"actor": actor, "action": action, "run_id": run_id, "detail": detail}


def _audit(
    connection: Connection, action: str, run_id: str, detail: str | None = None, actor: str | None = None
) -> None:
    """Record an action of ``actor``, by default the user of this process, in the action's transaction."""
    connection.execute(blocks("record")["audit"], audit_row(actor or _operator(), action, run_id, detail))


def _operator() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # as in a container whose user has no name
        user = str(os.geteuid())
    return f"{user}@{socket.gethostname()}"
