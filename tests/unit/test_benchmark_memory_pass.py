"""What becomes of workers that measure memory when a run is interrupted."""

from __future__ import annotations

from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.executor import _Measuring
from ciphermark_contract.keys import KeyRequest
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure.processes import Confinement

SPEC = ParameterSpec("bfv", 1024, modulus_bits=(27,), plain_modulus=65537)
NEEDS = WorkerNeeds("cleartext", SPEC, KeyRequest.of(), Confinement((), 1, 1024), 60.0)
TRIAL = Trial("id", "run", Case("cleartext", "arithmetic", "add", SPEC, 1024, "random"), 0, 7, Budget())


class Starting:
    """A worker that is being started when the run is interrupted: nobody can kill it yet."""

    def __init__(self) -> None:
        self.requests: list[object] = []
        self.is_ended = False

    def started(self) -> Starting:
        self.measuring.abandon()
        return self

    def ask(self, request: object, timeout_s: float) -> object:
        self.requests.append(request)
        return None

    def kill(self) -> None:
        """There is no process."""

    def end(self) -> None:
        self.is_ended = True


def test_nobody_waits_for_a_worker_that_is_started_while_the_run_is_interrupted() -> None:
    stem = Starting()
    stem.measuring = measuring = _Measuring(NEEDS, stem)  # type: ignore[arg-type]
    assert measuring.peaks(TRIAL) == ()
    measuring.leave()
    assert (stem.requests, stem.is_ended) == ([], True)
