"""Experiments ``depth`` and ``noise``: one operation applied repeatedly by the managed evaluator.

x ← x ∘ y with the same second operand y, starting from a fresh encryption of x. Both record numbers, not times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter

from ciphermark_contract import checking
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Exhausted, Handle, Unsupported, Vector
from ciphermark_contract.operations import Kind, multiplies, padded, read, repeatable, where
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import MAX_REPETITIONS
from ciphermark_core.metrics import MIN_PRECISION_BITS
from ciphermark_core.model import Accuracy, Case, Sample
from ciphermark_measure import operands
from ciphermark_measure.experiments.base import (
    CIPHERTEXT_S,
    TRIAL_S,
    CaseTimes,
    Checked,
    Experiment,
    ExperimentKind,
    Findings,
    Reason,
    Setting,
    Varied,
    judge,
    without_managed,
)
from ciphermark_measure.session import Session

DEFAULT_MAX_REPETITIONS = 16_384
_LOOK = 12  # decryptions
_DEEPEST_PRODUCTS = 16  # few modulus chains have room for more


@dataclass(frozen=True, slots=True)
class State:
    """A ciphertext after ``count`` operations and its expected slots."""

    count: int
    ciphertext: Handle
    expected: Vector


class Repeated(Experiment):
    """The common part: applying the operation and judging a state."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.max_repetitions = MAX_REPETITIONS.of(self.case.dimensions) or DEFAULT_MAX_REPETITIONS
        self._managed = self.session.evaluator.managed()
        self._call = read(self.case.operation)
        self._others: list[Handle] = []
        self._plain_others: list[Vector] = []
        self.samples: list[Sample] = []
        self.facts: dict[str, float] = {}
        self.accuracy: Accuracy | None = None

    def turn(self) -> bool:
        """All work is done in :meth:`open`: nothing here is timed."""
        return True

    def start(self) -> State:
        """The state before the first operation, with fresh operands."""
        self.session.require_possible(self.case.operation)
        begin = perf_counter()
        seed, slots = self.setting.trial.seed, self.session.parameters.slots
        kinds, is_factor = self._call.operation.operands[1:], multiplies(self._call)
        x = operands.operand(self.case, seed, 0, is_factor=is_factor and not kinds)[:slots]
        y = operands.operand(self.case, seed, 1, is_factor=is_factor)[:slots]
        (ciphertext,) = self.session.to_evaluator([x])
        self._plain_others = [padded(y, slots) for _ in kinds]
        self._others = [self._operand(kind, y) for kind in kinds]
        self.facts["encryption_s"] = perf_counter() - begin
        return State(0, ciphertext, padded(x, slots))

    def advanced(self, state: State, count: int) -> State | None:
        """The state after a total of ``count`` operations, or ``None`` where it cannot be reached."""
        ciphertext, expected = state.ciphertext, state.expected
        call, ring = self._call, operands.ring_of(self.session)
        try:
            for _ in range(count - state.count):
                ciphertext = self._managed.apply(call.name, ciphertext, *self._others, *call.operands)
                expected = call.meaning(ring, expected, *self._plain_others)
        except Exhausted:
            return None
        return State(count, ciphertext, expected)

    def judged(self, state: State) -> Accuracy:
        """The accuracy of a state; in ckks by the minimum precision of a deep computation."""
        is_exact = self.session.parameters.scale is None
        tolerance = 0.0 if is_exact else 2.0**-MIN_PRECISION_BITS
        (actual,) = self.session.decrypted([state.ciphertext])
        return checking.accuracy([actual], [state.expected], tolerance)

    def quality(self, state: State, found: Accuracy) -> list[Sample]:
        """Noise budget (bfv, bgv) or precision (ckks) of a state."""
        if found.precision_bits is not None:
            return [Sample("precision", found.precision_bits, "evaluate", repetitions=state.count)]
        budget = self.session.owner.noise_budget_bits(self.session.to_owner(state.ciphertext))
        if budget is None:
            return []
        return [Sample("noise_budget", float(budget), "evaluate", repetitions=state.count)]

    def verdict(self, state: State, found: Accuracy) -> Findings:
        """Whether an incorrect state shows excessive noise (``budget_exhausted``) or a library error (``incorrect``).

        A remaining budget, or a longer modulus chain that does not help, indicates an error. In ckks an error within
        the tolerance of one operation is noise, too large for its scale to keep ``MIN_PRECISION_BITS``.
        """
        allowed = checking.tolerance(self.session.parameters)
        if found.precision_bits is not None and found.precision_bits >= -math.log2(allowed):
            return Findings(
                "budget_exhausted", accuracy=found, error="the scale is too small to keep any precision"
            )
        checked = Checked(found, [state.expected], [state.ciphertext])
        return judge(self.setting, checked, lambda session: self._attempt(session, state.count))

    def _attempt(self, session: Session, count: int) -> bool:
        """Whether the result of ``count`` operations is correct in another session."""
        other = type(self)(replace(self.setting, session=session))
        state = other.advanced(other.start(), count)
        return state is not None and checking.is_right(other.judged(state))

    def _operand(self, kind: Kind, y: Vector) -> Handle:
        """The second operand in the form of the managed operation: plaintexts are vectors."""
        if kind is Kind.CIPHERTEXT:
            return self.session.to_evaluator([y])[0]
        return padded(y, self.session.parameters.slots)


class Depth(Repeated):
    """The maximum number of repetitions that decrypts correctly, up to max_repetitions.

    Doubles the count until a result is incorrect, then bisects the gap to the last correct state: every judged state is
    really computed. The first incorrect state counts as the end of the noise budget, unless the library reports a
    remaining budget.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._deepest = 0
        self._first_wrong: tuple[State, Accuracy] | None = None

    def open(self) -> None:
        good, bad = self.start(), self.max_repetitions + 1
        self.accuracy = self.judged(good)
        if not checking.is_right(self.accuracy):
            self._first_wrong = good, self.accuracy
            return
        begin = perf_counter()
        count = 1
        while good.count < self.max_repetitions and bad > self.max_repetitions:
            state = self._right_state(good, min(count, self.max_repetitions))
            good, bad, count = (
                (state, bad, 2 * count) if state else (good, min(count, self.max_repetitions), count)
            )
        while bad - good.count > 1:
            middle = (good.count + bad) // 2
            state = self._right_state(good, middle)
            good, bad = (state, bad) if state else (good, middle)
        self._deepest = good.count
        self.facts["sampling_s"] = perf_counter() - begin

    def close(self) -> Findings:
        """Report the depth and whether max_repetitions ended the search. Depth 0 is ``budget_exhausted`` where noise is
        the cause.
        """
        samples = (
            Sample("depth", float(self._deepest), "evaluate"),
            Sample("is_at_max_repetitions", float(self._deepest == self.max_repetitions), "evaluate"),
        )
        end = self._verdict_on_end()
        if end.status == "incorrect":
            return replace(end, facts=self.facts)
        if self._deepest == 0:
            error = f"even one {self.case.operation} does not decrypt correctly"
            return Findings("budget_exhausted", samples, self.accuracy, error, self.facts)
        return Findings("ok", samples, self.accuracy, None, self.facts)

    def _verdict_on_end(self) -> Findings:
        if self._first_wrong is None:
            return Findings("budget_exhausted", error="no level is left")
        state, accuracy = self._first_wrong
        if self._deepest == 0:
            return self.verdict(state, accuracy)
        left = self.session.owner.noise_budget_bits(self.session.to_owner(state.ciphertext))
        if not left:
            return Findings("budget_exhausted")
        error = f"wrong after {state.count} operations with {left} bits of noise budget left"
        return Findings("incorrect", accuracy=accuracy, error=error)

    def _right_state(self, state: State, count: int) -> State | None:
        advanced = self.advanced(state, count)
        if advanced is None:
            self._first_wrong = None
            return None
        accuracy = self.judged(advanced)
        if not checking.is_right(accuracy):
            self._first_wrong = advanced, accuracy
            return None
        self.accuracy = accuracy
        return advanced


class Noise(Repeated):
    """Noise budget or precision when fresh and after 1, 2, 4, 8, … operations, until incorrect or max_repetitions."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._end: Findings | None = None

    def open(self) -> None:
        """See :meth:`Experiment.open`. A library that reports no budget is ``Unsupported`` here."""
        state: State | None = self.start()
        assert state is not None
        if not self.quality(state, self.judged(state)):
            declared, scheme = self.session.declaration, self.case.parameters.scheme
            raise Unsupported(declared.reason_without_budget(scheme))
        begin = perf_counter()
        count = 1
        while state is not None:
            accuracy = self.judged(state)
            self.samples += self.quality(state, accuracy)
            if not checking.is_right(accuracy):
                self._end = self._verdict_on_end(state, accuracy)
                break
            if state.count == self.max_repetitions:
                break
            self.accuracy = accuracy
            state = self.advanced(state, min(count, self.max_repetitions))
            count *= 2
        self.facts["sampling_s"] = perf_counter() - begin

    def _verdict_on_end(self, state: State, found: Accuracy) -> Findings:
        if self.accuracy is not None and found.precision_bits is not None:
            return Findings(
                "budget_exhausted"
            )  # ckks reports no budget: precision declined from state to state
        return self.verdict(state, found)

    def close(self) -> Findings:
        """A fresh ciphertext that is incorrect is ``budget_exhausted``; one with budget left is ``incorrect``."""
        if self._end is not None and self._end.status == "incorrect":
            return replace(self._end, samples=tuple(self.samples), facts=self.facts)
        if self.accuracy is None:
            error = "even a fresh ciphertext decrypts incorrectly"
            return Findings("budget_exhausted", tuple(self.samples), None, error, self.facts)
        return Findings("ok", tuple(self.samples), self.accuracy, None, self.facts)


def _trial_s(case: Case, budget: Budget, times: CaseTimes) -> float:
    """A trial also looks at results after powers of two: a noise budget takes as long as several decryptions."""
    repetitions = MAX_REPETITIONS.of(case.dimensions) or DEFAULT_MAX_REPETITIONS
    if read(case.operation).operation.is_multiplication:  # it ends before most caps
        repetitions = min(repetitions, _DEEPEST_PRODUCTS)
    looked_s = CIPHERTEXT_S * times.work + math.log2(repetitions) * _LOOK * times.decrypt_s
    return TRIAL_S + looked_s + repetitions * times.operation_s


def _without_budget(case: Case, declared: Declaration) -> str | None:
    return without_managed(case, declared) or declared.reason_against_budget(case.parameters.scheme)


def _row(
    name: str, experiment: type[Experiment], reason: Reason, determines: str | None = None
) -> ExperimentKind:
    return ExperimentKind(
        name,
        experiment,
        operations=repeatable(),
        defaults=where(lambda row: row.is_default and not row.is_rotation),
        trial_s=_trial_s,
        reason=reason,
        varied=(Varied(MAX_REPETITIONS, most=1 << 30, example=256, default=DEFAULT_MAX_REPETITIONS),),
        determines=determines,
        is_until_exhausted=True,
        searched=(),
    )


KINDS = (_row("depth", Depth, without_managed, "depth"), _row("noise", Noise, _without_budget))
