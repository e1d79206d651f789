"""The embedded PostgreSQL among the services of ``deploy/serve.py``."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import PATIENCE_S, wait_until

from ciphermark_db import embedded

sys.path.insert(0, str(Path(__file__).parents[2] / "deploy"))
from serve import EmbeddedDatabase
from supervision import MAX_DEATHS, Supervisor

PAUSED_S = (
    10.0  # on the supervisor's clock: longer than it pauses after any death that it does not give up at
)


class Service:
    """Dies when it is told to, and starts at once."""

    name = "service"

    def __init__(self) -> None:
        self.reason: str | None = None

    def start(self) -> None:
        self.reason = None

    def death(self) -> str | None:
        return self.reason


@pytest.fixture
def data_directory(tmp_path: Path) -> Iterator[Path]:
    embedded.ensure_started(tmp_path)
    yield tmp_path
    embedded.stop(tmp_path)


@contextmanager
def held(folder: Path) -> Iterator[threading.Event]:
    """Nobody can start the server meanwhile; the event says that this took too long and is over."""
    given_up = threading.Event()
    with (folder / "postgres.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def give_up() -> None:
            given_up.set()
            fcntl.flock(file, fcntl.LOCK_UN)

        timer = threading.Timer(PATIENCE_S / 3, give_up)
        timer.start()
        yield given_up
        timer.cancel()
        timer.join()


def killed(data_directory: Path) -> None:
    os.kill(int((data_directory / "postgres" / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)
    wait_until(lambda: not embedded.is_running(data_directory), "it is gone")


@pytest.mark.extended
def test_others_are_started_again_while_it_is_starting(data_directory: Path) -> None:
    told: list[str] = []
    database, service = EmbeddedDatabase(data_directory), Service()
    supervisor = Supervisor([database, service], told.append, data_directory / "services.json")
    killed(data_directory)
    with held(data_directory) as given_up:
        supervisor.look(0.0)
        supervisor.look(PAUSED_S)
        service.reason = "gone"
        supervisor.look(PAUSED_S)
        supervisor.look(2 * PAUSED_S)
        assert not given_up.is_set()
        assert not embedded.is_running(data_directory)
    assert [line for line in told if line.endswith("is started again")] == [
        "postgresql is started again",
        "service is started again",
    ]

    def is_back() -> bool:
        supervisor.look(2 * PAUSED_S)
        return database.starter is None

    wait_until(is_back, "it is there")
    assert embedded.is_running(data_directory)


def test_one_that_cannot_be_started_is_told_and_left_alone(data_directory: Path) -> None:
    told: list[str] = []
    database = EmbeddedDatabase(data_directory)
    supervisor = Supervisor([database], told.append, data_directory / "services.json")
    killed(data_directory)
    (version := data_directory / "postgres" / "PG_VERSION").rename(data_directory / "elsewhere")
    for number in range(MAX_DEATHS):
        supervisor.look(number * PAUSED_S)
        wait_until(lambda: database.starter is None or database.starter.poll() is not None, "it has failed")
        supervisor.look(number * PAUSED_S)
    assert not supervisor.is_any_left
    (data_directory / "elsewhere").rename(version)
    assert "postgresql: it cannot be started: " in told[-1]
    assert f"it died {MAX_DEATHS} times within" in told[-1]
