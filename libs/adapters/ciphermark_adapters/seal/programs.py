"""Programs as the native interpreter takes them: plaintexts in the form that each operation wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from ciphermark_adapters.seal.binding import ProgramNode
from ciphermark_contract.interfaces import KeyRequest, Unsupported
from ciphermark_contract.operations import OPERATIONS, Kind
from ciphermark_contract.program import Node, Program
from ciphermark_core.model import Scheme

Numbers: TypeAlias = Callable[[Sequence[float]], Sequence[int]]
"""Numbers for all slots as the interpreter takes them."""

# Of so many sums a block is 128 KiB: with what it is the sum of, it stays in a second cache.
_SUMS = 32
# Operations and schemes whose plaintexts SEAL would transform in every call, or wants transformed.
_TAKES_TRANSFORMED: Mapping[str, tuple[Scheme, ...]] = {
    "mul_plain": ("bgv",),
    "mul_plain_prepared": ("bfv", "bgv"),
    "multiply_accumulate": ("bfv", "bgv"),
}


def uses(program: Program) -> list[tuple[int, bool]]:
    """Which constants its nodes take, each form of them once: as it is encoded, or transformed."""
    taken = [
        (constant, _is_transformed(program, node)) for node in program.nodes for constant in node.constants
    ]
    return list(dict.fromkeys(taken))


def translated(program: Program, encoded: Numbers) -> list[ProgramNode]:
    """The program's nodes, those of several sums as one; plaintexts are numbered as its :func:`uses`."""
    places = {use: place for place, use in enumerate(uses(program))}
    return [_translated(program, nodes, places, encoded) for nodes in _in_one_pass(program.nodes)]


def _in_one_pass(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """Each node alone, but for sums of the same ciphertexts that follow one another: some at a time, so that each
    ciphertext is read from memory once for all of these, and every thread has its share.
    """
    for _, alike in groupby(
        enumerate(nodes), lambda item: item[1].operands if _takes_numbers(item[1]) else item[0]
    ):
        some = [node for _, node in alike]
        size = -(-len(some) // -(-len(some) // _SUMS))
        yield from (some[start : start + size] for start in range(0, len(some), size))


def _translated(
    program: Program, nodes: Sequence[Node], places: Mapping[tuple[int, bool], int], encoded: Numbers
) -> ProgramNode:
    first = nodes[0]
    is_transformed = _is_transformed(program, first)
    arguments = [number for node in nodes for number in node.arguments]
    return (
        first.operation,
        first.operands,
        tuple(places[constant, is_transformed] for constant in first.constants),
        tuple(encoded(arguments) if _takes_numbers(first) else arguments),
        [(shape.level, shape.polynomials) for node in nodes for shape in node.results],
    )


def _takes_numbers(node: Node) -> bool:
    return Kind.NUMBER in OPERATIONS[node.operation].operands


def require_keys(program: Program, made: KeyRequest) -> None:
    """Raise ``Unsupported`` for a rotation without its key: SEAL would compose it of several others."""
    missing = {*program.keys.steps} - {*made.steps}
    if missing:
        steps = ", ".join(map(str, sorted(missing)))
        raise Unsupported(f"no rotation key was made for {steps} steps, only for {made.steps}")


def _is_transformed(program: Program, node: Node) -> bool:
    return program.scheme in _TAKES_TRANSFORMED.get(node.operation, ())
