"""Random circuits of managed operations, traced for a variant, with their results in the clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from ciphermark_contract.interfaces import Evaluator, Handle, Managed, Vector
from ciphermark_contract.operations import OPERATIONS, Kind, Ring
from ciphermark_contract.program import Program, require_constants
from ciphermark_contract.tracing import Traced, fresh_inputs, trace
from ciphermark_core.errors import Exhausted

from ..harness import STEPS, Subject

INPUTS = 2
# An operation, the numbers of its operands among the values so far from the last one back, and that of a plaintext.
Step: TypeAlias = tuple[str, int, int, int]


def steps(operations: Sequence[str]) -> st.SearchStrategy[list[Step]]:
    """Up to a dozen random steps. Half of them are products, which few noise budgets bear many of."""
    number, products = st.integers(0, 3), [name for name in operations if OPERATIONS[name].is_product]
    some = st.one_of(st.sampled_from(operations), st.sampled_from(products))
    return st.lists(st.tuples(some, number, number, number), min_size=1, max_size=12)


@dataclass(frozen=True)
class Circuit:
    """The circuit of some steps. Those for which no level is left, or whose scales do not match, are left out."""

    steps: Sequence[Step]
    plains: Sequence[Vector]

    def __call__(self, evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        do, values = Managed(evaluator).apply, [*inputs]
        for operation, first, second, seed in self.steps:
            row = OPERATIONS[operation]
            a, b = values[-1 - first % len(values)], values[-1 - second % len(values)]
            others: list[Any] = []
            if len(row.operands) > 1:
                others = [b if row.operands[1] is Kind.CIPHERTEXT else self.plains[seed % len(self.plains)]]
            elif row.argument is not None:
                others = [STEPS[seed % len(STEPS)]]
            with suppress(Exhausted, ValueError):
                values.append(do(operation, a, *others))
        return values[-2:]


def traced(subject: Subject, circuit: Circuit) -> Traced:
    """The circuit's program for a subject's library."""
    return trace(
        circuit, subject.parameters, fresh_inputs(subject.parameters, INPUTS), subject.evaluator.operations
    )


def executed(subject: Subject, program: Traced, vectors: Sequence[Vector]) -> list[Handle]:
    """The outputs of the program, encrypted, with the owner."""
    evaluator = subject.evaluator
    prepared = evaluator.prepare_constants(program.program, program.constants)
    bound = evaluator.bind_program(
        program.program, [subject.encrypted(vector) for vector in vectors], prepared
    )
    bound.run(1)
    return [subject.returned(item) for item in bound.results()]


def meaning(program: Program, constants: Mapping[str, Vector], vectors: Sequence[Vector]) -> list[Vector]:
    """The outputs in the clear."""
    ring, plains = Ring.of(program.parameters), require_constants(program, constants)
    values = [*vectors]
    for node in program.nodes:
        operands = [
            *(values[item] for item in node.operands),
            *(np.asarray(plains[item]) for item in node.constants),
            *node.arguments,
        ]
        result = OPERATIONS[node.operation].slots_after(ring, *operands)
        values.extend(result if isinstance(result, list) else [result])
    return [values[output] for output in program.outputs]
