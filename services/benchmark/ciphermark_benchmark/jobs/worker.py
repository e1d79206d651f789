"""The benchmark worker: takes jobs that its host can do, one at a time, and sees them through."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from dataclasses import dataclass

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason, JobContext
from procrastinate.jobs import Job
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.worker import Worker

from ciphermark_benchmark.home import Home
from ciphermark_benchmark.jobs import execution, queue
from ciphermark_benchmark.jobs.attempts import MOST_DEATHS, Attempt, Attempts, End
from ciphermark_benchmark.jobs.machine import Machine
from ciphermark_benchmark.jobs.rescue import Rescue
from ciphermark_benchmark.jobs.retry import AWAY, HostSide, Patience, PatientManager, is_away
from ciphermark_benchmark.jobs.store import Store
from ciphermark_benchmark.parties import orphaned_sessions
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_core.run import Host

_POLL_S = 0.5
_LOOK_S = 5.0  # how often a worker looks whether its job is still its own
_AGAIN_S = 2
_CANCELLED = "cancelled on request"
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Settings:
    """A worker's home and database; ``stalled_s`` without a heartbeat mean that a worker is dead."""

    home: Home
    url: str
    stalled_s: float


class _Again(Exception):
    """The job goes back to the queue."""


class _Refused(Exception):
    """The job failed for good."""


class _Interrupted(Exception):
    """The attempt is to end: somebody asked for the job's end, or for the worker's."""


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


class _Retry(BaseRetryStrategy):
    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        return RetryDecision(retry_in={"seconds": _AGAIN_S}) if isinstance(exception, _Again) else None


class BenchmarkWorker:
    """One worker, for one process."""

    def __init__(self, settings: Settings, facts: Host) -> None:
        self._settings = settings
        self._hostname = facts.hostname
        self._facts = facts
        self._machine = Machine(settings.url, host.machine() or facts.fingerprint)
        self._attempts = Attempts()
        self._patience = Patience()
        self._worker: Worker | None = None

    async def work(self) -> None:
        """Work until SIGTERM or SIGINT; a job under way is then put back to the queue, with what it came to kept."""
        _quieten()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        while not self._patience.is_over:
            try:
                await self._work_connected()
            except AWAY as error:
                if not self._patience.is_over:
                    _log.warning("the worker begins anew", error=str(error.__cause__ or error).strip())
                    await asyncio.sleep(_AGAIN_S)
        await self._machine.release()

    def stop(self) -> None:
        """Ask for the end."""
        self._patience.is_over = True
        if self._worker is not None:
            self._worker.stop()  # type: ignore[no-untyped-call]

    async def _work_connected(self) -> None:
        """Work until asked to end, or until the database cannot be asked for another job."""
        connector = queue.connector(self._settings.url)
        app = App(connector=connector)
        async with app.open_async():
            await self._rescuing(app, connector)

    async def _rescuing(self, app: App, connector: PsycopgConnector) -> None:
        store = Store(connector.pool)
        app.job_manager = PatientManager(
            connector, HostSide(store, self._facts, self._machine), self._patience
        )
        app.task(name=queue.TASK, pass_context=True, retry=_Retry())(Execution(self, store).execute)
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
        rescuing = asyncio.create_task(self._rescue_for_ever(rescue))
        try:
            await self._worker.run()  # type: ignore[no-untyped-call]
        finally:
            rescuing.cancel()

    async def _rescue_for_ever(self, rescue: Rescue) -> None:
        while True:
            try:
                await rescue.once()
            except AWAY as error:
                _log.warning("cannot look after dead workers", error=str(error.__cause__ or error).strip())
            await asyncio.sleep(self._settings.stalled_s / 4)

    def start(self, job_id: str) -> Attempt:
        """Begin an attempt."""
        return self._attempts.start(self._settings.home, job_id)

    async def end_sessions(self, job_id: str) -> None:
        """End what an attempt at a job left at the services of the parties: the job's own run's, or of this host's."""
        run_ids = job_id, execution.continuation(job_id, self._facts.fingerprint)
        with suppress(UserError):  # where services cannot be asked, the attempt could not either
            await asyncio.to_thread(orphaned_sessions.end_sessions, os.environ, run_ids)

    @property
    def hostname(self) -> str:
        """The host's name."""
        return self._hostname

    @property
    def patience(self) -> Patience:
        """For calls that must get through."""
        return self._patience


class Execution:
    """The task: attempts at jobs, and what becomes of them."""

    def __init__(self, worker: BenchmarkWorker, store: Store) -> None:
        self._worker = worker
        self._store = store
        self._patiently = worker.patience

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
        number = await self._patiently(lambda: self._store.begin(job_id, self._worker.hostname))
        if number is None:
            return
        log = _log.bind(job_id=job_id, run_id=job_id, attempt=number)
        log.info("job begun")
        try:
            attempt = self._worker.start(job_id)
        except (OSError, EOFError) as error:
            reason = f"no process can be started that executes the job: {error or type(error).__name__}"
            log.warning("job not begun", reason=reason)
            await self._concluded(job_id, End("died", reason))
            return
        try:
            end = await self._ended(attempt, context.job, is_asked_to_end)
        except _Interrupted:
            await self._interrupted(attempt, job_id)
            log.info("job interrupted", by=str(context.abort_reason()))
            await self._concluded_early(context, job_id)
        except _Lost:
            await self._interrupted(attempt, job_id)
            log.warning("job lost to another worker")
            raise
        else:
            log.info("job ended", how=end.how, reason=end.reason)
            if end.how == "died":
                await self._worker.end_sessions(job_id)
            await self._concluded(job_id, end)

    async def _interrupted(self, attempt: Attempt, job_id: str) -> None:
        """End an attempt, and what it could not end itself where that took force."""
        await attempt.interrupt()
        await self._worker.end_sessions(job_id)

    async def _ended(self, attempt: Attempt, job: Job, is_asked_to_end: asyncio.Event) -> End:
        ended, asked = asyncio.ensure_future(attempt.ended()), asyncio.ensure_future(is_asked_to_end.wait())
        try:
            while not ended.done():
                await asyncio.wait({ended, asked}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                if not ended.done() and asked.done():
                    raise _Interrupted
                if not ended.done() and await self._is_lost(job):
                    raise _Lost
            return ended.result()
        finally:
            ended.cancel()
            asked.cancel()
            await asyncio.wait({ended, asked})

    async def _is_lost(self, job: Job) -> bool:
        try:
            return not await self._store.is_held(job.id, job.worker_id)
        except AWAY as error:
            if is_away(error):
                return False
            raise

    async def _concluded_early(self, context: JobContext, job_id: str) -> None:
        """After an interruption: the job is cancelled, or goes back to the queue."""
        if context.abort_reason() is AbortReason.USER_REQUEST or await self._store.is_abort_requested(
            context.job.id
        ):
            await self._patiently(lambda: self._store.end(job_id, "cancelled", _CANCELLED))
            raise JobAborted
        await self._patiently(lambda: self._store.requeue(job_id, None))
        raise _Again

    async def _concluded(self, job_id: str, end: End) -> None:
        if end.how == "done":
            await self._patiently(lambda: self._store.end(job_id, "done"))
            return
        if end.how == "refused":
            await self._patiently(lambda: self._store.end(job_id, "failed", end.reason))
            raise _Refused(end.reason)
        if end.how == "died":
            deaths = await self._patiently(lambda: self._store.count_death(job_id))
            if deaths is not None and deaths >= MOST_DEATHS:
                reason = f"{deaths} attempts died; the last one: {end.reason}"
                await self._patiently(lambda: self._store.end(job_id, "failed", reason))
                raise _Refused(reason)
        await self._patiently(lambda: self._store.requeue(job_id, end.reason))
        raise _Again
