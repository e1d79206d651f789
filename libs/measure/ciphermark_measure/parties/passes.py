"""The driver of a workload's passes: keys, then every stage with a server, and last its layers.

The caller supplies the way to send requests to a party: a service over HTTP, a process over pipes, or an object of this
process. The parties never work at the same time: each request waits for the other party's reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol, TypeVar

from ciphermark_core.descriptor import Value
from ciphermark_core.model import EXACT_SCHEMES, ParameterSpec, Sample, Scheme
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob
from ciphermark_measure.parties.messages import Role, Source
from ciphermark_workloads.workload import Stage

R = TypeVar("R")


class Asking(Protocol):
    """The way to send a request to a party."""

    def __call__(self, role: Role, request: Any, kind: type[R]) -> R:
        """The reply, which must be of this kind; for any other, raises the exception that the caller expects."""
        ...


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of passes: see ``MakeKeys`` and ``Load``."""

    variant: str
    workload: str
    source: Source
    parameters: ParameterSpec | None = None
    scheme: Scheme | None = None
    options: Mapping[str, Value] = field(default_factory=dict)
    inputs_per_pass: int = 1
    threads: int | None = None
    kept_as: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Keys at the client, an evaluator at the server, and the elapsed seconds."""

    keys: messages.KeysMade
    loaded: messages.Loaded
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class StagePass:
    """One stage of one pass: the data sent in both directions, the judgement of the last stage, and the wall time."""

    stage: Stage
    sent: messages.Encrypted
    back: messages.Evaluated
    scored: messages.Scored | None
    elapsed_s: float

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples of both parties."""
        return self.sent.samples + self.back.samples + (self.scored.samples if self.scored else ())


class Driver:
    """Drives the passes of one subject."""

    def __init__(self, ask: Asking, subject: Subject) -> None:
        self._ask = ask
        self.subject = subject
        self.keys: messages.KeysMade | None = None

    def prepare(self) -> Prepared:
        """Make keys at the client, and an evaluator at the server."""
        about = self.subject
        start = perf_counter()
        request = messages.MakeKeys(
            about.variant,
            about.workload,
            about.parameters,
            about.scheme,
            dict(about.options),
            about.inputs_per_pass,
            about.source,
            about.threads,
            about.kept_as,
        )
        self.keys = keys = self._ask("client", request, messages.KeysMade)
        loaded = self.load(keys.material)
        return Prepared(keys, loaded, perf_counter() - start)

    def load(self, material: Blob) -> messages.Loaded:
        """Make an evaluator of the client's public material."""
        about = self.subject
        request = messages.Load(
            about.variant, about.workload, material, dict(about.options), about.inputs_per_pass, about.threads
        )
        return self._ask("server", request, messages.Loaded)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages with a server, in order."""
        assert self.keys is not None
        return tuple(stage for stage in self.keys.stages if stage.has_server)

    def passed(self, ended: int = 0, state: messages.State | None = None) -> Iterator[StagePass]:
        """One pass, stage by stage, with fresh encryptions; the results of the last stage are judged. Of an interrupted
        pass, some stages have ``ended`` with this ``state``, which the server lacks.
        """
        for stage in self.stages[ended:]:
            yield self._passed(stage, state)
            state = None

    def _passed(self, stage: Stage, state: messages.State | None) -> StagePass:
        start = perf_counter()
        sent = self.encrypted(stage)
        back, scored = self.evaluated(stage, sent, state), None
        if stage.returns == "result":
            score = messages.Score(back.outputs, self.subject.source)
            scored = self._ask("client", score, messages.Scored)
        return StagePass(stage, sent, back, scored, perf_counter() - start)

    def encrypted(self, stage: Stage) -> messages.Encrypted:
        """The encrypted inputs of a stage."""
        return self._ask("client", messages.Encrypt(stage.name, self.subject.source), messages.Encrypted)

    def evaluated(
        self, stage: Stage, sent: messages.Encrypted, state: messages.State | None = None
    ) -> messages.Evaluated:
        """The server's results of a stage, which goes on from a ``state`` that the server lacks."""
        evaluate = messages.Evaluate(stage.name, sent.inputs, sent.public, state)
        return self._ask("server", evaluate, messages.Evaluated)

    def described(self, stage: str) -> messages.Described:
        """The program of a stage that the server has executed."""
        return self._ask("server", messages.Describe(stage), messages.Described)

    def layers(self, passes: int) -> tuple[Sample, ...]:
        """The layers of the last stage, once passes are over: the times of each, and in ckks the largest value and the
        largest error of any slot. No pass is timed meanwhile.
        """
        assert self.keys is not None
        is_exact = (
            self.keys.parameters.spec.scheme in EXACT_SCHEMES
        )  # then a correct output has no error anywhere
        sent = self.encrypted(self.stages[-1])
        count = min(max(1, passes), messages.MAX_PASSES)
        evaluate = messages.EvaluateLayers(sent.inputs, count, returns_ends=not is_exact)
        executed = self._ask("server", evaluate, messages.LayersEvaluated)
        if is_exact:
            return executed.samples
        compare = messages.CompareLayers(self.subject.source, executed.ends)
        return executed.samples + self._ask("client", compare, messages.LayersCompared).samples
