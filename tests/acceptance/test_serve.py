"""`make serve`: all services without containers, started and stopped as one, and each kept going by itself."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import psutil
import pytest
from disks import filled, mounted
from processes import PATIENCE_S, environment, freeze, has_ended, thaw, wait_until
from serving import (
    GUARDED,
    PROGRAMS,
    REPOSITORY,
    START_TIMEOUT_S,
    Serving,
    free_ports,
    is_ready,
    status,
    text_of,
)

from ciphermark_db import embedded


@pytest.fixture(scope="module")
def data_directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve") / "data"
    yield folder
    embedded.stop(folder)


@contextmanager
def started_in(data_directory):
    """All services, in the data directory of the tests before: what its logs said then must still be there."""
    logs = {path: path.read_text() for path in (data_directory / "logs").glob("*.log")}
    started = Serving(data_directory, free_ports())
    try:
        started.wait_until_serving()
        assert all(path.read_text().startswith(text) for path, text in logs.items())
        yield started
    finally:
        if started.process.poll() is None:
            started.end()


@pytest.fixture
def serving(data_directory):
    """Services that a test ends."""
    with started_in(data_directory) as started:
        yield started


@pytest.fixture(scope="module")
def lasting(data_directory):
    """Services that go on from test to test, whatever of them dies."""
    with started_in(data_directory) as started:
        yield started


def refuses_connections(port):
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) != 0


def test_all_are_ready_and_guarded(lasting, data_directory):
    for port in lasting.ports.values():
        assert f"http://127.0.0.1:{port}" in lasting.text()
        assert status(port, "/readyz") == 200
    for name in GUARDED:
        port = lasting.ports[name]
        token = data_directory / "tokens" / name
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        assert status(port, "/metrics") == 401
        assert status(port, "/metrics", token.read_text().strip()) == 200
    for folder in ("private", "tokens", "logs", "blobs", "journal"):
        assert (
            not (data_directory / folder).exists()
            or stat.S_IMODE((data_directory / folder).stat().st_mode) == 0o700
        )
    assert stat.S_IMODE(data_directory.stat().st_mode) & 0o066 == 0
    assert {stat.S_IMODE(log.stat().st_mode) for log in (data_directory / "logs").glob("*.log")} == {0o600}
    assert set(lasting.services()) == PROGRAMS
    told = lasting.services()["ciphermark-dashboard"].environ()
    assert told["CIPHERMARK_SERVICES_FILE"] == str(data_directory / "logs" / "services.json")
    assert status(lasting.ports["dashboard"], "/runs") == 401
    token = (data_directory / "tokens" / "dashboard").read_text().strip()
    # The suites are what the benchmark service tells.
    assert "<option>smoke</option>" in text_of(lasting.ports["dashboard"], "/runs", token)
    assert token not in lasting.text()  # a file may be kept and read


@pytest.mark.extended
def test_a_terminal_is_told_an_address_that_logs_in(data_directory):
    ports = free_ports()
    ours, terminal = pty.openpty()
    started = Serving(data_directory, ports, terminal)
    os.close(terminal)
    try:
        text = ""
        while "Ctrl-C stops all of them." not in text:
            assert select.select([ours], [], [], START_TIMEOUT_S)[0], text
            text += os.read(ours, 4096).decode()
        (address,) = re.findall(r"http://\S+/login\?token=\S+", text)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address, timeout=PATIENCE_S) as answer:
            assert (answer.status, answer.url) == (200, f"http://127.0.0.1:{ports['dashboard']}/")
        token = (data_directory / "tokens" / "dashboard").read_text().strip()
        assert not [log for log in (data_directory / "logs").iterdir() if token in log.read_text()]
    finally:
        started.end()
        os.close(ours)


@pytest.mark.parametrize(
    "victim",
    [
        "ciphermark-server",
        *(
            pytest.param(name, marks=pytest.mark.extended)
            for name in ("ciphermark-dashboard", "serve", "worker")
        ),
    ],
)
def test_one_that_dies_is_started_again_alone_and_told(lasting, data_directory, victim):
    before, told = lasting.services(), len(lasting.text())
    logs = {path: path.read_text() for path in (data_directory / "logs").glob("*.log")}
    before[victim].kill()
    wait_until(
        lambda: lasting.services().get(victim, before[victim]).pid != before[victim].pid, lasting.text()
    )
    wait_until(lambda: all(map(is_ready, lasting.ports.values())), "all services answer again")
    after = lasting.services()
    assert {name: process.pid for name, process in before.items() if name != victim} == {
        name: process.pid for name, process in after.items() if name != victim
    }
    assert "ended with exit code -9" in lasting.text()[told:]
    assert "is started again" in lasting.text()[told:]
    assert len(logs) == len(PROGRAMS)
    assert all(
        path.read_text().startswith(text) for path, text in logs.items()
    )  # what it said before is there


@pytest.mark.extended
def test_a_database_that_is_frozen_for_a_while_is_left_alone(lasting, data_directory):
    told = len(lasting.text())
    frozen = freeze(
        psutil.Process(int((data_directory / "postgres" / "postmaster.pid").read_text().splitlines()[0]))
    )
    try:
        wait_until(lambda: not is_ready(lasting.ports["dashboard"]), "it is told that the database is away")
    finally:
        thaw(frozen)
    wait_until(lambda: all(map(is_ready, lasting.ports.values())), "all services answer again")
    assert "postgresql" not in lasting.text()[told:]


def test_a_database_that_was_killed_is_started_again(lasting, data_directory):
    pid = int((data_directory / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: "postgresql is started again" in lasting.text(), lasting.text())
    wait_until(lambda: all(map(is_ready, lasting.ports.values())), "all services answer again")


def require_gone(serving, number):
    """All processes end well with the one that is told to."""
    running = serving.services()
    assert serving.end(number) == 0, serving.text()
    assert all(has_ended(process.pid) for process in running.values())
    assert all(refuses_connections(port) for port in serving.ports.values())


def test_all_are_gone_when_told_to_end(lasting):
    """The last test of these services."""
    require_gone(lasting, signal.SIGTERM)


@pytest.mark.extended
def test_all_are_gone_when_interrupted(serving):
    assert set(serving.services()) == PROGRAMS
    require_gone(serving, signal.SIGINT)


def is_alive(port):
    try:
        return status(port, "/healthz") == 200
    except OSError:
        return False


def deaths(data_directory):
    """Service -> how many deaths are told of it."""
    return {
        row["name"]: row["deaths"]
        for row in json.loads((data_directory / "logs" / "services.json").read_text())
    }


@pytest.mark.extended
def test_on_a_full_disk_one_that_dies_is_started_again_and_the_others_go_on(data_directory, tmp_path):
    """The data directory is on that disk, and the database is not."""
    database_url = embedded.ensure_started(data_directory)
    with mounted(tmp_path / "disk", "16m") as disk:
        started = Serving(disk / "data", free_ports(), None, tmp_path / "printed.txt", database_url)
        try:
            started.wait_until_serving()
            filler = filled(disk)
            before = started.services()
            before["ciphermark-server"].kill()
            wait_until(lambda: "server is started again" in started.text(), "the server is started again")
            wait_until(lambda: is_alive(started.ports["server"]), "it answers")
            token = started.token("server")
            assert "takes nothing more now" in text_of(started.ports["server"], "/readyz", token)
            assert "services.json is not written: No space left on device" in started.text()
            after = started.services()
            assert {name for name in before if after.get(name) != before[name]} == {"ciphermark-server"}
            filler.unlink()
            wait_until(lambda: all(map(is_ready, started.ports.values())), "all services are ready")
            wait_until(lambda: deaths(disk / "data")["server"] == 1, "what happened is told")
        finally:
            assert started.end() == 0


def test_nothing_outlives_a_supervisor_that_is_killed(data_directory):
    """While the services start: the kernel ends them, whatever they are at."""
    started = Serving(data_directory, free_ports())
    wait_until(lambda: len(started.services()) >= len(PROGRAMS) - 1, "the services have been started")
    running = psutil.Process(started.process.pid).children(recursive=True)
    started.end(signal.SIGKILL)
    wait_until(lambda: all(has_ended(process.pid) for process in running), f"the end of {running}")


@pytest.mark.extended
def test_a_taken_port_is_told(data_directory):
    ports = free_ports()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", ports["server"]))
        taken.listen()
        started = Serving(data_directory, ports)
        assert started.process.wait(START_TIMEOUT_S) == 1
    assert "server ended with exit code" in started.text()
    assert "address already in use" in started.text()


def test_a_data_directory_that_cannot_be_is_told_in_a_line(tmp_path):
    (tmp_path / "file").write_text("")
    started = Serving(tmp_path / "file", free_ports())
    assert started.process.wait(START_TIMEOUT_S) == 1
    (line,) = started.text().splitlines()
    assert "File exists; name another folder" in line
    assert "CIPHERMARK_DATA" in line


def test_settings_that_cannot_be_are_told(data_directory):
    nowhere = "postgresql://127.0.0.1:1/none"
    done = subprocess.run(
        [sys.executable, REPOSITORY / "deploy" / "serve.py"],
        env=environment(CIPHERMARK_DATA=str(data_directory), CIPHERMARK_DATABASE_URL=nowhere),
        capture_output=True,
        text=True,
        timeout=START_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 1
    assert "the database cannot be used" in done.stderr
    assert "127.0.0.1, port 1" in done.stderr
