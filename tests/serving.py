"""`make serve` as its users have it: a foreground process, its services, and what they answer."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psutil
from ports import free_port
from processes import PATIENCE_S, environment

REPOSITORY = Path(__file__).parents[1]
GUARDED = ("benchmark", "client", "server")
NAMES = (*GUARDED, "dashboard")
PROGRAMS = {"ciphermark-client", "ciphermark-server", "ciphermark-dashboard", "serve", "worker"}
START_TIMEOUT_S = STOP_TIMEOUT_S = PATIENCE_S


def free_ports() -> dict[str, int]:
    """Service -> a port that nobody else has."""
    return {name: free_port() for name in NAMES}


class Serving:
    """The foreground process, and what it printed: to a file, unless another place is given. Its database is the
    embedded one, unless it has another.
    """

    def __init__(
        self,
        data_directory: Path,
        ports: dict[str, int],
        terminal: Any = None,
        printed: Path | None = None,
        database_url: str | None = None,
    ) -> None:
        self.data_directory = data_directory
        self.database_url = database_url
        self.ports = ports
        self.printed = printed or data_directory.parent / "printed.txt"
        told = {"CIPHERMARK_DATA": str(data_directory)}
        if database_url is not None:
            told["CIPHERMARK_DATABASE_URL"] = database_url
        options = [word for name, port in ports.items() for word in (f"--{name}-port", str(port))]
        with self.printed.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, REPOSITORY / "deploy" / "serve.py", *options],
                env=environment(**told),
                stdin=subprocess.DEVNULL,
                stdout=output if terminal is None else terminal,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self) -> str:
        return self.printed.read_text()

    def wait_until_serving(self) -> None:
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while "Ctrl-C stops all of them." not in self.text():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < deadline_s, self.text()
            time.sleep(0.1)

    def services(self) -> dict[str, psutil.Process]:
        """Name -> process of those of the five that live."""
        found = {}
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
                for name in PROGRAMS & {Path(word).name for word in child.cmdline()}:
                    found[name] = child
        return found

    def url(self, name: str) -> str:
        """Where a service answers."""
        return f"http://127.0.0.1:{self.ports[name]}"

    def token(self, name: str) -> str:
        """What a service asks of its callers."""
        return (self.data_directory / "tokens" / name).read_text().strip()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(STOP_TIMEOUT_S)


def status(port: int, path: str, token: str | None = None) -> int:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def text_of(port: int, path: str, token: str) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())


def is_ready(port: int) -> bool:
    try:
        return status(port, "/readyz") == 200
    except OSError:
        return False
