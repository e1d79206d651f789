"""Programs forked from a process that has loaded them: most of what short commands and services cost is their imports.

Each process of pytest has one of these processes for each program, started when it is first needed, and forks from it
one more for what some of its commands load beside the others. What is forked is a process as any other: its arguments,
environment, folder, session, output and exit code are its own, nothing that one of them does is seen by the next, and
it executes the program from its entry point on. What it has not is a fresh interpreter, and a command line that names
it: whatever uses ``Ciphermark.start`` has these, and what tests/integration/test_docs_commands.py types.

This file is the process, too, executed with a socket on which forks are asked for, and the program.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import IO, Any

PROGRAM = Path(sys.executable).with_name("ciphermark")
# Programs, and the modules whose ``main`` they are.
_MAIN = {
    "ciphermark": "ciphermark_benchmark.cli.main",
    "ciphermark-client": "ciphermark_client.main",
    "ciphermark-server": "ciphermark_server.main",
}
# What commands load that others do not need, and that takes longest of all.
_CHARTS = ("ciphermark_dashboards.report", "ciphermark_dashboards.selections", "altair")
_MORE = {
    "figure": _CHARTS,
    "report": _CHARTS,
    "serve": ("ciphermark_benchmark.api",),
    "worker": ("ciphermark_benchmark.jobs",),
}
_OUTPUTS = (1, 2)
_LOADING = "loading"  # in place of a program's path: what is forked loads more, and is forked in its turn


class Forked:
    """A program that was forked, to be dealt with as with ``subprocess.Popen``, whose child it is not."""

    def __init__(self, arguments: Sequence[str], told: socket.socket, outputs: Sequence[int]) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self._told = told
        self._read = {os.fdopen(output, "rb"): bytearray() for output in outputs}
        self.stdout, self.stderr = self._read or (None, None)
        self._lines = told.makefile("rb")
        pid = self._lines.readline()
        assert pid, "the process that programs are forked from has ended"
        self.pid = int(pid)

    def poll(self) -> int | None:
        """The exit code as ``subprocess`` has it; nothing of a command that has not ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code."""
        if self.returncode is None:
            with selectors.DefaultSelector() as waiting:
                waiting.register(self._told, selectors.EVENT_READ)
                if not waiting.select(timeout):
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._told.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Wait for the end; all that was printed. It can be asked again after a time-out: nothing is lost."""
        until_s = None if timeout is None else time.monotonic() + timeout
        with selectors.DefaultSelector() as waiting:
            for file in self._read:
                if not file.closed:
                    waiting.register(file, selectors.EVENT_READ)
            while waiting.get_map():
                ready = waiting.select(None if until_s is None else until_s - time.monotonic())
                if not ready:
                    raise subprocess.TimeoutExpired(self.args, timeout or 0)
                for key, _ in ready:
                    if chunk := os.read(key.fd, 1 << 16):
                        self._read[key.fileobj] += chunk
                    else:
                        waiting.unregister(key.fileobj)
                        key.fileobj.close()
        self.wait(None if until_s is None else max(0.0, until_s - time.monotonic()))
        out, err = map(bytes, self._read.values() or (b"", b""))
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Warm:
    """A process that has loaded a program, and forks it."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._asking, answering = socket.socketpair()
        with answering:
            self._process: subprocess.Popen[bytes] | Forked = subprocess.Popen(
                [sys.executable, __file__, str(answering.fileno()), program],
                pass_fds=[answering.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self.end)

    def loading(self, modules: Sequence[str]) -> Warm:
        """One that is forked from this one, and has loaded more."""
        more = copy(self)
        more._asking, answering = socket.socketpair()
        with answering, open(os.devnull, "wb") as nowhere:
            outputs = (answering.fileno(), nowhere.fileno())
            more._process = self._forked((_LOADING, *modules), os.environ, Path.cwd(), outputs)
        atexit.register(more.end)
        return more

    def started(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        log: IO[bytes] | None = None,
    ) -> Forked:
        """Fork the program, and leave it to itself; it prints to pipes, or to a log."""
        arguments = [str(PROGRAM.with_name(self._program)), *arguments]
        if log is not None:
            return self._forked(arguments, environment, folder, [log.fileno() for _ in _OUTPUTS])
        pipes = [os.pipe() for _ in _OUTPUTS]
        read, written = zip(*pipes, strict=True)
        forked = self._forked(arguments, environment, folder, written, read)
        for end in written:
            os.close(end)
        return forked

    def _forked(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        outputs: Sequence[int],
        read: Sequence[int] = (),
    ) -> Forked:
        asked = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
        told, telling = socket.socketpair()
        with telling:
            socket.send_fds(self._asking, [b"."], [telling.fileno(), *outputs])
        told.sendall(json.dumps(asked).encode() + b"\n")
        return Forked(arguments, told, read)

    def end(self) -> None:
        """It ends when nobody can ask it any more."""
        self._asking.close()
        self._process.wait()


@cache
def _warm(program: str, *modules: str) -> Warm:
    return _warm(program).loading(modules) if modules else Warm(program)


def command(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, log: IO[bytes] | None = None
) -> Forked:
    """Fork a command of ``ciphermark``, and leave it to itself; it prints to pipes, or to a log."""
    forking = _warm("ciphermark", *_MORE.get(arguments[0], ()))
    return forking.started(arguments, environment, folder, log)


def service(name: str, environment: Mapping[str, str], folder: Path, log: IO[bytes]) -> Forked:
    """Fork a service, and leave it to itself."""
    return _warm(f"ciphermark-{name}").started((), environment, folder, log)


def _forks(channel: socket.socket) -> bool:
    """Answer until nobody asks any more; true in a process that is to be the program."""
    while True:
        mark, files, _, _ = socket.recv_fds(channel, 1, 1 + len(_OUTPUTS))
        if not mark:
            return False
        if os.fork() == 0:
            channel.close()
            return _kept(*files)
        for descriptor in files:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue


def _kept(descriptor: int, *outputs: int) -> bool:
    """Fork once more, tell the process id and how it ended, and end; true in the program itself."""
    with socket.socket(fileno=descriptor) as telling:
        with telling.makefile("rb") as lines:
            asked = json.loads(lines.readline())
        pid = os.fork()
        if pid == 0:
            _become(asked, outputs)
            telling.sendall(f"{os.getpid()}\n".encode())
            return True
        for output in outputs:
            os.close(output)
        _, status = os.waitpid(pid, 0)
        with suppress(BrokenPipeError):  # nobody waits for it any more
            telling.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _become(asked: dict[str, Any], outputs: Sequence[int]) -> None:
    """Make this process what the program's would be when the interpreter has started."""
    os.setsid()
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    for standard, output in zip(_OUTPUTS, outputs, strict=True):
        os.dup2(output, standard)
        os.close(output)
    sys.argv[:] = asked["arguments"]


def _load(name: str) -> None:
    """Load a module; of a package all modules."""
    for item in iter_modules(getattr(import_module(name), "__path__", ())):
        if not item.ispkg and not item.name.startswith("_"):
            import_module(f"{name}.{item.name}")


def _main() -> None:
    channel, program = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    sys.path[0] = str(PROGRAM.parent)  # as where the program is started
    loaded: Sequence[str] = (_MAIN[program].rpartition(".")[0],)
    while True:
        for name in loaded:
            _load(name)
        gc.freeze()  # what is loaded is neither looked through nor copied by those who are forked
        if not _forks(channel):
            return
        if sys.argv[0] != _LOADING:
            import_module(_MAIN[program]).main()
            return
        loaded, (output, error) = sys.argv[1:], _OUTPUTS
        channel = socket.socket(fileno=os.dup(output))
        os.dup2(error, output)


if __name__ == "__main__":
    _main()
