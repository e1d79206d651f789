"""Workers are there, with their libraries, before anything of the first one is timed."""

from __future__ import annotations

from pathlib import Path

import psutil
from processes import command_line, wait_until

from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.trial_runner import InWorker, TrialRunner
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure.processes import Confinement

SPEC = ParameterSpec("bfv", 4096, (36, 36, 37), 65537, security=0)


def _runner() -> TrialRunner:
    needs = WorkerNeeds("seal", SPEC, NO_KEYS, Confinement((), 1, 4096), 60.0)
    return InWorker(needs, ReferenceKernelBaseline())


def _worker() -> psutil.Process:
    """The one worker; a process that has just been started has no command line for a moment."""
    workers: list[psutil.Process] = []

    def is_there() -> bool:
        children = psutil.Process().children()
        workers[:] = [child for child in children if "ciphermark_measure.worker" in command_line(child)]
        return len(workers) == 1

    wait_until(is_there, "one worker has a command line")
    return workers[0]


def _is_opened(runner: TrialRunner) -> bool:
    case = Case("seal", "arithmetic", "add", SPEC, SPEC.slots, "random")
    return runner.open(Trial("id", "run", case, 0, 7, Budget(min_samples=3, min_time_s=0.0)))


def test_a_worker_that_is_ready_has_loaded_its_library() -> None:
    runner = _runner()
    try:
        runner.start()
        runner.ready()
        maps = Path(f"/proc/{_worker().pid}/maps").read_text()
        assert "_ciphermark_seal" in maps
        assert _is_opened(runner)
    finally:
        runner.leave()


def test_a_worker_that_dies_before_it_is_ready_costs_no_trial() -> None:
    runner = _runner()
    try:
        runner.start()
        first = _worker()
        first.kill()
        runner.ready()
        assert _is_opened(runner)
        assert _worker().pid != first.pid
    finally:
        runner.leave()
