"""Layers of a program, each a separate program, with their operands, costs and results. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ciphermark_contract.bound import Vector
from ciphermark_contract.operations import OPERATIONS, Kind, Ring, Shape, padded
from ciphermark_contract.program import Node, Program
from ciphermark_core.model import LayerFacts, OperationCount

_WORD_BYTES = 8


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer. ``operands`` are the values of the whole program that the layer's ``program`` takes as inputs.

    ``outputs`` are the values that it returns, its ``ends`` first.
    """

    name: str
    program: Program
    operands: tuple[int, ...]
    outputs: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def operand_bytes(self) -> int:
        """Bytes of its ciphertext and plaintext operands, 8 for each coefficient and prime."""
        program = self.program
        plaintexts = (Shape(constant.level, constant.scale, 1) for constant in program.constants)
        return sum(shape_bytes(program, shape) for shape in (*program.inputs, *plaintexts))

    @property
    def result_bytes(self) -> int:
        """Bytes of the ciphertexts that it returns."""
        program = self.program
        return sum(shape_bytes(program, program.shapes[value]) for value in program.outputs)

    @property
    def has_meaning(self) -> bool:
        """Whether plain vectors determine its results; words of a ciphertext depend on its noise, too."""
        used = {node.operation for node in self.program.nodes}
        return not any(Kind.WORDS in OPERATIONS[operation].operands for operation in used)

    @property
    def facts(self) -> LayerFacts:
        """The facts that are recorded about it."""
        program = self.program
        end = program.shapes[program.outputs[0]]
        counts = sorted(program.counts.items())
        return LayerFacts(
            name=self.name,
            level=max(shape.level for shape in program.inputs),
            end_level=end.level,
            scale_bits=None if end.scale is None else math.log2(end.scale),
            operand_bytes=self.operand_bytes,
            result_bytes=self.result_bytes,
            counts=tuple(OperationCount(operation, level, n) for (operation, level), n in counts),
        )


def shape_bytes(program: Program, shape: Shape) -> int:
    """Bytes of a ciphertext or plaintext: 8 for each coefficient of each polynomial and prime.

    A plaintext modulus with several residues multiplies them by their number.
    """
    parameters = program.parameters
    words = shape.polynomials * (shape.level + 1) * parameters.ring_dimension
    return words * max(1, len(parameters.spec.plain_residues)) * _WORD_BYTES


def split(program: Program, ends: Mapping[str, Sequence[int]]) -> list[Layer]:
    """Split the program into layers by their final values, ``ends``.

    A node belongs to the first layer whose ends need it. An unneeded node of a literal program belongs to the last.
    """
    makers = {value: index for index in range(len(program.nodes)) for value in _made(program, index)}
    left, chosen = set(range(len(program.nodes))), list[list[int]]()
    for number, values in enumerate(ends.values(), 1):
        nodes = left & _needed(program, makers, values) if number < len(ends) else left
        left = left - nodes
        chosen.append(sorted(nodes))
    later = [
        {value for nodes in chosen[number:] for index in nodes for value in program.nodes[index].operands}
        | {value for values in [*ends.values()][number:] for value in values}
        for number in range(1, len(ends) + 1)
    ]
    return [
        _layer(program, name, nodes, tuple(values), wanted)
        for (name, values), nodes, wanted in zip(ends.items(), chosen, later, strict=True)
    ]


def _made(program: Program, index: int) -> range:
    """The results of a node."""
    first = program.first_results[index]
    return range(first, first + len(program.nodes[index].results))


def _needed(program: Program, makers: Mapping[int, int], values: Iterable[int]) -> set[int]:
    """The nodes that values depend on."""
    open_values, nodes = [*values], set[int]()
    while open_values:
        index = makers.get(open_values.pop())
        if index is not None and index not in nodes:
            nodes.add(index)
            open_values.extend(program.nodes[index].operands)
    return nodes


def _layer(
    program: Program, name: str, chosen: Sequence[int], ends: tuple[int, ...], later: set[int]
) -> Layer:
    """The nodes as a separate program, with operands in the order of their first use.

    It returns its ends, then the other values that ``later`` layers take.
    """
    results = [value for index in chosen for value in _made(program, index)]
    outputs = (*ends, *(value for value in results if value in later and value not in ends))
    nodes = [program.nodes[index] for index in chosen]
    inside = set(results)
    read = [value for node in nodes for value in node.operands] + [*ends]
    operands = tuple(dict.fromkeys(value for value in read if value not in inside))
    values = {value: number for number, value in enumerate([*operands, *results])}
    constants = {
        item: number
        for number, item in enumerate(dict.fromkeys(item for node in nodes for item in node.constants))
    }

    def moved(node: Node) -> Node:
        return replace(
            node,
            operands=tuple(values[value] for value in node.operands),
            constants=tuple(constants[item] for item in node.constants),
        )

    part = replace(
        program,
        inputs=tuple(program.shapes[value] for value in operands),
        constants=tuple(program.constants[item] for item in constants),
        nodes=tuple(map(moved, nodes)),
        outputs=tuple(values[value] for value in outputs),
    )
    return Layer(name, part, operands, outputs, ends)


def in_the_clear(program: Program, inputs: Sequence[Vector], constants: Mapping[str, Vector]) -> list[Vector]:
    """Evaluate a program on plain vectors; return all its values, inputs first, in order.

    ``constants`` are its vectors by digest.
    """
    ring = Ring.of(program.parameters)
    values = [padded(vector, ring.slots) for vector in inputs]
    plaintexts = [padded(constants[constant.digest], ring.slots) for constant in program.constants]
    for node in program.nodes:
        row = OPERATIONS[node.operation]
        operands = [values[value] for value in node.operands]
        operands += [plaintexts[item] for item in node.constants]
        result = row.slots_after(ring, *operands, *node.arguments)
        values.extend(result if row.has_several_results else [result])
    return values
