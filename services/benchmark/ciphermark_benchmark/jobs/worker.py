"""The benchmark worker: executes jobs that its host can execute, one at a time, to their end."""

from __future__ import annotations

import asyncio
import datetime
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import structlog
from procrastinate import App
from procrastinate.connector import BaseConnector
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason, JobContext
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.utils import utcnow
from procrastinate.worker import Worker

from ciphermark_adapters import added
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.jobs import execution
from ciphermark_benchmark.jobs.attempts import Attempt, Attempts
from ciphermark_benchmark.jobs.decisions import (
    Claim,
    End,
    Fate,
    Step,
    fate_after_attempt,
    fate_after_interruption,
    fate_after_rescue,
    next_step,
)
from ciphermark_benchmark.jobs.machine import Machine
from ciphermark_benchmark.jobs.needs import offer_of
from ciphermark_benchmark.jobs.store import (
    AWAY,
    TASK,
    Entry,
    Row,
    Store,
    is_away,
    queue_application,
)
from ciphermark_benchmark.parties import http_party
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_core.run import Host

_POLL_S = 0.5
_LOOK_S = 5.0  # interval of checking that the worker still holds its job
_AGAIN_S = 2
_WAIT_S = 1.0
_STATUSES = {"cancelled": Status.ABORTED, "done": Status.SUCCEEDED, "failed": Status.FAILED}
T = TypeVar("T")
_log = structlog.get_logger()


class Retry:
    """Retries calls while the database is away, until ``is_over``: when the worker is asked to stop."""

    def __init__(self) -> None:
        self.is_over = False

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of the call, retried while the database is away; other errors pass."""
        while True:
            try:
                return await call()
            except AWAY as error:
                if self.is_over or not is_away(error):
                    raise
                _log.warning("the database is away", error=str(error.__cause__ or error).strip())
                await asyncio.sleep(_WAIT_S)


class RetryingManager(JobManager):
    """procrastinate's manager for a worker that takes only jobs that its host can execute, and survives restarts of the
    database.
    """

    def __init__(self, connector: BaseConnector, host: HostSide, retry: Retry) -> None:
        super().__init__(connector)
        self._host = host
        self._retry = retry

    async def register_worker(self) -> int:
        """Register the worker, and record its host's offer."""
        worker_id = await super().register_worker()
        await self._host.store.announce(worker_id, self._host.offer)
        return worker_id

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Take a job whose needs the host meets, unless another worker has the machine."""
        if self._retry.is_over:
            return None
        is_ours = await self._host.machine.is_ours()
        if self._host.has_changed():
            await self._host.store.announce(worker_id, self._host.offer)
        if not is_ours:
            return None
        names = await self._host.store.queues(self._host.offer)
        return await super().fetch_job(names, worker_id) if names else None

    async def update_heartbeat(self, worker_id: int) -> None:
        """Send a heartbeat, retried while the database is away."""
        await self._retry(lambda: super(RetryingManager, self).update_heartbeat(worker_id))

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job if this worker still holds it."""
        await self._retry(lambda: self._host.store.finish(_entry(job), status))

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime.datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job back into its queue if this worker still holds it."""
        await self._retry(lambda: self._host.store.retry(_entry(job), retry_at or utcnow()))


def _entry(job: Job) -> Entry:
    return Entry(job.id, job.worker_id)


class HostSide:
    """The worker's knowledge of its host: its offer, and whether the worker has the machine."""

    def __init__(self, store: Store, facts: Host, machine: Machine) -> None:
        self.store = store
        self.machine = machine
        self._facts = facts
        self._builds = added.state()
        self.offer = replace(offer_of(facts), waits_for=machine.waits_for)

    def has_changed(self) -> bool:
        """Whether the user's builds, or what the worker waits for, have changed since the last
        call; updates the offer.
        """
        builds, waits_for = added.state(), self.machine.waits_for
        if builds == self._builds and waits_for == self.offer.waits_for:
            return False
        offer = self.offer if builds == self._builds else offer_of(self._facts)
        self._builds, self.offer = builds, replace(offer, waits_for=waits_for)
        return True


class Rescue:
    """Rescues jobs of dead workers; every worker runs one."""

    def __init__(self, worker: Worker, store: Store, stalled_s: float) -> None:
        self._worker = worker
        self._manager = worker.app.job_manager
        self._store = store
        self._stalled_s = stalled_s

    async def for_ever(self) -> None:
        """Rescue jobs at intervals until cancelled, even while the database is away."""
        while True:
            try:
                await self.once()
            except AWAY as error:
                _log.warning("cannot look after dead workers", error=str(error.__cause__ or error).strip())
            await asyncio.sleep(self._stalled_s / 4)

    async def once(self) -> None:
        """Put jobs of dead workers back into the queue, or end them."""
        for job in await self._manager.get_stalled_jobs(seconds_since_heartbeat=self._stalled_s):
            if job.worker_id != self._worker.worker_id:  # this worker is alive, with a late heartbeat
                await rescued(self._store, _entry(job))
        await self._store.rows("end_orphans")


async def rescued(store: Store, entry: Entry) -> None:
    """Put the job of a dead worker back into the queue, or end it, in one transaction. Nothing changes if that worker
    has ended it, or another worker rescued it first.
    """
    async with store.transaction() as alone:
        for job in await alone.rows("lock_rescued", asdict(entry)):
            claim = Claim(job["id"], job["attempts"])
            is_cancelled = job["abort_requested"]
            fate = fate_after_rescue(is_cancelled, None if is_cancelled else await _deaths(alone, claim, job))
            await alone.note(claim, fate)
            if fate.state is None:
                _log.warning("a worker died; its job goes back to the queue", job_id=claim.job_id)
                await alone.retry(entry, utcnow())
            else:
                await alone.finish(entry, _STATUSES[fate.state])


async def _deaths(store: Store, claim: Claim, job: Row) -> int | None:
    """The number of dead attempts at the job of a dead worker; ``None`` if the job has ended. The worker may have died
    before its first attempt, or after it reported the end of the last.
    """
    if job["state"] == "running":
        return await store.count_death(claim)
    return int(job["deaths"]) if job["state"] == "queued" else None


@dataclass(frozen=True, slots=True)
class Settings:
    """A worker's data directory and database; a worker counts as dead after ``stalled_s`` without a heartbeat."""

    data_directory: DataDirectory
    url: str
    stalled_s: float


class _Again(Exception):
    """Signals that the job goes back to the queue."""


class _Refused(Exception):
    """Signals that the job failed permanently."""


class _Lost(Exception):
    """Signals that another worker has the job, since this one was taken for dead."""


def _quieten() -> None:
    """Silence procrastinate's error logs with tracebacks for our signals and for an absent database. This module logs
    the fates of jobs and the absence itself.
    """
    expected = (_Again, _Refused, _Lost, JobAborted)

    def is_news(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return error is None or not (isinstance(error, expected) or is_away(error))

    logging.getLogger("procrastinate").setLevel(logging.WARNING)
    logging.getLogger("procrastinate.worker").addFilter(is_news)


class _Requeue(BaseRetryStrategy):
    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        return RetryDecision(retry_in={"seconds": _AGAIN_S}) if isinstance(exception, _Again) else None


class BenchmarkWorker:
    """One worker, for one process."""

    def __init__(self, settings: Settings, facts: Host) -> None:
        self._settings = settings
        self.hostname = facts.hostname
        self._facts = facts
        self._machine = Machine(
            settings.url, host.machine() or facts.fingerprint, facts.hostname, settings.stalled_s
        )
        self._attempts = Attempts()
        self.retry = Retry()  # for calls that must succeed
        self._worker: Worker | None = None

    async def work(self) -> None:
        """Work until SIGTERM or SIGINT; a job under way then goes back to the queue with its measurements kept."""
        _quieten()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        while not self.retry.is_over:
            try:
                await self._work_connected()
            except AWAY as error:
                if not self.retry.is_over:
                    _log.warning("the worker starts again", error=str(error.__cause__ or error).strip())
                    await asyncio.sleep(_AGAIN_S)
        await self._machine.release()

    def stop(self) -> None:
        """Ask the worker to stop."""
        self.retry.is_over = True
        if self._worker is not None:
            self._worker.stop()  # type: ignore[no-untyped-call]

    async def _work_connected(self) -> None:
        """Work until asked to stop, or until the database does not answer a request for a job."""
        app = queue_application(self._settings.url)
        async with app.open_async():
            await self._work_with(app, app.connector)

    async def _work_with(self, app: App, connector: Any) -> None:
        store = Store(connector.pool)
        app.job_manager = RetryingManager(connector, HostSide(store, self._facts, self._machine), self.retry)
        app.task(name=TASK, pass_context=True, retry=_Requeue())(Execution(self, store).execute)
        self._worker = Worker(
            app,
            shutdown_graceful_timeout=0,
            fetch_job_polling_interval=_POLL_S,
            abort_job_polling_interval=_POLL_S,
            listen_notify=False,  # the set of queues changes with submissions: every turn looks it up
            install_signal_handlers=False,
            update_heartbeat_interval=self._settings.stalled_s / 4,
            stalled_worker_timeout=self._settings.stalled_s,
        )
        rescue = Rescue(self._worker, store, self._settings.stalled_s)
        beside = [asyncio.create_task(rescue.for_ever()), asyncio.create_task(self._machine.kept())]
        try:
            await self._worker.run()  # type: ignore[no-untyped-call]
        finally:
            for task in beside:
                task.cancel()

    def start(self, claim: Claim) -> Attempt:
        """Begin an attempt."""
        return self._attempts.start(self._settings.data_directory, claim)

    async def end_sessions(self, job_id: str) -> None:
        """End the sessions that an attempt left at the parties' services, of the job's own run or
        of this host's run.
        """
        run_ids = job_id, execution.continuation(job_id, self._facts.fingerprint)
        with suppress(UserError):  # without reachable services, the attempt had no sessions either
            await asyncio.to_thread(http_party.end_sessions, os.environ, run_ids)


class Execution:
    """The task: executes attempts at jobs, and records their fates."""

    def __init__(self, worker: BenchmarkWorker, store: Store) -> None:
        self._worker = worker
        self._store = store
        self._retry = worker.retry

    async def execute(self, context: JobContext, job_id: str) -> None:
        """Attempt the job once. The raised exception tells procrastinate the job's fate.

        Cancelling this call, at any time and any number of times, interrupts the attempt; the job's fate is recorded
        nevertheless.
        """
        is_asked_to_end = asyncio.Event()
        work = asyncio.create_task(self._executed(context, job_id, is_asked_to_end))
        while True:
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                if work.done():
                    raise
                is_asked_to_end.set()

    async def _executed(self, context: JobContext, job_id: str, is_asked_to_end: asyncio.Event) -> None:
        entry, hostname = _entry(context.job), self._worker.hostname
        claim = await self._retry(lambda: self._store.begin(entry, job_id, hostname))
        if claim is None:
            return
        log = _log.bind(job_id=job_id, run_id=job_id, attempt=claim.attempt)
        log.info("job begun")
        try:
            attempt = self._worker.start(claim)
        except (OSError, EOFError) as error:
            reason = f"no process can be started that executes the job: {error or type(error).__name__}"
            log.warning("job not begun", reason=reason)
            await self._concluded(claim, End("died", reason))
            return
        step, end = await self._until_it_is_over(attempt, context.job, is_asked_to_end)
        if end is None or end.how == "died":
            if end is None:
                await attempt.interrupt()
            await self._worker.end_sessions(job_id)  # sessions that the attempt could not end
        if step == "give way":
            raise _lost(claim)
        if end is None:
            log.info("job interrupted", by=str(context.abort_reason()))
            await self._concluded_early(context, claim)
        else:
            log.info("job ended", how=end.how, reason=end.reason)
            await self._concluded(claim, end)

    async def _until_it_is_over(
        self, attempt: Attempt, job: Job, is_asked_to_end: asyncio.Event
    ) -> tuple[Step, End | None]:
        """Watch an attempt until a step is due; returns the step, and the attempt's end if it has ended."""
        ended, end_request = (
            asyncio.ensure_future(attempt.ended()),
            asyncio.ensure_future(is_asked_to_end.wait()),
        )
        try:
            while True:
                if not ended.done():
                    await asyncio.wait(
                        {ended, end_request}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED
                    )
                had_ended = ended.done()
                is_held = (
                    None if end_request.done() and not had_ended else await self._is_held(job, had_ended)
                )
                if ended.done() and not had_ended:
                    continue  # an answer from before the end: the job may have been lost since
                step = next_step(ended.done(), end_request.done(), is_held)
                if step != "wait":
                    return step, ended.result() if ended.done() else None
                if ended.done():  # nothing else is waited for
                    await asyncio.sleep(_AGAIN_S)
        finally:
            ended.cancel()
            end_request.cancel()
            await asyncio.wait({ended, end_request})

    async def _is_held(self, job: Job, has_ended: bool) -> bool | None:
        """Whether this worker holds the job; ``None`` while the database is away. Raises for an ended attempt if the
        worker is asked to stop.
        """
        try:
            return await self._store.is_held(_entry(job))
        except AWAY as error:
            if not is_away(error) or (has_ended and self._worker.retry.is_over):
                raise
            return None

    async def _concluded_early(self, context: JobContext, claim: Claim) -> None:
        """Record the job's fate after an interruption: cancelled, or back to the queue."""
        is_cancelled = context.abort_reason() is AbortReason.USER_REQUEST
        fate = fate_after_interruption(is_cancelled or await self._store.is_abort_requested(context.job.id))
        if not await self._retry(lambda: self._store.note(claim, fate)):
            raise _lost(claim)
        raise _Again if fate.state is None else JobAborted

    async def _concluded(self, claim: Claim, end: End) -> None:
        """Record the job's fate after the end of an attempt; the raised exception reports it to procrastinate."""

        async def concluded() -> tuple[Fate, bool]:
            async with (
                self._store.transaction() as store
            ):  # a death is counted once, however often this is tried
                deaths = await store.count_death(claim) if end.how == "died" else None
                fate = fate_after_attempt(end, deaths)
                return fate, await store.note(claim, fate)

        fate, is_noted = await self._retry(concluded)
        if not is_noted:
            raise _lost(claim)
        if fate.state is None:
            raise _Again
        if fate.state == "failed":
            raise _Refused(fate.reason)


def _lost(claim: Claim) -> _Lost:
    """Log that another worker has the job, and return the exception for it."""
    _log.warning("job lost to another worker", job_id=claim.job_id, attempt=claim.attempt)
    return _Lost()
