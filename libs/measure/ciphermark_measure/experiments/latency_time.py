"""How long a trial of :mod:`.latency` takes, roughly. Pure."""

from __future__ import annotations

from ciphermark_contract.operations import read
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case
from ciphermark_measure import proportion
from ciphermark_measure.experiments.kind import CIPHERTEXT_S, PRODUCT_S, SUM_S, TRIAL_S

# A chain has a prime for so much of N; caches as many hosts have them; executions of an operation for
# checks, calibration, warm-up and memory; what encrypts, decrypts and executes one ciphertext where memory is measured.
_RING_OF_A_PRIME = 2048
_USUAL_CACHES = {"L3": 32 << 20}
_EXECUTIONS_BESIDE = 8
_MEMORY_S = 0.005


def trial_s(case: Case, budget: Budget, growth: float) -> float:
    """Seconds of a trial, where everything takes ``growth`` times as long as at N = 4096."""
    spec, call = case.parameters, read(case.operation)
    ciphertexts = -(-case.size // spec.slots)
    row_bytes = 3 * 16 * spec.ring_dimension * max(1, spec.ring_dimension // _RING_OF_A_PRIME)
    executed = proportion.executed(ciphertexts, row_bytes, _USUAL_CACHES)
    is_dear = call.operation.is_product or call.operation.is_rotation
    if is_dear:
        executed = proportion.executed_computing(executed)
    once_s = (PRODUCT_S if is_dear else SUM_S) * growth * executed
    timed_s = max(budget.min_time_s, budget.samples * once_s) + _EXECUTIONS_BESIDE * once_s
    whole_s = _MEMORY_S * growth * ciphertexts
    return TRIAL_S + CIPHERTEXT_S * growth * executed + timed_s + whole_s
