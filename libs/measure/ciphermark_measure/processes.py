"""Processes that answer requests, as seen from outside: starting them, deadlines for replies, and causes of death."""

from __future__ import annotations

import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter_ns, sleep
from typing import IO, Generic, TypeVar

from ciphermark_core import containment, wire
from ciphermark_core.model import Status
from ciphermark_measure import confinement, protocol
from ciphermark_workloads import user_workloads

# Every environment variable that the threading layers of HE libraries read; set before the library loads.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOMAXPROCS")
_HELLO_TIMEOUT_S = 60.0
_TELLING_S = 3.0  # a scheduled process reports its place within milliseconds
_LETTING_GO_S = 5.0  # a process whose pipes are closed is about to end, as a rule; loaded hosts are slow
_LOOK_S = 0.25  # between two looks at the memory of a process that is watched
_STDERR_TAIL_BYTES = 2000
_NONSENSE_BYTES = 100
# A limited process has no room for the stack of a thread: pthread_create fails.
_MEMORY_WORDS = (
    "bad_alloc",
    "MemoryError",
    "annot allocate memory",
    "out of memory",
    "pthread_create failed",
)
_READ_BYTES = 1 << 16  # of standard error
_REASON_IN_GO = re.compile(rb"^(fatal error|panic|runtime/cgo): ", re.MULTILINE)


Reply = TypeVar("Reply")


class WorkerDied(Exception):
    """The worker is gone. ``status`` classifies the death and the text explains it. ``place`` is the line of a user's
    workload that it was executing, if any.
    """

    def __init__(self, status: Status, text: str, place: str | None = None) -> None:
        super().__init__(text)
        self.status: Status = status
        self.place = place


@dataclass(frozen=True, slots=True)
class Confinement:
    """The resources that a worker may use."""

    cpus: tuple[int, ...]
    threads: int
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Program(Generic[Reply]):
    """The program of a process and its protocol: a module, its arguments, and a decoder of its replies.

    ``read_reply`` decodes one line, ``Hello`` included, and raises ``ValueError`` for anything else.
    """

    module: str
    version: int
    read_reply: Callable[[bytes], Reply | protocol.Hello]
    arguments: tuple[str, ...] = ()


class Process(Generic[Reply]):
    """One process. Starting returns at once; the first request waits for its greeting."""

    def __init__(
        self, program: Program[Reply], confinement: Confinement, interpreter: str = sys.executable
    ) -> None:
        self._program = program
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by end()
        self._memory_bytes = confinement.memory_mb * 1024 * 1024
        self._interpreter = interpreter
        self._greeted = False
        self.is_pinned = False
        self.is_watched = (
            False  # whether a limit of memory holds for all its processes, shared memory included
        )
        self._buffer = b""
        command = [interpreter, "-m", program.module, *program.arguments]
        command += ["--memory-mb", str(confinement.memory_mb)]
        if confinement.cpus:
            command += ["--cpus", ",".join(map(str, confinement.cpus))]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=containment.started_by(_environment(os.environ, confinement.threads)),
            start_new_session=True,  # Ctrl-C reaches the executor alone
        )
        self._inherited_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._oom_kills = oom_kills()

    def meet(self) -> None:
        """Wait for the greeting, once; raises :class:`WorkerDied` like :meth:`ask`."""
        if self._greeted:
            return
        hello = self._read(_HELLO_TIMEOUT_S)
        if not isinstance(hello, protocol.Hello) or hello.version != self._program.version:
            self.kill()
            raise WorkerDied("crashed", mismatch(hello, self._interpreter, self._program.version))
        require_one_clock(hello.monotonic_ns, 0)
        self._greeted = True
        self.is_pinned = hello.is_pinned

    def ask(self, request: object, timeout_s: float) -> Reply:
        """Send a request and wait for its reply.

        Raises :class:`WorkerDied` when the process ends. A process that exceeds ``timeout_s`` or gives an invalid reply
        is ended.
        """
        self.meet()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(wire.to_line(request))
            self._process.stdin.flush()
        except OSError:
            raise self._death() from None
        reply = self._read(timeout_s)
        if isinstance(reply, protocol.Hello):
            self.kill()
            raise WorkerDied("crashed", "the worker greets where it should answer")
        return reply

    def kill(self) -> None:
        """Kill the process and all that it started. A thread that waits for its reply gets :class:`WorkerDied`."""
        if self._process.returncode is None:
            containment.end(self._process.pid)

    def end(self) -> None:
        """End the process, whatever its state, and release its resources."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # an unsent request went with the process
        self._errors.close()

    def _read(self, timeout_s: float) -> Reply | protocol.Hello:
        line = self._line(timeout_s)
        try:
            return self._program.read_reply(line)
        except ValueError:
            self.kill()
            raise WorkerDied("crashed", f"the worker answers nonsense: {line[:_NONSENSE_BYTES]!r}") from None

    def _line(self, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        deadline = monotonic() + timeout_s
        while b"\n" not in self._buffer:
            if not self._is_readable(descriptor, deadline):
                place = self._place()
                self.kill()
                raise WorkerDied("timeout", f"no answer within {timeout_s:.0f} s", place)
            chunk = os.read(descriptor, 1 << 20)
            if not chunk:
                raise self._death()
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _is_readable(self, descriptor: int, deadline: float) -> bool:
        """Whether there is something to read before the deadline."""
        while (left := deadline - monotonic()) > 0:
            wait_s = min(left, _LOOK_S) if self.is_watched else left
            if select.select([descriptor], [], [], wait_s)[0]:
                return True
            if self.is_watched:
                self._require_memory()
        return False

    def _require_memory(self) -> None:
        if taken := containment.memory_above(self._memory_bytes, self._process.pid):
            self.kill()
            raise WorkerDied(
                "out_of_memory",
                f"the worker ran out of memory ({self._memory_bytes >> 20} MB allowed, {taken >> 20} MB taken by all "
                "its processes, shared memory included)",
            )

    def _place(self) -> str | None:
        """The current line in a user's workload, as the process reports it."""
        offset = self._errors.seek(0, os.SEEK_END)
        self._process.send_signal(confinement.WHERE)
        deadline, place = monotonic() + _TELLING_S, None
        while place is None and monotonic() < deadline:
            sleep(0.01)
            self._errors.seek(offset)
            place = user_workloads.place_in_copy(self._errors.read().decode(errors="replace"))
        return place

    def _death(self) -> WorkerDied:
        """Explain the end of the process by its signal, its peak memory and its last output."""
        is_over = _ends_within(self._process.pid, _LETTING_GO_S)
        self.kill()
        if not is_over:
            return WorkerDied("crashed", "the worker closed its pipes and went on")
        _, code, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(code)
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _READ_BYTES))
        words = last_words(self._errors.read())
        # A process begins with the peak of the one that started it, which may have been larger than its own.
        peak_bytes = usage.ru_maxrss * 1024 if usage.ru_maxrss > self._inherited_peak else None
        kills = oom_kills_since(self._oom_kills)
        return explained(self._process.returncode, peak_bytes, self._memory_bytes, words, kills)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code and output."""

    code: int
    output: bytes
    errors: str


def executed(command: Sequence[str], limits: containment.Limits) -> Ended:
    """Run a command that executes a user's code to its end, and end any processes that it left running.

    Raises ``TimeoutError`` and ``MemoryError`` where all its processes together exceed ``limits``.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            env=containment.started_by(os.environ),
            start_new_session=True,
        )
        deadline = monotonic() + limits.deadline_s
        try:
            while not _ends_within(process.pid, _LOOK_S):
                if monotonic() > deadline:
                    raise TimeoutError(f"it took longer than {limits.deadline_s:g} s")
                if taken := containment.memory_above(limits.memory_mb << 20, process.pid):
                    raise MemoryError(
                        f"its processes took {taken >> 20} MB, shared memory included, and {limits.memory_mb} are "
                        "allowed"
                    )
        finally:
            containment.end(process.pid)
            process.wait()
        for file in (output, errors):
            file.seek(0)
        return Ended(process.returncode, output.read(), errors.read().decode(errors="replace"))


def _ends_within(pid: int, seconds: float) -> bool:
    """Wait for a child to end, without collecting its exit code."""
    deadline = monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if monotonic() > deadline:
            return False
        sleep(0.01)
    return True


def mismatch(hello: object, interpreter: str, version: int = protocol.VERSION) -> str:
    """Why a worker with this greeting is unusable, and how to fix it. Pure."""
    spoken = "no version of the protocol"
    if isinstance(hello, protocol.Hello):
        spoken = f"version {hello.version} of the protocol (Python {hello.python})"
    return (
        f"the worker speaks {spoken}, and version {version} is needed: {interpreter} finds another "
        "ciphermark_measure than this program's; run `python3 setup/install.py`"
    )


def explained(
    exit_code: int, peak_bytes: int | None, limit_bytes: int, words: str, oom_kills: int | None
) -> WorkerDied:
    """The death of a process, explained by its exit code, its last words on standard error, and, where known, its peak
    memory and the kernel's kills for lack of memory meanwhile. Pure.
    """
    tail = f": {words}" if words else ""
    how = f"exit code {exit_code}" if exit_code >= 0 else _signal_name(-exit_code)
    is_full = peak_bytes is not None and peak_bytes > 0.9 * limit_bytes
    # The kernel kills by SIGKILL, but others may, too; without a count of kills, the kernel is assumed.
    is_starved = oom_kills != 0 if exit_code == -signal.SIGKILL else is_full
    if is_starved or any(word in words for word in _MEMORY_WORDS):
        peak = "" if peak_bytes is None else f", {peak_bytes >> 20} MB resident at most"
        limit = f"{limit_bytes >> 20} MB allowed{peak}"
        return WorkerDied("out_of_memory", f"the worker ran out of memory ({how}; {limit}){tail}")
    return WorkerDied("crashed", f"the worker died of {how}{tail}")


def last_words(errors: bytes) -> str:
    """The end of standard error; of Go from the reason on, which precedes the stacks of all goroutines. Pure."""
    reason = _REASON_IN_GO.search(errors)
    words = errors[-_STDERR_TAIL_BYTES:] if reason is None else errors[reason.start() :][:_STDERR_TAIL_BYTES]
    return words.decode(errors="replace").strip()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"  # one of the real-time signals, which have no names


def require_one_clock(worker_ns: int, not_before_ns: int) -> None:
    """Raise :class:`WorkerDied` where a worker's clock is not this process's clock.

    A reading of the worker must lie between two readings of ours: it was taken between them.
    """
    now = perf_counter_ns()
    if not not_before_ns <= worker_ns <= now:
        raise WorkerDied(
            "incorrect", f"the worker's clock is {(worker_ns - now) / 1e9:+.3f} s off: its times mean nothing"
        )


def _environment(own: Mapping[str, str], threads: int) -> dict[str, str]:
    return dict(own) | {name: str(threads) for name in _THREAD_VARIABLES}


_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_UNIFIED = "0::/"  # of version 2; what lies behind it is relative to what is mounted
_HOST = Path("/proc/vmstat")
_NAME = "oom_kill"


def oom_kills() -> int | None:
    """The number of processes that the kernel has killed for lack of memory: in this process's control group where it
    counts them, else on the machine. ``None`` where neither count exists. The kernel counts a kill before it sends the
    signal.
    """
    for path in (*_own_groups(), _HOST):
        count = _count(path)
        if count is not None:
            return count
    return None


def oom_kills_since(before: int | None) -> int | None:
    """The increase since ``before``; ``None`` where it is unknown."""
    now = oom_kills()
    return None if before is None or now is None else now - before


def _own_groups() -> list[Path]:
    """The event files of this process's control group, version 2."""
    lines = (_text(_OWN_GROUP) or "").splitlines()
    names = [line.removeprefix(_UNIFIED) for line in lines if line.startswith(_UNIFIED)]
    return [_GROUPS / name / "memory.events" for name in names]


def _count(path: Path) -> int | None:
    for line in (_text(path) or "").splitlines():
        name, _, value = line.partition(" ")
        if name == _NAME and value.strip().isdecimal():
            return int(value)
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
