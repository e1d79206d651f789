"""Jobs in the database, and their queue: procrastinate's tables in a separate schema.

The pinned package creates these tables when the service first starts; only the service and its workers use them. The
schema's comment is the package's version; a newer package brings its own migrations.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from procrastinate.schema import SchemaManager
from procrastinate.sql import queries
from psycopg import AsyncConnection, sql
from psycopg.rows import dict_row

from ciphermark_benchmark.jobs.decisions import Claim, Fate
from ciphermark_benchmark.jobs.machine import CONNECT_TIMEOUT_S
from ciphermark_benchmark.jobs.needs import Needs, Offer
from ciphermark_db.database import audit_row, connect, may_pass, settings
from ciphermark_db.sql import blocks

Row = dict[str, Any]
AWAY = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    ConnectorException,
)

SCHEMA = "queue"
# Settings of every connection to the queue. Its functions name their tables without a schema. A timeout ends the
# transactions of disconnected clients, which would lock entries of the queue.
OPTIONS = (f"search_path={SCHEMA},public", "jit=off", "idle_in_transaction_session_timeout=30s")
TASK = "ciphermark.execute"
_POOL: dict[str, Any] = {
    "min_size": 1,
    "timeout": 10.0,
    "max_lifetime": 600.0,
    "reconnect_timeout": 1.0,  # afterwards the next request retries, instead of the pool with growing pauses
}


def is_away(error: BaseException) -> bool:
    """Whether an error means that the database does not answer or cannot write, rather than that it rejects a
    statement.
    """
    cause = error.__cause__ if isinstance(error, ConnectorException) else error
    if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return True
    return isinstance(cause, psycopg.Error) and may_pass(cause)


@dataclass(frozen=True, slots=True)
class Submission:
    """A suite to execute; empty ``variants`` mean all variants."""

    id: str
    suite_name: str
    suite_text: str
    variants: tuple[str, ...]
    needs: Needs


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the queue, and the worker that presumably holds it; ``None``: a worker that is no
    longer registered.
    """

    queue_job_id: int | None
    worker_id: int | None


class Pool(Protocol):
    """A source of connections."""

    def connection(self) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        """A connection to use and return."""
        ...


@dataclass(frozen=True, slots=True)
class _One:
    """A pool of a single connection."""

    own: AsyncConnection[Any]

    def connection(self) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        return nullcontext(self.own)


class Store:
    """Reads and writes the tables ``job`` and ``offer``. Methods raise psycopg's errors."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def rows(self, block: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a block of ``jobs.sql``; none for a statement without a result."""
        return await self._answer(blocks("jobs")[block], params or {})

    async def _answer(self, statement: bytes, params: Mapping[str, Any]) -> list[Row]:
        async with self._pool.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(statement, params)
            return await cursor.fetchall() if cursor.description is not None else []

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Store]:
        """A store whose statements are one transaction."""
        async with self._pool.connection() as connection, connection.transaction():
            yield Store(_One(connection))

    async def submit(self, app: App, job: Submission, actor: str) -> None:
        """Record and queue a job, with the user who submits it, in one transaction."""
        async with self._pool.connection() as connection, connection.transaction():
            deferrer = app.configure_task(TASK, queue=job.needs.queue, connection=connection)
            queue_job_id = await deferrer.defer_async(job_id=job.id)
            await connection.execute(blocks("jobs")["record_job"], _row(job) | {"queue_job_id": queue_job_id})
            entry = audit_row(actor, "submitted", job.id, job.suite_name)
            await connection.execute(blocks("record")["audit"], entry)

    async def cancel(self, manager: JobManager, job: Row, actor: str) -> None:
        """Remove an open job from the queue, or ask its worker to end it, after recording the user who requests it."""
        await self._answer(blocks("record")["audit"], audit_row(actor, "cancelled", str(job["id"])))
        if await manager.cancel_job_by_id_async(job["queue_job_id"], abort=True):
            await self.rows("end_cancelled", {"id": job["id"]})

    async def begin(self, entry: Entry, job_id: str, hostname: str) -> Claim | None:
        """Record that a host begins an attempt; ``None`` if the job has ended, or the worker does not hold it."""
        rows = await self.rows("begin_job", asdict(entry) | {"id": job_id, "hostname": hostname})
        return Claim(job_id, int(rows[0]["attempts"])) if rows else None

    async def note(self, claim: Claim, fate: Fate) -> bool:
        """Record the job's fate: back to the queue, or its end. False without any change if a later attempt began or
        the job has ended otherwise.
        """
        block = "requeue_job" if fate.state is None else "end_job"
        return bool(await self.rows(block, _of(claim) | {"state": fate.state, "reason": fate.reason}))

    async def count_death(self, claim: Claim) -> int | None:
        """Count the death of an attempt; returns the number of deaths. ``None`` without any change if a later attempt
        began, this death is already counted, or the job has ended.
        """
        rows = await self.rows("count_death", _of(claim))
        return int(rows[0]["deaths"]) if rows else None

    async def is_held(self, entry: Entry) -> bool:
        """Whether this worker executes the job, according to the queue."""
        return bool(await self.rows("is_held", asdict(entry)))

    async def finish(self, entry: Entry, status: Status) -> bool:
        """End an entry of the queue; False without any change if another worker has it."""
        return await self._of_queue("finish_job", entry, {"status": status.value, "delete_job": False})

    async def retry(self, entry: Entry, retry_at: datetime) -> bool:
        """Put an entry back into the queue; False without any change if another worker has it."""
        unchanged = dict.fromkeys(("new_priority", "new_queue_name", "new_lock"))
        return await self._of_queue("retry_job", entry, {"retry_at": retry_at} | unchanged)

    async def _of_queue(self, query: str, entry: Entry, params: Row) -> bool:
        """Execute one of procrastinate's statements, if the worker holds the entry."""
        async with self.transaction() as store:
            is_held = bool(await store.rows("lock_entry", asdict(entry)))
            if is_held:
                await store._answer(queries[query].encode(), {"job_id": entry.queue_job_id} | params)
            return is_held

    async def is_abort_requested(self, queue_job_id: int | None) -> bool:
        """Whether a user requested the job's end."""
        (job,) = await self.rows("is_abort_requested", {"queue_job_id": queue_job_id})
        return bool(job["abort_requested"])

    async def queues(self, offer: Offer) -> list[str]:
        """The queues with open jobs whose needs a host meets."""
        return [row["queue"] for row in await self.rows("open_queues", _params(offer))]

    async def announce(self, worker_id: int, offer: Offer) -> None:
        """Record the offer of a worker's host, and delete the offers of workers that are gone."""
        await self.rows("forget_offers")
        await self.rows("announce", _params(offer) | {"worker_id": worker_id})


def _of(claim: Claim) -> Row:
    return {"id": claim.job_id, "attempt": claim.attempt}


def _params(offer: Offer) -> Row:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(offer).items()}


def _row(job: Submission) -> Row:
    return {
        "id": job.id,
        "suite": job.suite_name,
        "suite_text": job.suite_text,
        "variants": list(job.variants),
        "needed_variants": list(job.needs.variants),
        "needed_isa": list(job.needs.isa),
        "needed_memory_mb": job.needs.memory_mb,
        "queue": job.needs.queue,
    }


def install_queue(url: str) -> None:
    """Create the queue's tables, or update them to the package's version; safe while others do the same."""
    with connect(url) as connection, connection.transaction():
        connection.execute(blocks("jobs")["lock_queue_schema"])
        row = connection.execute(blocks("jobs")["queue_version"]).fetchone()
        if row is None:
            connection.execute(blocks("jobs")["create_queue_schema"])
        installed = None if row is None else str(row[0])
        connection.execute(sql.SQL("set local search_path to {}").format(sql.Identifier(SCHEMA)))
        for text in _steps(installed):
            connection.execute(text.encode())
        stamp = sql.SQL("comment on schema {} is {}")
        connection.execute(stamp.format(sql.Identifier(SCHEMA), sql.Literal(version("procrastinate"))))


def queue_connector(url: str, most: int = 4) -> PsycopgConnector:
    """A connector with up to ``most`` connections, whose search path includes the queue's tables."""
    own = settings(url, *OPTIONS) | {"connect_timeout": CONNECT_TIMEOUT_S}
    return PsycopgConnector(conninfo=url, kwargs=own, max_size=most, **_POOL)


def queue_application(url: str) -> App:
    """procrastinate's application, not yet open."""
    return App(connector=queue_connector(url))


def _steps(installed: str | None) -> list[str]:
    """The migrations from an installed version, or from nothing, to the package's version."""
    if installed is None:
        return [SchemaManager.get_schema()]
    folder = Path(SchemaManager.get_migrations_path())
    later = [path for path in folder.glob("*.sql") if _numbers(path.name.split("_")[0]) > _numbers(installed)]
    return [path.read_text(encoding="utf-8") for path in sorted(later)]


def _numbers(text: str) -> tuple[int, ...]:
    """A version as numbers: ``03.04.00`` and ``3.4.0`` are equal."""
    return tuple(int(part) for part in text.split("."))
