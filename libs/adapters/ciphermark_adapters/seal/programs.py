"""Programs as the native interpreter takes them: plaintexts in the form that each operation wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ciphermark_adapters.seal.binding import NativeEvaluator, NativeProgram, ProgramNode, SealModule
from ciphermark_contract.interfaces import Handle, KeyRequest, Unsupported
from ciphermark_contract.program import Node, Program
from ciphermark_core.model import Scheme

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


def translated(
    module: SealModule, native: NativeEvaluator, program: Program, plaintexts: Sequence[Handle]
) -> NativeProgram:
    """The program over the plaintexts of its :func:`uses`."""
    places = {use: place for place, use in enumerate(uses(program))}
    nodes = [_translated_node(program, node, places) for node in program.nodes]
    return module.Program(native, len(program.inputs), nodes, plaintexts, program.outputs)


def _translated_node(program: Program, node: Node, places: Mapping[tuple[int, bool], int]) -> ProgramNode:
    is_transformed = _is_transformed(program, node)
    return (
        node.operation,
        node.operands,
        tuple(places[constant, is_transformed] for constant in node.constants),
        node.arguments,
        [(shape.level, shape.polynomials) for shape in node.results],
    )


def require_keys(program: Program, made: KeyRequest) -> None:
    """Raise ``Unsupported`` for a rotation without its key: SEAL would compose it of several others."""
    missing = {*program.keys.rotations} - {0, *made.rotations}
    if missing:
        steps = ", ".join(map(str, sorted(missing)))
        raise Unsupported(f"no rotation key was made for {steps} steps, only for {made.rotations}")


def _is_transformed(program: Program, node: Node) -> bool:
    return program.scheme in _TAKES_TRANSFORMED.get(node.operation, ())
