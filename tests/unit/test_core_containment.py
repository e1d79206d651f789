"""What executes what a user wrote is ended with all that it started, and held to a limit of memory and time."""

from __future__ import annotations

import mmap
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from processes import wait_until

from ciphermark_core import containment
from ciphermark_core.containment import EndedEarlyError, Limits, contained, watched

LIMITS = Limits(60.0, 4096)
SLEEPING = "import time; time.sleep(600)"


def start(folder, is_daemon):
    """Start a process that outlives whoever starts it; as a daemon it has a session and parent of its own."""
    if is_daemon and (between := os.fork()):
        os.waitpid(between, 0)
        return
    process = subprocess.Popen([sys.executable, "-c", SLEEPING], start_new_session=is_daemon)
    (folder / str(process.pid)).touch()
    if is_daemon:
        os._exit(0)


def pids(folder):
    return [int(path.name) for path in folder.iterdir()]


def is_running(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def start_three(folder, is_daemon):
    for _ in range(3):
        start(folder, is_daemon)
    return os.getpid()


@pytest.mark.parametrize("is_daemon", [False, True])
def test_what_is_left_behind_is_ended_and_counted(tmp_path, is_daemon):
    answer = contained(lambda: start_three(tmp_path, is_daemon), LIMITS)
    assert answer.value != os.getpid()
    assert answer.left_behind == 3
    assert [pid for pid in pids(tmp_path) if is_running(pid)] == []


@pytest.mark.parametrize("is_daemon", [False, True])
def test_nothing_outlives_what_ends_early_or_goes_on_for_ever(tmp_path, is_daemon):
    with pytest.raises(EndedEarlyError, match="exit code 0"):
        contained(lambda: (start_three(tmp_path, is_daemon), os._exit(0)), LIMITS)
    with pytest.raises(EndedEarlyError, match="SystemExit"):
        contained(sys.exit, LIMITS)
    with pytest.raises(TimeoutError, match="longer than 2 s"):
        contained(lambda: (start_three(tmp_path, is_daemon), time.sleep(600)), Limits(2.0, 4096))
    assert [pid for pid in pids(tmp_path) if is_running(pid)] == []


def shared(megabytes):
    """Memory that processes share, which no limit of one process counts."""
    memory = mmap.mmap(-1, megabytes << 20)
    for _ in range(megabytes):
        memory.write(b"x" * (1 << 20))
    return memory


def hold(megabytes):
    memory = shared(megabytes)
    time.sleep(600)
    return memory


@pytest.mark.parametrize("before_mb", [1, 200])
def test_shared_memory_counts(before_mb):
    """Whatever shared memory this process has: none of it belongs to the action until the action touches it."""
    with shared(before_mb), pytest.raises(MemoryError, match="more than 512 MB together"):
        contained(lambda: hold(600), Limits(20.0, 512))
    assert containment.memory_above(1 << 20, os.getpid()) > 1 << 20


@contextmanager
def private(megabytes, advice):
    with mmap.mmap(-1, megabytes << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(advice)
        for _ in range(megabytes):
            memory.write(b"x" * (1 << 20))
        yield memory


@pytest.mark.parametrize("advice", [mmap.MADV_NORMAL, mmap.MADV_DONTFORK])
def test_memory_of_the_process_that_forks_does_not_count(tmp_path, advice):
    """Neither for the action nor for processes that it starts, whether forks have that memory or not."""
    limits = Limits(20.0, 256)
    with private(400, advice) as memory:
        assert contained(lambda: start_three(tmp_path, is_daemon=True), limits).left_behind == 3
        for act in (lambda: hold(300), lambda: hold_in_forks(100, 3)):
            with pytest.raises(MemoryError, match="more than 256 MB together"):
                contained(act, limits)
        if advice == mmap.MADV_NORMAL:
            with pytest.raises(MemoryError, match="more than 256 MB together"):
                contained(lambda: rewrite(memory, 300), limits)


def rewrite(memory, megabytes):
    memory.seek(0)
    for _ in range(megabytes):
        memory.write(b"y" * (1 << 20))
    time.sleep(600)


def hold_in_forks(megabytes, number):
    for _ in range(number):
        if os.fork() == 0:
            held = bytearray(b"x" * (megabytes << 20))
            time.sleep(600)
            del held
    time.sleep(600)


def test_what_an_action_raises_passes_through():
    with pytest.raises(ZeroDivisionError):
        contained(lambda: 1 / 0, LIMITS)


FORKING = """
import os
while True:
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
"""


def test_descendants_may_end_while_they_are_listed() -> None:
    """In some 7 of 1,000 looks one did so where the listing failed."""
    leader = subprocess.Popen([sys.executable, "-c", FORKING])
    try:
        for _ in range(2000):
            containment.descendants(leader.pid)
    finally:
        leader.kill()
        leader.wait()


def in_fork(action):
    """What the action leaves in the exit code of a forked process."""
    pid = os.fork()
    if pid == 0:
        code = 99
        with suppress(BaseException):
            code = action()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("is_daemon", [False, True])
def test_what_this_process_did_itself_leaves_nothing_behind(tmp_path, is_daemon):
    """And those that were there before stay."""

    def act():
        before = subprocess.Popen([sys.executable, "-c", SLEEPING])
        answer = watched(lambda: start_three(tmp_path, is_daemon), LIMITS)
        is_kept = before.poll() is None
        before.kill()
        before.wait()
        return answer.left_behind if is_kept and answer.value == os.getpid() else 98

    assert in_fork(act) == 3
    assert [pid for pid in pids(tmp_path) if is_running(pid)] == []


def test_this_process_goes_on_whatever_the_action_does(tmp_path):
    def act():
        limits = resource.getrlimit(resource.RLIMIT_DATA)
        with pytest.raises(EndedEarlyError, match="exit code 7"):
            watched(lambda: os._exit(7), LIMITS)
        with pytest.raises(TimeoutError, match="longer than 1 s"):
            watched(lambda: (start_three(tmp_path, True), time.sleep(600)), Limits(1.0, 4096))
        with pytest.raises(MemoryError):
            watched(lambda: bytes(1 << 30), Limits(60.0, 256))
        assert resource.getrlimit(resource.RLIMIT_DATA) == limits
        return 5

    assert in_fork(act) == 5
    assert [pid for pid in pids(tmp_path) if is_running(pid)] == []


def test_a_deadline_that_passes_when_the_action_is_over_ends_nothing(monkeypatch):
    """What was set for the action is undone all the same."""
    monkeypatch.setattr(threading.Timer, "cancel", lambda timer: signal.raise_signal(containment._TOO_LONG))
    before = os._exit, signal.getsignal(containment._TOO_LONG), resource.getrlimit(resource.RLIMIT_DATA)

    def act():
        value = watched(lambda: 4, Limits(0.1, 4096)).value
        after = os._exit, signal.getsignal(containment._TOO_LONG), resource.getrlimit(resource.RLIMIT_DATA)
        return value if after == before else 98

    assert in_fork(act) == 4


LED = """
import os, signal, subprocess, sys, time
from ciphermark_core import containment
containment.lead(signal.SIGUSR1)
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"asked\\n"))
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(1, b"%d\\n" % os.getpid())
            time.sleep(600)
        os._exit(0)
os.write(1, b"begun\\n")
while True:
    if (line := sys.stdin.readline()):
        exec(line)
"""


class Led:
    """A process below another one, with three daemons that it started."""

    def __init__(self, start_new_session=False):
        self.leader = subprocess.Popen(
            [sys.executable, "-c", LED],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=start_new_session,
        )
        lines = {self.leader.stdout.readline().strip() for _ in range(4)}
        self.daemons = [int(line) for line in lines - {"begun"}]
        assert all(map(is_running, self.daemons))

    def do(self, line):
        self.leader.stdin.write(f"{line}\n")
        self.leader.stdin.flush()
        return self.leader.wait(60)


@pytest.mark.parametrize(
    ("deed", "code"),
    [
        ("os._exit(0)", 0),
        ("os._exit(7)", 7),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV),
    ],
)
def test_daemons_end_with_the_process_that_started_them_however_it_ends(deed, code):
    led = Led()
    assert led.do(deed) == code
    assert [pid for pid in led.daemons if is_running(pid)] == []
    led.leader.communicate()


def test_a_signal_is_passed_on_and_the_end_of_what_started_it_ends_all(tmp_path):
    led = Led()
    led.leader.send_signal(signal.SIGUSR1)
    assert led.leader.stdout.readline() == "asked\n"
    led.leader.send_signal(signal.SIGTERM)  # as the kernel does when the process that started it has ended
    assert led.leader.wait(60) == 1
    assert [pid for pid in led.daemons if is_running(pid)] == []
    led.leader.communicate()


def wait_for_ends(pids):
    """Wait until none of these processes is running."""
    wait_until(lambda: not any(map(is_running, pids)), "the daemons have ended")


@pytest.mark.parametrize("generation", [0, 1, 2])
def test_daemons_end_whichever_process_above_them_is_killed(generation):
    """The leader itself, the process between, and the one that started them."""
    led = Led()
    line = [led.leader.pid]
    while len(line) < 3:
        line += containment._children(line[-1])[:1]
    os.kill(line[generation], signal.SIGKILL)
    wait_for_ends([*line[1:], *led.daemons])
    assert led.leader.wait(60) == -signal.SIGKILL
    led.leader.communicate()


def test_a_killed_leader_whose_group_is_ended_too_leaves_nothing():
    """As whoever started it does when its pipe closes."""
    led = Led(start_new_session=True)
    led.leader.kill()
    containment.end(led.leader.pid)
    wait_for_ends(led.daemons)
    led.leader.communicate()


CONTAINING = """
import os, pathlib, sys, time
sys.path.insert(0, sys.argv[1])
from test_core_containment import LIMITS, start_three
from ciphermark_core.containment import contained
folder = pathlib.Path(sys.argv[2])
contained(lambda: (start_three(folder, True), (folder / "0").touch(), time.sleep(600)), LIMITS)
"""


@pytest.mark.parametrize("is_leader", [False, True])
def test_nothing_outlives_a_process_that_contains_or_the_leader_below_it(tmp_path, is_leader):
    """Killed while the action goes on; then all below them has ended."""
    command = [sys.executable, "-c", CONTAINING, str(Path(__file__).parent), str(tmp_path)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    wait_until((tmp_path / "0").exists, "the action has started daemons")
    daemons = [pid for pid in pids(tmp_path) if pid]
    os.kill(containment._children(process.pid)[0] if is_leader else process.pid, signal.SIGKILL)
    wait_for_ends(daemons)
    assert len(daemons) == 3
    words = process.communicate()[1].decode()
    assert ("EndedEarlyError: the process above it was killed" in words) == is_leader


FIRST = """
import os, sys
from ciphermark_measure import protocol
from ciphermark_measure.processes import Confinement, Process, Program
assert os.getpid() == 1
program = Program("ciphermark_measure.worker", protocol.VERSION, protocol.read_reply)
process = Process(program, Confinement((), 1, 1024))
process.meet()
process.end()
print("met")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a namespace of processes needs root")
def test_the_first_process_of_a_container_starts_workers():
    """Its number is 1, which does not say that whoever started the worker is gone."""
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", FIRST]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip("no namespace of processes can be made here")
    assert (done.stdout, done.stderr) == ("met\n", "")


@pytest.mark.parametrize("is_there", [True, False])
def test_a_process_whose_parent_is_gone_does_not_begin(is_there):
    code = (
        "import signal; from ciphermark_core import containment; containment.end_with_parent(signal.SIGKILL)"
    )
    environ = containment.started_by(os.environ) | ({} if is_there else {"CIPHERMARK_PARENT": "1"})
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, check=False)
    assert (b"is gone" in done.stderr, done.returncode) == (not is_there, int(not is_there))
