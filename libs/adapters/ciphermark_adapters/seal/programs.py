"""Programs as the native interpreter takes them: plaintexts in the form that each operation wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ciphermark_adapters.seal.binding import NativeEvaluator, ProgramNode
from ciphermark_contract import execution
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_contract.program import Node, Program

# Operations of bgv whose plaintexts SEAL would transform in every call.
_TAKES_TRANSFORMED = frozenset({"mul_plain", "multiply_accumulate"})


@dataclass(frozen=True, slots=True)
class Plaintexts:
    """``plaintexts`` by the two columns: per constant, where it lies encoded and where transformed, if it does."""

    plaintexts: Sequence[Handle]
    encoded: Sequence[int | None]
    transformed: Sequence[int | None]


def prepared(
    evaluator: Evaluator, native: NativeEvaluator, program: Program, vectors: Mapping[str, Vector]
) -> Plaintexts:
    """The program's constants: encoded, transformed in bgv, or both, as its nodes take them."""
    plaintexts: list[Handle] = []
    encoded: list[int | None] = [None] * len(program.constants)
    transformed: list[int | None] = [None] * len(program.constants)
    uses = {
        (constant, _is_transformed(program, node)) for node in program.nodes for constant in node.constants
    }
    for index, handle in enumerate(execution.prepared(evaluator, program, vectors)):
        if (index, False) in uses:
            encoded[index] = len(plaintexts)
            plaintexts.append(handle)
        if (index, True) in uses:
            transformed[index] = len(plaintexts)
            plaintexts.append(native.transformed(handle, program.constants[index].level))
    return Plaintexts(plaintexts, encoded, transformed)


def nodes(program: Program, constants: Plaintexts) -> list[ProgramNode]:
    """The nodes over prepared plaintexts."""
    return [
        (
            node.operation,
            node.operands,
            tuple(_places(program, node, constants)),
            node.arguments,
            [(shape.level, shape.polynomials) for shape in node.results],
        )
        for node in program.nodes
    ]


def require_keys(program: Program, made: KeyRequest) -> None:
    """Raise ``Unsupported`` for a rotation without its key: SEAL would compose it of several others."""
    missing = {*program.keys.rotations} - {0, *made.rotations}
    if missing:
        steps = ", ".join(map(str, sorted(missing)))
        raise Unsupported(f"no rotation key was made for {steps} steps, only for {made.rotations}")


def _is_transformed(program: Program, node: Node) -> bool:
    return program.scheme == "bgv" and node.operation in _TAKES_TRANSFORMED


def _places(program: Program, node: Node, constants: Plaintexts) -> list[int]:
    column = constants.transformed if _is_transformed(program, node) else constants.encoded
    places = [column[constant] for constant in node.constants]
    if None in places:
        raise ValueError("the constants were prepared for another program")
    return [place for place in places if place is not None]
