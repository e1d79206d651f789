"""One input that somebody gives, through both parties, once: to see it happen. Nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from ciphermark_benchmark.parties.party import Parties, Party
from ciphermark_core.model import Sample
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob
from ciphermark_measure.parties.messages import CHECK, PREPARE
from ciphermark_measure.protocol import Refused

Reply = TypeVar(
    "Reply", messages.KeysMade, messages.Loaded, messages.Encrypted, messages.Evaluated, messages.Scored
)


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
    def __init__(self, parties: Parties, timeout_s: float) -> None:
        self._parties, self._deadline_s = parties, monotonic() + timeout_s
        self.steps: list[Step] = []
        self.sent: list[Sent] = []

    def client(self, request: messages.ClientRequest, kind: type[Reply]) -> Reply:
        return self._asked("client", self._parties.client, request, kind)

    def server(self, request: messages.ServerRequest, kind: type[Reply]) -> Reply:
        return self._asked("server", self._parties.server, request, kind)

    def tell(self, stage: str, to: messages.Role, blobs: Iterable[Blob]) -> None:
        several = tuple(blobs)
        count = sum(max(1, blob.parts) for blob in several)
        self.sent.append(Sent(stage, to, count, sum(blob.payload_bytes for blob in several)))

    def _asked(self, role: messages.Role, party: Party, request: Any, kind: type[Reply]) -> Reply:
        reply = party.ask(request, max(0.0, self._deadline_s - monotonic()))
        if isinstance(reply, Refused):
            raise RefusedOnce(reply)
        assert isinstance(reply, kind), f"{type(reply).__name__} is no answer to {type(request).__name__}"
        self.steps += _steps(role, reply.samples)
        return reply


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
    source = messages.Source(0, given=question.given)
    keys = messages.MakeKeys(question.variant, question.workload, source=source)
    made = once.client(keys, messages.KeysMade)
    once.tell(PREPARE, "server", [made.material])
    once.server(messages.Load(question.variant, question.workload, made.material), messages.Loaded)
    back: tuple[Blob, ...] = ()
    for stage in made.stages:
        if not stage.has_server:
            continue
        encrypted = once.client(messages.Encrypt(stage.name, source), messages.Encrypted)
        once.tell(stage.name, "server", [*encrypted.inputs, encrypted.public])
        evaluate = messages.Evaluate(stage.name, encrypted.inputs, encrypted.public)
        back = once.server(evaluate, messages.Evaluated).outputs
        once.tell(stage.name, "client", back)
    scored = once.client(messages.Score(back, source), messages.Scored)
    return Seen(made, scored, tuple(once.steps), tuple(once.sent))
