"""Assembles the service and runs it: routes that work without a database, and counts for Prometheus."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psycopg
import structlog
from fastapi import FastAPI, Request
from procrastinate import App
from procrastinate.exceptions import ConnectorException
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from psycopg.rows import dict_row
from starlette.middleware import Middleware
from starlette.responses import Response

from ciphermark_benchmark import __version__, storage
from ciphermark_benchmark.api import advice, classifications, machines, results, runs, suites
from ciphermark_benchmark.api.state import State, Watches
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.data_sets.catalogue import ClientAway
from ciphermark_benchmark.jobs.store import Store, install_queue, queue_connector
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_core.private import private_folder
from ciphermark_db.database import Database, DatabaseUnavailable
from ciphermark_db.database_monitor import AWAY, DatabaseMonitor
from ciphermark_db.sql import blocks
from ciphermark_web import problems
from ciphermark_web.app import Lifespan, Service, assembled
from ciphermark_web.keyring import users_file
from ciphermark_web.layers import OPEN_PATHS, Availability, BodyRule
from ciphermark_web.observe import Metrics
from ciphermark_web.problems import Problem
from ciphermark_web.serving import Listening, listening
from ciphermark_web.serving import serve as listen

PORT = 8100
STALLED_S = 30.0
_CONNECTIONS = 10
_CHECK_TIMEOUT_S = 3
_ENDING_S = 30
_AGAIN_S = 2
_PROBE_BYTES = 1 << 16  # more than file systems reserve for existing files
_DESCRIPTION = "Benchmark homomorphic-encryption libraries: submit suites, follow them, read their results."
_ABSENCES = (psycopg.OperationalError, psycopg.InterfaceError, ConnectorException, DatabaseUnavailable)
_AWAY = Problem("not-ready", "PostgreSQL does not answer, or takes too long: try again later")
_log = structlog.get_logger()


def serve(data_directory: DataDirectory, environ: Mapping[str, str], has_worker: bool) -> None:
    """Serve until terminated. Raises ``UserError`` for invalid settings, ``DatabaseUnavailable`` without a database."""
    at = listening("benchmark", PORT, environ, users_file(environ, data_directory.folder))
    url = prepared(data_directory)
    listen(application(url, at, data_directory.folder, has_worker), at)


def prepared(data_directory: DataDirectory) -> str:
    """The URL of the database, with this version's tables and the queue's tables."""
    caught_up(data_directory).close()
    url = storage.url(data_directory)
    install_queue(url)
    return url


def application(url: str, at: Listening, folder: Path, has_worker: bool = False) -> FastAPI:
    """The application; ``folder`` is the data directory's."""
    metrics = Metrics()
    monitor = DatabaseMonitor(url)

    def connected() -> Database:
        if monitor.is_away:
            raise DatabaseUnavailable(AWAY)
        return Database.open(url, _CHECK_TIMEOUT_S)

    metrics.registry.register(Counted(connected, STALLED_S))
    app = assembled(
        Service(
            title="Ciphermark benchmark",
            description=_DESCRIPTION,
            version=__version__,
            keyring=at.keyring,
            routers=[runs.router, results.router, classifications.router, advice.router, machines.router],
            checks={"database": lambda: monitor.reason or _reason_against(url)},
            notes={
                "worker": lambda: monitor.reason or _reason_against_workers(url, STALLED_S),
                "disk": lambda: _reason_against_disk(folder),
            },
            metrics=metrics,
            lifespan=_lifespan(url, has_worker, monitor),
            bodies={"/v1/runs": BodyRule("application/json", suites.MAX_BYTES)},
            innermost=[
                Middleware(
                    Availability,
                    monitor=monitor,
                    needs_none=_needs_no_database,
                    answer=problems.response(_AWAY),
                )
            ],
        )
    )
    for error in (*_ABSENCES, UserError):
        app.add_exception_handler(error, _problem)
    return app


async def _problem(_: Request, error: Exception) -> Response:
    """The response to an error."""
    if not isinstance(error, UserError):
        return problems.response(_AWAY)
    kind = "not-ready" if isinstance(error, ClientAway) else "invalid"
    return problems.response(Problem(kind, str(error)))


def _needs_no_database(path: str) -> bool:
    return path in (*OPEN_PATHS, "/metrics")  # these report that the database is away


def _lifespan(url: str, has_worker: bool, monitor: DatabaseMonitor) -> Lifespan:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        connector = queue_connector(url, _CONNECTIONS)
        queued = App(connector=connector)
        async with queued.open_async(), _worker_beside(has_worker), monitor.kept():
            store = Store(connector.pool)
            app.state.benchmark = state = State(
                store=store,
                queue=queued,
                watches=Watches(store),
                connect=lambda: Database.open(url, _CHECK_TIMEOUT_S),
                stalled_s=STALLED_S,
            )
            with suppress(UserError):  # a request reports it
                state.libraries.begun()
            try:
                yield
            finally:
                await state.libraries.close()

    return lifespan


@asynccontextmanager
async def _worker_beside(is_wanted: bool) -> AsyncIterator[None]:
    """Run a worker in a separate process: sharing this interpreter would disturb its measurements."""
    if not is_wanted:
        yield
        return
    keeping = asyncio.create_task(_keep_a_worker())
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.wait({keeping})


async def _keep_a_worker() -> None:
    """Start a worker, and restart it whenever it ends. It ends with this process, however this process ends."""
    command = (sys.executable, "-m", "ciphermark_benchmark.cli.main", "worker", "--parent", str(os.getpid()))
    while True:
        worker = await asyncio.create_subprocess_exec(*command)
        try:
            code = await worker.wait()
        except asyncio.CancelledError:
            await _ended(worker)
            raise
        _log.error("the worker has ended, another one is started", exit_code=code)
        await asyncio.sleep(_AGAIN_S)


async def _ended(worker: asyncio.subprocess.Process) -> None:
    """Terminate a worker, and wait until it has ended."""
    with suppress(ProcessLookupError):
        worker.terminate()
    try:
        await asyncio.wait_for(worker.wait(), _ENDING_S)
    except TimeoutError:
        worker.kill()


def _reason_against(url: str) -> str | None:
    try:
        psycopg.connect(url, connect_timeout=_CHECK_TIMEOUT_S).close()
    except psycopg.Error:
        return "PostgreSQL does not answer"
    return None


def _reason_against_workers(url: str, stalled_s: float) -> str | None:
    """The reason why no job would be executed: no worker is alive, or their state is unknown."""
    try:
        with psycopg.connect(url, connect_timeout=_CHECK_TIMEOUT_S, row_factory=dict_row) as connection:
            hosts = connection.execute(blocks("jobs")["hosts"], {"stalled_s": stalled_s}).fetchall()
    except psycopg.Error:
        return "not known: PostgreSQL does not answer"
    return None if any(host["is_alive"] for host in hosts) else runs.NO_WORKER


def _reason_against_disk(folder: Path) -> str | None:
    """The reason why the data directory is not writable, without its path, since the probe is public."""
    try:
        private_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))
    except OSError as error:
        return f"nothing can be written to the data directory: {error.strerror}"
    return None


class Counted(Collector):
    """Counts of jobs by state, of live benchmark workers, and of trials by status; without a database, only that it is
    away.
    """

    def __init__(self, connect: Callable[[], Database], stalled_s: float) -> None:
        self._connect = connect
        self._stalled_s = stalled_s

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """See prometheus_client."""
        is_there = GaugeMetricFamily("ciphermark_database_is_there", "Whether PostgreSQL answers")
        try:
            with self._connect() as database:
                statement = blocks("jobs")["counted"].decode()
                counts = database.query(statement, {"stalled_s": self._stalled_s}).rows
        except (DatabaseUnavailable, UserError):
            is_there.add_metric([], 0)
            yield is_there
            return
        is_there.add_metric([], 1)
        families = {
            "jobs": GaugeMetricFamily("ciphermark_jobs", "Jobs by state", labels=["state"]),
            "trials": GaugeMetricFamily("ciphermark_trials", "Recorded trials by status", labels=["status"]),
            "workers": GaugeMetricFamily("ciphermark_workers", "Benchmark workers that are alive"),
        }
        for name, label, count in counts:
            families[name].add_metric([label] if label else [], count)
        yield is_there
        yield from families.values()
