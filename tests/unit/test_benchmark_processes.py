from __future__ import annotations

import signal
import sys
import threading
import time

import pytest

from ciphermark_benchmark.processes import WorkerProcess
from ciphermark_core import wire
from ciphermark_core.nearest import did_you_mean
from ciphermark_measure import processes, protocol
from ciphermark_measure.processes import Confinement, WorkerDied, explained, last_words, require_one_clock

MB = 1 << 20


@pytest.mark.parametrize(
    ("exit_code", "peak_mb", "words", "status", "parts"),
    [
        (-signal.SIGSEGV, 10, "", "crashed", ["died of SIGSEGV"]),
        (-signal.SIGABRT, 10, "terminate called", "crashed", ["died of SIGABRT: terminate called"]),
        (-signal.SIGILL, 10, "", "crashed", ["died of SIGILL"]),
        (-signal.SIGFPE, 10, "", "crashed", ["died of SIGFPE"]),
        (0, 10, "", "crashed", ["died of exit code 0"]),
        (1, 10, "Traceback …\nValueError: no", "crashed", ["exit code 1", "ValueError: no"]),
        (137, 10, "", "crashed", ["exit code 137"]),
        (-35, 10, "", "crashed", ["died of signal 35"]),  # a real-time signal has no name
        # memory: close to the limit, or saying so
        (-signal.SIGSEGV, 95, "", "out_of_memory", ["ran out of memory (SIGSEGV", "95 MB resident"]),
        (-signal.SIGSEGV, 90, "", "crashed", ["died of SIGSEGV"]),
        (-signal.SIGSEGV, None, "", "crashed", ["died of SIGSEGV"]),
        (1, 91, "", "out_of_memory", ["exit code 1"]),
        (-signal.SIGABRT, 10, "what():  std::bad_alloc", "out_of_memory", ["std::bad_alloc"]),
        (1, 10, "MemoryError", "out_of_memory", ["MemoryError"]),
        (1, 10, "mmap: Cannot allocate memory", "out_of_memory", ["Cannot allocate memory"]),
        (2, 10, "fatal error: runtime: out of memory", "out_of_memory", ["out of memory"]),
        (2, 10, "fatal error: runtime: cannot allocate memory", "out_of_memory", ["cannot allocate"]),
        (-signal.SIGABRT, 10, "pthread_create failed: Resource …", "out_of_memory", ["pthread_create"]),
    ],
)
def test_a_death_is_explained(exit_code, peak_mb, words, status, parts):
    peak_bytes = None if peak_mb is None else peak_mb * MB
    death = explained(exit_code, peak_bytes, 100 * MB, words, 0)
    assert isinstance(death, WorkerDied)
    assert death.status == status
    for part in parts:
        assert part in str(death)


def test_the_reason_of_go_precedes_its_stacks():
    stacks = b"\n\ngoroutine 1 [running]:\nmain.main()" * 1000
    for reason in (b"fatal error: runtime: cannot allocate memory", b"panic: index out of range"):
        words = last_words(b"something before\n" + reason + stacks)
        assert words.startswith(reason.decode())
        assert len(words) <= 2000
    assert last_words(b"x" * 5000 + b" panic: said in passing\n").endswith("x panic: said in passing")


@pytest.mark.parametrize(
    ("oom_kills", "peak_mb", "status", "part"),
    [
        (0, 10, "crashed", "the worker died of SIGKILL"),
        (0, 95, "crashed", "the worker died of SIGKILL"),  # the kernel would have counted it
        (1, 10, "out_of_memory", "SIGKILL; 100 MB allowed, 10 MB resident at most"),
        (None, None, "out_of_memory", "SIGKILL; 100 MB allowed)"),
    ],
)
def test_who_is_killed_ran_out_of_memory_where_the_kernel_counts_that(oom_kills, peak_mb, status, part):
    peak_bytes = None if peak_mb is None else peak_mb * MB
    death = explained(-signal.SIGKILL, peak_bytes, 100 * MB, "", oom_kills)
    assert death.status == status
    assert part in str(death)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("0::/a/b\n", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n", "oom_kill 7\n"), 2),
        (("9:memory:/x\n0::/a/b\n", None, "pgfault 1\noom_kill 7\n"), 7),  # version 1 counts elsewhere
        (("", None, "oom_kill 7\n"), 7),
        (("0::/a/b\n", None, "pgfault 1\n"), None),
    ],
)
def test_kills_are_those_of_the_control_group_where_it_counts(monkeypatch, tmp_path, texts, found):
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name, text in zip(("own", "a/b/memory.events", "vmstat"), texts, strict=True):
        if text is not None:
            (tmp_path / name).write_text(text)
    monkeypatch.setattr(processes, "_GROUPS", tmp_path)
    monkeypatch.setattr(processes, "_OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(processes, "_HOST", tmp_path / "vmstat")
    assert processes.oom_kills() == found
    assert processes.oom_kills_since(found) == (None if found is None else 0)


def test_a_reading_between_two_of_ours_is_of_our_clock():
    before = time.perf_counter_ns()
    reading = time.perf_counter_ns()
    require_one_clock(reading, before)


@pytest.mark.parametrize("off_s", [-3600, 3600])
def test_a_clock_that_is_not_ours_is_found_out(off_s):
    before = time.perf_counter_ns()
    with pytest.raises(
        WorkerDied, match=rf"clock is .{abs(off_s)}\.\d+ s off: its times mean nothing"
    ) as caught:
        require_one_clock(time.perf_counter_ns() + off_s * 10**9, before)
    assert caught.value.status == "incorrect"


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("seel", ["seal", "tenseal"], "; did you mean 'seal'?"),
        ("xyz", ["seal", "tenseal"], ""),
        ("seal", [], ""),
        ("mul_pain", ["mul", "mul_plain", "add_plain"], "; did you mean 'mul_plain'?"),
    ],
)
def test_did_you_mean(word, known, hint):
    assert did_you_mean(word, known) == hint


def greeting(version=protocol.VERSION):
    """The beginning of a script that greets as a worker does, and then waits for its first request."""
    hello = wire.to_line(
        protocol.Hello(version=version, python="3", monotonic_ns=time.perf_counter_ns(), is_pinned=True)
    )
    return f"import os, sys, time\nprint({hello.decode().strip()!r}, flush=True)\nsys.stdin.readline()\n"


HELLO = greeting()


@pytest.fixture
def worker(tmp_path):
    """Makes a worker process that is a script of a few lines; ended when the test is over."""
    made = []

    def start(script, memory_mb=1 << 20):
        interpreter = tmp_path / "interpreter"
        (tmp_path / "script.py").write_text(script)
        interpreter.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S '{tmp_path}/script.py'\n")
        interpreter.chmod(0o755)
        made.append(WorkerProcess(Confinement((), 1, memory_mb), str(interpreter)))
        return made[-1]

    yield start
    for item in made:
        item.end()


ANSWERS = {
    "a turn": (
        HELLO + 'print(\'{"type":"turned","is_done":true}\', flush=True)\ntime.sleep(60)',
        None,
    ),
    "another version": (greeting(99), ("crashed", "speaks version 99 of the protocol")),
    "no greeting": (
        'print(\'{"type":"turned","is_done":true}\', flush=True)',
        ("crashed", f"version {protocol.VERSION} is needed"),
    ),
    "nonsense": ("print('hello')", ("crashed", "the worker answers nonsense: b'hello'")),
    "a second greeting": (
        HELLO
        + f"print({wire.to_line(protocol.Hello(protocol.VERSION, '3', 1, True)).decode().strip()!r}, flush=True)",
        ("crashed", "the worker greets where it should answer"),
    ),
    "nonsense later": (HELLO + "print('{')", ("crashed", "nonsense: b'{'")),
    "nothing": (HELLO + "time.sleep(60)", ("timeout", "no answer within 1 s")),
    "half a line": (
        HELLO + "sys.stdout.write('{')\nsys.stdout.flush()\ntime.sleep(60)",
        ("timeout", "no answer within 1 s"),
    ),
    "a kill": (HELLO + "os.kill(os.getpid(), 9)", ("crashed", "died of SIGKILL")),
    "an exit": (HELLO + "sys.exit(7)", ("crashed", "exit code 7")),
    "an exit before the greeting": (
        "import sys\nsys.exit('no libraries')",
        ("crashed", "exit code 1: no libraries"),
    ),
    "closed pipes": (
        HELLO + "os.closerange(0, 3)\ntime.sleep(60)",
        ("crashed", "the worker closed its pipes and went on"),
    ),
    "last words": (
        HELLO + "sys.stderr.write('x' * 9999 + 'the end')\nos.abort()",
        ("crashed", "SIGABRT: xxx"),
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_whatever_a_worker_answers_is_no_end_of_the_run(worker, name):
    script, death = ANSWERS[name]
    process = worker(script)
    if death is None:
        assert process.ask(protocol.Turn(), 60) == protocol.Turned(is_done=True)
        return
    status, words = death
    with pytest.raises(WorkerDied) as caught:
        process.ask(protocol.Turn(), 1 if status == "timeout" else 60)
    assert caught.value.status == status
    assert words in str(caught.value)
    assert len(str(caught.value)) < 2200


def test_a_worker_sees_its_number_of_threads(worker):
    script = HELLO + "sys.stderr.write(os.environ['OMP_NUM_THREADS'] + ' threads')\nos.abort()"
    with pytest.raises(WorkerDied, match="SIGABRT: 1 threads"):
        worker(script).ask(protocol.Turn(), 60)


def test_a_worker_can_be_made_to_end_from_another_thread(worker):
    process = worker(HELLO + "time.sleep(600)")
    threading.Timer(0.3, process.kill).start()
    with pytest.raises(WorkerDied):
        process.ask(protocol.Turn(), 600)


def test_the_memory_of_who_started_it_is_not_the_workers(worker):
    """The kernel hands the peak of the parent down to a new process."""
    large = bytearray(b"x") * (300 * MB)
    item = worker(HELLO + "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", memory_mb=200)
    with pytest.raises(WorkerDied) as death:
        item.ask(protocol.Turn(), 20)
    assert (death.value.status, len(large)) == ("crashed", 300 * MB)
