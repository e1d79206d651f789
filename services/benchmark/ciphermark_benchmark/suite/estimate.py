"""Rough estimates of a suite's duration. Pure. The constants come from runs on one machine with two cores, scaled by
the reference kernel.

Estimates are coarse: libraries differ by several times, modulus chains are unknown until a library has resolved them,
and the time to reach a precision depends on the host.
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
    """Estimated seconds for the executable cases, on the machine where the constants were measured."""
    possible = [item.case for item in planned if item.reason is None]
    workers = {(case.variant, case.parameters, case.threads) for case in possible}
    starting_s = sum(
        WORKER_S + 2 * KEYS_S * _growth(_ring_dimension(parameters)) for _, parameters, _ in workers
    )  # workers for times and for memory start side by side
    trials_s = sum(_trial_s(item, budget) for item in planned if item.reason is None)
    trials_s += _vectors_s(possible, budget)
    return budget.processes * (starting_s + trials_s)


def _vectors_s(possible: Sequence[Case], budget: Budget) -> float:
    """The additional time of a worker's first trial with a vector, which also measures encryption and decryption."""
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
    pass_s = growth * workload.pass_s
    if item.pass_s is not None and type(workload).pass_s == Workload.pass_s:
        is_own = user_workloads.is_in_file(type(workload).__module__)
        pass_s = item.pass_s if is_own else max(pass_s, item.pass_s)
    passes_s = max(
        budget.min_time_s, (budget.min_samples + max(1, budget.warmups)) * inputs_per_pass * pass_s
    )
    return passes_s + (_layer_passes(budget) * pass_s if workload.has_layers else 0.0)


def _layer_passes(budget: Budget) -> int:
    """The number of passes with one input that take as long as the layers, whatever ``inputs_per_pass`` is. Layers lack
    the client's part of a pass, which offsets their one-time costs: another execution, encoding, comparing.
    """
    return min(max(1, budget.min_samples), MAX_PASSES)


@lru_cache(1024)  # many cases have the same parameters
def _ring_dimension(spec: ParameterSpec) -> int:
    """N; for the smallest secure ring, the minimum for the modulus chain that Ciphermark requests."""
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
    """Cost relative to N = 4096: N log N times the length of a modulus chain that grows with N."""
    return max(0.15, float((ring_dimension / 4096) ** 1.7))
