"""Peak memory of an operation is that of the operation, whatever the same worker measured before it."""

from __future__ import annotations

import os
import signal
import time

import pytest

from ciphermark_adapters import registry
from ciphermark_benchmark.processes import Confinement, WorkerNeeds
from ciphermark_benchmark.runner import in_worker
from ciphermark_benchmark.runner.quiet_level import QuietLevel
from ciphermark_contract.keys import KeyRequest
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure.forked import forked
from ciphermark_measure.probes.peak_memory import PeakMemory

SPEC = ParameterSpec("bfv", 8192, (60, 60, 60), 65537, security=0)
TIMEOUT_S = 60.0
# Pages differ with addresses and with what the interpreter caches; pools of a library made a difference of 8 MB.
TOLERANCE_BYTES = 1 << 20

needs_marks = pytest.mark.skipif(
    PeakMemory().available() is not None, reason="the kernel resets no high-water mark here"
)


def _peaks(variant: str, threads: int, operations: list[str]) -> list[dict[str, float]]:
    """Peaks by phase, of one operation after another in one runner."""
    needs = WorkerNeeds(variant, SPEC, KeyRequest(True, (1,), ()), Confinement((), threads, 4096), TIMEOUT_S)
    runner = in_worker.runner(needs, QuietLevel())
    try:
        found = []
        for operation in operations:
            case = Case(variant, "arithmetic", operation, SPEC, 8192, "random")
            samples = runner.memory(Trial(operation, "run", case, 0, 7, Budget(samples=3, min_time_s=0.0)))
            found.append({sample.phase: sample.value for sample in samples})
        return found
    finally:
        runner.leave()


@needs_marks
@pytest.mark.parametrize(("variant", "threads"), [("seal", 1), ("openfhe", 1), ("openfhe", 2)])
def test_the_peaks_of_an_operation_are_those_of_a_first_one(variant: str, threads: int) -> None:
    found = registry.availability(variant, frozenset(host.collect().cpu_flags))
    if not found.is_installed:
        pytest.skip(f"{variant}: {found.reason}; {found.remedy}")
    first, _ = _peaks(variant, threads, ["add_plain", "mul"])
    _, after = _peaks(variant, threads, ["mul", "add_plain"])
    assert set(first) == set(after) == {"keys", "encrypt", "operation", "decrypt"}
    assert abs(after["operation"] - first["operation"]) <= TOLERANCE_BYTES


def test_what_a_forked_process_returns_and_raises_comes_back() -> None:
    ours = os.getpid()
    assert forked(os.getpid, "tells its number") != ours

    def failing() -> None:
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        forked(failing, "fails")


def test_a_forked_process_that_dies_is_told_by_its_exit_code() -> None:
    with pytest.raises(RuntimeError, match="the process that dies ended with exit code -9"):
        forked(lambda: os.kill(os.getpid(), signal.SIGKILL), "dies")


def test_a_forked_process_ends_with_its_parent() -> None:
    reading, writing = os.pipe()  # at its end when no process holds its other end
    parent = os.fork()
    if parent == 0:
        os.close(reading)
        forked(lambda: time.sleep(TIMEOUT_S), "sleeps")
        os._exit(0)
    os.close(writing)
    time.sleep(0.5)
    began = time.monotonic()
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    with open(reading, "rb") as pipe:
        assert pipe.read() == b""
    assert time.monotonic() - began < TIMEOUT_S / 2
