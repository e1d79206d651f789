"""A full disk: what was measured waiting for space, in a job and in a run of the command line, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command import CHEAP, TINY, Ciphermark, Gate
from disks import filled, mounted
from jobs import Jobs, Workers, suite_text
from processes import PATIENCE_S, wait_until

LEARNING = {"kind": "learning", "workloads": ["lmc-plain"], "data_sets": ["boston"], "schemes": ["bfv"]}
OPERATIONS = ["add", "mul"]
VARIANTS = ["cleartext", "planted-waits"]
PARTIES = ["cleartext", "seal"]
pytestmark = pytest.mark.extended  # a journal that waits: tests/unit/test_benchmark_journal.py
A_LITTLE = 1 << 14  # what tells Python that a temporary folder can be written, and holds no keys
TRIALS = len(OPERATIONS) * len(VARIANTS)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", "2m") as folder:
        yield folder


@pytest.fixture
def blobs_disk() -> Iterator[Path]:
    """Where parties of this host exchange what they have: with room for all of it, once it is empty. Python has sockets
    in it, too, whose paths may not be longer than 107 bytes: those of tests are.
    """
    with TemporaryDirectory(prefix="blobs-") as short, mounted(Path(short) / "disk", "64m") as folder:
        yield folder


@pytest.fixture
def workers_folder(disk: Path) -> Path:
    return disk


def test_a_job_waits_for_space(disk: Path, workers: Workers, jobs: Jobs, gate: Gate) -> None:
    gate.let_pass(0)
    worker = workers.start(jobs.url, PLANTED_GATE=str(gate.folder))
    (job_id,) = jobs.submit(suite_text(VARIANTS, OPERATIONS))
    wait_until(lambda: gate.arrived() == 2, "a trial is under way")
    filler = filled(disk)
    gate.let_pass(*range(10))
    (waiting,) = jobs.submit(suite_text(["cleartext"], ["sub"]))
    pending = disk / "data" / "service" / "journal" / "pending" / f"{job_id}.jsonl"
    wait_until(
        lambda: "waiting for space" in str(jobs.job(job_id)["reason"]), "the job says what it waits for"
    )
    assert jobs.job(job_id)["state"] == "running"
    assert pending.read_bytes().endswith(b"\n")  # no outcome is there in part
    filler.unlink()
    assert jobs.wait(job_id, "done")["reason"] is None
    jobs.wait(waiting, "done")
    jobs.assert_exactly_once(job_id, TRIALS)
    assert jobs.job(job_id)["attempts"] == 1
    assert worker.process.poll() is None


def test_a_job_waits_for_space_for_blobs(
    tmp_path: Path, blobs_disk: Path, new_url: Callable[[], str]
) -> None:
    """Keys and ciphertexts, which the parties of a trial exchange: it is measured when there is space for them."""
    jobs, elsewhere = Jobs(new_url()), Workers(tmp_path)
    filler = filled(blobs_disk, A_LITTLE)
    try:
        elsewhere.start(jobs.url, TMPDIR=str(blobs_disk))
        text = json.dumps(
            {"name": "blobs", "budget": CHEAP, "experiments": [LEARNING | {"variants": PARTIES}]}
        )
        (job_id,) = jobs.submit(text)
        wait_until(
            lambda: "waiting for space" in str(jobs.job(job_id)["reason"]), "it says what it waits for"
        )
        assert jobs.job(job_id)["state"] == "running"
        filler.unlink()
        assert jobs.wait(job_id, "done")["reason"] is None
    finally:
        elsewhere.end_all()
    jobs.assert_exactly_once(job_id, len(PARTIES))
    assert jobs.job(job_id)["attempts"] == 1


def test_a_job_that_cannot_begin_waits_and_says_so(disk: Path, workers: Workers, jobs: Jobs) -> None:
    workers.start(jobs.url)
    (first,) = jobs.submit(suite_text(["cleartext"], ["add"]))
    jobs.wait(first, "done")
    filler = filled(disk)
    (job_id,) = jobs.submit(suite_text(["cleartext"], ["add"]))
    wait_until(
        lambda: "waiting for space" in str(jobs.job(job_id)["reason"]), "the job says what it waits for"
    )
    wait_until(lambda: jobs.job(job_id)["attempts"] > 3, "it is tried more often than jobs may die")
    filler.unlink()
    jobs.wait(job_id, "done")


def test_a_worker_whose_log_takes_nothing_goes_on(workers: Workers, jobs: Jobs) -> None:
    """``/dev/full`` is a disk that is full for ever."""
    done, failed = jobs.submit(suite_text(["cleartext"], ["add"]), count=2)
    jobs.rows("update job set suite_text = 'no suite' where id = %s returning id", [failed])
    worker = workers.start(jobs.url, prefix=["sh", "-c", 'exec "$0" "$@" >/dev/full 2>&1'])
    jobs.wait(done, "done")
    jobs.assert_exactly_once(done, 1)
    assert "a suite is a mapping" in str(jobs.wait(failed, "failed")["reason"])
    assert worker.process.poll() is None


def test_a_run_waits_for_space(disk: Path, gate: Gate, new_url: Callable[[], str]) -> None:
    held = Ciphermark(disk / "data", new_url(), {"PLANTED_GATE": str(gate.folder)})
    gate.let_pass(0)
    process = held.start("run", str(held.suite(TINY | {"variants": VARIANTS, "operations": OPERATIONS})))
    wait_until(lambda: gate.arrived() == 2, "the timed worker")
    filler = filled(disk)
    gate.let_pass(*range(10))
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=6)
    filler.unlink()
    out, err = process.communicate(timeout=PATIENCE_S)
    done = held.ended(process.returncode, out, err, code=0)
    assert "waiting for space" in done.err
    assert f"{TRIALS} ok" in done.out


def test_a_run_waits_for_space_for_blobs(
    tmp_path: Path, blobs_disk: Path, new_url: Callable[[], str]
) -> None:
    held = Ciphermark(tmp_path / "data", new_url(), {"TMPDIR": str(blobs_disk)})
    filler = filled(blobs_disk, A_LITTLE)
    process = held.start("run", str(held.suite(LEARNING | {"variants": PARTIES})))
    assert process.stderr is not None
    told = b""
    while b"waiting for space" not in told:
        told += (chunk := os.read(process.stderr.fileno(), 1 << 16))
        assert chunk, told
    filler.unlink()
    out, err = process.communicate(timeout=PATIENCE_S)
    done = held.ended(process.returncode, out, told + err, code=0)
    assert f"{len(PARTIES)} ok" in done.out
    assert [outcome["status"] for outcome in held.outcomes()] == ["ok"] * len(PARTIES)
