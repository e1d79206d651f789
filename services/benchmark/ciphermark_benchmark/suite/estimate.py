"""Estimated durations of suites, from what this host has measured, else from typical times. Pure.

A trial takes its samples, by the rule of the budget, and work around them. Both follow from the time of an operation:
its median in a cost table, or :mod:`.typical`. A pass of a workload is predicted from the cost table; see
:class:`~ciphermark_benchmark.suite.feasibility.ProgramFeasibility`. Constants are of the reference runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, get_args

from ciphermark_adapters import registry
from ciphermark_benchmark.suite import typical
from ciphermark_benchmark.suite.plan import PlannedCase, keys_of_workers, worker_of
from ciphermark_benchmark.suite.typical import Source
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import OPERATIONS, Call, multiplies, read, top_level
from ciphermark_core import security
from ciphermark_core.budget import Budget
from ciphermark_core.chains import chain_for_depth
from ciphermark_core.descriptor import LEVEL, RESIDENCY
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Case, Parameters, ParameterSpec
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.experiments.base import CaseTimes, sampled_s
from ciphermark_measure.parameter_selection import rings
from ciphermark_measure.parties.messages import MAX_PASSES
from ciphermark_measure.session import possible
from ciphermark_model.interpolation import Costs
from ciphermark_model.prediction import switching
from ciphermark_model.pricing import FULL_PRODUCT, Pricer
from ciphermark_model.reuse import digits_in_use
from ciphermark_model.sizes import Format
from ciphermark_model.table import Residency
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.options import INPUTS_PER_PASS

# Of a parameter set, of each worker in it, of a pair of parties, of a comparison group that is recorded, of a refusal.
_BLOCK_S, _WORKER_S, _PARTIES_S, _RECORDED_S, _REFUSED_S = 1.0, 0.12, 0.7, 0.03, 0.005
# Keys are made for times and for memory, or made, sent, and read.
_KEY_USES = 1.9
_RING_OF_A_PRIME = 2048  # the usual ring dimension per prime, for chains that only a library knows
_DESCENT = 0.6  # 1/√3, since key switching takes quadratic time
_WORK = 2 * 4096  # see CaseTimes
_PASS_S = 0.1  # of a workload whose program is unknown, at N = 4096


@dataclass(frozen=True, slots=True)
class Measured:
    """What runs of a host have measured, by variant: costs of operations, and the time of keys relative to the typical
    one.
    """

    costs: Mapping[str, Costs] = field(default_factory=dict)
    key_factors: Mapping[str, float] = field(default_factory=dict)


NOTHING = Measured()


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds by what they rest on. A trial counts whole for the source of its operation's time."""

    parts: Mapping[str, float]

    @property
    def seconds(self) -> float:
        """All of them."""
        return sum(self.parts.values())

    def on_host(self, slowness: float) -> Estimate:
        """The estimate for a host on which typical times take ``slowness`` times as long."""
        return Estimate(
            {
                source: seconds * (slowness if source == "typical times" else 1)
                for source, seconds in self.parts.items()
            }
        )


def of_plan(planned: Sequence[PlannedCase], budget: Budget, measured: Measured = NOTHING) -> Estimate:
    """The estimate for the executable cases."""
    cases = [item for item in planned if item.reason is None]
    parts: dict[str, float] = dict.fromkeys(get_args(Source), 0.0)
    refused_s = _REFUSED_S * (len(planned) - len(cases))
    parts["typical times"] += refused_s + budget.processes * _around_s(cases)
    for source, seconds in (*_set_ups(cases, measured), *_trials(cases, budget, _Clock(measured))):
        parts[source] += budget.processes * seconds
    return Estimate(parts)


def _around_s(cases: Sequence[PlannedCase]) -> float:
    """Starting processes, and recording."""
    workers = {worker_of(item.case) for item in cases if item.case.experiment in KINDS}
    blocks = {(parameters, threads) for _, parameters, threads in workers}
    parties = sum(item.case.experiment not in KINDS for item in cases)
    groups = {item.case.comparison_group for item in cases}
    return (
        _BLOCK_S * len(blocks) + _WORKER_S * len(workers) + _PARTIES_S * parties + _RECORDED_S * len(groups)
    )


def _set_ups(cases: Sequence[PlannedCase], measured: Measured) -> Iterator[tuple[Source, float]]:
    """The time of keys: of each worker, and of the parties of each workload."""
    keys = keys_of_workers(cases)
    for item in cases:
        key_bytes = item.key_bytes
        if item.case.experiment in KINDS:
            request = keys.pop(worker_of(item.case), None)
            if request is None:
                continue  # another case has the same worker
            key_bytes = 0 if item.expected is None else _key_bytes(item.case.variant, item.expected, request)
        seconds = _KEY_USES * typical.keys_s(*_shape(item), key_bytes)
        factor = measured.key_factors.get(registry.base_variant(item.case.variant))
        yield ("recorded setup", factor * seconds) if factor else ("typical times", seconds)


def _key_bytes(variant: str, parameters: Parameters, keys: KeyRequest) -> int:
    """Bytes of the evaluation keys that a worker makes of those requested."""
    declared = registry.declaration(variant)
    form = Format.of(declared, parameters, switching(declared, parameters))
    return form.keys(possible(keys, declared, parameters))


def _trials(cases: Sequence[PlannedCase], budget: Budget, clock: _Clock) -> Iterator[tuple[Source, float]]:
    seen: set[object] = set()
    for item in cases:
        case = item.case
        if case.experiment not in KINDS:
            yield _passes(item, budget)
            continue
        kind, (times, source) = KINDS[case.experiment], clock.times(item)
        yield source, kind.trial_s(case, budget, times)
        vector = (worker_of(case), kind.vector_s, case.vector_length, case.data_pattern)
        if vector not in seen:  # a worker's first trial also measures encryption and decryption
            seen.add(vector)
            yield source, kind.vector_s(case, budget, times)


def _passes(item: PlannedCase, budget: Budget) -> tuple[Source, float]:
    """The time of all passes of a workload. One whose plan knows only an outline states the time of a pass."""
    workload, inputs_per_pass = WORKLOADS[item.case.operation], INPUTS_PER_PASS.of(item.case.dimensions) or 1
    pass_s, source = item.pass_time or (_PASS_S, "typical times")
    if workload.pass_s is not None:
        pass_s, source = _growth(_shape(item).ring_dimension) * workload.pass_s, "typical times"
    several_s = inputs_per_pass * pass_s
    passes_s = budget.warmups * several_s + sampled_s(budget, several_s, budget.min_time_s)
    return source, passes_s + (_layer_passes(budget) * pass_s if workload.has_layers else 0.0)


def _layer_passes(budget: Budget) -> int:
    """The number of passes with one input that take as long as the layers, whatever ``inputs_per_pass`` is. Layers lack
    the client's part of a pass, which offsets their one-time costs: another execution, encoding, comparing.
    """
    return min(max(1, budget.min_samples), MAX_PASSES)


class _Clock:
    """The times of cases, each with its source."""

    def __init__(self, measured: Measured) -> None:
        self._costs = measured.costs
        self._pricers: dict[object, Pricer | None] = {}

    def times(self, item: PlannedCase) -> tuple[CaseTimes, Source]:
        """Those of the cost table as far as it has them, else typical ones. The operation's time is the source."""
        case, shape = item.case, _shape(item)
        call = read(case.operation) if case.operation.partition("(")[0] in OPERATIONS else None
        usual, source = _typical(item, call, self._costs_of(item))
        pricer = self._pricer(item)
        if pricer is None:
            return usual, source
        times = replace(
            usual,
            encrypt_s=pricer.client_s("encrypt", shape.primes) or usual.encrypt_s,
            decrypt_s=pricer.client_s("decrypt", shape.primes) or usual.decrypt_s,
        )
        if call is None:
            return times, source
        operation_s = pricer.seconds(
            call.name,
            _primes(item, call),
            max(call.count, len(call.arguments) if call.operation.has_several_results else 1),
            _residency(case),
            is_managed=_is_managed(case, call),
        )
        if operation_s is None:
            return times, source
        return replace(times, operation_s=operation_s), "cost tables"

    def _costs_of(self, item: PlannedCase) -> Costs | None:
        return self._costs.get(registry.base_variant(item.case.variant))

    def _pricer(self, item: PlannedCase) -> Pricer | None:
        case, parameters, costs = item.case, item.expected, self._costs_of(item)
        if costs is None or parameters is None:
            return None
        if (key := worker_of(case)) not in self._pricers:
            declared = registry.declaration(case.variant)
            self._pricers[key] = Pricer(
                costs, declared, parameters, switching(declared, parameters), case.threads
            )
        return self._pricers[key]


def _residency(case: Case) -> Residency:
    """Where operands are; a vector of several ciphertexts exceeds caches."""
    is_long = case.vector_length > case.parameters.slots
    return "streamed" if is_long or RESIDENCY.of(case.dimensions) == "streamed" else "cached"


def _is_managed(case: Case, call: Call) -> bool:
    """Whether a trial executes the managed operation, with relinearization and rescaling."""
    return multiplies(call) and not KINDS[case.experiment].chooses_operands


def _typical(item: PlannedCase, call: Call | None, costs: Costs | None) -> tuple[CaseTimes, Source]:
    (ring_dimension, top), primes, operation_s = _shape(item), _primes(item, call), 0.0
    share, source = _scaled_share(item.case.variant, costs)
    if call is not None:
        row, scheme = call.operation, item.case.parameters.scheme
        name = FULL_PRODUCT if row.is_product and _is_managed(item.case, call) else row.name
        operation_s = typical.operation_s(name, scheme, ring_dimension, primes, _digits(item, primes))
    times = CaseTimes(
        share * operation_s,
        share * typical.encrypt_s(ring_dimension, top),
        share * typical.decrypt_s(ring_dimension, top),
        ring_dimension * primes / _WORK,
    )
    return times, source


@lru_cache(64)  # a share is a median over a table
def _scaled_share(variant: str, costs: Costs | None) -> tuple[float, Source]:
    return typical.scaled_share(registry.declaration(variant), costs)


def _digits(item: PlannedCase, primes: int) -> int:
    if item.expected is None:
        return primes
    digits = switching(registry.declaration(item.case.variant), item.expected).digits
    return digits_in_use(primes, len(item.expected.moduli), digits)


class _Shape(NamedTuple):
    ring_dimension: int
    primes: int


def _shape(item: PlannedCase) -> _Shape:
    """The ring dimension, and the number of data primes: a guess where only the library knows them."""
    spec, parameters = item.case.parameters, item.expected
    if parameters is not None:
        return _Shape(parameters.ring_dimension, len(parameters.moduli))
    ring_dimension = _ring_dimension(spec)
    guess = max(1, ring_dimension // _RING_OF_A_PRIME)
    return _Shape(ring_dimension, max(1, len(spec.modulus_bits) - 1) if spec.modulus_bits else guess)


def _primes(item: PlannedCase, call: Call | None) -> int:
    """The number of data primes at the level of the case. Consecutive products of ckks descend: their mean cost is that
    at half of the chain and a little more.
    """
    primes, level = _shape(item).primes, LEVEL.of(item.case.dimensions)
    if level is None:
        is_descending = call is not None and _is_managed(item.case, call)
        return (
            math.ceil(_DESCENT * primes)
            if is_descending and item.case.parameters.scheme == "ckks"
            else primes
        )
    top = primes - 1 if item.expected is None else top_level(item.expected)
    return primes - top + level


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
