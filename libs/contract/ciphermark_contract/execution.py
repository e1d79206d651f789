"""Programs executed operation by operation from Python: what every evaluator can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from time import perf_counter_ns
from typing import TYPE_CHECKING

from ciphermark_contract.interfaces import Bound, Evaluator, Handle, Operator, Vector
from ciphermark_contract.operations import OPERATIONS, Kind, where

if TYPE_CHECKING:
    from ciphermark_contract.program import Node, Program

# A node, ready to be called: function, values it takes, what follows them, first result, how many where they are a list
# (else 0), values that die.
_Step = tuple[Callable[..., Handle], tuple[int, ...], tuple[Handle, ...], int, int, tuple[int, ...]]


def prepared(evaluator: Evaluator, program: Program, vectors: Mapping[str, Vector]) -> tuple[Handle, ...]:
    """The program's constants as operands: encoded, or as vectors where the program is managed."""
    from ciphermark_contract.program import require_constants

    values = require_constants(program, vectors)
    if program.is_managed:
        return tuple(values)
    return tuple(
        evaluator.encode(vector, scale=constant.scale, level=constant.level)
        for vector, constant in zip(values, program.constants, strict=True)
    )


class ProgramBound(Bound):
    """A loop over the nodes. A ciphertext is dropped after its last use."""

    def __init__(
        self, evaluator: Evaluator, program: Program, inputs: Sequence[Handle], constants: Sequence[Handle]
    ) -> None:
        require_inputs(evaluator, program, inputs)
        self._inputs = list(inputs)
        self._count = len(program.shapes)
        self._outputs = program.outputs
        self._steps = _steps(evaluator.managed() if program.is_managed else evaluator, program, constants)
        self._results: list[Handle] = []

    def run(self, loops: int) -> int:
        start = perf_counter_ns()
        for _ in repeat(None, loops):
            results = self._executed()
        elapsed = perf_counter_ns() - start
        self._results = results
        return elapsed

    def results(self) -> list[Handle]:
        """The outputs of the last execution, in order."""
        return self._results

    def _executed(self) -> list[Handle]:
        values: list[Handle] = [*self._inputs, *repeat(None, self._count - len(self._inputs))]
        for function, operands, others, first, count, dying in self._steps:
            result = function(*[values[operand] for operand in operands], *others)
            if count == 0:
                values[first] = result
            else:
                values[first : first + count] = result
            for value in dying:
                values[value] = None
        return [values[output] for output in self._outputs]


def require_inputs(evaluator: Evaluator, program: Program, inputs: Sequence[Handle]) -> None:
    """Raise ``ValueError`` for inputs that are not what the program was traced for."""
    if len(inputs) != len(program.inputs):
        raise ValueError(f"the program takes {len(program.inputs)} inputs, not {len(inputs)}")
    if program.is_managed:
        return
    for number, (handle, shape) in enumerate(zip(inputs, program.inputs, strict=True)):
        given = (evaluator.level(handle), evaluator.polynomials(handle))
        if given != (shape.level, shape.polynomials):
            raise ValueError(
                f"input {number} has level and polynomials {given}, not {(shape.level, shape.polynomials)}"
            )


def _steps(operator: Operator, program: Program, constants: Sequence[Handle]) -> list[_Step]:
    for operation in {node.operation for node in program.nodes}:
        operator.function(operation)
    rows = zip(program.nodes, program.first_results, program.dying, strict=True)
    return [
        (
            _function(operator, node),
            node.operands,
            (*(constants[index] for index in node.constants), *node.arguments),
            first,
            len(node.results) if OPERATIONS[node.operation].has_several_results else 0,
            dying,
        )
        for node, first, dying in rows
    ]


def _function(operator: Operator, node: Node) -> Callable[..., Handle]:
    """What executes a node. Encoded plaintexts where the operation takes prepared ones are brought to that form, each
    time: how is known of ciphertexts at hand only.
    """
    apply = partial(operator.apply, node.operation)
    names = where(lambda row: row.result is Kind.PREPARED and row.name in operator.operations)
    if not names or Kind.PREPARED not in OPERATIONS[node.operation].operands:
        return apply
    prepare, first, end = names[0], len(node.operands), len(node.operands) + len(node.constants)

    def applied(*operands: Handle) -> Handle:
        plaintexts = (operator.apply(prepare, item, operands[0]) for item in operands[first:end])
        return apply(*operands[:first], *plaintexts, *operands[end:])

    return applied
