"""All services on this machine, without containers: one foreground process that starts and watches them.

python deploy/serve.py [--benchmark-port 8100] [--client-port 8101] [--server-port 8102]
                       [--dashboard-port 8103]
"""

import argparse
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from urllib.parse import quote

from ciphermark_measure.confinement import end_with

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(sys.executable).parent
READY_TIMEOUT_S = 120
STOP_TIMEOUT_S = 20
LOG_TAIL_LINES = 15
_POLL_S = 0.1


class ServingError(Exception):
    """Why the services cannot start, or cannot go on."""


@dataclass(frozen=True, slots=True)
class Service:
    """A program to run; with a port, it is ready when its `/readyz` says so."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    port: int | None = None

    @property
    def url(self) -> str:
        """Where it answers, on this machine alone."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class Running:
    """A service and its process."""

    service: Service
    process: subprocess.Popen[bytes]
    log: Path

    def require_alive(self) -> None:
        """Raise `ServingError` with the end of the log where the process has ended."""
        code = self.process.poll()
        if code is not None:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:])
            raise ServingError(
                f"{self.service.name} ended with exit code {code}; the end of {self.log}:\n{tail}"
            )


def main() -> int:
    """Serve until Ctrl-C or SIGTERM (exit code 0), or until a service ends by itself (1)."""
    ports = _parse_options()
    home = Path(os.environ.get("CIPHERMARK_HOME") or ROOT / ".ciphermark").resolve()
    signal.signal(signal.SIGTERM, _interrupt)
    running: list[Running] = []
    try:
        database_url = _prepare(home)
        for service in services(home, ports, database_url):
            running.append(_start(service, home))
        _wait_until_ready(running)
        _print_places(running, home)
        while True:
            for entry in running:
                entry.require_alive()
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        print("\nstopping; the embedded PostgreSQL goes on, as after every command: ciphermark db stop")
        return 0
    except ServingError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        _stop(running)


def services(home: Path, ports: argparse.Namespace, database_url: str) -> list[Service]:
    """Return the services in the order they start; they share blobs, and the client alone has `private`."""
    private = {"CIPHERMARK_PRIVATE": str(home / "private")}
    of_parties = {
        "CIPHERMARK_CLIENT_URL": f"http://127.0.0.1:{ports.client_port}",
        "CIPHERMARK_SERVER_URL": f"http://127.0.0.1:{ports.server_port}",
        **_token_files(home, "benchmark", "client", "server"),
    }
    return [
        _listening("client", ("ciphermark-client",), home, ports.client_port, private),
        _listening("server", ("ciphermark-server",), home, ports.server_port, {}),
        _listening("benchmark", ("ciphermark", "serve"), home, ports.benchmark_port, of_parties),
        Service("worker", ("ciphermark", "worker"), {**_shared(home), **of_parties}),
        _dashboard(home, ports, database_url),
    ]


def _shared(home: Path) -> dict[str, str]:
    return {"CIPHERMARK_HOME": str(home), "CIPHERMARK_BLOBS": str(home / "blobs")}


def _token_files(home: Path, *names: str) -> dict[str, str]:
    return {f"CIPHERMARK_{name.upper()}_TOKEN_FILE": str(home / "tokens" / name) for name in names}


def _listening(
    name: str, command: tuple[str, ...], home: Path, port: int, environment: dict[str, str]
) -> Service:
    own = {"CIPHERMARK_PORT": str(port), **_token_files(home, name)}
    return Service(name, command, {**_shared(home), **own, **environment}, port)


def _dashboard(home: Path, ports: argparse.Namespace, database_url: str) -> Service:
    environment = {
        "CIPHERMARK_DATABASE_URL": database_url,
        "CIPHERMARK_HOST": "127.0.0.1",
        "CIPHERMARK_PORT": str(ports.dashboard_port),
        "CIPHERMARK_BENCHMARK_URL": f"http://127.0.0.1:{ports.benchmark_port}",
        **_token_files(home, "benchmark", "dashboard"),
    }
    return Service("dashboard", ("ciphermark-dashboard",), environment, ports.dashboard_port)


def _parse_options() -> argparse.Namespace:
    summary, _, usage = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, port in (("benchmark", 8100), ("client", 8101), ("server", 8102), ("dashboard", 8103)):
        parser.add_argument(f"--{name}-port", type=int, default=port, metavar="PORT")
    return parser.parse_args()


def _prepare(home: Path) -> str:
    """Make the folders, and bring the database up to date; starts the embedded PostgreSQL where it is needed.

    Returns the database's URL.
    """
    for folder in ("blobs", "logs", "private", "tokens"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("private", "tokens"):
        (home / folder).chmod(0o700)
    environment = {**os.environ, "CIPHERMARK_HOME": str(home)}
    if (
        subprocess.run([PROGRAMS / "ciphermark", "db", "migrate"], env=environment, check=False).returncode
        != 0
    ):
        raise ServingError("the database cannot be used: see above")
    command = [str(PROGRAMS / "ciphermark"), "db", "url"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return found.stdout.strip()


def _start(service: Service, home: Path) -> Running:
    program, *arguments = service.command
    log = home / "logs" / f"{service.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [PROGRAMS / program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **service.environment},
            cwd=ROOT,
            start_new_session=True,  # Ctrl-C reaches this process alone, which stops the others in order
            preexec_fn=partial(end_with, os.getpid(), signal.SIGTERM),  # noqa: PLW1509 (this process has one thread)
        )
    return Running(service, process, log)


def _wait_until_ready(running: Sequence[Running]) -> None:
    deadline_s = time.monotonic() + READY_TIMEOUT_S
    waiting = [entry for entry in running if entry.service.port is not None]
    while waiting:
        for entry in running:
            entry.require_alive()
        waiting = [entry for entry in waiting if not _is_ready(entry.service)]
        if waiting and time.monotonic() > deadline_s:
            names = ", ".join(entry.service.name for entry in waiting)
            raise ServingError(f"not ready after {READY_TIMEOUT_S} s: {names}; see {running[0].log.parent}")
        time.sleep(_POLL_S)


def _is_ready(service: Service) -> bool:
    try:
        with urllib.request.urlopen(f"{service.url}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _print_places(running: Sequence[Running], home: Path) -> None:
    for entry in running:
        place = entry.service.url if entry.service.port else "takes jobs from the queue"
        print(f"{entry.service.name:10} {place}")
        if entry.service.name == "dashboard":
            print(f"{'':10} {_how_to_log_in(entry.service, home)}")
    print(f"tokens     {home / 'tokens'}")
    print(f"logs       {home / 'logs'}")
    print("Ctrl-C stops all of them.", flush=True)


def _how_to_log_in(dashboard: Service, home: Path) -> str:
    """An address that logs in at once, for a terminal alone: what is printed elsewhere may be kept and read."""
    token = _dashboard_token(home)
    if not sys.stdout.isatty():
        return f"log in with the token in {token}"
    return f"log in: {dashboard.url}/login?token={quote(token.read_text().strip())}"


def _dashboard_token(home: Path) -> Path:
    """The file that the dashboard keeps its token in; it makes the file."""
    return home / "tokens" / "dashboard"


def _stop(running: Sequence[Running]) -> None:
    """Ask all to end, the last started first; kill those that do not."""
    for entry in reversed(running):
        entry.process.terminate()
    deadline_s = time.monotonic() + STOP_TIMEOUT_S
    for entry in reversed(running):
        try:
            entry.process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            entry.process.kill()
            entry.process.wait()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
