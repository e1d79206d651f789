"""The contract of an experiment: it opens, takes turns, and closes with findings."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from time import perf_counter
from typing import TypeAlias

from ciphermark_contract import checking
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Exhausted, Handle, KeyRequest, Unsupported, Vector
from ciphermark_contract.keys import NO_KEYS
from ciphermark_contract.operations import OPERATIONS, multiplies, read
from ciphermark_core import experiments
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import LEVEL, REPETITIONS, RESIDENCY, Dimension
from ciphermark_core.model import Accuracy, Case, Parameters, ParameterSpec, Sample, Scheme, Status, Trial
from ciphermark_measure.clock import Clock
from ciphermark_measure.interference import cache_detection
from ciphermark_measure.interference.host_state import Gate
from ciphermark_measure.probes import measured_alone, samples_of
from ciphermark_measure.sampling import ClockError, Phase
from ciphermark_measure.session import Session, prepare

_EXHAUSTED = "the noise budget is exhausted: a longer modulus chain gives the correct result"
_DOUBT = "; the library reports no noise budget, which may be exhausted"


@dataclass(frozen=True, slots=True)
class Setting:
    """The context of every experiment."""

    session: Session
    trial: Trial
    clock: Clock
    resolution_ns: int
    gate: Gate = field(default_factory=Gate)


@dataclass(frozen=True, slots=True)
class Checked:
    """Ciphertexts with their expected slots, and their accuracy."""

    accuracy: Accuracy
    expected: Sequence[Vector]
    ciphertexts: Sequence[Handle]


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of a trial; the worker turns them into the outcome."""

    status: Status
    samples: tuple[Sample, ...] = ()
    accuracy: Accuracy | None = None
    error: str | None = None
    facts: dict[str, float] = field(default_factory=dict)


class Experiment(ABC):
    """One trial in progress.

    :meth:`open` does everything that is not timed; then :meth:`turn` is called until it returns True, interleaved
    with the other variants of the comparison group; then :meth:`close`.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.session = setting.session
        self.case = setting.trial.case

    @classmethod
    def keys(cls, case: Case) -> KeyRequest:
        """The evaluation keys of a case: those of its operation, or none for an operation that is not in the table."""
        is_operation = case.operation.partition("(")[0] in OPERATIONS
        return read(case.operation).managed_keys if is_operation else NO_KEYS

    @abstractmethod
    def open(self) -> None:
        """Prepare operands, check the result, calibrate and warm up."""

    @abstractmethod
    def turn(self) -> bool:
        """Take one sample of every phase; True when there are enough."""

    @abstractmethod
    def close(self) -> Findings:
        """Check once more and report."""

    def memory(self) -> list[Sample]:
        """Peak memory of each phase in one execution; empty where the experiment has no phases."""
        return []


class Sampled(Experiment):
    """An experiment that samples ``phases``; ``facts`` and ``findings`` hold the current state of the trial."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.phases: list[Phase] = []
        self.facts: dict[str, float] = {}
        self.findings = Findings("ok")

    def turn(self) -> bool:
        for phase in self.phases:
            if not phase.is_done:
                phase.take()
        return all(phase.is_done for phase in self.phases)

    @contextmanager
    def spent(self, fact: str) -> Iterator[None]:
        """Add the seconds that pass inside to a fact."""
        start = perf_counter()
        yield
        self.facts[fact] = self.facts.get(fact, 0.0) + perf_counter() - start

    def sum_up(self) -> None:
        """Record the facts of all phases. An unsound clock makes the trial ``incorrect``."""
        sampled_ns = sum(phase.sampled_ns for phase in self.phases)
        self.facts["sampling_s"] = self.facts.get("sampling_s", 0.0) + sampled_ns / 1e9
        try:
            for phase in self.phases:
                self.facts |= phase.facts
                phase.require_sound_clock()
        except ClockError as error:
            self.findings = replace(self.findings, status="incorrect", error=str(error))

    def check_computed(self, look: Callable[[int], cache_detection.Times | None]) -> None:
        """Operands never seen before take about as long as seen ones: see ``cache_detection.lasting_suspicion``."""
        error = cache_detection.lasting_suspicion(look)
        if error is not None:
            self.findings = replace(self.findings, status="incorrect", error=error)

    def times(
        self,
        repeated_s: float,
        single_s: float,
        pairs: Sequence[cache_detection.Pair],
        repeat: Callable[[], float],
    ) -> cache_detection.Times:
        """The times of one look, whose executions were timed in addition to the samples.

        ``repeated_s`` is corrected for the host's slowdown, and the other times are not. Where the samples look cached,
        ``repeat`` takes one more sample under the same conditions, uncorrected, in seconds per execution.
        """
        self.facts["sampling_s"] += sum(pair.seen_s + pair.fresh_s for pair in pairs)
        fresh_s, seen_s = [pair.fresh_work_s for pair in pairs], [pair.seen_work_s for pair in pairs]
        times = cache_detection.Times(repeated_s, single_s, fresh_s, seen_s)
        if cache_detection.suspicion(times) is None:
            return times
        return replace(times, repeated_s=max(repeated_s, repeat()))

    def quality(self, result: Callable[[], Handle], repetitions: int | None = None) -> list[Sample]:
        """Noise budget (bfv, bgv) of a result, or precision (ckks) of the findings; empty where it is unknown."""
        metric, accuracy = "precision", self.findings.accuracy
        bits: float | None = None if accuracy is None else accuracy.precision_bits
        if self.session.parameters.scale is None:
            metric = "noise_budget"
            bits = self.session.owner.noise_budget_bits(self.session.to_owner(result()))
        return [] if bits is None else [Sample(metric, float(bits), "evaluate", repetitions=repetitions)]


def judge(setting: Setting, result: Checked, attempt: Attempt) -> Findings:
    """The findings for a checked result: ok, exhausted (incorrect for lack of noise budget) or incorrect.

    Where the library reports no budget, ``attempt`` with a longer modulus chain decides.
    """
    accuracy = result.accuracy
    if checking.is_right(accuracy):
        return Findings("ok", accuracy=accuracy)
    session, doubt = setting.session, ""
    if session.parameters.scale is None:
        budgets = [session.owner.noise_budget_bits(session.to_owner(item)) for item in result.ciphertexts]
        if 0 in budgets:
            return Findings(
                "budget_exhausted", accuracy=accuracy, error="no noise budget is left after the operation"
            )
        if None in budgets:
            verdict = is_right_with_more_room(session, setting.trial.case, attempt)
            if verdict:
                return Findings("budget_exhausted", accuracy=accuracy, error=_EXHAUSTED)
            doubt = _DOUBT if verdict is None else "; a longer modulus chain gives the same incorrect result"
    size = sum(len(vector) for vector in result.expected)
    return Findings(
        "incorrect",
        accuracy=accuracy,
        error=f"{accuracy.incorrect_slots} of {size} slots differ from cleartext; "
        f"largest error {accuracy.max_abs_error:.3g}, tolerance {accuracy.tolerance:.3g}{doubt}",
    )


def alone(stage: str, action: Callable[[], object]) -> list[Sample]:
    """The values of probes, such as peak memory, for one execution of ``action`` outside of all timing."""
    return samples_of(measured_alone(action), stage)


@dataclass(frozen=True, slots=True)
class CaseTimes:
    """What an estimate of a trial goes by: seconds of one execution of its operation, of an encryption and of a
    decryption, each of one ciphertext. ``work`` is N times the number of primes, relative to N = 4096 and two primes.
    """

    operation_s: float
    encrypt_s: float
    decrypt_s: float
    work: float


# Of every trial, and for each ciphertext times its ``work``: operands, checks and their messages. By the reference runs
# of `quick`, `pir-report` and `primitives`, as all constants of estimates.
TRIAL_S = 0.03
CIPHERTEXT_S = 0.006
_AROUND = 1.4  # samples, with the readings and messages around them
_UNTIL_PRECISE = 2 / 3  # of the way from the minimum to the maximum time, where a precision is requested


# Why a case cannot be executed with a declared library, or nothing.
Reason: TypeAlias = Callable[[Case, Declaration], str | None]


@dataclass(frozen=True, slots=True)
class Varied:
    """A dimension of the experiment's own cases, in addition to the common ones: in a suite, a whole number or a list
    of them, from 1 to ``most``. It is required unless it has a default; ``example`` shows its form.
    """

    dimension: Dimension[int]
    most: int
    example: int | list[int]
    default: int | None = None
    is_list: bool = False


def sampled_s(budget: Budget, once_s: float, min_s: float = 0.0) -> float:
    """Seconds of sampling a phase, where one execution takes ``once_s``. Pure."""
    fewest_s = max(min_s, budget.min_samples * once_s)
    if budget.max_ci_half_width is None:
        return _AROUND * fewest_s
    max_s = min(fewest_s * budget.max_samples / budget.min_samples, max(fewest_s, budget.max_time_s))
    return _AROUND * (fewest_s + _UNTIL_PRECISE * (max_s - fewest_s))


def _nothing_more(case: Case, budget: Budget, times: CaseTimes) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class ExperimentKind:
    """One row. ``operations`` are the names that it supports, ``defaults`` those for suites that name none.

    ``also``: another kind whose operations a suite may name here; they become cases of that kind.
    ``determines`` and ``is_until_exhausted``: see :class:`ciphermark_core.experiments.Experiment`.
    ``has_memory_worker``: memory is one of its subjects, and each case has a separate worker for it.
    ``searched``: the stages whose times a search for a slower build may use; empty where nothing is timed.
    ``reason``: why a declared library cannot execute a case (beyond its schemes), or nothing.
    ``chooses_operands``: suites may choose the level and the residency of its operands.
    ``trial_s``: an estimate of a trial's seconds, by :class:`CaseTimes`; set-up is not included.
    ``vector_s``: likewise, the additional seconds of a worker's first trial with a vector. See
    :mod:`ciphermark_measure.experiments.latency`.
    """

    name: str
    experiment: type[Experiment]
    operations: tuple[str, ...]
    defaults: tuple[str, ...]
    trial_s: Callable[[Case, Budget, CaseTimes], float]
    reason: Reason
    vector_s: Callable[[Case, Budget, CaseTimes], float] = _nothing_more
    varied: tuple[Varied, ...] = ()
    also: str | None = None
    has_memory_worker: bool = False
    determines: str | None = None
    is_until_exhausted: bool = False
    chooses_operands: bool = False
    searched: tuple[str, ...] = ("evaluate",)

    def has_phases_alone(self, case: Case) -> bool:
        """Whether a case has phases whose memory is measured, in addition to the shared keys. A case that chooses the
        level or the residency of operands has none: the same operation on fresh ones needs at least as much.
        """
        is_chosen = not {LEVEL.name, RESIDENCY.name}.isdisjoint(case.dimensions)
        return self.experiment.memory is not Experiment.memory and not is_chosen

    @property
    def recorded(self) -> experiments.Experiment:
        """The information needed to read its records."""
        return experiments.Experiment(self.name, self.determines, self.is_until_exhausted)


def without_primitive(case: Case, declared: Declaration) -> str | None:
    """Why the library lacks the operation, or the scheme lacks its argument."""
    return _missing(case, declared, declared.operations)


def without_managed(case: Case, declared: Declaration) -> str | None:
    """Why the library lacks the managed operation, or the scheme lacks its argument."""
    return _missing(case, declared, declared.managed)


def _missing(case: Case, declared: Declaration, operations: Mapping[Scheme, tuple[str, ...]]) -> str | None:
    scheme, call = case.parameters.scheme, read(case.operation)
    if call.name not in operations[scheme]:
        return declared.reason_against(call.name, scheme)
    return call.reason_in(scheme)


# Whether the result of a case is correct in another session.
Attempt = Callable[[Session], bool]

_SPARE_BITS = 16  # the constant part of the bounds of ciphermark_core.chains, rounded up
_SIZES = (None, 50, 54)  # of added primes: like the others, or sizes that libraries have more of


def is_right_with_more_room(session: Session, case: Case, attempt: Attempt) -> bool | None:
    """Whether ``attempt``, on fresh operands, succeeds with a longer modulus chain; ``None`` where no such control is
    possible.
    """
    key = (case.operation, REPETITIONS.of(case.dimensions))
    if key not in session.controls:
        session.controls[key] = _controlled(session, case, attempt)
    return session.controls[key]


def _controlled(session: Session, case: Case, attempt: Attempt) -> bool | None:
    if LEVEL.of(case.dimensions) is not None and attempt(session):
        return True  # the top of this chain has the room that the level lacks
    for spec in longer(session.parameters, room_bits(session.parameters, case)):
        with suppress(Unsupported, Exhausted):  # try the next one; any other error fails the trial
            return attempt(prepare(session.declaration.variant, spec, session.keys))
    return None


def room_bits(parameters: Parameters, case: Case) -> int:
    """Bits of modulus for the noise of the whole case: t·N and a reserve for every multiplication. Pure."""
    assert parameters.plain_modulus is not None
    count = REPETITIONS.of(case.dimensions) or 1
    growth = math.log2(parameters.plain_modulus) + math.log2(parameters.ring_dimension) + _SPARE_BITS
    if multiplies(read(case.operation)):
        return math.ceil((count + 1) * growth)
    return math.ceil(growth + math.log2(count))


def longer(parameters: Parameters, room: int) -> Iterator[ParameterSpec]:
    """Requests for the same parameters with ``room`` more bits of modulus, regardless of security. Pure."""
    sizes = parameters.spec.modulus_bits or parameters.modulus_bits
    data = sizes[:-1] or sizes
    for candidate, more in product(_SIZES, range(3)):
        size = candidate or data[-1]
        total = sum(data) + room
        count = math.ceil(total / (size - 1)) + more
        chain = (*[size] * count, max(size, sizes[-1]))
        yield replace(parameters.spec, modulus_bits=chain, security=0)
