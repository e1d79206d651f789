"""Both parties of a workload in one process, for checks, tests and benchmarks. Ciphertexts still cross as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter, Evaluator, Handle, KeyOwner, Vector
from ciphermark_core.errors import UserError
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob, Blobs
from ciphermark_measure.parties.client import Client
from ciphermark_measure.parties.messages import Role, Source
from ciphermark_measure.parties.passes import Driver, Subject
from ciphermark_measure.parties.server import Server
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.data_sets import DataSet
from ciphermark_workloads.programs import Programs, all_traced
from ciphermark_workloads.workload import Judgement, Stage, Truth

R = TypeVar("R")


class _Memory(Blobs):
    """Blobs of one process, named by number, since no other process can access them."""

    def __init__(self) -> None:
        self._parts: dict[str, list[bytes]] = {}

    def put(self, data: bytes) -> Blob:
        return self.put_parts([data])

    def put_parts(self, parts: Iterable[bytes]) -> Blob:
        pieces, digest = list(parts), f"{len(self._parts):064x}"
        self._parts[digest] = pieces
        return Blob(digest, sum(map(len, pieces)), len(pieces))

    def get(self, blob: Blob) -> bytes:
        return self._parts[blob.digest][0]

    def get_parts(self, blob: Blob) -> Iterator[bytes]:
        return iter(self._parts[blob.digest])

    def clear(self) -> None:
        for pieces in self._parts.values():
            pieces.clear()


class _Client(Client):
    """Computes on an input given as an object, and keeps its last output."""

    given: Any = None
    outputs: Sequence[Any] = ()
    writes_keys_again = True

    def configured(self, name: str, options: Mapping[str, Any]) -> AnyWorkload:
        return self.workloads[name]

    def inputs(self, workload: AnyWorkload, source: Source, inputs_per_pass: int) -> list[Any]:
        return [self.given]

    def judged(
        self, workload: AnyWorkload, outputs: Sequence[Any], truths: Sequence[Truth[Any, Any]]
    ) -> Judgement:
        self.outputs = outputs
        return super().judged(workload, outputs, truths)


class _Server(Server):
    def configured(self, name: str, options: Mapping[str, Any]) -> AnyWorkload:
        return self.workloads[name]


@dataclass(frozen=True, slots=True)
class Executed:
    """The results of a stage, the seconds of encoding its constants, and the seconds of each execution."""

    outputs: list[Handle]
    encode_s: float
    evaluate_s: tuple[float, ...]


class InProcess:
    """Client and server of a workload, with keys made once, and programs traced for one input. Other inputs must send
    the server the same data.
    """

    def __init__(self, workload: AnyWorkload, adapter: Adapter, spec: ParameterSpec, given: Any) -> None:
        """Raises ``Unsupported`` where the library lacks a feature, or the modulus chain lacks room."""
        self.workload = workload
        store, workloads = _Memory(), {workload.name: workload}
        self._client, self._server = _Client(store, workloads, _no_data), _Server(store, workloads)
        self._client.given = given
        self._store = store
        about = Subject(adapter.info().variant, workload.name, Source(0), spec, threads=1)
        self._driver = Driver(self._asked, about)
        self._driver.prepare()
        self.owner: KeyOwner = self._client.keys.owner
        self.declared: Declaration = self._client.keys.declared
        self.parameters: Parameters = self.owner.parameters
        self.programs: Programs = all_traced(workload, given, self.parameters, self.declared)

    @property
    def evaluator(self) -> Evaluator:
        """The server's evaluator."""
        return self._server.loaded.evaluator

    def executed(self, given: Any, loops: int = 1, threads: int = 1) -> dict[str, Executed]:
        """The executions of all stages with a server, each ``loops`` times."""
        self._compute_on(given)
        self._load(threads)
        stages = {}
        for stage in self._driver.stages:
            sent = self._driver.encrypted(stage)
            replies = [self._driver.evaluated(stage, sent) for _ in range(loops)]
            seconds = [_seconds(reply, "evaluate") for reply in replies]
            outputs = self._server.loaded.states[stage.name][0]
            stages[stage.name] = Executed(outputs, _seconds(replies[0], "encode"), tuple(seconds))
        self._store.clear()
        return stages

    def operands(self, stage: Stage, given: Any, state: Sequence[Handle]) -> list[Handle]:
        """The operands of a stage's program: ciphertexts of the input, then the results of the stage before."""
        self._compute_on(given)
        dumped = self._client.got(self._driver.encrypted(stage).inputs)
        return [*map(self.evaluator.load, dumped), *state]

    def decrypted(self, outputs: Sequence[Handle]) -> list[Vector]:
        """All slots of the server's results, as the client decrypts them."""
        return [self.owner.decrypt(self.owner.load(item)) for item in self._dumped(outputs)]

    def output(self, outputs: Sequence[Handle], given: Any) -> Any:
        """The output that the client derives from the last stage's results. Raises ``Exhausted`` where it is incorrect
        for lack of noise budget.
        """
        self._compute_on(given)
        returned = self._server.kept(self._dumped(outputs))
        self._asked("client", messages.Score(returned, self._driver.subject.source), messages.Scored)
        self._store.clear()
        return self._client.outputs[0]

    def judged(self, output: Any, given: Any) -> Judgement:
        """Whether an output is correct."""
        self._compute_on(given)
        truths = self._client.subject_of(self._driver.subject.source).truths
        return self._client.judged(self.workload, [output], truths)

    def _dumped(self, outputs: Sequence[Handle]) -> list[bytes]:
        compression = self.declared.compressions[0]
        return [self.evaluator.dump(item, compression) for item in outputs]

    def _asked(self, role: Role, request: Any, kind: type[R]) -> R:
        """The party's reply; any exception of the party passes through."""
        party = self._client if role == "client" else self._server
        reply = party.answers[type(request)](request)
        assert isinstance(reply, kind)
        return reply

    def _compute_on(self, given: Any) -> None:
        """Switch the client to an input, under another seed, since the client caches the subject of each seed."""
        if given is not self._client.given:
            about, self._client.given = self._driver.subject, given
            self._driver.subject = replace(about, source=Source(about.source.seed + 1))

    def _load(self, threads: int) -> None:
        """Set the server's number of threads: its programs are rebuilt for another number."""
        if threads != self._server.loaded.threads:
            self._driver.subject = replace(self._driver.subject, threads=threads)
            self._driver.load(self._store.put_parts(self.owner.public_material()))


def _seconds(reply: messages.Evaluated, step: str) -> float:
    return sum(
        item.value for item in messages.samples_of(reply) if item.metric == "time" and item.step == step
    )


def _no_data(name: str) -> DataSet:
    raise UserError(f"the input is given: there is no data set {name!r}")
