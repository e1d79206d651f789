"""The server side: SEAL's operations on ciphertexts, with public material alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TypeAlias

import numpy as np

from ciphermark_adapters.bindings import Binder, NativeBound, execute
from ciphermark_adapters.seal import parameters as seal_parameters
from ciphermark_adapters.seal.binding import NativeEvaluator, ProgramNode, SealModule
from ciphermark_adapters.seal.key_owner import Header
from ciphermark_adapters.seal.slots import Slots
from ciphermark_contract import interfaces
from ciphermark_contract.declaration import Declaration, DeclaredEvaluator
from ciphermark_contract.interfaces import Bound, Handle, KeyRequest, Prepared, Row, Unsupported, Vector
from ciphermark_contract.operations import OPERATIONS, Kind, words
from ciphermark_contract.program import Node, Program, require_constants
from ciphermark_core import wire
from ciphermark_core.model import Scheme


class SealEvaluator(DeclaredEvaluator):
    """Computes with the evaluation keys of the public material."""

    def __init__(self, module: SealModule, declared: Declaration, material: Iterable[bytes]) -> None:
        parts = iter(material)
        header = wire.from_line(next(parts, b""), Header)
        super().__init__(header.parameters, header.keys, declared)
        self._module = module
        self._slots = Slots(header.parameters)
        self._context = seal_parameters.context(module, header.parameters)
        self._native = module.Evaluator(self._context, header.parameters.scale or 1.0)
        _load_keys(self._native, header, parts)
        not_by_name = {
            "encode": self._bind_encode,
            "encode_coefficients": self._bind_encode_coefficients,
            "transform_plain": self._native.transform_plain,
            "weighted_sum": self._bind_weighted_sum,
        }
        self._binders: dict[str, Binder] = {
            name: not_by_name.get(name) or partial(self._native.bind, name)
            for name in self._names
            if name not in declared.calls
        }
        self.offer({name: partial(execute, bind) for name, bind in self._binders.items()})

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """The loop is native and runs with the GIL released."""
        bind = self._binders.get(operation)
        return super().bound(operation, rows) if bind is None else bind(rows)

    def empty(self) -> Bound:
        """See the contract: the native loop over nothing."""
        return self._module.bind_empty()

    def prepare_constants(
        self, program: Program, constants: Mapping[str, Vector], threads: int = 1
    ) -> Prepared:
        """See the contract: the program is translated too, for an interpreter in C++."""
        if program.is_managed:
            return super().prepare_constants(program, constants, threads)
        require_keys(program, self._keys)
        for operation in {node.operation for node in program.nodes}:
            self.function(operation)
        plaintexts = self._plaintexts(program, constants, threads)
        nodes = translated(program, self._slots.numbers)
        return self._module.Program(self._native, len(program.inputs), nodes, plaintexts, program.outputs)

    def _plaintexts(
        self, program: Program, constants: Mapping[str, Vector], threads: int
    ) -> Sequence[Handle]:
        """Of each use of a constant. Those of ckks have a scale each, and need no transform. Ranges are checked where
        vectors are copied, on all threads.
        """
        are_real = self._slots.are_real
        vectors = [self._slots.typed(values) for values in require_constants(program, constants)]
        rows = []
        for place, is_transformed in uses(program):
            constant = program.constants[place]
            level = constant.level if are_real or is_transformed else None
            rows.append((vectors[place], level, constant.scale or 1.0))
        prepare = self._native.prepare_reals if are_real else self._native.prepare_integers
        return prepare(rows, threads)

    def bind_program(
        self, program: Program, inputs: Sequence[Handle], prepared: Prepared, threads: int = 1
    ) -> Bound:
        """See the contract: interpreted with the GIL released."""
        if program.is_managed:
            return super().bind_program(program, inputs, prepared, threads)
        interfaces.require_inputs(self, program, inputs)
        bound: Bound = prepared.bind(inputs, threads)
        return bound

    def encode(
        self,
        values: Vector,
        like: Handle | None = None,
        scale: float | None = None,
        level: int | None = None,
    ) -> Handle:
        """See the contract. Plaintexts of bfv and bgv have neither level nor scale."""
        encode = self._context.encode_reals if self._slots.are_real else self._context.encode_integers
        if level is None and like is not None:
            level = self._context.level(like)
        return encode(self._slots.checked(values), level, scale or self.parameters.scale or 1.0)

    def load(self, data: bytes) -> Handle:
        return self._context.load(data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        data: bytes = ciphertext.dump(compression)
        return data

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        data: bytes = plaintext.dump(compression)
        return data

    def words(self, ciphertext: Handle) -> list[Vector]:
        self.function("mul_word")
        shape = (self.polynomials(ciphertext), -1, self.parameters.ring_dimension)
        residues = self._context.residues(ciphertext).astype(np.uint64).reshape(shape)
        return words.cut(self.parameters, self.level(ciphertext), residues)

    def level(self, ciphertext: Handle) -> int:
        return self._context.level(ciphertext)

    def scale(self, ciphertext: Handle) -> float | None:
        return float(ciphertext.scale) if self._slots.are_real else None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.polynomials)

    def _bind_encode(self, rows: Sequence[Row], /) -> NativeBound:
        native = self._native
        encode = native.encode_reals if self._slots.are_real else native.encode_integers
        return encode([(self._slots.checked(values),) for (values,) in rows], self.parameters.scale or 1.0)

    def _bind_encode_coefficients(self, rows: Sequence[Row], /) -> NativeBound:
        return self._native.encode_coefficients([(self._slots.checked(values),) for (values,) in rows])

    def _bind_weighted_sum(self, rows: Sequence[Row], /) -> NativeBound:
        """Half of a row are ciphertexts, the rest their numbers."""
        counts = [len(row) // 2 for row in rows]
        return self._native.bind(
            "weighted_sum",
            [
                (*row[:count], *self._slots.numbers(row[count:]))
                for row, count in zip(rows, counts, strict=True)
            ],
        )


def _load_keys(native: NativeEvaluator, header: Header, parts: Iterator[bytes]) -> None:
    """Give each key to the evaluator and forget its bytes; raises ``ValueError`` for too few or too many."""
    loads: list[Callable[[bytes], None]] = [
        partial(native.load_rotation_key, element) for element in header.elements
    ]
    if header.keys.relinearization:
        loads.insert(0, native.load_relinearization_keys)
    for load, part in zip(loads, parts, strict=True):
        load(part)


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
