"""From suite to plan: cases, what is impossible and why, and the order of execution. Pure."""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from ciphermark_adapters.declaration import Declaration
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import DEFAULT_OPERATIONS, BudgetText, ExperimentText, Suite
from ciphermark_core import primes
from ciphermark_core.errors import Unsupported
from ciphermark_core.words import Budget, Case, ParameterSpec, Scheme, Trial
from ciphermark_measure import safety
from ciphermark_measure.operands import contract_operation

_SMALL_PRIME_BITS = 30
_SMALL_PRIME_RING = 8192


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case of the suite; ``reason`` says why it cannot be executed here."""

    case: Case
    reason: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Trials of one case by different variants: they take turns, sample by sample."""

    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Comparisons whose workers are the same: one worker per variant, one set of keys."""

    parameters: ParameterSpec
    threads: int
    comparisons: tuple[Comparison, ...]

    def cases_of(self, variant: str) -> list[Case]:
        """The cases that the variant's worker will serve."""
        trials = (trial for comparison in self.comparisons for trial in comparison.trials)
        return [trial.case for trial in trials if trial.case.variant == variant]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run executes, in order, and what it cannot."""

    blocks: tuple[Block, ...]
    unsupported: tuple[tuple[Trial, str], ...]

    @property
    def trials(self) -> list[Trial]:
        """All trials that will be executed, in order."""
        return [
            trial for block in self.blocks for comparison in block.comparisons for trial in comparison.trials
        ]


def budget_of(text: BudgetText) -> Budget:
    """The budget that a suite asks for."""
    return Budget(**text.model_dump())


def cases(suite: Suite, available: Mapping[str, Availability]) -> list[PlannedCase]:
    """Every case of a suite once, in the order of the file. ``available`` has all its variants."""
    found: dict[str, PlannedCase] = {}
    for experiment in suite.experiments:
        for planned in _cases_of(experiment, available):
            found.setdefault(planned.case.key, planned)
    return list(found.values())


def make(run_id: str, suite: Suite, planned: list[PlannedCase]) -> Plan:
    """Order the cases: blocks and comparisons shuffled by the suite's seed."""
    budget = budget_of(suite.budget)
    shuffle = random.Random(suite.seed).shuffle
    groups: dict[tuple[ParameterSpec, int, int], dict[str, list[Trial]]] = {}
    for process, item in product(range(budget.processes), planned):
        if item.reason is None:
            trial = _trial(run_id, item.case, process, suite.seed, budget)
            group = groups.setdefault((item.case.parameters, item.case.threads, process), {})
            group.setdefault(item.case.comparison_key, []).append(trial)
    blocks = []
    for (parameters, threads, _), comparisons in groups.items():
        ordered = [Comparison(tuple(trials)) for trials in comparisons.values()]
        shuffle(ordered)
        blocks.append(Block(parameters, threads, tuple(ordered)))
    shuffle(blocks)
    refused = tuple(
        (_trial(run_id, item.case, 0, suite.seed, budget), item.reason)
        for item in planned
        if item.reason is not None
    )
    return Plan(tuple(blocks), refused)


def without(plan: Plan, done: set[str]) -> Plan:
    """The plan less the trials whose ids are in ``done``."""
    blocks = []
    for block in plan.blocks:
        rest = [tuple(trial for trial in item.trials if trial.id not in done) for item in block.comparisons]
        comparisons = tuple(Comparison(trials) for trials in rest if trials)
        if comparisons:
            blocks.append(Block(block.parameters, block.threads, comparisons))
    unsupported = tuple(item for item in plan.unsupported if item[0].id not in done)
    return Plan(tuple(blocks), unsupported)


def _trial(run_id: str, case: Case, process: int, seed: int, budget: Budget) -> Trial:
    """Its id is derived, so that a resumed run knows what it has already executed."""
    identity = uuid.uuid5(uuid.UUID(run_id), f"{case.key}/{process}")
    data_seed = random.Random(f"{seed}/{case.comparison_key}/{process}").getrandbits(62)
    return Trial(str(identity), run_id, case, process, data_seed, budget)


def _cases_of(experiment: ExperimentText, available: Mapping[str, Availability]) -> Iterator[PlannedCase]:
    operations = experiment.operations or DEFAULT_OPERATIONS[experiment.kind]
    repeats = experiment.kind in ("depth", "noise")
    for scheme, ring_dimension in product(experiment.schemes, experiment.ring_dimension):
        spec, reason = _spec(experiment, scheme, ring_dimension)
        for operation, size, data, threads, variant in product(
            operations, experiment.sizes, experiment.data, experiment.threads, experiment.variants
        ):
            case = Case(
                variant=variant,
                experiment=experiment.kind,
                operation=operation,
                parameters=spec,
                size=spec.slots if size == "full" else size,
                data_pattern=data,
                threads=threads,
                cap=experiment.cap if repeats else None,
            )
            yield PlannedCase(case, reason or _reason_against(case, available[variant]))


def _spec(
    experiment: ExperimentText, scheme: Scheme, ring_dimension: int
) -> tuple[ParameterSpec, str | None]:
    """The parameter set of one point of the matrix, and why it cannot exist."""
    chain = None if experiment.modulus_bits == "default" else tuple(experiment.modulus_bits)
    is_ckks = scheme == "ckks"
    reason = None
    plain_modulus = None
    try:
        if not is_ckks:
            plain_modulus = _plain_modulus(experiment, ring_dimension)
        elif chain is None:
            chain = primes.default_ckks_chain(ring_dimension, experiment.scale_bits)
    except Unsupported as error:
        reason = str(error)
    spec = ParameterSpec(
        scheme=scheme,
        ring_dimension=ring_dimension,
        modulus_bits=chain,
        plain_modulus=plain_modulus,
        scale_bits=experiment.scale_bits if is_ckks else None,
        security=0 if experiment.security == "none" else experiment.security,
    )
    return spec, reason or _reason_against_chain(spec, experiment)


def _plain_modulus(experiment: ExperimentText, ring_dimension: int) -> int:
    asked = experiment.plain_modulus
    if asked.value is None:
        assert asked.bits is not None
        return primes.batching_modulus(asked.bits, ring_dimension)
    if not primes.batches(asked.value, ring_dimension):
        raise Unsupported(
            f"t = {asked.value} gives no slots at N = {ring_dimension}: "
            f"it must be a prime that is 1 modulo {2 * ring_dimension}"
        )
    return asked.value


def _reason_against_chain(spec: ParameterSpec, experiment: ExperimentText) -> str | None:
    if spec.modulus_bits is None:
        return None
    small = [bits for bits in spec.modulus_bits if bits < _SMALL_PRIME_BITS]
    is_drifting = spec.scheme == "ckks" and spec.ring_dimension >= _SMALL_PRIME_RING and small
    if is_drifting and "small-primes" not in experiment.allow:
        return (
            f"primes of {min(small)} bits are few at N = {spec.ring_dimension}: values drift by tens "
            "of percent per level; write `allow: [small-primes]` to measure it all the same"
        )
    try:
        log_qp = _log_qp(spec)
    except Unsupported as error:
        return str(error)
    return safety.reason_against(spec.ring_dimension, log_qp, spec.security)


def _log_qp(spec: ParameterSpec) -> float:
    """log2(QP) of the largest primes of the asked sizes; the worker checks what the library really takes."""
    assert spec.modulus_bits is not None
    return sum(
        math.log2(prime)
        for bits in set(spec.modulus_bits)
        for prime in primes.ntt_primes(bits, spec.ring_dimension, spec.modulus_bits.count(bits))
    )


def _reason_against(case: Case, available: Availability) -> str | None:
    declared, scheme = available.declaration, case.parameters.scheme
    if scheme not in declared.schemes:
        return f"{declared.library} offers no {scheme} here"
    if available.reason is not None:
        return f"{available.reason}; {available.remedy}"
    if case.threads > 1 and not declared.has_threads:
        return f"{declared.library} cannot be given {case.threads} threads here"
    operation = contract_operation(case.operation)
    if case.experiment == "serialization":
        return (
            None if operation in declared.compressions else _reason_against_compression(operation, declared)
        )
    able = declared.managed if case.experiment in ("depth", "noise") else declared.operations
    return None if operation in able[scheme] else declared.reason_against(operation)


def _reason_against_compression(mode: str, declared: Declaration) -> str:
    what = "cannot serialize without compression" if mode == "none" else f"offers no compression {mode}"
    return f"{declared.library} {what} here; offered: {', '.join(declared.compressions)}"
