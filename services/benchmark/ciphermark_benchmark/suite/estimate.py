"""How long a suite will take, roughly. Pure; constants from runs on one machine with two cores, scaled by the reference
kernel.

An estimate: libraries differ by several times, chains are not known before a library has resolved them, and how soon a
precision is reached depends on the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core import security
from ciphermark_core.budget import Budget
from ciphermark_core.chains import chain_for_depth
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Case, ParameterSpec
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.experiments.base import KEYS_S, WORKER_S
from ciphermark_measure.parameter_selection import rings
from ciphermark_measure.parties.messages import MAX_PASSES
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.options import INPUTS_PER_PASS
from ciphermark_workloads.workload import Workload


def run_s(planned: Sequence[PlannedCase], budget: Budget) -> float:
    """Estimated seconds for the possible cases, on the machine that the constants are from."""
    possible = [item.case for item in planned if item.reason is None]
    workers = {(case.variant, case.parameters, case.threads) for case in possible}
    starting_s = sum(
        WORKER_S + 2 * KEYS_S * _growth(_ring_dimension(parameters)) for _, parameters, _ in workers
    )  # workers for times and for memory start side by side
    trials_s = sum(_trial_s(item, budget) for item in planned if item.reason is None)
    trials_s += _vectors_s(possible, budget)
    return budget.processes * (starting_s + trials_s)


def _vectors_s(possible: Sequence[Case], budget: Budget) -> float:
    """What the first trial of a worker with a vector takes more: it tells how long encryption and decryption take."""
    first: dict[object, Case] = {}
    for case in possible:
        if case.experiment in KINDS:
            vector_s = KINDS[case.experiment].vector_s
            worker = (case.variant, case.parameters, case.threads, vector_s)
            first.setdefault((*worker, case.vector_length, case.data_pattern), case)
    return sum(
        KINDS[case.experiment].vector_s(case, budget, _growth(_ring_dimension(case.parameters)))
        for case in first.values()
    )


def _trial_s(item: PlannedCase, budget: Budget) -> float:
    case = item.case
    growth = _growth(_ring_dimension(case.parameters))
    if case.experiment in KINDS:
        return KINDS[case.experiment].trial_s(case, budget, growth)
    workload, inputs_per_pass = WORKLOADS[case.operation], INPUTS_PER_PASS.of(case.dimensions) or 1
    is_own = user_workloads.is_in_file(type(workload).__module__) and type(workload).pass_s == Workload.pass_s
    pass_s = item.pass_s if is_own and item.pass_s is not None else growth * workload.pass_s
    passes_s = max(
        budget.min_time_s, (budget.min_samples + max(1, budget.warmups)) * inputs_per_pass * pass_s
    )
    return passes_s + (_layer_passes(budget) * pass_s if workload.has_layers else 0.0)


def _layer_passes(budget: Budget) -> int:
    """Passes that take as long as layers do, of one input, whatever inputs_per_pass is: as many as go through them.
    What these lack of a pass, the client's part, makes up for what comes once: another execution, encoding, comparing.
    """
    return min(max(1, budget.min_samples), MAX_PASSES)


@lru_cache(1024)  # asked for every case, of which many have the same parameters
def _ring_dimension(spec: ParameterSpec) -> int:
    """N; where it is searched for, the smallest with room for the modulus chain as Ciphermark asks for it."""
    if not spec.ring_dimension_is_minimum:
        return spec.ring_dimension
    for ring_dimension in rings(spec):
        with suppress(Unsupported):
            request = replace(spec, ring_dimension=ring_dimension)
            chain = spec.modulus_bits or chain_for_depth(request)
            if security.level(spec.security_table, ring_dimension, sum(chain)) >= spec.security:
                return ring_dimension
    return rings(spec)[-1]


def _growth(ring_dimension: int) -> float:
    """Cost relative to N = 4096: N log N times a chain that grows with N."""
    return max(0.15, float((ring_dimension / 4096) ** 1.7))
