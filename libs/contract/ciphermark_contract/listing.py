"""A program as text: one line per node, and its facts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ciphermark_contract.operations import Shape
from ciphermark_contract.program import Node, Program


def facts(program: Program) -> dict[str, str | int]:
    """What is worth knowing of a program, by name."""
    parameters = program.parameters
    return {
        "digest": program.digest,
        "form": "managed: the library chooses levels" if program.is_managed else "driven by levels",
        "scheme": program.scheme,
        "ring dimension": parameters.ring_dimension,
        "modulus bits": ", ".join(map(str, parameters.modulus_bits)),
        "inputs": len(program.inputs),
        "outputs": len(program.outputs),
        "nodes": len(program.nodes),
        "constants": len(program.constants),
        "depth": program.depth,
        "keys": _keys(program),
        "live ciphertexts": program.live_ciphertexts,
        "nodes on the longest path": round(program.span(lambda node, level: 1.0)),
    }


def lines(program: Program) -> Iterator[str]:
    """Inputs, nodes and outputs, each value by its number: ``%3 = rotate(%2, 64)``."""
    for number, shape in enumerate(program.inputs):
        yield f"%{number} = input {number}  {_shape(shape)}"
    for node, first in zip(program.nodes, program.first_results, strict=True):
        yield _line(node, first)
    yield f"return {', '.join(f'%{output}' for output in program.outputs)}"


def _line(node: Node, first: int) -> str:
    operands = [f"%{operand}" for operand in node.operands]
    operands += [f"constant {constant}" for constant in node.constants]
    operands += [f"{argument:g}" for argument in node.arguments]
    results = ", ".join(f"%{first + number}" for number in range(len(node.results)))
    return f"{results} = {node.operation}({', '.join(operands)})  {_shape(node.results[0])}"


def _shape(shape: Shape) -> str:
    scale = "" if shape.scale is None else f", scale 2^{math.log2(shape.scale):.2f}"
    more = "" if shape.polynomials == 2 else f", {shape.polynomials} polynomials"
    return f"level {shape.level}{scale}{more}"


def _keys(program: Program) -> str:
    keys = program.keys
    made = [
        "relinearization" if keys.relinearization else "",
        f"rotation by {', '.join(map(str, keys.steps))}" if keys.steps else "",
        f"X^k for k = {', '.join(map(str, keys.elements))}" if keys.elements else "",
    ]
    return "; ".join(filter(None, made)) or "none"
