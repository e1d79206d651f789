"""How long a suite will take, roughly. Pure; constants from runs on one 2-core Zen 4 machine."""

from __future__ import annotations

from ciphermark_benchmark.plan import PlannedCase
from ciphermark_core.words import Budget, Case

_WORKER_S = 0.6  # start of a worker and its keys at N = 4096; two per variant and parameter set
_TRIAL_S = 0.25  # operands, checks and client phases of one ciphertext at N = 4096
_REPETITION_S = 2e-4  # one managed operation with its share of checks at N = 4096


def run_s(planned: list[PlannedCase], budget: Budget) -> float:
    """Estimated seconds for the possible cases."""
    possible = [item.case for item in planned if item.reason is None]
    workers = {(case.variant, case.parameters, case.threads) for case in possible}
    starting = sum(2 * _WORKER_S * _growth(parameters.ring_dimension) for _, parameters, _ in workers)
    return budget.processes * (starting + sum(_trial_s(case, budget) for case in possible))


def _trial_s(case: Case, budget: Budget) -> float:
    growth = _growth(case.parameters.ring_dimension)
    if case.cap is not None:
        cap = min(case.cap, 64) if case.operation in ("mul", "square", "mul_plain") else case.cap
        return _TRIAL_S + 2 * cap * _REPETITION_S * growth
    ciphertexts = -(-case.size // case.parameters.slots)
    return budget.min_time_s + _TRIAL_S * growth * ciphertexts


def _growth(ring_dimension: int) -> float:
    """Cost relative to N = 4096: N log N times a chain that grows with N."""
    return max(0.5, float((ring_dimension / 4096) ** 1.7))


def in_words(seconds: float) -> str:
    """Seconds, minutes or hours, as one would say it."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
