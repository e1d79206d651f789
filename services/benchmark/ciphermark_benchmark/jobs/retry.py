"""Going on while the database is away, and dealing with the queue in the same spirit."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import psycopg
import structlog
from procrastinate.connector import BaseConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

from ciphermark_adapters import added
from ciphermark_benchmark.jobs.machine import Machine
from ciphermark_benchmark.jobs.needs import offer_of
from ciphermark_benchmark.jobs.store import Store
from ciphermark_core.run import Host
from ciphermark_db.connection import may_pass

_WAIT_S = 1.0
AWAY = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    ConnectorException,
)
T = TypeVar("T")
_log = structlog.get_logger()


def is_away(error: BaseException) -> bool:
    """Whether an error says that the database does not answer, or takes nothing at all, rather than what it thinks of a
    statement.
    """
    cause = error.__cause__ if isinstance(error, ConnectorException) else error
    if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return True
    return isinstance(cause, psycopg.Error) and may_pass(cause)


class Patience:
    """Tries again while the database is away, until it is over: when the worker has been told to end."""

    def __init__(self) -> None:
        self.is_over = False

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of the call, however long the database is away; other errors pass."""
        while True:
            try:
                return await call()
            except AWAY as error:
                if self.is_over or not is_away(error):
                    raise
                _log.warning("the database is away", error=str(error.__cause__ or error).strip())
                await asyncio.sleep(_WAIT_S)


class PatientManager(JobManager):
    """procrastinate's manager for a worker that takes what its host can do, and survives the database's restarts."""

    def __init__(self, connector: BaseConnector, host: HostSide, patience: Patience) -> None:
        super().__init__(connector)
        self._host = host
        self._patience = patience

    async def register_worker(self) -> int:
        """Register, and tell what the host has."""
        worker_id = await super().register_worker()
        await self._host.store.announce(worker_id, self._host.offer)
        return worker_id

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Take a job whose needs the host meets, unless another worker measures on this machine."""
        if self._patience.is_over or not await self._host.machine.is_ours():
            return None
        if self._host.has_changed():
            await self._host.store.announce(worker_id, self._host.offer)
        names = await self._host.store.queues(self._host.offer)
        return await super().fetch_job(names, worker_id) if names else None

    async def update_heartbeat(self, worker_id: int) -> None:
        """Beat again when the database is back."""
        await self._patience(lambda: super(PatientManager, self).update_heartbeat(worker_id))

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job that is still this worker's: another one may have it by now."""

        async def finish() -> None:
            if await self._host.store.is_held(job.id, job.worker_id):
                await super(PatientManager, self).finish_job(job, status, delete_job)

        await self._patience(finish)

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime.datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job back that is still this worker's."""

        async def retry() -> None:
            if await self._host.store.is_held(job.id, job.worker_id):
                await super(PatientManager, self).retry_job(job, retry_at, priority, queue, lock)

        await self._patience(retry)


class HostSide:
    """What a worker knows of its host: what it offers, and whether the machine is its own."""

    def __init__(self, store: Store, facts: Host, machine: Machine) -> None:
        self.store = store
        self.machine = machine
        self._facts = facts
        self._builds = added.state()
        self.offer = offer_of(facts)

    def has_changed(self) -> bool:
        """Whether builds of the user's own were added or removed since this was asked last; the offer follows them."""
        builds = added.state()
        if builds == self._builds:
            return False
        self._builds, self.offer = builds, offer_of(self._facts)
        return True
