"""Turns a suite into a plan: cases, unsupported cases with reasons, the order of execution, and the number of
concurrent processes. Pure.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.data_sets import Known
from ciphermark_benchmark.suite.capacity import Capacity
from ciphermark_benchmark.suite.feasibility import (
    DEADLINE_S,
    NO_COSTS,
    Examination,
    ParameterFeasibility,
    PassTime,
    ProgramFeasibility,
    reason_against_memory,
    reason_against_parties,
    reason_against_variant,
    reason_against_worker,
)
from ciphermark_benchmark.suite.fields import as_list, asked_security, defaults, kind_of
from ciphermark_benchmark.suite.form import ExperimentText, Suite, WorkloadText
from ciphermark_benchmark.suite.requests import Point, requested
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.footprint import PartyBytes
from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import DATA_SET, LEVEL, REPETITIONS, RESIDENCY, Value
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import SCHEMES, Case, Parameters, ParameterSpec, Scheme, Status, Trial
from ciphermark_measure import levels as level_rules
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.session import possible
from ciphermark_model.interpolation import Costs
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, families
from ciphermark_workloads.options import INPUTS_PER_PASS, to_case
from ciphermark_workloads.parameters import Override, reason_against, recommended

WORKLOAD_KINDS = families(WORKLOADS)  # the experiments whose operations are workloads
_UNSUPPORTED: Status = "unsupported"
Dimensions: TypeAlias = dict[str, Value]
_NO_RING = 2  # the ring dimension of a case whose workload has no parameters in its scheme
_TWINS = 2  # a worker, and the one that measures its memory at the same time
_NOT_CHOSEN: tuple[Dimensions, str | None] = ({}, None)
_UNKNOWN_LEVELS = (
    "the levels of {library}'s modulus chain are unknown before a run: write modulus_bits with prime sizes"
)


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case; ``reason`` why it cannot be executed here, with its resulting ``status``. ``server_mb`` is what a server
    keeps besides keys and ciphertexts in MiB, ``memory`` the peaks of both parties, as far as known.

    ``expected`` are its parameters, as far as known without the library; with ``is_estimate``, the library may choose
    others. ``pass_time`` is that of a workload by its programs. ``key_bytes`` are the size of its evaluation keys.
    """

    case: Case
    reason: str | None
    status: Status = "unsupported"
    server_mb: int | None = None
    expected: Parameters | None = None
    is_estimate: bool = False
    pass_time: PassTime | None = None
    memory: PartyBytes | None = None
    key_bytes: int = 0

    @property
    def party_mb(self) -> int | None:
        """The larger of the two peaks, in MiB."""
        return None if self.memory is None else -(-max(self.memory.client, self.memory.server) >> 20)


@dataclass(frozen=True, slots=True)
class ComparisonGroup:
    """Trials of one case by different variants, interleaved sample by sample."""

    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Comparison groups with common workers: one worker per variant, one set of keys."""

    parameters: ParameterSpec
    threads: int
    comparison_groups: tuple[ComparisonGroup, ...]
    has_workloads: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The trials that a run executes, in order, and those that it cannot execute."""

    blocks: tuple[Block, ...]
    unsupported: tuple[Refused, ...]

    @property
    def trials(self) -> list[Trial]:
        """All trials that will be executed, in order."""
        return [
            trial
            for block in self.blocks
            for comparison_group in block.comparison_groups
            for trial in comparison_group.trials
        ]

    @property
    def outcomes(self) -> int:
        """The number of outcomes: one for each trial, executed or not."""
        return len(self.trials) + len(self.unsupported)


class _Candidate(NamedTuple):
    """A case, the reason against it before any resolution or tracing, and its workload."""

    case: Case
    reason: str | None
    workload: AnyWorkload | None = None
    data: Known | None = None


def keys(suite: Suite, available: Mapping[str, Availability]) -> list[str]:
    """The key of every case as often as the suite has it, in file order. It traces no workload."""
    return [item.case.key for item in _candidates(suite, available, ParameterFeasibility())]


def cases(
    suite: Suite,
    available: Mapping[str, Availability],
    deadline_s: float = DEADLINE_S,
    host_mb: int | None = None,
    costs: Mapping[str, Costs] = NO_COSTS,
) -> list[PlannedCase]:
    """Every case of a suite once, in file order. ``available`` covers all its variants. Calls into a user's file take
    at most ``deadline_s``. ``host_mb`` is the host's memory. ``costs`` are those of its variants, by name: they predict
    passes.
    """
    by_key: dict[str, PlannedCase] = {}
    parameters = ParameterFeasibility()
    programs = ProgramFeasibility(deadline_s, suite.budget.memory_mb, costs)
    for candidate in _candidates(suite, available, parameters):
        case, reason, workload, data = candidate
        if case.key in by_key:
            continue
        declared, status, needed_mb = available[case.variant].declaration, _UNSUPPORTED, None
        expected, known = None, Examination()
        if reason is None and workload is None:
            reason = parameters.reason_against(case, declared)
            expected = parameters.expected(case, declared)
        elif reason is None and workload is not None:
            needed_mb = programs.server_mb(workload, case)
            reason = reason_against_memory(needed_mb, suite.budget.memory_mb)  # before a program is traced
            status = "out_of_memory" if reason else status
            if reason is None:
                known = programs.examined(workload, case, declared, data)
                reason = known.reason
            if reason is None and known.memory is not None:
                reason = reason_against_parties(known.memory, suite.budget.memory_mb, host_mb)
                status = "out_of_memory" if reason else status
        costs_of = known.pass_time(case.variant), known.memory, known.key_bytes
        by_key[case.key] = PlannedCase(
            case, reason, status, needed_mb, expected, declared.chooses_primes, *costs_of
        )
    return _within_memory(list(by_key.values()), available, suite.budget.memory_mb)


def _within_memory(
    planned: Sequence[PlannedCase], available: Mapping[str, Availability], memory_mb: int
) -> list[PlannedCase]:
    """The cases with the memory of their workers, which have the keys of all their cases. Where these do not fit, cases
    with keys are refused.
    """
    keys = keys_of_workers(planned)
    return [
        _fitted(item, available[item.case.variant].declaration, keys[worker_of(item.case)], memory_mb)
        if item.reason is None and item.case.experiment in KINDS
        else item
        for item in planned
    ]


def _fitted(item: PlannedCase, declared: Declaration, keys: KeyRequest, memory_mb: int) -> PlannedCase:
    if item.expected is None or declared.footprint is None:
        return item
    for made in (keys, _keys_of(item.case)):
        memory = declared.footprint.worker(item.expected, possible(made, declared, item.expected))
        reason = None if memory is None else reason_against_worker(memory, memory_mb)
        if reason is None or _keys_of(item.case):
            break
    return replace(item, memory=memory, reason=reason, status="out_of_memory" if reason else item.status)


def worker_of(case: Case) -> tuple[str, ParameterSpec, int]:
    """What the cases of a worker have in common."""
    return case.variant, case.parameters, case.threads


def keys_of_workers(planned: Iterable[PlannedCase]) -> dict[object, KeyRequest]:
    """The evaluation keys that the executable cases request of their workers, by :func:`worker_of`."""
    keys: dict[object, KeyRequest] = {}
    for item in planned:
        if item.reason is None and item.case.experiment in KINDS:
            worker = worker_of(item.case)
            keys[worker] = keys.get(worker, NO_KEYS) | _keys_of(item.case)
    return keys


def _keys_of(case: Case) -> KeyRequest:
    return KINDS[case.experiment].experiment.keys(case)


def _candidates(
    suite: Suite, available: Mapping[str, Availability], parameters: ParameterFeasibility
) -> Iterator[_Candidate]:
    """Every case as often as the suite has it, without tracing workloads, which takes seconds."""
    for experiment in suite.experiments:
        if isinstance(experiment, WorkloadText):
            yield from _workload_cases(experiment, available)
        else:
            yield from _cases_of(experiment, available, parameters)


def make(run_id: str, suite: Suite, planned: list[PlannedCase], host_mb: int | None = None) -> Plan:
    """Order the cases: blocks and comparison groups, shuffled by the suite's seed; leading groups come first. In the
    order smallest-first, blocks with few primes in a small ring come first, and workloads with a short pass. Variants
    whose parties do not fit the host together are not interleaved.
    """
    budget = suite.trial_budget
    shuffle = random.Random(suite.seed).shuffle
    groups: dict[tuple[ParameterSpec, int, int, bool], dict[str, list[Trial]]] = {}
    for process, item in product(range(budget.processes), planned):
        if item.reason is None:
            trial = _trial(run_id, item.case, process, suite.seed, budget)
            has_workloads = item.case.experiment in WORKLOAD_KINDS
            group = groups.setdefault((item.case.parameters, item.case.threads, process, has_workloads), {})
            group.setdefault(item.case.comparison_group, []).append(trial)
    memory_mb = {item.case.key: needed_mb(item) or 0 for item in planned}
    blocks = []
    for (parameters, threads, _, has_workloads), comparison_groups in groups.items():
        for together in (
            [None] if has_workloads else _together(comparison_groups.values(), memory_mb, host_mb)
        ):
            ordered = [
                ComparisonGroup(part)
                for trials in comparison_groups.values()
                for part in _fitting(_among(trials, together), memory_mb, host_mb)
            ]
            first = _leading(ordered)
            rest = [item for item in ordered if item not in first]
            shuffle(rest)
            rest = _by_operands(rest)
            blocks.append(Block(parameters, threads, (*first, *rest), has_workloads))
    shuffle(blocks)
    if suite.order == "smallest-first":
        blocks = [_smallest_first(block, planned) for block in sorted(blocks, key=_size)]
    refused = tuple(
        Refused(_trial(run_id, item.case, 0, suite.seed, budget), item.reason, item.status)
        for item in planned
        if item.reason is not None
    )
    return Plan(tuple(blocks), refused)


def needed_mb(item: PlannedCase) -> int | None:
    """The MiB that a case takes of its host: those of both parties, or of a worker and the one that measures its
    memory; ``None`` if they are unknown.
    """
    if item.memory is None:
        return None
    return (_TWINS if item.case.experiment in KINDS else 1) * sum(item.memory[:2]) >> 20


def _fitting(
    trials: Sequence[Trial], memory_mb: Mapping[str, int], host_mb: int | None
) -> Iterator[tuple[Trial, ...]]:
    """The trials of a comparison group in parts that the host can hold."""
    part: list[Trial] = []
    for trial in trials:
        together = sum(memory_mb.get(item.case.key, 0) for item in [*part, trial])
        if part and host_mb is not None and together > host_mb:
            yield tuple(part)
            part = []
        part.append(trial)
    if part:
        yield tuple(part)


def _together(
    comparison_groups: Iterable[Sequence[Trial]], memory_mb: Mapping[str, int], host_mb: int | None
) -> list[set[str]]:
    """The variants in sets whose workers, which exist at the same time, the host can hold."""
    largest: dict[str, Trial] = {}
    for trial in (trial for trials in comparison_groups for trial in trials):
        before = largest.setdefault(trial.case.variant, trial)
        if memory_mb.get(trial.case.key, 0) > memory_mb.get(before.case.key, 0):
            largest[trial.case.variant] = trial
    return [
        {trial.case.variant for trial in part} for part in _fitting([*largest.values()], memory_mb, host_mb)
    ]


def _among(trials: Sequence[Trial], variants: Collection[str] | None) -> Sequence[Trial]:
    return [trial for trial in trials if variants is None or trial.case.variant in variants]


def _size(block: Block) -> tuple[int, int]:
    spec = block.parameters
    return spec.ring_dimension, len(spec.modulus_bits or ()) or spec.depth or 0


def _smallest_first(block: Block, planned: Sequence[PlannedCase]) -> Block:
    """The block with its workloads by the time of a pass. Other experiments share a worker: their order stays."""
    pass_s = {item.case.comparison_group: item.pass_time.seconds for item in planned if item.pass_time}
    groups = sorted(
        block.comparison_groups, key=lambda item: pass_s.get(item.trials[0].case.comparison_group, 0.0)
    )
    return replace(block, comparison_groups=tuple(groups)) if block.has_workloads else block


def _leading(comparison_groups: Sequence[ComparisonGroup]) -> list[ComparisonGroup]:
    """The leading comparison groups: for each experiment, vector length and data pattern the group with the most
    variants, the first of several in the suite. Its workers measure values for all later groups, such as encryption
    times. These then come from the same case in every run, with as many variants interleaved as possible.
    """
    leaders: dict[tuple[str, int, str], ComparisonGroup] = {}
    for item in comparison_groups:
        case = item.trials[0].case
        leader = leaders.setdefault((case.experiment, case.vector_length, case.data_pattern), item)
        if len(item.trials) > len(leader.trials):
            leaders[case.experiment, case.vector_length, case.data_pattern] = item
    return list(leaders.values())


def _by_operands(comparison_groups: Sequence[ComparisonGroup]) -> list[ComparisonGroup]:
    """The groups in their order, but those of one level and residency one after the other: they share operands."""
    places: dict[object, list[ComparisonGroup]] = {}
    for item in comparison_groups:
        dimensions = item.trials[0].case.dimensions
        places.setdefault((LEVEL.of(dimensions), RESIDENCY.of(dimensions)), []).append(item)
    return [item for several in places.values() for item in several]


def without(plan: Plan, done: set[str]) -> Plan:
    """The plan without the trials whose ids are in ``done``."""
    blocks = []
    for block in plan.blocks:
        rest = [
            tuple(trial for trial in item.trials if trial.id not in done) for item in block.comparison_groups
        ]
        comparison_groups = tuple(ComparisonGroup(trials) for trials in rest if trials)
        if comparison_groups:
            blocks.append(replace(block, comparison_groups=comparison_groups))
    unsupported = tuple(item for item in plan.unsupported if item.trial.id not in done)
    return Plan(tuple(blocks), unsupported)


def _trial(run_id: str, case: Case, process: int, seed: int, budget: Budget) -> Trial:
    """A trial with a derived id, so that a resumed run recognizes completed trials."""
    identity = uuid.uuid5(uuid.UUID(run_id), f"{case.key}/{process}")
    # all cases of a data set share its split, and all operations share their vectors
    about = (
        DATA_SET.of(case.dimensions)
        or replace(case, variant="", experiment="", operation="", dimensions={}).key
    )
    data_seed = random.Random(f"{seed}/{about}/{process}").getrandbits(62)
    return Trial(str(identity), run_id, case, process, data_seed, budget)


def _cases_of(
    experiment: ExperimentText, available: Mapping[str, Availability], parameters: ParameterFeasibility
) -> Iterator[_Candidate]:
    operations = experiment.operations or defaults(experiment.kind)
    asked = experiment.ring_dimension
    rings: Sequence[int | None] = (None,) if asked == "smallest-secure" else asked
    for tuning, scheme, ring_dimension, dimensions in product(
        as_list(experiment.tuning), experiment.schemes, rings, experiment.dimensions()
    ):
        point = Point(scheme, ring_dimension, REPETITIONS.of(dimensions), tuning)
        spec, reason = requested(experiment, point, operations)
        for operation, size, data, threads, variant in product(
            operations, experiment.vector_length, experiment.data, experiment.threads, experiment.variants
        ):
            case = Case(
                variant=variant,
                experiment=kind_of(operation, experiment.kind),
                operation=operation,
                parameters=spec,
                vector_length=spec.slots if size == "full" else size,
                data_pattern=data,
                threads=threads,
                dimensions=dimensions,
            )
            candidate = _Candidate(case, reason or _reason_against(case, available[variant]))
            declared = available[variant].declaration
            yield from _with_operands(candidate, experiment, declared, parameters)


def _with_operands(
    candidate: _Candidate,
    experiment: ExperimentText,
    declared: Declaration,
    parameters: ParameterFeasibility,
) -> Iterator[_Candidate]:
    """The case at each level and residency that the experiment requests; an impossible case once."""
    case, levels, residencies = candidate.case, experiment.levels, experiment.residency
    if candidate.reason is not None:
        yield candidate
        return
    at_levels = [_NOT_CHOSEN] if levels is None else _at_levels(case, levels, declared, parameters)
    resident: list[Dimensions] = (
        [{}] if residencies is None else [{RESIDENCY.name: each} for each in residencies]
    )
    for (level, reason), residency in product(at_levels, resident):
        yield _Candidate(replace(case, dimensions={**case.dimensions, **level, **residency}), reason)


def _at_levels(
    case: Case,
    levels: Literal["all", "top"] | Sequence[int],
    declared: Declaration,
    parameters: ParameterFeasibility,
) -> list[tuple[Dimensions, str | None]]:
    """The requested levels of a case, each with the reason against it; with words, those at which its operation
    exists.
    """
    expected = parameters.expected(case, declared)
    if expected is None:
        reason = parameters.reason_against(case, declared)
        return [({}, reason or _UNKNOWN_LEVELS.format(library=declared.library))]
    if isinstance(levels, str):
        possible = level_rules.possible(case.operation, expected, declared)
        levels = possible if levels == "all" else possible[:1]
    return [
        ({LEVEL.name: level}, level_rules.reason_at(case.operation, level, expected, declared))
        for level in levels
    ]


def _reason_against(case: Case, available: Availability) -> str | None:
    declared = available.declaration
    has_threads = declared.has_threads or case.operation in declared.threaded
    reason = reason_against_variant(case, available, has_threads)
    return reason or KINDS[case.experiment].reason(case, declared)


def _workload_cases(experiment: WorkloadText, available: Mapping[str, Availability]) -> Iterator[_Candidate]:
    """The cases of a workload: the requested schemes that it offers. Without a data set, the input derives from the
    trial's seed.
    """
    data_sets = [None] if experiment.data_sets is None else [item.known for item in experiment.data_sets]
    for name, options in experiment.chosen():
        workload = WORKLOADS[name].with_options(options)
        schemes = [scheme for scheme in experiment.schemes or SCHEMES if scheme in workload.schemes]
        for tuning, scheme, ring, data, threads, inputs_per_pass, variant in product(
            as_list(experiment.tuning),  # None: the workload's own, where the library has it
            schemes,
            experiment.ring_dimension or (None,),
            data_sets,
            experiment.threads,
            experiment.inputs_per_pass,
            experiment.variants,
        ):
            declared = available[variant].declaration
            parameters, reason = _parameters(workload, scheme, declared, _override(experiment, ring))
            own = "matched" if declared.reason_against_tuning(parameters) else parameters.tuning
            source = {} if data is None else {DATA_SET.name: data.name}
            several = (
                {} if inputs_per_pass == 1 else {INPUTS_PER_PASS.name: inputs_per_pass}
            )  # absent for a single input
            case = Case(
                variant=variant,
                experiment=experiment.kind,
                operation=workload.name,
                parameters=replace(parameters, tuning=tuning or own),
                vector_length=1 if data is None else data.rows * data.features,
                data_pattern="random" if data is None else "real",
                threads=threads,
                dimensions={**to_case(workload.options), **source, **several},
            )
            reason = _reason_against_workload(case, workload, available[variant]) or reason
            yield _Candidate(case, reason, workload, data)


def _override(experiment: WorkloadText, ring_dimension: int | None) -> Override:
    modulus = experiment.plain_modulus
    level, table = asked_security(experiment.security)
    return Override(
        ring_dimension=ring_dimension,
        modulus_bits=None if experiment.modulus_bits is None else tuple(experiment.modulus_bits),
        scale_bits=experiment.scale_bits,
        plain_modulus=None if modulus is None else modulus.value,
        plain_modulus_bits=None if modulus is None else modulus.bits,
        security=level,
        security_table=table,
    )


def _parameters(
    workload: AnyWorkload, scheme: Scheme, declared: Declaration, override: Override
) -> tuple[ParameterSpec, str | None]:
    """The parameter set, and the reason why it cannot exist, if any; then it has no plaintext modulus."""
    try:
        return recommended(workload, scheme, declared, override), None
    except Unsupported as error:
        without = replace(_closest(workload, scheme, declared, override), plain_modulus=None)
        return replace(without, ring_dimension=override.ring_dimension or without.ring_dimension), str(error)


def _closest(
    workload: AnyWorkload, scheme: Scheme, declared: Declaration, override: Override
) -> ParameterSpec:
    """The parameter set that stands for an impossible one: without the changes that make others impossible, or for
    libraries that take the requested primes, or of the scheme alone.
    """
    rest = msgspec.structs.replace(override, ring_dimension=None, plain_modulus_bits=None)
    for made in (
        partial(recommended, workload, scheme, declared, rest),
        partial(workload.parameters, scheme),
    ):
        with suppress(Unsupported):
            return made()
    return ParameterSpec(scheme, _NO_RING)


def _reason_against_workload(case: Case, workload: AnyWorkload, available: Availability) -> str | None:
    declared, scheme = available.declaration, case.parameters.scheme
    has_threads = declared.has_threads or declared.programs_have_threads
    reason = reason_against(case.parameters) or reason_against_variant(case, available, has_threads)
    if reason is not None:
        return reason
    missing = [name for name in workload.operations(scheme) if not declared.has(name, scheme)]
    if missing:
        return f"{workload.name} needs {', '.join(missing)}: {declared.reason_against(missing[0], scheme)}"
    return declared.refusal(case.parameters)


class Refused(NamedTuple):
    """A trial that is not executed, with its resulting status and reason."""

    trial: Trial
    reason: str
    status: Status = "unsupported"


def reason_against_suite(
    suite: Suite, available: Mapping[str, Availability], chosen: Collection[str], capacity: Capacity
) -> str | None:
    """The reason why a suite, restricted to the chosen variants (none chosen: all), cannot be executed with these
    available; ``None`` if it can, as far as its cases are known. The command line and REST share this rule, which
    traces no workload. Experiments with common parameters and threads share workers.
    """
    places: dict[tuple[ParameterSpec, int, bool], set[str]] = {}
    for item in _candidates(suite, available, ParameterFeasibility()):
        if item.reason is None and (not chosen or item.case.variant in chosen):
            has_workloads = item.case.experiment in WORKLOAD_KINDS
            place = (item.case.parameters, item.case.threads, has_workloads)
            places.setdefault(place, set()).add(item.case.variant)
    reasons = (
        capacity.reason_against(len(variants), has_workloads)
        for (_, _, has_workloads), variants in places.items()
    )
    return next((reason for reason in reasons if reason is not None), None)
