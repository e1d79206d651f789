"""All services on this machine, without containers: one foreground process that starts them and keeps them going.

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
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO
from urllib.parse import quote

from stack import Service, conditions_file, services
from supervision import Supervisor

from ciphermark_core.containment import end_with
from ciphermark_core.private import FILE_MODE, private_folder
from ciphermark_db import embedded

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(sys.executable).parent
READY_TIMEOUT_S = 300  # ten times what a busy host takes
STOP_TIMEOUT_S = 30  # more than a worker gives an attempt at a job
LOG_TAIL_LINES = 15
LARGEST_LOG_BYTES = 10_000_000
_POLL_S = 0.1


class ServingError(Exception):
    """The reason why the services cannot start or continue."""


@dataclass(slots=True)
class Running:
    """A service, its process once started, and its log, which restarts append to."""

    service: Service
    data_directory: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """The service's name."""
        return self.service.name

    @property
    def log(self) -> Path:
        """The file with the service's output."""
        return self.data_directory / "logs" / f"{self.service.name}.log"

    def start(self) -> None:
        """Start the process; it ends with this one."""
        program, *arguments = self.service.command
        with self._output() as output:
            self.process = subprocess.Popen(
                [PROGRAMS / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.service.environment},
                cwd=ROOT,
                start_new_session=True,  # Ctrl-C reaches this process alone, which stops the others in order
                preexec_fn=partial(end_with, os.getpid(), signal.SIGTERM),  # noqa: PLW1509 (one thread)
            )

    def death(self) -> str | None:
        """The exit code and the end of the log, once the process has ended."""
        code = None if self.process is None else self.process.poll()
        if code is None:
            return None
        return f"{self.name} ended with exit code {code}; the end of {self.log}:\n{self._tail()}"

    def _output(self) -> IO[bytes]:
        """The log, opened for appending; the null device if the log cannot be opened."""
        try:
            return open(self.log, "ab", opener=_for_its_owner)  # the caller closes it
        except OSError:
            return open(os.devnull, "ab")  # the caller closes it

    def _tail(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError as error:
            return f"it cannot be read: {error.strerror}"
        return "\n".join(lines[-LOG_TAIL_LINES:])


@dataclass(slots=True)
class EmbeddedDatabase:
    """The embedded PostgreSQL, shared with other commands: restarted if it has ended, and never stopped.

    A separate process starts it, since a start may take a minute and must not delay the restart of other units.
    """

    data_directory: Path
    name: str = "postgresql"
    starter: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin a start; `death` reports a failed one."""
        self.starter = subprocess.Popen(
            [PROGRAMS / "ciphermark", "db", "url"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "CIPHERMARK_DATA": str(self.data_directory)},
            start_new_session=True,
            preexec_fn=partial(end_with, os.getpid(), signal.SIGTERM),  # noqa: PLW1509 (one thread)
        )

    def death(self) -> str | None:
        """The reason if its process has ended or cannot be started; ``None`` if it runs, even
        frozen, or is starting.
        """
        if self.starter is not None:
            if self.starter.poll() is None:
                return None
            starter, self.starter = self.starter, None
            _, complaint = starter.communicate()
            if starter.returncode != 0:
                return f"it cannot be started: {complaint.strip()}"
        return None if embedded.is_running(self.data_directory) else "the embedded PostgreSQL has ended"


def _for_its_owner(path: str, flags: int) -> int:
    descriptor = os.open(path, flags, FILE_MODE)
    os.fchmod(descriptor, FILE_MODE)
    return descriptor


def main() -> int:
    """Serve until Ctrl-C or SIGTERM (exit code 0). Exit code 1: a service cannot be started, or all were given up."""
    ports = _parse_options()
    data_directory = Path(os.environ.get("CIPHERMARK_DATA") or ROOT / ".ciphermark").resolve()
    signal.signal(signal.SIGTERM, _interrupt)
    running: list[Running] = []
    try:
        database_url = _prepare(data_directory)
        for service in services(data_directory, ports, database_url):
            running.append(Running(service, data_directory))
            running[-1].start()
        _wait_until_ready(running)
        _print_places(running, data_directory)
        _keep_going(running, data_directory)
        raise ServingError("none of the services could be kept going")
    except KeyboardInterrupt:
        print("\nstopping; the embedded PostgreSQL goes on, as after every command: ciphermark db stop")
        return 0
    except ServingError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        place = error.filename or data_directory
        print(f"{place}: {error.strerror}; name another folder in CIPHERMARK_DATA", file=sys.stderr)
        return 1
    finally:
        _stop(running)


def _parse_options() -> argparse.Namespace:
    summary, _, usage = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, port in (("benchmark", 8100), ("client", 8101), ("server", 8102), ("dashboard", 8103)):
        parser.add_argument(f"--{name}-port", type=int, default=port, metavar="PORT")
    return parser.parse_args()


def _prepare(data_directory: Path) -> str:
    """Create the folders and migrate the database; starts the embedded PostgreSQL if needed.

    Returns the database's URL.
    """
    for folder in (
        data_directory,
        *(data_directory / name for name in ("blobs", "logs", "private", "tokens")),
    ):
        private_folder(folder)
    conditions_file(data_directory).unlink(missing_ok=True)
    for log in (data_directory / "logs").glob("*.log"):
        if log.stat().st_size > LARGEST_LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
    environment = {**os.environ, "CIPHERMARK_DATA": str(data_directory)}
    command = (PROGRAMS / "ciphermark", "db")
    if (
        subprocess.run([*command, "migrate", "--reference-runs"], env=environment, check=False).returncode
        != 0
    ):
        raise ServingError("the database cannot be used: see above")
    answer = subprocess.run([*command, "url"], env=environment, capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def _keep_going(running: Sequence[Running], data_directory: Path) -> None:
    """Supervise the services until all are given up."""
    databases = [] if os.environ.get("CIPHERMARK_DATABASE_URL") else [EmbeddedDatabase(data_directory)]
    supervisor = Supervisor([*databases, *running], _tell, conditions_file(data_directory))
    while supervisor.is_any_left:
        supervisor.look(time.monotonic())
        time.sleep(_POLL_S)


def _tell(text: str) -> None:
    """Print to standard error; ignore a failed write, such as to a file on a full disk."""
    with suppress(OSError):
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _wait_until_ready(running: Sequence[Running]) -> None:
    deadline_s = time.monotonic() + READY_TIMEOUT_S
    waiting = [entry for entry in running if entry.service.port is not None]
    while waiting:
        for entry in running:
            reason = entry.death()
            if reason is not None:
                raise ServingError(reason)
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


def _print_places(running: Sequence[Running], data_directory: Path) -> None:
    for entry in running:
        place = entry.service.url if entry.service.port else "takes jobs from the queue"
        print(f"{entry.service.name:10} {place}")
        if entry.service.name == "dashboard":
            print(f"{'':10} {_how_to_log_in(entry.service, data_directory)}")
    print(f"tokens     {data_directory / 'tokens'}")
    print(f"logs       {data_directory / 'logs'}")
    print("Ctrl-C stops all of them.", flush=True)


def _how_to_log_in(dashboard: Service, data_directory: Path) -> str:
    """An address that includes the token, if standard output is a terminal: other output may be stored and read."""
    token = data_directory / "tokens" / "dashboard"  # the dashboard makes the file
    if not sys.stdout.isatty():
        return f"log in with the token in {token}"
    return f"log in: {dashboard.url}/login?token={quote(token.read_text().split()[0])}"


def _stop(running: Sequence[Running]) -> None:
    """Terminate all processes, the last started first; kill those that do not end in time."""
    processes = [entry.process for entry in reversed(running) if entry.process is not None]
    for process in processes:
        process.terminate()
    deadline_s = time.monotonic() + STOP_TIMEOUT_S
    for process in processes:
        try:
            process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
