"""Jobs: executed once whatever dies, cancelled, handed back, and only where their needs are met."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from command import TINY, Ciphermark, Gate
from jobs import STALLED_S, Jobs, Worker, Workers, suite_text
from processes import PATIENCE_S, command_line, freeze, has_ended, thaw, wait_until

from ciphermark_benchmark.jobs.decisions import MAX_DEATHS
from ciphermark_db import embedded

OPERATIONS = ["add", "mul", "sub"]
HELD = ["cleartext", "planted-waits"]
TRIALS = len(OPERATIONS) * len(HELD)
pytestmark = pytest.mark.usefixtures("planted")


def started(workers: Workers, jobs: Jobs, gate: Gate, **more: str) -> Worker:
    return workers.start(jobs.url, PLANTED_GATE=str(gate.folder), **more)


def in_the_middle(workers: Workers, jobs: Jobs, gate: Gate) -> tuple[str, Worker]:
    """A job whose trial of mul is under way."""
    (job_id,) = jobs.submit(suite_text(HELD, OPERATIONS))
    worker = started(workers, jobs, gate)
    gate.let_pass(0)
    wait_until(lambda: gate.arrived() == 2, "a trial is under way")
    return job_id, worker


def test_a_host_executes_what_makes_sense_and_what_it_can(
    workers: Workers, jobs: Jobs, tmp_path: Path
) -> None:
    """Nothing is left behind; every outcome is a line of the log with the ids of run and trial."""
    text = suite_text(["cleartext"], ["add"])
    (flag,) = jobs.submit(text, isa=["a_flag_that_no_cpu_has"])
    (memory,) = jobs.submit(text, memory_mb=1 << 23)
    (variant,) = jobs.submit(suite_text(["planted-missing"], ["add"]), chosen=["planted-missing"])
    (senseless,) = jobs.submit(text)
    jobs.rows("update job set suite_text = 'no suite' where id = %s returning id", [senseless])
    job_text = suite_text(["cleartext", "planted-good"], ["add", "mul"])
    (job_id,) = jobs.submit(job_text, isa=[psutil_flag()], memory_mb=64)
    worker = workers.start(jobs.url)
    failed = jobs.wait(senseless, "failed")
    assert "a suite is a mapping" in failed["reason"]
    assert failed["attempts"] == 1
    job = jobs.wait(job_id, "done")
    jobs.assert_exactly_once(job_id, 4)
    assert (job["attempts"], job["deaths"], job["trials"], job["reason"]) == (1, 0, 4, None)
    (part,) = jobs.parts(job_id)
    assert (part["id"], part["continues"]) == (job_id, None)
    assert [path.parent.name for path in tmp_path.glob("data/service/journal/*/*.jsonl")] == ["recorded"]
    # Another look at the queue, and a variant that nobody chose and no host has.
    (later,) = jobs.submit(suite_text(["cleartext", "planted-missing"], ["rescale"]))
    jobs.wait(later, "done")
    assert jobs.rows("select distinct status from trial where run_id = %s", [later]) == [
        {"status": "unsupported"}
    ]
    assert [jobs.job(waiting)["state"] for waiting in (flag, memory, variant)] == ["queued"] * 3
    worker.end()
    assert jobs.rows("select * from queue.procrastinate_workers") == []
    lines = [json.loads(line) for line in worker.log.read_text().splitlines()]
    of_job = [line for line in lines if line.get("job_id") == job_id]
    assert {line["run_id"] for line in of_job} == {job_id}
    keys = ("trial_id", "variant", "status")
    recorded = jobs.rows(
        "select t.id as trial_id, c.variant, t.status from trial t join case_info c using (case_info_id) "
        "where t.run_id = %s",
        [job_id],
    )
    assert sorted(tuple(line[key] for key in keys) for line in of_job if line["event"] == "trial ended") == (
        sorted(tuple(row[key] for key in keys) for row in recorded)
    )


def test_what_becomes_of_a_job_whose_attempt_is_killed_cancelled_or_handed_back(
    workers: Workers, jobs: Jobs, gate: Gate
) -> None:
    """The gate stays shut: nobody waits for the library. What follows from any number of deaths is a table's."""
    worker = started(workers, jobs, gate)

    def under_way() -> str:
        arrived = gate.arrived()
        (job_id,) = jobs.submit(suite_text(["planted-waits"], ["mul"]))
        jobs.rows("update job set deaths = %s where id = %s returning id", [MAX_DEATHS - 1, job_id])
        wait_until(lambda: gate.arrived() > arrived, "a trial is under way")
        return job_id

    killed = under_way()
    attempt = psutil.Process(worker.measuring()[0].pid).parent()
    assert attempt is not None
    attempt.kill()
    job = jobs.wait(killed, "failed")
    assert (job["attempts"], job["deaths"]) == (1, MAX_DEATHS)
    assert "exit code -9" in job["reason"]

    cancelled = under_way()
    jobs.cancel(cancelled)
    job = jobs.wait(cancelled, "cancelled")
    assert (job["attempts"], job["reason"]) == (1, "cancelled on request")
    wait_until(lambda: not worker.measuring(), "nothing measures any more")

    handed_back = under_way()
    measuring = worker.measuring()
    assert measuring
    worker.end()
    wait_until(lambda: all(has_ended(process.pid) for process in measuring), "nothing measures any more")
    job = jobs.job(handed_back)
    assert (job["state"], job["deaths"], job["reason"]) == ("queued", MAX_DEATHS - 1, None)


@pytest.mark.extended
def test_a_cancelled_job_of_a_dead_worker_is_not_executed_again(
    workers: Workers, jobs: Jobs, gate: Gate
) -> None:
    job_id, worker = in_the_middle(workers, jobs, gate)
    worker.process.send_signal(19)  # SIGSTOP: it cannot react
    jobs.cancel(job_id)
    worker.kill()
    gate.let_pass(*range(10))
    started(workers, jobs, gate)
    assert "its worker died" in jobs.wait(job_id, "cancelled")["reason"]
    assert jobs.job(job_id)["attempts"] == 1


def forked_from(worker: Worker) -> psutil.Process:
    """The process below a worker that its attempts are forked from."""
    (found,) = [
        child
        for child in psutil.Process(worker.process.pid).children()
        if any("multiprocessing.forkserver" in word for word in command_line(child))
    ]
    return found


@pytest.mark.extended
def test_an_attempt_ends_with_the_process_that_it_was_forked_from(
    workers: Workers, jobs: Jobs, gate: Gate
) -> None:
    """The worker hears of it through that process alone, and would begin another one beside it."""
    job_id, worker = in_the_middle(workers, jobs, gate)
    attempt = psutil.Process(worker.measuring()[0].pid).parent()
    assert attempt is not None
    forked_from(worker).kill()
    wait_until(lambda: has_ended(attempt.pid), "the attempt ends")
    gate.let_pass(*range(10))
    job = jobs.wait(job_id, "done")
    jobs.assert_exactly_once(job_id, TRIALS)
    assert (job["attempts"], job["deaths"]) == (2, 1)


@pytest.mark.extended
def test_an_attempt_that_cannot_be_started_is_one_that_died(workers: Workers, jobs: Jobs) -> None:
    """The process that it would be forked from takes the order, and is killed before it has done anything."""
    (first,) = jobs.submit(suite_text(["cleartext"], ["rescale"]))
    worker = workers.start(jobs.url)
    jobs.wait(first, "done")
    from_here = forked_from(worker)
    from_here.suspend()
    (job_id,) = jobs.submit(suite_text(["cleartext"], ["rescale"]))
    wait_until(lambda: jobs.job(job_id)["attempts"] == 1, "an attempt is begun")
    time.sleep(1)  # for the order to be given; were it too short, this would show nothing, and be green
    from_here.kill()
    jobs.wait(job_id, "done")


def psutil_flag() -> str:
    """A flag that this CPU has."""
    line = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    return line.split()[-1]


@pytest.mark.extended
def test_one_worker_measures_on_a_machine_at_a_time(workers: Workers, jobs: Jobs, gate: Gate) -> None:
    held, other = jobs.submit(suite_text(["planted-waits"], ["mul"])) + jobs.submit(
        suite_text(["cleartext"], ["add"])
    )
    first = started(workers, jobs, gate)
    wait_until(lambda: gate.arrived() == 1, "the first worker measures")
    started(workers, jobs, gate, data_directory="another")
    wait_until(lambda: len(jobs.rows("select * from offer")) == 2, "the second worker is there")
    time.sleep(3)  # several looks at the queue
    assert jobs.job(other)["state"] == "queued"
    first.kill()  # the standby takes over
    gate.let_pass(*range(10))
    for job_id in (held, other):
        jobs.wait(job_id, "done")
    jobs.assert_exactly_once(held, 1)


def test_a_run_and_a_job_in_one_data_directory_wait_for_each_other(
    workers: Workers, jobs: Jobs, gate: Gate, tmp_path: Path
) -> None:
    (job_id,) = jobs.submit(suite_text(["planted-waits"], ["mul"]))
    started(workers, jobs, gate)
    wait_until(lambda: gate.arrived() == 1, "the job measures")
    command = Ciphermark(tmp_path / "data", jobs.url, {"PLANTED_GATE": str(gate.folder)})
    suite = command.suite(TINY | {"variants": ["planted-waits"], "operations": ["mul"]})
    run = command.fork("run", str(suite))
    assert run.stderr is not None
    assert b"Another run is active" in run.stderr.readline()
    assert command.journals() == []
    gate.let_pass(0, 1)  # the job's processes, for memory and times; those of the run then stand before it
    jobs.wait(job_id, "done")
    wait_until(lambda: gate.arrived() == 3, "the run measures")
    (other,) = jobs.submit(suite_text(["cleartext"], ["add"]))
    wait_until(lambda: "another run" in str(jobs.job(other)["reason"]), "the job says what it waits for")
    gate.let_pass(2, 3)
    out, err = run.communicate(timeout=PATIENCE_S)
    command.ended(run.returncode, out, err, 0)
    jobs.wait(other, "done")


def postmaster(data_directory: Path) -> int:
    """The embedded server's first process."""
    return int((data_directory / "postgres" / "postmaster.pid").read_text().split()[0])


def killed(data_directory: Path) -> None:
    """Kill the embedded server; its other processes end when they see that it is gone."""
    os.kill(postmaster(data_directory), signal.SIGKILL)


def measured_without_database(
    data_directory: Path, gate: Gate, jobs: Jobs, job_id: str, end: Callable[[Path], None]
) -> set[object]:
    """Wait until all outcomes of a job are in the journal, while the database is away; what this has of them."""
    before = {row["id"] for row in jobs.rows("select id from trial")}
    end(data_directory)
    gate.let_pass(*range(10))
    pending = data_directory / "service" / "journal" / "pending" / f"{job_id}.jsonl"
    wait_until(lambda: pending.read_bytes().count(b"\n") == 1 + TRIALS, "all outcomes are in the journal")
    return before


def test_a_job_survives_its_worker_and_the_database(
    workers: Workers, gate: Gate, data_directory: Path
) -> None:
    """Both are killed, one after the other, in the middle of a trial; the same host goes on with its own run."""
    jobs = Jobs(embedded.ensure_started(data_directory))
    job_id, first = in_the_middle(workers, jobs, gate)
    first.kill()
    worker = started(workers, jobs, gate)
    wait_until(lambda: gate.arrived() == 3, "the trial is under way again")
    before = measured_without_database(data_directory, gate, jobs, job_id, killed)
    assert len(before) < TRIALS
    embedded.ensure_started(data_directory)
    job = jobs.wait(job_id, "done")
    jobs.assert_exactly_once(job_id, TRIALS)
    assert (job["attempts"], job["deaths"], len(jobs.parts(job_id))) == (2, 1, 1)
    assert before <= {row["id"] for row in jobs.rows("select id from trial")}
    assert worker.process.poll() is None


@pytest.mark.extended
def test_a_job_survives_a_database_that_is_frozen(workers: Workers, gate: Gate, data_directory: Path) -> None:
    """It measures meanwhile, for longer than a worker may be silent without being taken for dead: its heart beats late,
    and it goes on.
    """
    jobs = Jobs(embedded.ensure_started(data_directory))
    job_id, worker = in_the_middle(workers, jobs, gate)
    frozen: list[psutil.Process] = []
    try:
        measured_without_database(
            data_directory,
            gate,
            jobs,
            job_id,
            lambda data_directory: frozen.extend(freeze(psutil.Process(postmaster(data_directory)))),
        )
        time.sleep(STALLED_S)
    finally:
        thaw(frozen)
    jobs.wait(job_id, "done")
    jobs.assert_exactly_once(job_id, TRIALS)
    job = jobs.job(job_id)
    assert (job["attempts"], job["deaths"], job["reason"]) == (1, 0, None)
    (next_job,) = jobs.submit(suite_text(["cleartext"], ["add"]))
    jobs.wait(next_job, "done")
    assert worker.process.poll() is None


@pytest.mark.extended
def test_what_a_dead_worker_measured_is_recorded_though_the_job_was_cancelled(
    workers: Workers, gate: Gate, data_directory: Path
) -> None:
    jobs = Jobs(embedded.ensure_started(data_directory))
    job_id, worker = in_the_middle(workers, jobs, gate)
    measured_without_database(data_directory, gate, jobs, job_id, embedded.stop)
    worker.kill()
    embedded.ensure_started(data_directory)
    jobs.cancel(job_id)
    started(workers, jobs, gate)
    jobs.wait(job_id, "cancelled")
    jobs.assert_exactly_once(job_id, TRIALS)
