"""Experiment ``repetition``: the time of many consecutive operations, x ← x ∘ y, and their memory.

One sample is the whole chain, from the same fresh ciphertext. Multiplications are the managed ones: they relinearize,
and rescale or switch to the next modulus. The others keep level and scale and need no management, so that the library's
own call is bound beforehand.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from statistics import median
from time import perf_counter_ns
from typing import IO

from ciphermark_adapters import registry
from ciphermark_contract import checking
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_contract.operations import multiplies, padded, read, repeatable, where
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import REPETITIONS
from ciphermark_core.metrics import MIN_PRECISION_BITS
from ciphermark_core.model import Case, Sample, Trial
from ciphermark_measure import confinement, operands
from ciphermark_measure.confinement import forked
from ciphermark_measure.experiments.base import (
    TRIAL_S,
    CaseTimes,
    Checked,
    ExperimentKind,
    Findings,
    Sampled,
    Setting,
    Varied,
    alone,
    judge,
    sampled_s,
    without_managed,
)
from ciphermark_measure.interference import cache_detection
from ciphermark_measure.parameter_selection import resolved
from ciphermark_measure.probes import Meter, measured_alone, samples_of, together
from ciphermark_measure.sampling import Phase, is_long, make_ready, target
from ciphermark_measure.session import Session, possible, require_scheme

_SETS = 2
_CHECKED_CHAINS = 8  # in addition to samples: checks, calibration, memory
_OWN_PROCESS_S = 0.35  # in which memory is measured


class ChainBound(Bound):
    """``repetitions`` consecutive operations; every execution begins with the same ciphertext."""

    def __init__(self, step: Callable[..., Handle], row: Sequence[Handle], repetitions: int) -> None:
        self._step = step
        self._first, *self._others = row
        self._repetitions = repetitions
        self._result: Handle = None

    def run(self, loops: int) -> int:
        """See :meth:`Bound.run`: one loop is the whole chain."""
        step, others, count = self._step, self._others, self._repetitions
        start = perf_counter_ns()
        for _ in repeat(None, loops):
            result = self._first
            for _ in repeat(None, count):
                result = step(result, *others)
        elapsed = perf_counter_ns() - start
        self._result = result
        return elapsed

    def results(self) -> list[Handle]:
        """See :meth:`Bound.results`: the result of the last chain."""
        return [self._result]


@dataclass(frozen=True, slots=True)
class Chain:
    """A bound chain and its expected slots."""

    bound: ChainBound
    expected: Sequence[Vector]


def bound(evaluator: Evaluator, case: Case, ciphertexts: Sequence[Handle]) -> ChainBound:
    """The chain of a case on ciphertexts that the evaluator holds: first x, then y where there is one."""
    call = read(case.operation)
    count = REPETITIONS.of(case.dimensions)
    assert count is not None
    row = [*ciphertexts, *call.operands]
    if multiplies(call):  # the others change neither level nor scale
        return ChainBound(partial(evaluator.managed().apply, call.name), row, count)
    if call.name not in evaluator.operations:
        raise Unsupported(evaluator.reason_against(call.name))
    return ChainBound(evaluator.operations[call.name], row, count)


def vectors(case: Case, seed: int, index: int) -> list[Vector]:
    """x, and y where the operation has a second operand; another ``index`` gives other values."""
    call = read(case.operation)
    others, is_factor = len(call.operation.operands) - 1, multiplies(call)
    x = operands.operand(case, seed, 2 * index, is_factor=is_factor and not others)
    return [x, *(operands.operand(case, seed, 2 * index + 1, is_factor=is_factor) for _ in range(others))]


def expected(session: Session, case: Case, plain: Sequence[Vector]) -> Vector:
    """The slots after the whole chain."""
    call, ring = read(case.operation), operands.ring_of(session)
    result, *others = [padded(vector, ring.slots) for vector in plain]
    for _ in range(REPETITIONS.of(case.dimensions) or 0):
        result = call.meaning(ring, result, *others)
    return result


class Repetition(Sampled):
    """Samples whole chains on two interleaved sets of operands, checked before the first sample and after the last."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._chains: list[Chain] = []
        self._executed_ns: list[int] = []

    def open(self) -> None:
        """See :meth:`Experiment.open`. An incorrect result ends the trial before anything is timed."""
        self.session.require_possible(self.case.operation)
        slots = self.session.parameters.slots
        if self.case.vector_length > slots:
            raise Unsupported(
                f"a chain works on one ciphertext: its {slots} slots differ from {self.case.vector_length} values"
            )
        self._chains = [self._made(index) for index in range(_SETS)]
        for chain in self._chains:
            self._executed_ns.append(chain.bound.run(1))
            self.findings = self._checked(chain)
            if self.findings.status != "ok":
                return
        budget, gate = self.setting.trial.budget, self.setting.gate
        with self.spent("calibration_s"):
            aim = target(budget, self.setting.resolution_ns)
            bounds = [chain.bound for chain in self._chains]
            phase = Phase("evaluate", bounds, aim, self.setting.clock, Meter("circuit"), gate)
            make_ready(phase, min(self._executed_ns), budget.warmups)
        self.phases = [phase]

    def close(self) -> Findings:
        """See :meth:`Experiment.close`. A cached result or an unsound clock is ``incorrect``."""
        if not self.phases:
            return replace(self.findings, facts=self.facts)
        (phase,) = self.phases
        self.sum_up()
        if self.findings.status == "ok":
            self.findings = self._checked(self._chains[phase.last_index])
        if self.findings.status == "ok":
            self.check_computed(lambda look: self._times_of_fresh(phase, _SETS * (look + 1)))
        count = REPETITIONS.of(self.case.dimensions)
        quality = self.quality(lambda: self._chains[0].bound.results()[0], count)
        samples = [replace(sample, repetitions=count) for sample in phase.samples]
        return replace(self.findings, samples=(*quality, *samples), facts=self.facts)

    def _made(self, index: int) -> Chain:
        with self.spent("encryption_s"):
            plain = vectors(self.case, self.setting.trial.seed, index)
            bound_chain = bound(self.session.evaluator, self.case, self.session.to_evaluator(plain))
        return Chain(bound_chain, [expected(self.session, self.case, plain)])

    def _checked(self, chain: Chain) -> Findings:
        """The findings for a chain. Results must be exact in bfv and bgv, and keep a deep computation's precision in
        ckks.
        """
        results = chain.bound.results()
        is_exact = self.session.parameters.scale is None
        tolerance = 0.0 if is_exact else 2.0**-MIN_PRECISION_BITS
        accuracy = checking.accuracy(self.session.decrypted(results), chain.expected, tolerance)
        return judge(self.setting, Checked(accuracy, chain.expected, results), self._attempt)

    def _attempt(self, session: Session) -> bool:
        """Whether the result of the first chain is correct in another session."""
        plain = vectors(self.case, self.setting.trial.seed, 0)
        chain = bound(session.evaluator, self.case, session.to_evaluator(plain))
        chain.run(1)
        slots = [expected(session, self.case, plain)]
        return checking.is_right(checking.accuracy(session.decrypted(chain.results()), slots, 0.0))

    def _times_of_fresh(self, phase: Phase, first: int) -> cache_detection.Times | None:
        """Times of new operands from number ``first`` on; ``None`` where one is incorrect, which is a finding."""
        pairs: list[cache_detection.Pair] = []
        # One long chain is enough: occasional delays by the host are small in comparison.
        compared = self._chains[:1] if is_long(phase, min(self._executed_ns)) else self._chains
        for index, chain in enumerate(compared):
            fresh = self._made(first + index)
            number = first // _SETS + index
            pairs.append(
                cache_detection.timed_in_turns(
                    self._chains[-1].bound.run, chain.bound.run, fresh.bound.run, number
                )
            )
            findings = self._checked(fresh)
            if findings.status != "ok":
                self.findings = findings
                return None
        repeated_s = median(phase.counted_s)
        is_alone = phase.loops == 1  # every sample was one execution
        single_s = repeated_s if is_alone else min(pair.seen_work_s for pair in pairs)
        run = self._chains[-1].bound.run
        return self.times(repeated_s, single_s, pairs, lambda: cache_detection.work_s(run, phase.loops))


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Bytes of each part of the public material, then of each operand, as they lie in the file."""

    material: list[int] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)


def footprint(trial: Trial, keys: KeyRequest) -> list[Sample]:
    """Measure one chain alone with the probes, such as peaks of the resident set. The stage ``keys`` is the key owner's
    process. ``operation`` (the chain) and ``process`` (with the reading of keys) are the evaluator's.

    The key owner is a forked process, which ends once keys and operands are written to a file. The remaining process
    holds one set of evaluation keys, the operands and the library, like a program that uses the library alone.

    The process must not have loaded a library before. Raises the owner's exceptions, such as ``Unsupported``.
    """
    with tempfile.TemporaryFile() as file:
        owner_samples, sizes = forked(lambda: _own(trial, keys, file), "makes the keys")
        file.seek(0)
        reading = Meter("alone")
        reading.start()
        evaluator = registry.load(trial.case.variant).evaluator(map(file.read, sizes.material))
        ciphertexts = [evaluator.load(file.read(size)) for size in sizes.operands]
    read = reading.stop()
    chain = bound(evaluator, trial.case, ciphertexts)
    gc.collect()
    confinement.trim()  # what reading took is no part of the chain's memory
    operated = measured_alone(lambda: chain.run(1))
    whole = together([read, operated])
    return [*owner_samples, *samples_of(operated, "evaluate"), *samples_of(whole, "process")]


def _own(trial: Trial, keys: KeyRequest, file: IO[bytes]) -> tuple[list[Sample], _Sizes]:
    """Make keys and operands; returns their memory, and their sizes in the file."""
    sizes = _Sizes()
    samples = alone("keygen", lambda: _make(trial, keys, file, sizes))
    return samples, sizes


def _make(trial: Trial, keys: KeyRequest, file: IO[bytes], sizes: _Sizes) -> None:
    """Write public material and encrypted operands, and note their sizes."""
    case = trial.case
    declared = require_scheme(case.variant, case.parameters)
    adapter = registry.load(case.variant)
    parameters = resolved(adapter, case.parameters)
    owner = adapter.key_owner(parameters, possible(keys, declared, parameters))
    ciphertexts = [owner.encrypt(vector) for vector in vectors(case, trial.seed, 0)]
    sizes.material.extend(map(file.write, owner.public_material()))
    sizes.operands.extend(file.write(owner.dump(item, declared.compressions[0])) for item in ciphertexts)
    file.flush()


def _trial_s(case: Case, budget: Budget, times: CaseTimes) -> float:
    chain_s = (REPETITIONS.of(case.dimensions) or 0) * times.operation_s
    beside_s = _OWN_PROCESS_S + (budget.warmups + _CHECKED_CHAINS) * chain_s
    return TRIAL_S + beside_s + sampled_s(budget, chain_s, budget.min_time_s)


def _reason(case: Case, declared: Declaration) -> str | None:
    slots, is_known = case.parameters.slots, not case.parameters.ring_dimension_is_minimum
    too_long = f"a chain works on one ciphertext: its {slots} slots differ from {case.vector_length} values"
    return without_managed(case, declared) or (too_long if is_known and case.vector_length > slots else None)


KINDS = (
    ExperimentKind(
        "repetition",
        Repetition,
        operations=where(lambda row: row.name in repeatable() and row.takes_ciphertexts_only),
        defaults=where(lambda row: row.is_product)[:1],
        trial_s=_trial_s,
        reason=_reason,
        varied=(Varied(REPETITIONS, most=1 << 20, example=[50, 100], is_list=True),),
        has_memory_worker=True,
    ),
)
