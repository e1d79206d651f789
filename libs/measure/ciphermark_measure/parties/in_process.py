"""Both parties of a workload in one process: for tests and benches. Ciphertexts cross as bytes all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ciphermark_adapters import registry
from ciphermark_contract.declaration import SEEDED_CIPHERTEXT, Declaration
from ciphermark_contract.interfaces import Adapter, Handle, KeyRequest, Vector
from ciphermark_contract.tracing import Traced
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.parameters import sends_seeded
from ciphermark_workloads.programs import StageProgram, all_traced, keys_of
from ciphermark_workloads.workload import Judgement, Stage, Truth


@dataclass(frozen=True, slots=True)
class Executed:
    """What a stage returned; seconds that encoding its constants took, and each execution."""

    outputs: list[Handle]
    encode_s: float
    evaluate_s: tuple[float, ...]


class InProcess:
    """Client and server of a workload, with keys made once, and programs traced for one input: what else is executed
    must be told to the server likewise.
    """

    def __init__(self, workload: AnyWorkload, adapter: Adapter, spec: ParameterSpec, given: Any) -> None:
        """Raises ``Unsupported`` for what the library does not have, or the chain no room for."""
        self.workload = workload
        self.declared: Declaration = registry.declaration(adapter.info().variant)
        self.parameters: Parameters = adapter.resolve(spec)
        self.programs: Mapping[str, StageProgram] = all_traced(
            workload, given, self.parameters, self.declared
        )
        self.owner = adapter.key_owner(self.parameters, self._keys())
        self.evaluator = adapter.evaluator(self.owner.public_material())

    def executed(self, given: Any, loops: int = 1, threads: int = 1) -> dict[str, Executed]:
        """All stages with a server, each ``loops`` times."""
        stages: dict[str, Executed] = {}
        state: list[Handle] = []
        for stage in self.workload.server_stages:
            handles = self.operands(stage, given, state)
            stages[stage.name] = self._timed(self.programs[stage.name].traced, handles, loops, threads)
            state = stages[stage.name].outputs
        return stages

    def operands(self, stage: Stage, given: Any, state: Sequence[Handle]) -> list[Handle]:
        """What a stage's program takes: ciphertexts of the input, then what the stage before returned."""
        return [*self._sent(self.workload.vectors(stage.name, given, self.parameters)), *state]

    def decrypted(self, outputs: Sequence[Handle]) -> list[Vector]:
        """All slots of what the server returned, as the client finds them."""
        return [self.owner.decrypt(item) for item in self._returned(outputs)]

    def output(self, outputs: Sequence[Handle], given: Any) -> Any:
        """What the client finds in what the last stage returned."""
        decrypted = self.workload.decrypted(self.owner, self._returned(outputs))
        return self.workload.output(decrypted, given, self.parameters)

    def _returned(self, outputs: Sequence[Handle]) -> list[Handle]:
        compression = self.declared.compressions[0]
        return [self.owner.load(self.evaluator.dump(item, compression)) for item in outputs]

    def judged(self, output: Any, given: Any) -> Judgement:
        """Whether an output is right."""
        workload = self.workload
        reference, expected = workload.reference(given), workload.expected(given, self.parameters)
        return workload.judge(output, Truth(given, reference, expected, self.parameters))

    def _keys(self) -> KeyRequest:
        asked = self.workload.keys(self.parameters)
        return keys_of(self.programs.values()) if asked is None else asked

    def _sent(self, vectors: Sequence[Vector]) -> list[Handle]:
        owner, compression = self.owner, self.declared.compressions[0]
        if sends_seeded(self.workload, self.declared):
            dumped = [owner.dump_seeded(SEEDED_CIPHERTEXT, vector, compression) for vector in vectors]
        else:
            dumped = [owner.dump(owner.encrypt(vector), compression) for vector in vectors]
        return [self.evaluator.load(item) for item in dumped]

    def _timed(self, traced: Traced, handles: list[Handle], loops: int, threads: int) -> Executed:
        start = perf_counter()
        prepared = self.evaluator.prepare_constants(traced.program, traced.constants, threads)
        encode_s = perf_counter() - start
        bound = self.evaluator.bind_program(traced.program, handles, prepared, threads)
        times = tuple(bound.run(1) / 1e9 for _ in range(loops))
        return Executed(bound.results(), encode_s, times)
