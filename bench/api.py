"""Section ``api``: the service under 200 readers at once, and 1,000 jobs through the queue."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from statistics import median
from time import monotonic, perf_counter, sleep

from bench.processes import Service, environment, fresh_data_directory, serving
from bench.results import BenchResult, Progress, Target
from bench.storage import synthetic_outcome, synthetic_run
from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.jobs.needs import needs_of
from ciphermark_benchmark.jobs.store import Store, Submission, queue_application
from ciphermark_benchmark.suite import files
from ciphermark_core import host

READERS = 200
_REQUESTS = 20  # of each reader
_PAUSE_S = 0.5  # between two requests of a reader: a person or a page that looks again
_TRIALS = 50
JOBS = 1_000
_KILLS = 3
_LONGEST_S = 1_800
_LENGTH = re.compile(rb"content-length: (\d+)")
# One trial that no library supports: all steps of a job, without measurement.
_SUITE = """\
name: nothing
experiments:
- {kind: arithmetic, variants: [cleartext], schemes: [bfv], ring_dimension: [1024], operations: [rescale]}
"""
_CIPHERMARK = [sys.executable, "-m", "ciphermark_benchmark.cli.main"]


def section(progress: Progress) -> Iterator[BenchResult]:
    """Readers first, then jobs."""
    with fresh_data_directory() as data_directory:
        run = synthetic_run(0, host.collect())
        with storage.connected(data_directory) as database:
            database.record_run(run)
            database.record_outcomes([synthetic_outcome(run, number) for number in range(_TRIALS)])
            database.analyze()
        with serving("benchmark", [*_CIPHERMARK, "serve"], environment(data_directory)) as service:
            progress(f"{READERS} readers, {_REQUESTS} requests each")
            times_ms = asyncio.run(_read(service, run.id))
        name, p99_ms = f"results for {READERS} readers, p99", sorted(times_ms)[int(0.99 * len(times_ms))]
        pauses = f"each reader pauses {_PAUSE_S} s between two"
        note = f"{len(times_ms)} answers, {pauses}; median {median(times_ms):.0f} ms"
        yield BenchResult(name, p99_ms, "ms", Target(most=250), note)
        progress(f"{JOBS} jobs, the worker killed {_KILLS} times")
        yield _jobs(data_directory)


async def _read(service: Service, run_id: str) -> list[float]:
    """Milliseconds of every response. The client is minimal, since it shares the cores with the service."""
    request = (
        f"GET /v1/runs/{run_id}/results HTTP/1.1\r\nHost: bench\r\n"
        f"Authorization: {service.headers['Authorization']}\r\n\r\n"
    ).encode()
    port = int(service.url.rpartition(":")[2])
    times_ms = await asyncio.gather(*(_reader(port, request, number) for number in range(READERS)))
    return [time_ms for of_reader in times_ms for time_ms in of_reader]


async def _reader(port: int, request: bytes, number: int) -> list[float]:
    await asyncio.sleep(_PAUSE_S * number / READERS)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times_ms = []
    for _ in range(_REQUESTS):
        start = perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not head.startswith(b"HTTP/1.1 200") or length is None:
            raise RuntimeError(head.decode(errors="replace"))
        await reader.readexactly(int(length[1]))
        times_ms.append(1000 * (perf_counter() - start))
        await asyncio.sleep(_PAUSE_S)
    writer.close()
    return times_ms


def _jobs(data_directory: DataDirectory) -> BenchResult:
    """Submit jobs, kill the worker a few times, and count the recorded jobs at the end."""
    url = storage.url(data_directory)
    submitted = asyncio.run(_submitted(url))
    start = monotonic()
    worker = _worker(data_directory)
    try:
        for share in range(1, _KILLS + 2):
            while _done(data_directory) < JOBS * share // (_KILLS + 1):
                if monotonic() - start > _LONGEST_S:
                    raise RuntimeError(
                        f"{_done(data_directory)} of {JOBS} jobs are done after {_LONGEST_S} s"
                    )
                sleep(0.2)
            if share <= _KILLS:
                worker.kill()
                worker.wait()
                worker = _worker(data_directory)
    finally:
        worker.terminate()
        with suppress(subprocess.TimeoutExpired):
            worker.wait(30)
    elapsed_s = monotonic() - start
    with storage.connected(data_directory) as database:
        rows = database.query("select run_id, count(*) from trial group by run_id").rows
    counts = {run_id: count for run_id, count in rows if run_id in submitted}
    wrong = sum(counts.get(run_id) != 1 for run_id in submitted)
    note = f"{JOBS / elapsed_s:.1f} jobs/s by one worker, which was killed {_KILLS} times"
    return BenchResult(f"{JOBS} jobs, lost or doubled", wrong, "", Target(most=0), note)


async def _submitted(url: str) -> set[str]:
    suite = files.parse(_SUITE, "bench")
    jobs = [Submission(str(uuid.uuid4()), suite.name, _SUITE, (), needs_of(suite)) for _ in range(JOBS)]
    app = queue_application(url)
    async with app.open_async():
        store = Store(app.connector.pool)  # type: ignore[attr-defined]
        for job in jobs:
            await store.submit(app, job, "bench")
    return {job.id for job in jobs}


def _worker(data_directory: DataDirectory) -> subprocess.Popen[bytes]:
    command = [*_CIPHERMARK, "worker", "--stalled-after", "2"]
    return subprocess.Popen(command, env=environment(data_directory), stderr=subprocess.DEVNULL)


def _done(data_directory: DataDirectory) -> int:
    with storage.connected(data_directory) as database:
        return int(database.query("select count(*) from job where state = 'done'").rows[0][0])
