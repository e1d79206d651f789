"""Starting workers, for the sections that measure what that costs or what a worker says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from bench.places import measuring_cpu
from ciphermark_adapters import registry
from ciphermark_benchmark.processes import Confinement, WorkerProcess
from ciphermark_contract.keys import KeyRequest
from ciphermark_core import primes
from ciphermark_core.budget import Budget
from ciphermark_core.model import ParameterSpec
from ciphermark_measure import protocol

_RING_DIMENSION = 4096


@dataclass(frozen=True, slots=True)
class Started:
    """A worker that was started, made its keys, and ended."""

    elapsed_s: float
    facts: dict[str, float]

    @property
    def start_s(self) -> float:
        """From the start of the process to ``Prepared``, less the keys."""
        return self.elapsed_s - self.facts["keys_s"]


def started(variant: str) -> Started:
    """Start a worker as the executor does, with keys for bfv at N = 4096."""
    allowed = Budget()
    plain_modulus = primes.batching_modulus(20, _RING_DIMENSION)
    spec = ParameterSpec("bfv", _RING_DIMENSION, plain_modulus=plain_modulus)
    confinement = Confinement((measuring_cpu(),), 1, allowed.memory_mb)
    start = perf_counter()
    worker = WorkerProcess(confinement, registry.interpreter(variant), variant)
    try:
        request = protocol.Prepare(variant, spec, KeyRequest.of(relinearization=True))
        reply = worker.ask(request, allowed.timeout_s)
        elapsed_s = perf_counter() - start
    finally:
        worker.end()
    if not isinstance(reply, protocol.Prepared):
        raise RuntimeError(f"{variant}: {reply}")
    return Started(elapsed_s, reply.facts)
