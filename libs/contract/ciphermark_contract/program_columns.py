"""A program as bytes: columns of small numbers in MessagePack, names, scales and shapes once each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import msgspec

from ciphermark_contract.operations import Shape
from ciphermark_contract.program import Constant, Node, Program
from ciphermark_core.model import Parameters

_FORMAT = 1
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Columns:
    """``shapes`` lists the shapes that occur; ``inputs`` and ``results`` are indices of it.

    ``operations`` are indices of ``names``, one per node; the columns after it hold, node after node, as many entries
    as the ``…_counts`` beside them say.
    """

    format: int
    parameters: Parameters
    is_managed: bool
    shapes: list[Shape]
    constants: list[Constant]
    inputs: list[int]
    names: list[str]
    operations: list[int]
    operand_counts: list[int]
    operands: list[int]
    constant_counts: list[int]
    constant_operands: list[int]
    argument_counts: list[int]
    arguments: list[int | float]
    result_counts: list[int]
    results: list[int]
    outputs: list[int]


def encoded(program: Program) -> bytes:
    """The program's bytes."""
    nodes = program.nodes
    names = _numbered(node.operation for node in nodes)
    shapes = _numbered(program.shapes)
    columns = _Columns(
        format=_FORMAT,
        parameters=program.parameters,
        is_managed=program.is_managed,
        shapes=list(shapes),
        constants=list(program.constants),
        inputs=[shapes[shape] for shape in program.inputs],
        names=list(names),
        operations=[names[node.operation] for node in nodes],
        operand_counts=[len(node.operands) for node in nodes],
        operands=[operand for node in nodes for operand in node.operands],
        constant_counts=[len(node.constants) for node in nodes],
        constant_operands=[constant for node in nodes for constant in node.constants],
        argument_counts=[len(node.arguments) for node in nodes],
        arguments=[argument for node in nodes for argument in node.arguments],
        result_counts=[len(node.results) for node in nodes],
        results=[shapes[shape] for node in nodes for shape in node.results],
        outputs=list(program.outputs),
    )
    return msgspec.msgpack.encode(columns)


def decoded(data: bytes) -> Program:
    """The program in the bytes; raises ``ValueError`` where there is none."""
    try:
        columns = msgspec.msgpack.decode(data, type=_Columns)
        program = Program(
            parameters=columns.parameters,
            inputs=tuple(columns.shapes[index] for index in columns.inputs),
            constants=tuple(columns.constants),
            nodes=tuple(_nodes(columns)),
            outputs=tuple(columns.outputs),
            is_managed=columns.is_managed,
        )
    except (msgspec.MsgspecError, IndexError, RuntimeError) as error:
        raise ValueError(f"these bytes hold no program: {error}") from error
    if columns.format != _FORMAT:
        raise ValueError(f"the program has format {columns.format}, and this software reads {_FORMAT}")
    _require_order(program)
    return program


def _nodes(columns: _Columns) -> Iterator[Node]:
    operands = _pieces(columns.operands, columns.operand_counts)
    constants = _pieces(columns.constant_operands, columns.constant_counts)
    arguments = _pieces(columns.arguments, columns.argument_counts)
    results = _pieces([columns.shapes[index] for index in columns.results], columns.result_counts)
    rows = zip(columns.operations, operands, constants, arguments, results, strict=True)
    for name, taken, plain, numbers, made in rows:
        yield Node(columns.names[name], taken, plain, numbers, made)


def _pieces(values: Sequence[_T], counts: Iterable[int]) -> Iterator[tuple[_T, ...]]:
    left = iter(values)
    return (tuple(islice(left, count)) for count in counts)


def _numbered(values: Iterable[_T]) -> dict[_T, int]:
    return {value: index for index, value in enumerate(dict.fromkeys(values))}


def _require_order(program: Program) -> None:
    for node, made in zip(program.nodes, program.first_results, strict=True):
        _require_within(node.operands, made)
        _require_within(node.constants, len(program.constants))
        if not node.operands or not node.results:
            raise ValueError(f"a node of {node.operation} has no operand or no result")
    _require_within(program.outputs, len(program.shapes))


def _require_within(indices: Iterable[int], bound: int) -> None:
    if not all(0 <= index < bound for index in indices):
        raise ValueError("the program's nodes are not in an order of execution")
