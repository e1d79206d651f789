"""Interrupted at any moment, while they load included: attempts at jobs, and programs at a terminal, end in peace."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from command import Ciphermark, Gate
from jobs import Jobs, Workers, suite_text
from processes import PATIENCE_S

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.jobs import attempts, execution
from ciphermark_core.errors import UserError
from ciphermark_measure.confinement import forked

PROGRAM = Path(__file__).with_name("interrupted_attempts.py")
# Seconds from the fork of an attempt on: its first steps closely, its connections and workers, its measuring.
MOMENTS = [0.0005 * 1.22**step for step in range(42)]


pytestmark = pytest.mark.usefixtures("planted")


@pytest.mark.extended
def test_an_attempt_is_interrupted_at_any_moment(jobs: Jobs, tmp_path: Path) -> None:
    """It is held by a library that never answers, so that none ends by itself."""
    gate = Gate(tmp_path / "gate")
    (job_id,) = jobs.submit(suite_text(["cleartext", "planted-waits"], ["add", "mul"]))
    command = [sys.executable, PROGRAM, tmp_path / "data", jobs.url, job_id, *map(str, [0, *MOMENTS])]
    environment = os.environ | {"PLANTED_GATE": str(gate.folder)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert done.stdout.split() == ["interrupted"] * (1 + len(MOMENTS))
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize(("is_interrupted", "how"), [(True, "interrupted"), (False, "refused")])
def test_an_error_after_an_interruption_is_none_of_the_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_interrupted: bool, how: str
) -> None:
    """PostgreSQL may cancel another statement than the one that was interrupted, such as the rollback after it."""

    def execute(data_directory: DataDirectory, job_id: str) -> None:
        with suppress(KeyboardInterrupt):
            if is_interrupted:
                os.kill(os.getpid(), signal.SIGINT)
        raise UserError("PostgreSQL: canceling statement due to user request")

    monkeypatch.setattr(execution, "execute", execute)
    ended = forked(lambda: attempts._end(DataDirectory(tmp_path, None), "job").how, "attempts the job")
    assert ended == how


@pytest.mark.extended
def test_a_job_is_cancelled_at_any_moment_and_its_worker_ended_meanwhile(
    workers: Workers, jobs: Jobs
) -> None:
    """The worker is told to end while it ends the cancelled job: the job is cancelled even so."""
    for pause_s in (0.0, 0.3, 0.6, 1.2):
        (job_id,) = jobs.submit(suite_text(["cleartext"], ["add", "mul"], min_time_s=30))
        worker = workers.start(jobs.url)
        jobs.wait(job_id, "running")
        jobs.cancel(job_id)
        time.sleep(pause_s)
        worker.end()
        job = jobs.job(job_id)
        assert (job["state"], job["reason"]) == ("cancelled", "cancelled on request"), pause_s


def wait_until_held(pid: int) -> None:
    """Until a process holds SIGINT back, which is the first that the command line does."""
    bit = 1 << (signal.SIGINT - 1)
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        status = Path(f"/proc/{pid}/status").read_text()
        (blocked,) = re.findall(r"^SigBlk:\s*(\w+)$", status, re.MULTILINE)
        if int(blocked, 16) & bit:
            return
        assert time.monotonic() < deadline_s, status
        time.sleep(0.002)


@pytest.mark.parametrize(
    ("command", "pauses_s"),
    [
        (("worker",), (0.1,)),
        (("serve", "--worker"), (0.8,)),
        (("run", "quick"), (0.4,)),
        *(
            pytest.param(command, (0.0, 0.1, 0.2, 0.4, 0.8, 1.5), marks=pytest.mark.extended)
            for command in (("worker",), ("serve", "--worker"), ("run", "quick"))
        ),
    ],
)
def test_ctrl_c_while_a_program_loads_ends_it_without_a_word(
    ciphermark: Ciphermark, command: tuple[str, ...], pauses_s: tuple[float, ...]
) -> None:
    """From its first line on: what interrupts Python before that is Python's to tell."""
    for pause_s in pauses_s:
        process = ciphermark.start(*command)
        wait_until_held(process.pid)
        time.sleep(pause_s)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=PATIENCE_S)
        ciphermark.ended(process.returncode, out, err, code=None)
