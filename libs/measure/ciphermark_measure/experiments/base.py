"""What an experiment is: something that opens, takes turns, and closes with findings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ciphermark_contract import checking
from ciphermark_contract.interfaces import Handle, KeyRequest, Vector
from ciphermark_contract.operations import read
from ciphermark_core.model import Accuracy, Case, Sample, Status, Trial
from ciphermark_measure import noise_control
from ciphermark_measure.clock import Clock
from ciphermark_measure.host_state import Gate
from ciphermark_measure.noise_control import Attempt
from ciphermark_measure.probes import measured_alone, samples_of
from ciphermark_measure.session import Session

_EXHAUSTED = "the noise budget is used up: with a longer modulus chain the same comes out right"
_DOUBT = "; the library tells no noise budget, so it may have been used up"


@dataclass(frozen=True, slots=True)
class Setting:
    """What every experiment works with."""

    session: Session
    trial: Trial
    clock: Clock
    resolution_ns: int
    gate: Gate = field(default_factory=Gate)


@dataclass(frozen=True, slots=True)
class Checked:
    """Ciphertexts with the slots that they should hold, and how right they are."""

    accuracy: Accuracy
    expected: Sequence[Vector]
    ciphertexts: Sequence[Handle]


@dataclass(frozen=True, slots=True)
class Findings:
    """What a trial found; the worker makes the outcome of it."""

    status: Status
    samples: tuple[Sample, ...] = ()
    accuracy: Accuracy | None = None
    error: str | None = None
    facts: dict[str, float] = field(default_factory=dict)


class Experiment(ABC):
    """One trial in progress.

    :meth:`open` does everything that is not timed; then :meth:`turn` is called until it returns True, in turns
    with the other variants of the comparison; then :meth:`close`.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.session = setting.session
        self.case = setting.trial.case

    @classmethod
    def keys(cls, case: Case) -> KeyRequest:
        """The evaluation keys that a case asks for."""
        return read(case.operation).managed_keys

    @abstractmethod
    def open(self) -> None:
        """Prepare operands, check that the result is right, calibrate and warm up."""

    @abstractmethod
    def turn(self) -> bool:
        """Take one sample of every phase; True when there are enough."""

    @abstractmethod
    def close(self) -> Findings:
        """Check once more and report."""

    def memory(self) -> list[Sample]:
        """Peak memory of each phase, executed once; none where the experiment has no phases."""
        return []


def judge(setting: Setting, result: Checked, attempt: Attempt) -> Findings:
    """The findings for a checked result: ok, exhausted (wrong for want of noise budget) or wrong.

    Where the library tells no budget, ``attempt`` with a longer modulus chain decides.
    """
    found = result.accuracy
    if checking.is_right(found):
        return Findings("ok", accuracy=found)
    session, doubt = setting.session, ""
    if session.parameters.scale is None:
        budgets = [session.owner.noise_budget_bits(session.to_owner(item)) for item in result.ciphertexts]
        if 0 in budgets:
            return Findings("exhausted", accuracy=found, error="no noise budget is left after the operation")
        if None in budgets:
            verdict = noise_control.is_right_with_more_room(session, setting.trial.case, attempt)
            if verdict:
                return Findings("exhausted", accuracy=found, error=_EXHAUSTED)
            doubt = _DOUBT if verdict is None else "; it is as wrong with a longer modulus chain"
    size = sum(len(vector) for vector in result.expected)
    return Findings(
        "wrong",
        accuracy=found,
        error=f"{found.wrong_slots} of {size} slots differ from cleartext; "
        f"largest error {found.max_abs_error:.3g}, tolerance {found.tolerance:.3g}{doubt}",
    )


def alone(stage: str, action: Callable[[], object]) -> list[Sample]:
    """What probes tell, such as peak memory, while ``action`` is executed once, where nothing is timed."""
    return samples_of(measured_alone(action), stage)
