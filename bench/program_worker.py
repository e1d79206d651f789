"""A process that holds one program, bound for one and for two threads, and runs it on request."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from multiprocessing import get_context
from multiprocessing.connection import Connection
from operator import or_
from time import perf_counter
from typing import Any

import numpy as np

from bench.program_cases import ProgramCase
from ciphermark_adapters import registry
from ciphermark_contract import interfaces
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, KeyOwner
from ciphermark_contract.program import Node, Program
from ciphermark_contract.tracing import Traced

_PASSES = 3


class ProgramWorker:
    """The process, on these CPUs."""

    def __init__(self, case: ProgramCase, variant: str, cpus: set[int]) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, case, variant, cpus), daemon=True)
        self._process.start()
        theirs.close()

    def elapsed_s(self, threads: int, loops: int) -> float:
        """Seconds of ``loops`` executions."""
        elapsed_ns: int = self._asked((threads, loops))
        return elapsed_ns / 1e9

    def work_and_span(self) -> tuple[float, float]:
        """Work and span in seconds, from the times of its operations one by one."""
        work, span = self._asked(None)
        return work, span

    def close(self) -> None:
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
        cases = [case] if case.after is None else [case.after, case]
        traced = [each.traced(parameters) for each in cases]
        keys = reduce(or_, (each.program.keys for each in traced))
        owner = adapter.key_owner(parameters, keys)
        self._evaluator = adapter.evaluator(owner.public_material())
        state: list[Handle] = []
        for each, program in zip(cases, traced, strict=True):
            self._inputs = _encrypted(owner, self._evaluator, each.inputs) + state
            self._bounds = {threads: self._bound(program, threads) for threads in (1, 2)}
            if each is not case:
                self._bounds[1].run(1)
                state = self._bounds[1].results()

    def run(self, threads: int, loops: int) -> int:
        """Nanoseconds of ``loops`` executions."""
        return self._bounds[threads].run(loops)

    def weigh(self) -> tuple[float, float]:
        """Work and span in seconds, from the shortest of a few executions of each node."""
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

    def _bound(self, traced: Traced, threads: int) -> Bound:
        prepared = self._evaluator.prepare_constants(traced.program, traced.constants)
        return self._evaluator.bind_program(traced.program, self._inputs, prepared, threads)


def _encrypted(owner: KeyOwner, evaluator: Evaluator, count: int) -> list[Handle]:
    numbers, slots, modulus = np.random.default_rng(1), owner.parameters.slots, owner.parameters.plain_modulus
    vectors = [
        numbers.uniform(-0.1, 0.1, slots) if modulus is None else numbers.integers(1, modulus, slots)
        for _ in range(count)
    ]
    return [evaluator.load(owner.dump(owner.encrypt(vector), "none")) for vector in vectors]
