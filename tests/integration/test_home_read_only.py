"""A home on a disk that turns read-only, as after an error: it is told, everything waits, and nothing is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import PLANTED, TINY, Ciphermark, Gate
from disks import mounted
from jobs import Jobs, Workers, suite_text
from processes import PATIENCE_S, wait_until

OPERATIONS = ["add", "mul"]
VARIANTS = ["cleartext", "planted-waits"]
TRIALS = len(OPERATIONS) * len(VARIANTS)
WAITS = "waits for a disk that can be written"


@dataclass
class Disk:
    """A disk of its own, mounted."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def switch(self, options: str) -> None:
        """Mount it anew: ``ro`` or ``rw``; as soon as nobody has a file open for writing."""
        command = ["mount", "-o", f"remount,{options}", str(self.folder)]
        wait_until(
            lambda: subprocess.run(command, check=False, capture_output=True).returncode == 0,
            f"the disk is {options}",
        )


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with mounted(tmp_path / "disk", "16m") as folder:
        yield Disk(folder)


@pytest.fixture
def workers(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """Their logs are elsewhere."""
    monkeypatch.setenv("CIPHERMARK_ADAPTER_PATH", str(PLANTED))
    made = Workers(tmp_path)
    yield made
    made.end_all()


@pytest.mark.extended
def test_a_job_waits_and_says_for_what(disk: Disk, workers: Workers, new_url: Callable[[], str]) -> None:
    jobs = Jobs(new_url())
    workers.start(jobs.url, home=str(disk.home))
    (first,) = jobs.submit(suite_text(["cleartext"], ["add"]))
    jobs.wait(first, "done")
    disk.switch("ro")
    (job_id,) = jobs.submit(suite_text(["cleartext"], OPERATIONS))
    wait_until(lambda: WAITS in str(jobs.job(job_id)["reason"]), "the job says what it waits for")
    wait_until(lambda: jobs.job(job_id)["attempts"] > 3, "it is tried more often than jobs may die")
    disk.switch("rw")
    jobs.wait(job_id, "done")
    jobs.assert_exactly_once(job_id, len(OPERATIONS))


@pytest.mark.extended
def test_a_run_waits_in_the_middle(disk: Disk, tmp_path: Path, new_url: Callable[[], str]) -> None:
    gate = Gate(tmp_path / "gate")
    held = Ciphermark(disk.home, new_url(), {"PLANTED_GATE": str(gate.folder)})
    gate.let_pass(0)
    process = held.start("run", str(held.suite(TINY | {"variants": VARIANTS, "operations": OPERATIONS})))
    wait_until(lambda: gate.arrived() == 2, "the timed worker")
    disk.switch("ro")
    gate.let_pass(*range(10))
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=6)
    disk.switch("rw")
    out, err = process.communicate(timeout=PATIENCE_S)
    done = held.ended(process.returncode, out, err, code=0)
    assert WAITS in done.err
    assert f"{TRIALS} ok" in done.out
    assert held.rows("select count(*) as n from trial") == [{"n": TRIALS}]


def test_a_command_that_cannot_begin_says_so_in_a_line_and_others_answer(
    disk: Disk, new_url: Callable[[], str]
) -> None:
    command = Ciphermark(disk.home, new_url())
    suite = str(command.suite(TINY | {"variants": ["cleartext"], "operations": ["add"]}))
    command("run", suite)
    disk.switch("ro")
    (line,) = command("run", suite, code=1).err.strip().splitlines()
    assert line.startswith(str(disk.home))
    assert line.endswith(": Read-only file system")
    assert "1 ok" in command("results", "last").out
    assert command.rows("select count(*) as n from trial") == [{"n": 1}]
    disk.switch("rw")
    command("run", suite)
    assert command.rows("select count(*) as n from trial") == [{"n": 2}]
