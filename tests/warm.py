"""Command lines forked from a process that has loaded the program: most of what a short command costs is its imports.

Each process of pytest has one of these processes for each kind of command, started when it is first needed. A command
that is forked from it is a process as any other: its arguments, environment, folder, session, output and exit code
are its own, nothing that one of them does is seen by the next, and it executes the program from its entry point on.
What it has not is a fresh interpreter: whatever uses ``Ciphermark.start`` begins with one, and what
tests/integration/test_docs_commands.py types.

This file is the process, too, executed with a socket on which forks are asked for, and the modules to load.
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
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.executable).with_name("ciphermark")
_COMMANDS = "ciphermark_benchmark.cli.commands"
# Commands that draw load what others do not need, and what takes longest of all.
_DRAWING = {"figure", "report"}
_CHARTS = ("ciphermark_dashboards.report", "ciphermark_dashboards.selections", "altair")
_OUTPUTS = (1, 2)


class Forked:
    """A command that was forked, to be dealt with as with ``subprocess.Popen``, whose child it is not."""

    def __init__(self, arguments: Sequence[str], told: socket.socket, out: int, err: int) -> None:
        self.args = [str(PROGRAM), *arguments]
        self.stdout, self.stderr = os.fdopen(out, "rb"), os.fdopen(err, "rb")
        self.returncode: int | None = None
        self._told = told
        self._read = {self.stdout: bytearray(), self.stderr: bytearray()}
        self._lines = told.makefile("rb")
        pid = self._lines.readline()
        assert pid, "the process that commands are forked from has ended"
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
        out, err = map(bytes, self._read.values())
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
    """A process that has loaded modules, and forks commands."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._asking, answering = socket.socketpair()
        with answering:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(answering.fileno()), *modules],
                pass_fds=[answering.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self.end)

    def started(self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> Forked:
        """Fork a command, and leave it to itself."""
        asked = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
        told, telling = socket.socketpair()
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        socket.send_fds(self._asking, [b"."], [telling.fileno(), to_out, to_err])
        telling.close()
        os.close(to_out)
        os.close(to_err)
        told.sendall(json.dumps(asked).encode() + b"\n")
        return Forked(arguments, told, out, err)

    def end(self) -> None:
        """It ends when nobody can ask it any more."""
        self._asking.close()
        self._process.wait()


@cache
def of(command: str) -> Warm:
    """The process that commands of a name are forked from."""
    return _drawing() if command in _DRAWING else _plain()


@cache
def _plain() -> Warm:
    return Warm(())


@cache
def _drawing() -> Warm:
    return Warm(_CHARTS)


def _forks(channel: socket.socket) -> bool:
    """Answer until nobody asks any more; true in a process that is to be a command."""
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
    """Fork a command, tell its process id and how it ended, and end; true in the command itself."""
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
    """Make this process what the command's would be when the interpreter has started."""
    os.setsid()
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    for standard, output in zip(_OUTPUTS, outputs, strict=True):
        os.dup2(output, standard)
        os.close(output)
    sys.argv[:] = [str(PROGRAM), *asked["arguments"]]


def _main() -> None:
    channel, modules = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    sys.path[0] = str(PROGRAM.parent)  # as where the program is started
    commands = import_module(_COMMANDS)
    for module in dict.fromkeys(commands._MODULES.values()):
        import_module(f"ciphermark_benchmark.cli.{module}")
    for module in modules:
        import_module(module)
    gc.freeze()  # what is loaded is neither looked through nor copied by those who are forked
    if _forks(channel):
        from ciphermark_benchmark.cli.main import main

        main()


if __name__ == "__main__":
    _main()
