"""One input that somebody gives, through both parties, once: to see it happen. Nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from ciphermark_benchmark.parties.party import Parties
from ciphermark_core.model import Sample
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob
from ciphermark_measure.parties.messages import CHECK, PREPARE, Role
from ciphermark_measure.parties.passes import Driver, Subject
from ciphermark_measure.protocol import Refused

R = TypeVar("R")


class RefusedOnce(Exception):
    """A party's refusal; ``reply`` is what it said."""

    def __init__(self, reply: Refused) -> None:
        super().__init__(reply.error)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Question:
    """Which workload, by which variant, on which numbers: see :meth:`Workload.given_input`."""

    workload: str
    variant: str
    given: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What a party did, and for how long."""

    party: messages.Role
    stage: str
    step: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Sent:
    """Blobs that went from one party to the other, and their bytes."""

    stage: str
    to: messages.Role
    blobs: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Seen:
    """All of it: what was found (see :class:`~ciphermark_measure.parties.messages.Scored`), and how."""

    made: messages.KeysMade
    scored: messages.Scored
    steps: tuple[Step, ...]
    sent: tuple[Sent, ...]


class _Once:
    """Asks the parties, all within one deadline, and notes what they did."""

    def __init__(self, parties: Parties, timeout_s: float) -> None:
        self._parties, self._deadline_s = parties, monotonic() + timeout_s
        self.steps: list[Step] = []

    def asked(self, role: Role, request: Any, kind: type[R]) -> R:
        party = self._parties.client if role == "client" else self._parties.server
        reply: Any = party.ask(request, max(0.0, self._deadline_s - monotonic()))
        if isinstance(reply, Refused):
            raise RefusedOnce(reply)
        samples = reply.samples
        assert isinstance(reply, kind), f"{type(reply).__name__} is no answer to {type(request).__name__}"
        self.steps += _steps(role, samples)
        return reply


def _sent(stage: str, to: Role, blobs: Iterable[Blob]) -> Sent:
    several = tuple(blobs)
    count = sum(max(1, blob.parts) for blob in several)
    return Sent(stage, to, count, sum(blob.payload_bytes for blob in several))


def _steps(role: messages.Role, samples: Iterable[Sample]) -> list[Step]:
    return [
        Step(role, sample.stage, sample.step, sample.value)
        for sample in samples
        if sample.metric == "time" and sample.step is not None and sample.step != CHECK
    ]


def seen(parties: Parties, question: Question, timeout_s: float) -> Seen:
    """Keys, and all stages of the workload once. Raises :class:`RefusedOnce`, and ``WorkerDied`` where a party dies or
    takes longer than ``timeout_s`` in all.
    """
    once = _Once(parties, timeout_s)
    driver = Driver(
        once.asked, Subject(question.variant, question.workload, messages.Source(0, given=question.given))
    )
    keys = driver.prepare().keys
    sent = [_sent(PREPARE, "server", [keys.material])]
    scored: messages.Scored | None = None
    for stage_pass in driver.passed():
        name, there, back = stage_pass.stage.name, stage_pass.sent, stage_pass.back
        sent += [_sent(name, "server", [*there.inputs, there.public]), _sent(name, "client", back.outputs)]
        scored = stage_pass.scored
    assert scored is not None
    return Seen(keys, scored, tuple(once.steps), tuple(sent))
