"""Experiments ``arithmetic`` and ``rotation``: time of encryption, operation and decryption."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from ciphermark_contract import checking
from ciphermark_contract.interfaces import Bound, Handle, Vector
from ciphermark_contract.operations import read, top_level, where
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import LEVEL, RESIDENCY
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Case, Sample
from ciphermark_measure import levels, operands, residency
from ciphermark_measure.experiments import subsampling
from ciphermark_measure.experiments.base import (
    CIPHERTEXT_S,
    TRIAL_S,
    CaseTimes,
    Checked,
    ExperimentKind,
    Findings,
    Sampled,
    Setting,
    alone,
    judge,
    sampled_s,
    without_primitive,
)
from ciphermark_measure.interference import cache_detection
from ciphermark_measure.operands import OperandSet
from ciphermark_measure.residency import Pool
from ciphermark_measure.sampling import SHORT_SAMPLE_NS, Phase, make_ready, target
from ciphermark_measure.session import Session

_MAX_SETS = 3
_MIN_SETS = 2
_OPERAND_BYTES = 1 << 30  # limit of all operand sets together
_FRESH_SETS = 2
_ROWS_TIMED = 2
_SINGLES = 3
_TOUCH_NS = 50_000_000


class Latency(Sampled):
    """Samples one operation on vectors of one or more ciphertexts, and executes enough of them to represent all: see
    :mod:`.subsampling`. Encryption and decryption are sampled where no earlier trial of the worker has timed them: see
    :class:`ClientPhases`.

    The result of every operand set is decrypted and compared before the first sample. After the last sample, its
    results are compared, and fresh operands are timed against the repeated ones.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._call = read(self.case.operation)
        self._ciphertexts = -(-self.case.vector_length // self.session.parameters.slots)
        self._executed = subsampling.executed(self._ciphertexts, self._row_bytes(), host.caches())
        self._sets: list[OperandSet] = []
        self._bounds: list[Bound] = []
        self._client = ClientPhases(setting, 1.0)
        self._single: list[Sample] = []  # executions that cannot be repeated
        self._residency = RESIDENCY.of(self.case.dimensions)

    def open(self) -> None:
        """See :meth:`Experiment.open`. An incorrect result ends the trial before anything is timed."""
        self._require_possible()
        pool = self._pool()
        self._executed = self._count_that_tells()
        self._sets = [self._build(index) for index in range(self._set_count())]
        self._bounds = [self.session.evaluator.bind(self._call.name, item.rows) for item in self._sets]
        executed_ns = self._execute_cold(self._bounds[0], self._executed)
        for index, (bound, item) in enumerate(zip(self._bounds, self._sets, strict=True)):
            if index > 0:  # the first one's cold execution is checked itself
                executed_ns = min(executed_ns, bound.run(1))
            self.findings = self._checked(bound, item)
            if self.findings.status != "ok":
                return
        self.facts["executed_ciphertexts"] = self._executed
        with self.spent("calibration_s"):
            self.phases = self._made_phases(pool)
            for phase in self.phases:
                known_ns = executed_ns if phase.bounds is self._bounds else 0
                if pool is not None and phase.name == "evaluate":
                    phase.warm_up(self.setting.trial.budget.warmups)
                else:
                    make_ready(phase, known_ns, self.setting.trial.budget.warmups)

    def _require_possible(self) -> None:
        self.session.require_possible(self.case.operation)
        level = LEVEL.of(self.case.dimensions)
        if level is not None:
            reason = levels.reason_at(
                self.case.operation, level, self.session.parameters, self.session.declaration
            )
            if reason is not None:
                raise Unsupported(reason)

    def _pool(self) -> Pool | None:
        """The pool of streamed operands; ``None`` for others. Raises ``Unsupported`` where there can be none."""
        caches, parameters = host.caches(), self.session.parameters
        if self._residency is not None and self._ciphertexts > 1:
            raise Unsupported(
                "the residency of operands is measured with vectors of one ciphertext: use full"
            )
        if self._residency != "streamed":
            return None
        if not caches:
            raise Unsupported("the host does not report its caches, so the size of a pool is unknown")
        level = LEVEL.of(self.case.dimensions)
        level = top_level(parameters) if level is None else level
        pool = residency.pool_of(self._call, parameters, level, caches)
        reason = pool.reason_against(self.setting.trial.budget.memory_mb)
        if reason is not None:
            raise Unsupported(reason)
        self.facts["pool_bytes"] = float(pool.size)
        return pool

    def _count_that_tells(self) -> int:
        """The number of ciphertexts that are timed: a few, where timing one shows that caches do not matter."""
        few = subsampling.executed_computing(self._executed)
        if few == self._executed:
            return few
        one = self.session.evaluator.bind(self._call.name, self._build(0, 1).rows)
        self._execute_cold(one, 1)
        row_ns = min(one.run(1) for _ in range(_ROWS_TIMED))  # the minimum: a stall looks like work
        return few if subsampling.is_computing(self._row_bytes(), row_ns) else self._executed

    def _execute_cold(self, bound: Bound, ciphertexts: int) -> int:
        """Execute the operation once, and record the time as cold if it is the first in the process. Returns
        nanoseconds.
        """
        is_first = self._call.name not in self.session.executed
        elapsed_ns = bound.run(1)
        self.session.executed.update(operands.executed_for(self._call))
        if is_first:
            self._keep_single("cold_time", elapsed_ns / 1e9, ciphertexts)
        return elapsed_ns

    def _keep_single(self, metric: str, elapsed_s: float, ciphertexts: int) -> None:
        """Record the time of one execution on ``ciphertexts`` ciphertexts, scaled to the whole vector."""
        whole_s = elapsed_s * self._ciphertexts / ciphertexts
        ordinal = sum(sample.metric == metric for sample in self._single)
        self._single.append(Sample(metric, whole_s, "evaluate", ordinal=ordinal))

    def close(self) -> Findings:
        """See :meth:`Experiment.close`. A cached result or an unsound clock is ``incorrect``."""
        if not self.phases:
            return replace(self.findings, facts=self.facts)
        self.sum_up()
        if self.findings.status == "ok":
            self._check_after()
        if self.findings.status == "ok":
            self._client.tell()
        samples = [
            *self.quality(lambda: self._revealed(self._bounds[0].results())[0]),
            *self._single,
            *(sample for phase in self.phases for sample in phase.samples),
        ]
        return replace(self.findings, samples=tuple(samples), facts=self.facts)

    def memory(self) -> list[Sample]:
        """Peaks of encryption, operation and decryption of one operand set."""
        self._require_possible()
        item = operands.build(self.session, self.case, self.setting.trial.seed, 0)
        peaks, vector = self.session.client_peaks, (self.case.vector_length, self.case.data_pattern)
        peaks.setdefault(
            vector, self._encryption(item)
        )  # every time, so that the operation has the same heap
        bound = self.session.evaluator.bind(self._call.name, item.rows)
        samples = peaks[vector] + alone("evaluate", lambda: bound.run(1))
        results = self._revealed(bound.results())
        result = (*vector, form(self.session, results[0]))
        if result not in peaks:
            decrypt = self.session.owner.bind("decrypt", [(self.session.to_owner(item),) for item in results])
            peaks[result] = alone("decrypt", lambda: decrypt.run(1))
        return samples + peaks[result]

    def _encryption(self, item: OperandSet) -> list[Sample]:
        encrypt = self.session.owner.bind("encrypt", [(vector,) for vector in item.vectors])
        return alone("encrypt", lambda: encrypt.run(1))

    def _build(self, index: int, most: int | None = None) -> OperandSet:
        with self.spent("encryption_s"):
            return operands.build(
                self.session, self.case, self.setting.trial.seed, index, most or self._executed
            )

    def _revealed(self, results: Sequence[Any]) -> list[Handle]:
        """Results of all rows as ciphertexts."""
        return operands.revealed(self.session, self.case, results)

    def _set_count(self) -> int:
        """The number of operand sets that fit the memory set aside for them: at least two. Long vectors need no more,
        since their ciphertexts differ. One for cases that choose the residency: it is repeated, or copied.
        """
        if self._residency is not None:
            return 1
        most = _MAX_SETS if self._executed == 1 else _MIN_SETS
        return max(_MIN_SETS, min(most, _OPERAND_BYTES // (self._row_bytes() * self._executed)))

    def _row_bytes(self) -> int:
        """Bytes that one execution of the operation accesses: two operands, one result."""
        parameters = self.session.parameters
        ciphertext_bytes = 2 * 8 * parameters.ring_dimension * len(parameters.moduli)
        count = max(self._call.count, len(self._call.arguments))  # handles of an operand, or results, of many
        return (2 + count) * ciphertext_bytes

    def _checked(self, bound: Bound, item: OperandSet) -> Findings:
        results = self._revealed(bound.results())
        accuracy = checking.accuracy(
            self.session.decrypted(results), item.expected, self._tolerance(self.session)
        )
        return judge(self.setting, Checked(accuracy, item.expected, results), self._attempt)

    def _attempt(self, session: Session) -> bool:
        """Whether the result of the first operand set, fresh, is correct in a session."""
        case = replace(self.case, dimensions={})
        item = operands.build(session, case, self.setting.trial.seed, 0)
        executed = [session.evaluator.apply(self._call.name, *row) for row in item.rows]
        results = operands.revealed(session, case, executed)
        accuracy = checking.accuracy(session.decrypted(results), item.expected, self._tolerance(session))
        return checking.is_right(accuracy)

    def _tolerance(self, session: Session) -> float:
        return checking.tolerance(session.parameters, max(2, self._call.count), self._call.operation)

    def _made_phases(self, pool: Pool | None) -> list[Phase]:
        count = subsampling.executed_by_client(self._executed)
        self._client = ClientPhases(self.setting, self._ciphertexts / count)
        scale = self._ciphertexts / self._executed
        return [
            *self._client.encrypt(lambda: [item.vectors[:count] for item in self._sets]),
            self._evaluation(self._bounds, scale) if pool is None else self._streamed(pool),
            *self._client.decrypt(
                lambda: [self._for_owner(bound.results()[:count]) for bound in self._bounds],
                form(self.session, self._revealed(self._bounds[0].results()[:1])[0]),
            ),
        ]

    def _evaluation(self, bounds: Sequence[Bound], scale: float) -> Phase:
        setting = self.setting
        aim = target(setting.trial.budget, setting.resolution_ns)
        return Phase("evaluate", bounds, aim, setting.clock, gate=setting.gate, scale=scale)

    def _streamed(self, pool: Pool) -> Phase:
        """The operation on each part of the pool in turn. A part is as many rows as fill a sample, which executes each
        of them once: a second execution would find its operands in the cache.
        """
        rows = operands.streamed(self.session, self.case, self.setting.trial.seed, self._sets[0], pool.rows)
        row_ns = min(self._bounds[0].run(1) for _ in range(_ROWS_TIMED))
        sample_ns = target(self.setting.trial.budget, self.setting.resolution_ns).sample_ns
        size = min(pool.rows, -(-sample_ns // row_ns))
        parts = [rows[start : start + size] for start in range(0, pool.rows - size + 1, size)]
        bounds = [self.session.evaluator.bind(self._call.name, part) for part in parts]
        if pool.rows * row_ns < _TOUCH_NS:
            for bound in bounds:
                bound.run(1)  # the first touch of results is no sample
        return self._evaluation(bounds, 1 / size)

    def _for_owner(self, results: Sequence[Any]) -> list[Handle]:
        """Results as ciphertexts that the owner holds."""
        return [self.session.to_owner(result) for result in self._revealed(results)]

    def _check_after(self) -> None:
        """Check that the results of the last samples of every phase are correct and were computed."""
        shown: dict[str, Callable[[Sequence[Any]], Sequence[Vector]]] = {
            "encrypt": lambda results: [self.session.owner.decrypt(result) for result in results],
            "evaluate": lambda results: self.session.decrypted(self._revealed(results)),
            "decrypt": lambda results: results,
        }
        for phase in self.phases:
            item = self._sets[
                phase.last_index % len(self._sets)
            ]  # of a pool, all rows have the values of one set
            actual = shown[phase.name](phase.last_results[: len(item.rows)])
            expected = item.vectors if phase.name == "encrypt" else item.expected
            if not self._is_right(phase.name, actual, expected[: len(actual)]):
                return
        if self._residency == "streamed":
            return  # every sample had operands of its own
        set_count = len(self._sets)
        self.check_computed(lambda look: self._times_of_fresh(set_count + look * _FRESH_SETS))

    def _is_right(self, phase: str, actual: Sequence[Vector], expected: Sequence[Vector]) -> bool:
        accuracy = checking.accuracy(actual, expected, self._tolerance(self.session))
        if not checking.is_right(accuracy):
            error = f"{phase}: the result of the last sample is wrong in {accuracy.incorrect_slots} slots"
            self.findings = Findings("incorrect", accuracy=accuracy, error=error)
        return checking.is_right(accuracy)

    def _times_of_fresh(self, first: int) -> cache_detection.Times | None:
        """Times of new operand sets, starting with number ``first``; ``None`` where one is incorrect, which is a
        finding.
        """
        evaluator = self.session.evaluator
        pairs: list[cache_detection.Pair] = []
        for offset, item in enumerate(self._sets[:_FRESH_SETS]):
            fresh_item = self._build(first + offset)
            seen = evaluator.bind(self._call.name, item.rows)
            fresh = evaluator.bind(self._call.name, fresh_item.rows)
            pairs.append(cache_detection.timed_in_turns(self._bounds[0].run, seen.run, fresh.run, offset))
            self._keep_single("first_touch_time", pairs[-1].fresh_s, self._executed)
            findings = self._checked(fresh, fresh_item)
            if findings.status != "ok":
                self.findings = findings
                return None
        operation = next(phase for phase in self.phases if phase.name == "evaluate")
        repeated_s = median(operation.counted_s) / operation.scale
        is_alone = operation.loops == 1  # every sample was one execution
        run = self._bounds[0].run
        single_s = repeated_s if is_alone else min(cache_detection.work_s(run) for _ in range(_SINGLES))
        return self.times(repeated_s, single_s, pairs, lambda: cache_detection.work_s(run, operation.loops))


# Estimates: the ring dimension per prime of a modulus chain; typical cache sizes; executions of an operation for
# checks, calibration and warm-up; the measurement of memory, for each ciphertext of the vector times its ``work``; a
# pool of streamed operands; the shortest sample of a client's phase, and the usual number of forms of results.
_RING_OF_A_PRIME = 2048
_USUAL_CACHES = {"L3": 32 << 20}
_EXECUTIONS_BESIDE = 8
_MEMORY_S = 0.0013
_POOL_S = 0.04
_CLIENT_SAMPLE_S = SHORT_SAMPLE_NS / 1e9
_FORMS = 2


def trial_s(case: Case, budget: Budget, times: CaseTimes) -> float:
    """Seconds of a trial. One that chooses its operands shares them with others, and its memory is not measured."""
    is_chosen = not {LEVEL.name, RESIDENCY.name}.isdisjoint(case.dimensions)
    executed = 1 if is_chosen else _told_by(case)
    once_s = times.operation_s * executed
    beside_s = TRIAL_S + CIPHERTEXT_S * times.work * executed + _EXECUTIONS_BESIDE * once_s
    if RESIDENCY.of(case.dimensions) == "streamed":
        beside_s += _POOL_S
    if not is_chosen:
        beside_s += _MEMORY_S * times.work * -(-case.vector_length // case.parameters.slots)
    return beside_s + sampled_s(budget, once_s, budget.min_time_s)


def vector_s(case: Case, budget: Budget, times: CaseTimes) -> float:
    """Likewise, seconds of encryption and decryption, which a worker's first trials with a vector measure."""
    executed = subsampling.executed_by_client(_told_by(case))
    least_s = min(budget.min_time_s / max(1, budget.min_samples), _CLIENT_SAMPLE_S)
    encrypt_s, decrypt_s = (max(least_s, executed * each) for each in (times.encrypt_s, times.decrypt_s))
    return sampled_s(budget, encrypt_s) + _FORMS * sampled_s(budget, decrypt_s)


def _told_by(case: Case) -> int:
    """The number of ciphertexts that are timed."""
    spec = case.parameters
    row_bytes = 3 * 16 * spec.ring_dimension * max(1, spec.ring_dimension // _RING_OF_A_PRIME)
    executed = subsampling.executed(-(-case.vector_length // spec.slots), row_bytes, _USUAL_CACHES)
    return subsampling.executed_computing(executed) if _is_dear(case) else executed


def _is_dear(case: Case) -> bool:
    row = read(case.operation).operation
    return row.is_product or row.is_rotation


@dataclass(slots=True)
class ClientPhases:
    """The client's phases of one trial; ``scale`` is the whole vector divided by its encrypted or decrypted part.

    The time of an encryption depends on the vector alone. The time of a decryption depends on the vector and on the
    form of the ciphertext: its numbers of polynomials and of primes. A worker's first trial with such a vector or
    result times it; later trials time the operation alone.
    """

    setting: Setting
    scale: float
    _told: dict[str, Hashable] = field(default_factory=dict)

    def encrypt(self, vectors: Callable[[], Sequence[Sequence[Vector]]]) -> list[Phase]:
        """Encryption of these sets of vectors; empty where its time is recorded."""
        return self._phase("encrypt", ("encrypt", *_vector(self.setting.trial.case)), vectors)

    def decrypt(self, results: Callable[[], Sequence[Sequence[Handle]]], form: Hashable) -> list[Phase]:
        """Decryption of these sets of results, which have one form; empty where its time is recorded. Then no results
        are brought to the owner, which would take as long as checking them.
        """
        return self._phase("decrypt", ("decrypt", *_vector(self.setting.trial.case), form), results)

    def tell(self) -> None:
        """Mark the trial's times as recorded: no other trial needs to take them."""
        self.setting.session.timed.update(self._told.values())

    def _phase(
        self, name: str, about: Hashable, operands: Callable[[], Sequence[Sequence[object]]]
    ) -> list[Phase]:
        setting = self.setting
        if about in setting.session.timed:
            return []
        self._told[name] = about
        aim = target(setting.trial.budget, setting.resolution_ns, is_client=True)
        bounds = [
            setting.session.owner.bind(name, [(operand,) for operand in several]) for several in operands()
        ]
        return [Phase(name, bounds, aim, setting.clock, gate=setting.gate, scale=self.scale)]


def form(session: Session, result: Handle) -> Hashable:
    """The properties, other than values, that determine the decryption time of a ciphertext."""
    return session.evaluator.polynomials(result), session.evaluator.level(result)


def _vector(case: Case) -> tuple[int, str]:
    return case.vector_length, case.data_pattern


KINDS = (
    ExperimentKind(
        "arithmetic",
        Latency,
        operations=where(lambda row: not row.is_rotation),
        defaults=where(lambda row: row.is_default and not row.is_rotation),
        trial_s=trial_s,
        reason=without_primitive,
        vector_s=vector_s,
        chooses_operands=True,
        also="rotation",
    ),
    ExperimentKind(
        "rotation",
        Latency,
        operations=where(lambda row: row.is_rotation),
        defaults=where(lambda row: row.is_default and row.is_rotation),
        trial_s=trial_s,
        reason=without_primitive,
        vector_s=vector_s,
        chooses_operands=True,
        also="arithmetic",
    ),
)
