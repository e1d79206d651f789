"""How long a suite will take, roughly. Pure; constants from runs on one 2-core Zen 4 machine."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ciphermark_benchmark.plan import PlannedCase
from ciphermark_core import security
from ciphermark_core.chains import chain_for_depth
from ciphermark_core.dimensions import CAP, DATA_SET, REPETITIONS
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Budget, Case, ParameterSpec
from ciphermark_measure.parameter_selection import rings

_WORKER_S = 0.6  # start of a worker and its keys at N = 4096; two per variant and parameter set
_TRIAL_S = 0.25  # operands, checks and client phases of one ciphertext at N = 4096
_REPETITION_S = 2e-4  # one managed operation with its share of checks at N = 4096
_MULTIPLICATION_S = 2e-3  # one in a chain at N = 4096: larger chains are longer, too
_ADDITION_S = 2e-5
_PASS_S = 0.1  # of a workload at N = 4096: longer ones have larger rings
_ROW_BY_ROW_S = {"lmc-per-row-plain": 0.5, "lmc-per-row-encrypted": 1.2}  # a ciphertext per row
_CHECKED_CHAINS = 8  # beside those that are samples: checks, calibration, memory


def run_s(planned: list[PlannedCase], budget: Budget) -> float:
    """Estimated seconds for the possible cases."""
    possible = [item.case for item in planned if item.reason is None]
    workers = {(case.variant, case.parameters, case.threads) for case in possible}
    starting = sum(2 * _WORKER_S * _growth(_ring_dimension(parameters)) for _, parameters, _ in workers)
    return budget.processes * (starting + sum(_trial_s(case, budget) for case in possible))


def _trial_s(case: Case, budget: Budget) -> float:
    growth = _growth(_ring_dimension(case.parameters))
    if DATA_SET.of(case.dimensions) is not None:
        pass_s = growth * _ROW_BY_ROW_S.get(case.operation, _PASS_S)
        return max(budget.min_time_s, (budget.samples + max(1, budget.warmups)) * pass_s)
    count = REPETITIONS.of(case.dimensions)
    if count is not None:
        once_s = _MULTIPLICATION_S if case.operation in ("mul", "square") else _ADDITION_S
        chain_s = count * once_s * growth
        chains = budget.samples + budget.warmups + _CHECKED_CHAINS
        return _WORKER_S * growth + max(budget.min_time_s, chains * chain_s)
    most = CAP.of(case.dimensions)
    if most is not None:
        cap = min(most, 64) if case.operation in ("mul", "square", "mul_plain") else most
        return _TRIAL_S + 2 * cap * _REPETITION_S * growth
    ciphertexts = -(-case.size // case.parameters.slots)
    return budget.min_time_s + _TRIAL_S * growth * ciphertexts


def _ring_dimension(spec: ParameterSpec) -> int:
    """N; where it is searched for, the smallest with room for the chain as Ciphermark asks for it."""
    if not spec.ring_dimension_is_minimum:
        return spec.ring_dimension
    for ring_dimension in rings(spec):
        with suppress(Unsupported):
            asked = replace(spec, ring_dimension=ring_dimension)
            chain = spec.modulus_bits or chain_for_depth(asked)
            if security.level("2018", ring_dimension, sum(chain)) >= spec.security:
                return ring_dimension
    return rings(spec)[-1]


def _growth(ring_dimension: int) -> float:
    """Cost relative to N = 4096: N log N times a chain that grows with N."""
    return max(0.5, float((ring_dimension / 4096) ** 1.7))


def in_words(seconds: float) -> str:
    """Seconds, minutes or hours, as one would say it."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
