from __future__ import annotations

import signal
import time

import pytest

from ciphermark_benchmark.nearest import did_you_mean
from ciphermark_benchmark.processes import WorkerDied, explained, require_one_clock

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
        # memory: killed by the kernel, close to the limit, or saying so
        (-signal.SIGKILL, 10, "", "out_of_memory", ["SIGKILL", "100 MB allowed, 10 MB resident at most"]),
        (-signal.SIGSEGV, 95, "", "out_of_memory", ["ran out of memory (SIGSEGV", "95 MB resident"]),
        (-signal.SIGSEGV, 90, "", "crashed", ["died of SIGSEGV"]),
        (1, 91, "", "out_of_memory", ["exit code 1"]),
        (-signal.SIGABRT, 10, "what():  std::bad_alloc", "out_of_memory", ["std::bad_alloc"]),
        (1, 10, "MemoryError", "out_of_memory", ["MemoryError"]),
        (1, 10, "mmap: Cannot allocate memory", "out_of_memory", ["Cannot allocate memory"]),
        (2, 10, "fatal error: runtime: out of memory", "out_of_memory", ["out of memory"]),
    ],
)
def test_a_death_is_explained(exit_code, peak_mb, words, status, parts):
    death = explained(exit_code, peak_mb * MB, 100 * MB, words)
    assert isinstance(death, WorkerDied)
    assert death.status == status
    for part in parts:
        assert part in str(death)


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
    assert caught.value.status == "wrong"


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
