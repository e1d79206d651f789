"""Peak memory of an operation is that of the operation, whatever the same worker measured before it."""

from __future__ import annotations

import os
import signal
import time
from itertools import groupby

import installed
import psutil
import pytest
from processes import command_line

from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.executor import MemoryPass
from ciphermark_benchmark.suite.capacity import MEMORY_WORKERS_PER_CORE
from ciphermark_contract.keys import KeyRequest
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure.confinement import branch, forked
from ciphermark_measure.probes.peak_memory import PeakMemory
from ciphermark_measure.processes import Confinement

SMALL = ParameterSpec("bfv", 4096, (36, 36, 37), 65537, security=0)
SPEC = ParameterSpec("bfv", 8192, (60, 60, 60), 65537, security=0)
TIMEOUT_S = 60.0
# Pages differ with addresses and with what the interpreter caches; pools of a library made a difference of 8 MB.
TOLERANCE_BYTES = 1 << 20

needs_marks = pytest.mark.skipif(
    PeakMemory().available() is not None, reason="the kernel resets no high-water mark here"
)


def _peaks(variant: str, threads: int, cases: list[tuple[str, ParameterSpec]]) -> list[dict[str, float]]:
    """Peaks by phase of one case after another, each an operation with a parameter set, in one pass."""
    found = []
    with MemoryPass(1) as memory:
        for spec, same in groupby(cases, key=lambda case: case[1]):
            confinement = Confinement((), threads, 4096)
            needs = WorkerNeeds(variant, spec, KeyRequest.of(True, (1,)), confinement, TIMEOUT_S)
            trials = [_trial(variant, operation, spec) for operation, _ in same]
            peaks = memory.peaks({variant: needs}, {variant: trials})
            found += [{sample.phase: sample.value for sample in peaks[trial.id]} for trial in trials]
    return found


def _trial(variant: str, operation: str, spec: ParameterSpec) -> Trial:
    case = Case(variant, "arithmetic", operation, spec, spec.slots, "random")
    return Trial(operation, "run", case, 0, 7, Budget(min_samples=3, min_time_s=0.0))


def _require(variant: str) -> None:
    if (reason := installed.absence(variant)) is not None:
        pytest.skip(reason)


@needs_marks
@pytest.mark.parametrize(
    ("variant", "threads"),
    [
        ("seal", 1),
        *(
            pytest.param(*each, marks=pytest.mark.extended)
            for each in (("openfhe", 1), ("openfhe", 2), ("tenseal", 1))
        ),
    ],
)
def test_the_peaks_of_an_operation_are_those_of_a_first_one(variant: str, threads: int) -> None:
    _require(variant)
    first, _ = _peaks(variant, threads, [("add_plain", SPEC), ("mul", SPEC)])
    _, after = _peaks(variant, threads, [("mul", SPEC), ("add_plain", SPEC)])
    assert set(first) == set(after) == {"keygen", "encrypt", "evaluate", "decrypt"}
    assert abs(after["evaluate"] - first["evaluate"]) <= TOLERANCE_BYTES


@needs_marks
@pytest.mark.parametrize(
    ("variant", "threads"),
    [
        ("seal", 1),
        *(pytest.param(*each, marks=pytest.mark.extended) for each in (("openfhe", 2), ("tenseal", 1))),
    ],
)
def test_the_peaks_of_a_parameter_set_are_those_of_a_first_one(variant: str, threads: int) -> None:
    _require(variant)
    (first,) = _peaks(variant, threads, [("mul", SMALL)])
    larger, after = _peaks(variant, threads, [("mul", SPEC), ("mul", SMALL)])
    assert larger["evaluate"] > after["evaluate"] + TOLERANCE_BYTES
    for phase, peak in first.items():
        assert abs(after[phase] - peak) <= TOLERANCE_BYTES


def _workers() -> list[psutil.Process]:
    children = psutil.Process().children()
    return [child for child in children if "ciphermark_measure.worker" in command_line(child)]


def test_of_many_variants_a_few_workers_wait() -> None:
    variants = [f"cleartext@l{number}" for number in range(MEMORY_WORKERS_PER_CORE + 2)]
    confinement = Confinement((), 1, 4096)
    with MemoryPass(1) as memory:
        for own in (variants, variants[-2:]):  # which have been ended
            needs = {
                name: WorkerNeeds(name, SMALL, KeyRequest.of(relinearization=True), confinement, TIMEOUT_S)
                for name in own
            }
            found = memory.peaks(needs, {name: [_trial(name, "add", SMALL)] for name in own})
            assert list(found) == ["add"]
            assert len(_workers()) == MEMORY_WORKERS_PER_CORE - 1
    assert _workers() == []


def _ended(code: int) -> int:
    """How a process ended that had a branch which ended with a signal (negative) or an exit code."""
    process = os.fork()
    if process == 0:
        if branch():
            if code < 0:
                os.kill(os.getpid(), -code)
            os._exit(code)
        os._exit(7)  # goes on
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.parametrize("code", [-signal.SIGKILL, -signal.SIGTERM, 3])
def test_a_process_ends_as_its_branch_did(code: int) -> None:
    assert _ended(code) == code


def test_a_process_goes_on_when_its_branch_has_ended_well() -> None:
    assert _ended(0) == 7


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
