"""A PostgreSQL that answers and takes nothing, as after a failover: jobs wait for it, nothing is lost or doubled."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from command import Gate
from jobs import STALLED_S, Jobs, Workers, suite_text
from processes import wait_until

from ciphermark_db import embedded

OPERATIONS = ["add", "mul"]
VARIANTS = ["cleartext", "planted-waits"]
TRIALS = len(OPERATIONS) * len(VARIANTS)
READ_ONLY_S = STALLED_S + 4  # longer than the worker may be silent without being taken for dead
_OPEN_MARKS = (
    "select count(*) as n from queue.procrastinate_workers where last_heartbeat > now() - %s * interval '1 s'"
)


@pytest.fixture
def takes_nothing(data_directory: Path) -> Callable[[bool], None]:
    """Makes a server of its own read-only for all its sessions, or ordinary again."""
    superuser = embedded.ensure_started(data_directory).replace(
        "postgresql://ciphermark@/ciphermark", "postgresql://postgres@/postgres"
    )

    def switch(is_read_only: bool) -> None:
        value = "on" if is_read_only else "off"
        with psycopg.connect(superuser, autocommit=True) as connection:
            connection.execute("set default_transaction_read_only = off")
            connection.execute(f"alter system set default_transaction_read_only = {value}")  # type: ignore[arg-type]
            connection.execute("select pg_reload_conf()")

    return switch


@pytest.mark.extended
@pytest.mark.parametrize("passes_at", [range(10), (0,)])
@pytest.mark.usefixtures("planted")
def test_a_job_outlasts_a_database_that_takes_nothing(
    data_directory: Path,
    gate: Gate,
    workers: Workers,
    takes_nothing: Callable[[bool], None],
    passes_at: range,
) -> None:
    """The job ends meanwhile, or goes on afterwards; in both cases it is done once, and the worker takes the next."""
    jobs = Jobs(embedded.ensure_started(data_directory))
    gate.let_pass(0)
    worker = workers.start(jobs.url, PLANTED_GATE=str(gate.folder))
    (job_id,) = jobs.submit(suite_text(VARIANTS, OPERATIONS))
    wait_until(lambda: gate.arrived() == 2, "a trial is under way")
    takes_nothing(True)
    gate.let_pass(*passes_at)
    time.sleep(READ_ONLY_S)
    assert jobs.job(job_id)["state"] == "running"
    takes_nothing(False)
    gate.let_pass(*range(10))
    jobs.wait(job_id, "done")
    jobs.assert_exactly_once(job_id, TRIALS)
    assert worker.process.poll() is None
    wait_until(lambda: jobs.rows(_OPEN_MARKS, [STALLED_S])[0]["n"] == 1, "the worker's heart beats")
    (next_job,) = jobs.submit(suite_text(["cleartext"], ["add"]))
    jobs.wait(next_job, "done")
    (cancelled,) = jobs.submit(suite_text(VARIANTS, ["sub"]))
    wait_until(lambda: jobs.job(cancelled)["state"] == "running", "the next job is under way")
    jobs.cancel(cancelled)
    jobs.wait(cancelled, "cancelled")
