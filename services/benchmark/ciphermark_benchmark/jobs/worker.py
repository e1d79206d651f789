"""The benchmark worker: takes jobs that its host can do, one at a time, and sees them through."""

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
_LOOK_S = 5.0  # how often a worker looks whether its job is still its own
_AGAIN_S = 2
_WAIT_S = 1.0
_STATUSES = {"cancelled": Status.ABORTED, "done": Status.SUCCEEDED, "failed": Status.FAILED}
T = TypeVar("T")
_log = structlog.get_logger()


class Retry:
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


class RetryingManager(JobManager):
    """procrastinate's manager for a worker that takes what its host can do, and survives the database's restarts."""

    def __init__(self, connector: BaseConnector, host: HostSide, retry: Retry) -> None:
        super().__init__(connector)
        self._host = host
        self._retry = retry

    async def register_worker(self) -> int:
        """Register, and tell what the host has."""
        worker_id = await super().register_worker()
        await self._host.store.announce(worker_id, self._host.offer)
        return worker_id

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Take a job whose needs the host meets, unless another worker measures on this machine."""
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
        """Beat again when the database is back."""
        await self._retry(lambda: super(RetryingManager, self).update_heartbeat(worker_id))

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """End a job that is still this worker's: another one may have it by now."""
        await self._retry(lambda: self._host.store.finish(_entry(job), status))

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime.datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job back that is still this worker's, into the queue that it is from."""
        await self._retry(lambda: self._host.store.retry(_entry(job), retry_at or utcnow()))


def _entry(job: Job) -> Entry:
    return Entry(job.id, job.worker_id)


class HostSide:
    """What a worker knows of its host: what it offers, and whether the machine is its own."""

    def __init__(self, store: Store, facts: Host, machine: Machine) -> None:
        self.store = store
        self.machine = machine
        self._facts = facts
        self._builds = added.state()
        self.offer = replace(offer_of(facts), waits_for=machine.waits_for)

    def has_changed(self) -> bool:
        """Whether builds of the user's own were added or removed, or the worker waits for something else, since this
        was asked last; the offer follows.
        """
        builds, waits_for = added.state(), self.machine.waits_for
        if builds == self._builds and waits_for == self.offer.waits_for:
            return False
        offer = self.offer if builds == self._builds else offer_of(self._facts)
        self._builds, self.offer = builds, replace(offer, waits_for=waits_for)
        return True


class Rescue:
    """Looks after jobs whose workers died; every worker does."""

    def __init__(self, worker: Worker, store: Store, stalled_s: float) -> None:
        self._worker = worker
        self._manager = worker.app.job_manager
        self._store = store
        self._stalled_s = stalled_s

    async def for_ever(self) -> None:
        """Look again and again, whether the database is there or not."""
        while True:
            try:
                await self.once()
            except AWAY as error:
                _log.warning("cannot look after dead workers", error=str(error.__cause__ or error).strip())
            await asyncio.sleep(self._stalled_s / 4)

    async def once(self) -> None:
        """Put jobs of dead workers back to the queue, or end them."""
        for job in await self._manager.get_stalled_jobs(seconds_since_heartbeat=self._stalled_s):
            if job.worker_id != self._worker.worker_id:  # whose heart beats late, but does
                await rescued(self._store, _entry(job))
        await self._store.rows("end_orphans")


async def rescued(store: Store, entry: Entry) -> None:
    """Put the job of a dead worker back to the queue, or end it, in one transaction. Nothing changes where the worker
    has ended it meanwhile, or another one was first.
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
    """How many attempts at the job of a dead worker died; ``None`` where it has ended. The worker may have died before
    it began one, or after it had told the end of the last.
    """
    if job["state"] == "running":
        return await store.count_death(claim)
    return int(job["deaths"]) if job["state"] == "queued" else None


@dataclass(frozen=True, slots=True)
class Settings:
    """A worker's data directory and database; ``stalled_s`` without a heartbeat mean that a worker is dead."""

    data_directory: DataDirectory
    url: str
    stalled_s: float


class _Again(Exception):
    """The job goes back to the queue."""


class _Refused(Exception):
    """The job failed for good."""


class _Lost(Exception):
    """Another worker has the job: this one was taken for dead."""


def _quieten() -> None:
    """procrastinate logs our signals to it as errors, with tracebacks; what became of a job is logged here, and that
    the database is away, too.
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
        self.retry = Retry()  # for calls that must get through
        self._worker: Worker | None = None

    async def work(self) -> None:
        """Work until SIGTERM or SIGINT; a job under way is then put back to the queue, with what it came to kept."""
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
        """Ask for the end."""
        self.retry.is_over = True
        if self._worker is not None:
            self._worker.stop()  # type: ignore[no-untyped-call]

    async def _work_connected(self) -> None:
        """Work until asked to end, or until the database cannot be asked for another job."""
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
            listen_notify=False,  # the queues change with what is submitted: they are looked up at every turn
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
        """End what an attempt at a job left at the services of the parties: the job's own run's, or of this host's."""
        run_ids = job_id, execution.continuation(job_id, self._facts.fingerprint)
        with suppress(UserError):  # where services cannot be asked, the attempt could not either
            await asyncio.to_thread(http_party.end_sessions, os.environ, run_ids)


class Execution:
    """The task: attempts at jobs, and what becomes of them."""

    def __init__(self, worker: BenchmarkWorker, store: Store) -> None:
        self._worker = worker
        self._store = store
        self._retry = worker.retry

    async def execute(self, context: JobContext, job_id: str) -> None:
        """Attempt the job once. What this raises tells procrastinate what to do with it.

        Being cancelled, at whatever moment and however often, interrupts the attempt; what became of the job is told
        even so.
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
            await self._worker.end_sessions(job_id)  # what it could not end itself
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
        """Follow an attempt until something is to be done about it; its end, where it has ended."""
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
        """Whether this worker has the job; ``None`` while the database is away. An attempt that has ended is not waited
        with when the worker is to end.
        """
        try:
            return await self._store.is_held(_entry(job))
        except AWAY as error:
            if not is_away(error) or (has_ended and self._worker.retry.is_over):
                raise
            return None

    async def _concluded_early(self, context: JobContext, claim: Claim) -> None:
        """After an interruption: the job is cancelled, or goes back to the queue."""
        is_cancelled = context.abort_reason() is AbortReason.USER_REQUEST
        fate = fate_after_interruption(is_cancelled or await self._store.is_abort_requested(context.job.id))
        if not await self._retry(lambda: self._store.note(claim, fate)):
            raise _lost(claim)
        raise _Again if fate.state is None else JobAborted

    async def _concluded(self, claim: Claim, end: End) -> None:
        """After the end of an attempt; what is raised says it to procrastinate."""

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
    """What is raised where another worker has the job, which the log says."""
    _log.warning("job lost to another worker", job_id=claim.job_id, attempt=claim.attempt)
    return _Lost()
