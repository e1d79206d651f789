"""Processes that execute users' code: all their descendants end with them, and one memory limit holds for all.

Such a process leads a session and adopts its orphaned descendants. While it lives, no descendant leaves its tree.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Generic, NoReturn, TypeVar

from ciphermark_core.errors import UserError

_PARENT_VARIABLE = "CIPHERMARK_PARENT"
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_S = 0.1
_AGAIN_S = 0.02
_ROUNDS = 100  # of ending processes that continue to fork
_DATA = ("status", "VmData:")
_ANONYMOUS = ("smaps_rollup", "Anonymous:")
_SHARE_OF_ANONYMOUS = ("smaps_rollup", "Pss_Anon:")
_SHARE = (*_SHARE_OF_ANONYMOUS, "Pss_Shmem:")  # the kernel can drop pages of mapped files
_RESIDENT = ("status", "RssAnon:", "RssShmem:")
_TOO_LONG = signal.SIGUSR2
_ANSWER, _ERROR, _ENDED = "answer", "error", "ended"
T = TypeVar("T")


class EndedEarlyError(Exception):
    """The process ended before it answered; the text states how."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an action: seconds, and bytes of memory.

    Memory counts for all its processes together, shared memory included, beyond the memory at their start.
    """

    deadline_s: float
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Contained(Generic[T]):
    """The result of an action, and the number of processes that it left behind; they have been ended."""

    value: T
    left_behind: int


def adopt(is_to: bool = True) -> None:
    """Make this process the parent of its orphaned descendants, or stop being it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(is_to), 0, 0, 0)


def descendants(leader: int) -> list[int]:
    """Return the running descendants of a process; an empty list where the kernel does not list children."""
    below: list[int] = []
    waiting = [leader]
    while waiting:
        waiting += [pid for pid in _children(waiting.pop()) if pid not in below]
        below += [pid for pid in waiting if pid not in below]
    return [pid for pid in below if not _is_over(pid)]


def end_below(leader: int) -> int:
    """End all descendants of a process, including new forks; return their number at the start."""
    below = first = descendants(leader)
    for _ in range(_ROUNDS):
        for pid in below:
            _send(pid, signal.SIGKILL)
        below = descendants(leader)
        if not below:
            break
    return len(first)


def end(leader: int) -> None:
    """End a session leader and all its descendants, but leave its exit code to the process that started it.

    The leader may have ended already, but must not have been waited for.
    """
    _send(leader, signal.SIGSTOP)
    end_below(leader)
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
    _send(leader, signal.SIGKILL)


def memory_above(limit_bytes: int, leader: int, origin: int | None = None) -> int | None:
    """Return the memory in bytes of a process and all its descendants if it exceeds a limit, else ``None``.

    A page that n processes share counts as 1/n page for each. Pages that the leader has by a fork of the process
    ``origin`` do not count before it changes them.
    """
    if sum(_bytes_of(pid, _RESIDENT) for pid in (leader, *descendants(leader))) <= limit_bytes:
        return None  # an upper limit, which costs the processes nothing
    taken = _share_bytes(leader, origin)
    if taken > limit_bytes:  # between vfork and exec, a child shows the memory of its parent as its own
        sleep(_AGAIN_S)
        taken = min(taken, _share_bytes(leader, origin))
    return taken if taken > limit_bytes else None


def _share_bytes(leader: int, origin: int | None) -> int:
    pids = (leader, *descendants(leader))
    lent = _bytes_of(origin, _ANONYMOUS) - _bytes_of(origin, _SHARE_OF_ANONYMOUS) if origin else 0
    return sum(_bytes_of(pid, _SHARE) or _bytes_of(pid, _RESIDENT) for pid in pids) - lent


def contained(action: Callable[[], T], limits: Limits) -> Contained[T]:
    """Execute an action in a forked process without output.

    Raises the action's exceptions, ``TimeoutError`` or ``MemoryError`` where it exceeds ``limits``, and
    :class:`EndedEarlyError`. Only for a process of one thread.
    """
    ours, theirs = Pipe(duplex=False)
    own, known = os.getpid(), {*descendants(os.getpid())}
    adopt()  # the leader's descendants, if the leader is killed
    leader = os.fork()
    if leader == 0:
        ours.close()
        _lead(action, theirs, limits, own)
    theirs.close()
    try:
        kind, value, worker = _answered(ours, leader, limits)
        left_behind = sum(pid != worker for pid in descendants(leader))
    finally:
        end(leader)
        os.waitpid(leader, 0)
        _end_new(known)
        adopt(False)
        ours.close()
    if kind == _ERROR:
        raise value
    if kind == _ENDED:
        raise EndedEarlyError(value)
    return Contained(value, left_behind)


def watched(action: Callable[[], T], limits: Limits) -> Contained[T]:
    """Execute an action in this process, and end the processes that it leaves behind.

    The action cannot end this process with ``os._exit``. Raises the action's exceptions, ``TimeoutError`` and
    :class:`EndedEarlyError`. Memory that processes share is not limited. Only for a process of one thread.
    """
    own, known, usual_exit = os.getpid(), {*descendants(os.getpid())}, os._exit
    is_over = False
    timer = threading.Timer(limits.deadline_s, signal.pthread_kill, (threading.get_ident(), _TOO_LONG))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = (limits.memory_mb << 20) + _bytes_of(own, _DATA)
    limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)

    def end_early(status: int) -> NoReturn:
        if os.getpid() != own:  # a fork may end in any way
            usual_exit(status)
        raise EndedEarlyError(f"exit code {status}")

    def end_late(*_: object) -> None:
        if not is_over:  # else the cleanup after the action would not be undone
            raise TimeoutError(f"it took longer than {limits.deadline_s:g} s")

    usual_handler = signal.signal(_TOO_LONG, end_late)
    adopt()
    timer.start()
    try:
        os._exit = end_early
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
        value = action()
    finally:
        is_over = True
        timer.cancel()
        timer.join()
        os._exit = usual_exit
        signal.signal(_TOO_LONG, usual_handler)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        left_behind = _end_new(known)
        adopt(False)
    return Contained(value, left_behind)


def _end_new(known: Collection[int]) -> int:
    """End the unknown descendants of this process, and wait for them; return their number at the start."""
    below = first = [pid for pid in descendants(os.getpid()) if pid not in known]
    for _ in range(_ROUNDS):
        for pid in below:
            _send(pid, signal.SIGKILL)
        for pid in below:
            with suppress(ChildProcessError):  # one whose parent is not this process, or was not yet
                os.waitpid(pid, 0)
        below = [pid for pid in descendants(os.getpid()) if pid not in known]
        if not below:
            break
    return len(first)


def started_by(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that names this process as the parent of a new one: see :func:`end_with_parent`."""
    return dict(environ) | {_PARENT_VARIABLE: str(os.getpid())}


def end_with_parent(number: int) -> None:
    """Have the kernel send this process a signal when its parent ends, even by a kill; exit now if it has ended.

    The environment of :func:`started_by` names the parent. A parent id of 1 is no evidence of its end, since it is also
    1 in a container of one service.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    parent = os.environ.pop(_PARENT_VARIABLE, None)
    if parent is not None and os.getppid() != int(parent):
        sys.exit("the process that started this one is gone")


def end_with(parent: int, number: int) -> None:
    """The same for a fork of the process ``parent``; the fork ends by the signal if ``parent`` has already ended."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def lead(forwarded: int) -> None:
    """Return in a fork of this process, and supervise the fork.

    The fork's descendants end when the fork or the parent of this process ends, in any way. This process then ends as
    the fork did. It forwards the signal ``forwarded``. Only for a process of one thread.

    Two processes supervise the fork. If one is killed, the other adopts and ends all.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end_with_parent(signal.SIGTERM)
    first = os.getpid()
    _stay_above(forwarded)
    os.setpgid(0, 0)  # a kill of the first one's group leaves this one time to end its descendants
    end_with(first, signal.SIGTERM)
    second = os.getpid()
    _stay_above(forwarded)
    end_with(second, signal.SIGKILL)


def _stay_above(forwarded: int) -> None:
    """Return in a fork of this process; wait for its end or SIGTERM, then end all descendants of this process."""
    below = 0

    def pass_on(number: int, _: object) -> None:
        if below:
            _send(below, number)

    def end_all(*_: object) -> NoReturn:
        _end_children()
        os._exit(1)

    adopt()
    usual = {number: signal.getsignal(number) for number in (forwarded, signal.SIGTERM)}
    signal.signal(forwarded, pass_on)
    signal.signal(signal.SIGTERM, end_all)
    below = os.fork()
    if below == 0:
        for number, handler in usual.items():
            signal.signal(number, handler)
        return
    code = os.waitstatus_to_exitcode(os.waitpid(below, 0)[1])
    _end_children()
    end_like(code)


def _end_children() -> None:
    """End all descendants of this process, which adopts them, and wait for them."""
    end_below(os.getpid())
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def end_like(code: int) -> NoReturn:
    """End this process with an exit code, or by a signal (a negative number), as its parent then sees."""
    if code < 0:
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(abs(code))


def _answered(answers: Connection, leader: int, limits: Limits) -> tuple[str, Any, int]:
    deadline = monotonic() + limits.deadline_s
    while not answers.poll(min(_LOOK_S, max(0.0, deadline - monotonic()))):
        if monotonic() >= deadline:
            raise TimeoutError(f"it took longer than {limits.deadline_s:g} s")
        if memory_above(limits.memory_mb << 20, leader, os.getpid()):
            raise MemoryError(f"its processes took more than {limits.memory_mb} MB together")
    try:
        answer: tuple[str, Any, int] = answers.recv()
    except EOFError:
        return _ENDED, "the process above it was killed", 0
    return answer


def _lead(action: Callable[[], object], answers: Connection, limits: Limits, parent: int) -> NoReturn:
    """Execute the action in another process, and supervise it and its descendants.

    When this process or its parent ends, all of them end.
    """

    def end_all(*_: object) -> NoReturn:
        _end_children()
        os._exit(1)

    signal.signal(signal.SIGTERM, end_all)
    end_with(parent, signal.SIGTERM)
    os.setsid()
    adopt()
    _let_go_of_output()
    own = os.getpid()
    worker = os.fork()
    if worker == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        end_with(own, signal.SIGKILL)
        _work(action, answers, limits.memory_mb)
    with suppress(BaseException):
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        answers.send((_ENDED, f"exit code {code}" if code >= 0 else f"signal {-code}", worker))
    while True:
        signal.pause()


def _work(action: Callable[[], object], answers: Connection, memory_mb: int) -> NoReturn:
    limit = (memory_mb << 20) + _bytes_of(os.getpid(), _DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    answer: tuple[str, object, int]
    try:
        answer = (_ANSWER, action(), os.getpid())
    except Exception as error:  # the process that asked raises it
        answer = (_ERROR, error, os.getpid())
    except BaseException as error:
        answer = (_ENDED, type(error).__name__, os.getpid())
    try:
        answers.send(answer)
    except Exception as error:  # an exception that cannot be sent is replaced by its text
        answers.send((_ERROR, UserError(f"{answer[1]!r}: {error}"), os.getpid()))
    while True:
        signal.pause()


def _let_go_of_output() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _children(pid: int) -> list[int]:
    """Return the children of all threads of a process; none if it ends meanwhile."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        threads = os.listdir(tasks)
    except OSError:
        return []
    return [int(child) for thread in threads for child in _text(tasks / thread / "children").split()]


def _is_over(pid: int) -> bool:
    """Whether a process has ended, waited for or not."""
    return _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1] in ([], ["Z"], ["X"])


def _bytes_of(pid: int, source: Sequence[str]) -> int:
    file, *kinds = source
    lines = (line.split() for line in _text(Path(f"/proc/{pid}/{file}")).splitlines())
    return sum(int(words[1]) << 10 for words in lines if words and words[0] in kinds)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended
        return ""
