"""`make serve`: all services without containers, started, watched and stopped as one."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from ciphermark_db import embedded

REPOSITORY = Path(__file__).parents[2]
GUARDED = ("benchmark", "client", "server")
NAMES = (*GUARDED, "dashboard")
PROGRAMS = {"ciphermark-client", "ciphermark-server", "ciphermark-dashboard", "serve", "worker"}
START_TIMEOUT_S = 180
STOP_TIMEOUT_S = 60


def free_ports():
    """Service -> a port that nobody had just now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in NAMES]
        for entry in sockets:
            entry.bind(("127.0.0.1", 0))
        return {name: entry.getsockname()[1] for name, entry in zip(NAMES, sockets, strict=True)}


class Serving:
    """The foreground process, and what it printed."""

    def __init__(self, home, ports):
        self.ports = ports
        self.printed = home.parent / "printed.txt"
        options = [word for name, port in ports.items() for word in (f"--{name}-port", str(port))]
        kept = {name: text for name, text in os.environ.items() if not name.startswith("CIPHERMARK_")}
        with self.printed.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, REPOSITORY / "deploy" / "serve.py", *options],
                env=kept | {"CIPHERMARK_HOME": str(home)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self):
        return self.printed.read_text()

    def wait_until_serving(self):
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while "Ctrl-C stops all of them." not in self.text():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < deadline_s, self.text()
            time.sleep(0.1)

    def services(self):
        """Name -> process of each of the five."""
        found = {}
        for child in psutil.Process(self.process.pid).children():
            (name,) = PROGRAMS & {Path(word).name for word in child.cmdline()}
            found[name] = child
        return found

    def end(self, number=signal.SIGTERM):
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(STOP_TIMEOUT_S)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve") / "home"
    yield folder
    embedded.stop(folder)


@pytest.fixture
def serving(home):
    started = Serving(home, free_ports())
    try:
        started.wait_until_serving()
        yield started
    finally:
        if started.process.poll() is None:
            started.end()


def status(port, path, token=None):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def refuses_connections(port):
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) != 0


def has_ended(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_all_are_ready_guarded_and_gone_when_told_to_end(serving, home, number):
    for port in serving.ports.values():
        assert f"http://127.0.0.1:{port}" in serving.text()
        assert status(port, "/readyz") == 200
    for name in GUARDED:
        port = serving.ports[name]
        token = home / "tokens" / name
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        assert status(port, "/metrics") == 401
        assert status(port, "/metrics", token.read_text().strip()) == 200
    assert stat.S_IMODE((home / "private").stat().st_mode) == 0o700
    running = serving.services()
    assert set(running) == PROGRAMS
    assert (
        status(serving.ports["dashboard"], "/runs") == 200
    )  # with the suites that the benchmark service tells
    assert serving.end(number) == 0, serving.text()
    assert all(has_ended(process) for process in running.values())
    assert all(refuses_connections(port) for port in serving.ports.values())


@pytest.mark.parametrize("victim", ["ciphermark-server", "worker"])
def test_when_one_dies_the_others_are_stopped_and_the_reason_is_told(serving, victim):
    running = serving.services()
    running[victim].kill()
    assert serving.process.wait(STOP_TIMEOUT_S) == 1
    name = victim.removeprefix("ciphermark-")
    assert f"{name} ended with exit code -9" in serving.text()
    assert all(has_ended(process) for process in running.values())


def test_nothing_outlives_a_supervisor_that_is_killed(serving):
    running = serving.services()
    serving.end(signal.SIGKILL)
    deadline_s = time.monotonic() + STOP_TIMEOUT_S
    while not all(has_ended(process) for process in running.values()):
        assert time.monotonic() < deadline_s, running
        time.sleep(0.1)


def test_a_taken_port_is_told(home):
    ports = free_ports()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", ports["server"]))
        taken.listen()
        started = Serving(home, ports)
        assert started.process.wait(START_TIMEOUT_S) == 1
    assert "server ended with exit code" in started.text()
    assert "address already in use" in started.text()


def test_settings_that_cannot_be_are_told(home):
    kept = {name: text for name, text in os.environ.items() if not name.startswith("CIPHERMARK_")}
    done = subprocess.run(
        [sys.executable, REPOSITORY / "deploy" / "serve.py"],
        env=kept | {"CIPHERMARK_HOME": str(home), "CIPHERMARK_DATABASE_URL": "postgresql://127.0.0.1:1/none"},
        capture_output=True,
        text=True,
        timeout=START_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 1
    assert "the database cannot be used" in done.stderr
    assert "127.0.0.1, port 1" in done.stderr
