"""A process that holds one program, bound for one and for two threads, and runs it when asked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from bench.program_cases import ProgramCase
from ciphermark_adapters import registry
from ciphermark_contract import interfaces
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, KeyOwner, Vector
from ciphermark_contract.program import Node, Program
from ciphermark_contract.tracing import Traced
from ciphermark_core.model import Parameters

_PASSES = 3


class ProgramWorker:
    """The process, on these CPUs."""

    def __init__(self, case: ProgramCase, variant: str, cpus: set[int]) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, case, variant, cpus), daemon=True)
        self._process.start()
        theirs.close()

    def elapsed_ns(self, threads: int, loops: int) -> int:
        """The time of so many executions."""
        elapsed: int = self._asked((threads, loops))
        return elapsed

    def work_and_span(self) -> tuple[float, float]:
        """Seconds, by the times of its operations one by one."""
        work, span = self._asked(None)
        return work, span

    def end(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.join()

    def _asked(self, question: tuple[int, int] | None) -> Any:
        self._pipe.send(question)
        return self._pipe.recv()


def _serve(pipe: Connection, case: ProgramCase, variant: str, cpus: set[int]) -> None:
    os.sched_setaffinity(0, cpus)
    ready = _Ready(case, variant)
    while True:
        question = pipe.recv()
        pipe.send(ready.weigh() if question is None else ready.run(*question))


class _Ready:
    """Keys, inputs and bindings of a case."""

    def __init__(self, case: ProgramCase, variant: str) -> None:
        adapter, parameters = registry.load(variant), case.parameters(variant)
        self._traced = case.traced(parameters)
        before = case.after.traced(parameters) if case.after is not None else None
        keys = (
            self._traced.program.keys if before is None else self._traced.program.keys | before.program.keys
        )
        owner = adapter.key_owner(parameters, keys)
        self._evaluator = adapter.evaluator(owner.public_material())
        self._inputs = _encrypted(owner, self._evaluator, case.inputs)
        if before is not None:
            assert case.after is not None
            rows = _encrypted(owner, self._evaluator, case.after.inputs)
            bound = _bound(self._evaluator, before, rows, 1)
            bound.run(1)
            self._inputs += bound.results()
        self._bounds = {
            threads: _bound(self._evaluator, self._traced, self._inputs, threads) for threads in (1, 2)
        }

    def run(self, threads: int, loops: int) -> int:
        """Nanoseconds of so many executions."""
        return self._bounds[threads].run(loops)

    def weigh(self) -> tuple[float, float]:
        """Work and span in seconds, of the shortest of a few executions of each node."""
        program = self._traced.program
        constants = interfaces.encoded_constants(self._evaluator, program, self._traced.constants)
        costs: dict[Node, float] = {}
        for _ in range(_PASSES):
            for node, seconds in self._timed_nodes(program, constants):
                costs[node] = min(seconds, costs.get(node, seconds))
        return program.work(lambda node, _: costs[node]), program.span(lambda node, _: costs[node])

    def _timed_nodes(self, program: Program, constants: Sequence[Handle]) -> list[tuple[Node, float]]:
        values: dict[int, Handle] = dict(enumerate(self._inputs))
        times = []
        for node, first, dying in zip(program.nodes, program.first_results, program.dying, strict=True):
            operands = [values[operand] for operand in node.operands]
            plain = [constants[constant] for constant in node.constants]
            start = perf_counter()
            values[first] = self._evaluator.apply(node.operation, *operands, *plain, *node.arguments)
            times.append((node, perf_counter() - start))
            for value in dying:
                del values[value]
        return times


def _encrypted(owner: KeyOwner, evaluator: Evaluator, count: int) -> list[Handle]:
    numbers = np.random.default_rng(1)
    vectors = [_vector(owner.parameters, numbers) for _ in range(count)]
    return [evaluator.load(owner.dump(owner.encrypt(vector), "none")) for vector in vectors]


def _vector(parameters: Parameters, numbers: np.random.Generator) -> Vector:
    if parameters.plain_modulus is None:
        return numbers.uniform(-0.1, 0.1, parameters.slots)
    return numbers.integers(1, parameters.plain_modulus, parameters.slots)


def _bound(evaluator: Evaluator, traced: Traced, inputs: Sequence[Handle], threads: int) -> Bound:
    constants: Mapping[str, Vector] = traced.constants
    prepared = evaluator.prepare_constants(traced.program, constants)
    return evaluator.bind_program(traced.program, inputs, prepared, threads)
