"""How long a trial of :mod:`.latency` takes, roughly, and what the first with a vector takes more. Pure."""

from __future__ import annotations

from ciphermark_contract.operations import read
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case
from ciphermark_measure import proportion
from ciphermark_measure.experiments.kind import (
    CIPHERTEXT_S,
    ENCRYPTION_S,
    PRODUCT_S,
    SUM_S,
    TRIAL_S,
    sampled_s,
)

# A chain has a prime for so much of N; caches as many hosts have them; executions of an operation for
# checks, calibration, warm-up and memory; what encrypts, decrypts and executes one ciphertext where memory is measured.
_RING_OF_A_PRIME = 2048
_USUAL_CACHES = {"L3": 32 << 20}
_EXECUTIONS_BESIDE = 8
_MEMORY_S = 0.005


def trial_s(case: Case, budget: Budget, growth: float) -> float:
    """Seconds of a trial, where everything takes ``growth`` times as long as at N = 4096."""
    executed = _executed(case)
    once_s = (PRODUCT_S if _is_dear(case) else SUM_S) * growth * executed
    timed_s = sampled_s(budget, once_s, budget.min_time_s) + _EXECUTIONS_BESIDE * once_s
    whole_s = _MEMORY_S * growth * -(-case.size // case.parameters.slots)
    return TRIAL_S + CIPHERTEXT_S * growth * executed + timed_s + whole_s


def vector_s(case: Case, budget: Budget, growth: float) -> float:
    """Likewise of encryption and decryption, of which the first trial of a worker with a vector tells the time."""
    return sampled_s(budget, ENCRYPTION_S * growth * proportion.executed_by_client(_executed(case)))


def _executed(case: Case) -> int:
    """Of how many ciphertexts the time is taken."""
    spec = case.parameters
    row_bytes = 3 * 16 * spec.ring_dimension * max(1, spec.ring_dimension // _RING_OF_A_PRIME)
    executed = proportion.executed(-(-case.size // spec.slots), row_bytes, _USUAL_CACHES)
    return proportion.executed_computing(executed) if _is_dear(case) else executed


def _is_dear(case: Case) -> bool:
    row = read(case.operation).operation
    return row.is_product or row.is_rotation
