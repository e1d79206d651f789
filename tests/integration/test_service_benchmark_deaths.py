"""Deaths of `ciphermark serve --worker` and of its worker: nothing is left behind, and no job is lost."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from benchmark_service import Service, ended, started, submitted, suite, when
from command import PROGRAM, Gate
from processes import PATIENCE_S, command_line, wait_until


@pytest.fixture
def service(tmp_path: Path, new_url: Callable[[], str], gate: Gate) -> Iterator[Service]:
    made = started(tmp_path, new_url(), "--worker", PLANTED_GATE=str(gate.folder))
    yield made
    if made.process.poll() is None:
        ended(made)


def under_way(service: Service, gate: Gate) -> None:
    """A run whose first trial waits at the gate."""
    with service.client() as client:
        submitted(client, suite=suite("add", "mul", variants=("cleartext", "planted-waits")))
    wait_until(lambda: gate.arrived() == 1, "the run is under way")


def worker_of(service: Service) -> psutil.Process | None:
    """The worker beside the service, if there is one now: other children look at libraries for it."""
    for child in psutil.Process(service.process.pid).children():
        if "--parent" in command_line(child):
            return child
    return None


def test_nothing_outlives_a_service_that_is_killed(service: Service, gate: Gate) -> None:
    """Its job goes on with another worker, as where a worker is killed: test_jobs.py."""
    under_way(service, gate)
    below = psutil.Process(service.process.pid).children(recursive=True)
    assert any("ciphermark_measure.worker" in command_line(process) for process in below)
    service.process.kill()
    service.process.wait(PATIENCE_S)
    _, alive = psutil.wait_procs(below, timeout=PATIENCE_S)
    assert alive == []


def test_a_worker_whose_parent_is_gone_already_ends(tmp_path: Path) -> None:
    """It may be gone before the kernel is asked to tell of its end."""
    with subprocess.Popen(["true"]) as gone:
        gone.wait(PATIENCE_S)
    done = subprocess.run(
        [str(PROGRAM), "worker", "--parent", str(gone.pid)],
        env=os.environ | {"CIPHERMARK_DATA": str(tmp_path)},
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == -signal.SIGTERM


@pytest.mark.extended
def test_a_worker_that_dies_is_replaced(service: Service) -> None:
    for _ in range(2):
        wait_until(lambda: worker_of(service), "a worker is there")
        first = worker_of(service)
        first.kill()
        wait_until(lambda first=first: worker_of(service) not in (None, first), "another worker is there")
    with service.client() as client:
        run_id = submitted(client, suite=suite("add"))["id"]
        assert when(client, run_id, "done")["recorded"] == {"ok": 1}
    assert service.log.read_text().count("the worker has ended, another one is started") == 2
