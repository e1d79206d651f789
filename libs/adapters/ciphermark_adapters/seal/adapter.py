"""The contract over SEAL: schemes bfv, bgv and ckks, every loop native."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TypeAlias

import numpy as np

from ciphermark_adapters import provenance
from ciphermark_adapters.bindings import Binder, NativeBound, NativeLoops, execute
from ciphermark_adapters.seal import binding
from ciphermark_adapters.seal import parameters as seal_parameters
from ciphermark_adapters.seal.binding import NativeEvaluator, ProgramNode, SealContext, SealModule
from ciphermark_adapters.seal.parameters import Slots
from ciphermark_contract.declaration import Declaration, DeclaredAdapter
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    Handle,
    KeyOwner,
    KeyRequest,
    Prepared,
    PythonBound,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_contract.operations import OPERATIONS, Kind, words
from ciphermark_contract.operations.words import joined
from ciphermark_contract.program import Node, Program
from ciphermark_core import wire
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec, Scheme


class SealKeyOwner(KeyOwner):
    """Generates secret and public key in its constructor, and evaluation keys on request; it keeps none of these."""

    def __init__(self, module: SealModule, parameters: Parameters, keys: KeyRequest) -> None:
        self.parameters = parameters
        self._module = module
        self._keys = keys
        self._slots = Slots(parameters)
        self._context = seal_parameters.context(module, parameters)
        _check_request(parameters, keys, self._context)
        self._elements = _elements(parameters, keys, self._context)
        self._native = module.KeyOwner(self._context)

    def bind_encrypt(self, rows: Sequence[Row]) -> NativeBound:
        """See the contract: the loop is native, values are converted here."""
        checked = [(self._slots.checked(values),) for (values,) in rows]
        native = self._native
        encrypt = native.encrypt_reals if self._slots.are_real else native.encrypt_integers
        return encrypt(checked, self.parameters.scale or 1.0)

    def bind_decrypt(self, rows: Sequence[Row]) -> NativeBound:
        """See the contract: the loop is native."""
        native = self._native
        return native.decrypt_reals(rows) if self._slots.are_real else native.decrypt_integers(rows)

    def empty(self) -> Bound:
        """See the contract: the native loop over nothing."""
        return self._module.bind_empty()

    def encrypt(self, values: Vector) -> Handle:
        return execute(self.bind_encrypt, values)

    def decrypt(self, ciphertext: Handle) -> Vector:
        values: Vector = execute(self.bind_decrypt, ciphertext)
        return values

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """SEAL's invariant noise budget; it has none for ckks."""
        return None if self._slots.are_real else self._native.noise_budget_bits(ciphertext)

    def public_material(self) -> Iterator[bytes]:
        """See the contract: keys are generated one by one. An evaluator does not encrypt, so it gets no public key."""
        yield wire.to_line(Header(self.parameters, self._keys, self._elements))
        if self._keys.relinearization:
            yield self._native.dump_relinearization_keys("none")
        for element in self._elements:
            yield self._native.dump_rotation_key(element)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        data: bytes = ciphertext.dump(compression)
        return data

    def load(self, data: bytes) -> Handle:
        return self._context.load(data)

    def from_words(self, words: Sequence[Vector], level: int = 0) -> Handle:
        """See the contract: for bfv, whose ciphertexts are in coefficient form."""
        if self.parameters.spec.scheme not in OPERATIONS["mul_word"].schemes:
            return super().from_words(words, level)
        residues = joined(self.parameters, level, words).reshape(-1)
        return self._context.from_residues(residues.astype(np.int64), level)

    def dump_key(self, item: str, compression: str) -> bytes:
        """SEAL's own format; keys are dumped as an evaluator holds them, expanded."""
        dumps = self._dumps()
        if item not in dumps:
            raise Unsupported(f"this key set has no {item}")
        return dumps[item](compression)

    def dump_seeded(self, item: str, values: Vector, compression: str) -> bytes:
        """See the contract: SEAL's Serializable objects."""
        native = self._native
        scale = self.parameters.scale or 1.0
        encrypted = native.dump_seeded_reals if self._slots.are_real else native.dump_seeded_integers
        dumps: dict[str, Callable[[str], bytes]] = {
            "ciphertext_seeded": partial(encrypted, self._slots.checked(values), scale),
            "public_key_seeded": native.dump_seeded_public_key,
        }
        if self._keys.relinearization:
            dumps["relinearization_keys_seeded"] = native.dump_seeded_relinearization_keys
        if self._elements:
            dumps["rotation_keys_seeded"] = partial(native.dump_seeded_rotation_keys, self._elements)
        return dumps[item](compression) if item in dumps else super().dump_seeded(item, values, compression)

    def bind_key_generation(self, item: str) -> Bound:
        """See the contract; all keys are from SEAL's KeyGenerator, and a key pair takes a new one."""
        native = self._native
        element = self._context.galois_element(1)
        makers: dict[str, Callable[[], None]] = {
            "key_pair": native.generate_key_pair,
            "relinearization_key": native.generate_relinearization_keys,
            "rotation_key": partial(native.generate_rotation_key, element),
        }
        return PythonBound(makers[item], [()]) if item in makers else super().bind_key_generation(item)

    def _dumps(self) -> dict[str, Callable[[str], bytes]]:
        dumps = {
            "parameters": self._context.dump_parameters,
            "public_key": self._native.dump_public_key,
            "secret_key": self._native.dump_secret_key,
        }
        if self._keys.relinearization:
            dumps["relinearization_keys"] = self._native.dump_relinearization_keys
        if self._elements:
            dumps["rotation_keys"] = partial(self._native.dump_rotation_keys, self._elements)
        return dumps


def _check_request(parameters: Parameters, keys: KeyRequest, context: SealContext) -> None:
    if keys and not context.switches_keys:
        raise Unsupported(
            f"SEAL cannot relinearize or rotate at N = {parameters.ring_dimension} with this modulus chain. Key "
            "switching needs a special prime and a ciphertext modulus larger than t. Use a larger N, or "
            "write modulus_bits with two primes or more"
        )


def _elements(parameters: Parameters, keys: KeyRequest, context: SealContext) -> tuple[int, ...]:
    """The k < 2N of all requested automorphisms X → X^k, each once."""
    # A rotation by 0 steps needs no key, and SEAL's step 0 is another automorphism.
    turned = {context.galois_element(steps) for steps in keys.steps}
    others = {element % (2 * parameters.ring_dimension) for element in keys.elements}
    return tuple(sorted(turned | others))


@dataclass(frozen=True, slots=True)
class Header:
    """The first part of public material.

    The keys follow in SEAL's own format, uncompressed: relinearization keys where ``keys`` has them, and a rotation key
    for each of ``elements``, the k of X → X^k.
    """

    parameters: Parameters
    keys: KeyRequest
    elements: tuple[int, ...]


class SealEvaluator(NativeLoops):
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

    def empty(self) -> Bound:
        """See the contract: the native loop over nothing."""
        return self._module.bind_empty()

    def _interpreted(self, program: Program, constants: Sequence[Vector], threads: int) -> Prepared:
        """For an interpreter in C++."""
        plaintexts = self._plaintexts(program, constants, threads)
        nodes = translated(program, self._slots.numbers)
        return self._module.Program(self._native, len(program.inputs), nodes, plaintexts, program.outputs)

    def _plaintexts(self, program: Program, constants: Sequence[Vector], threads: int) -> Sequence[Handle]:
        """One plaintext per use of a constant. Those of ckks have separate scales, and need no transform.

        Ranges are checked where vectors are copied, on all threads.
        """
        are_real = self._slots.are_real
        vectors = [self._slots.typed(values) for values in constants]
        rows = []
        for place, is_transformed in uses(program):
            constant = program.constants[place]
            level = constant.level if are_real or is_transformed else None
            rows.append((vectors[place], level, constant.scale or 1.0))
        prepare = self._native.prepare_reals if are_real else self._native.prepare_integers
        return prepare(rows, threads)

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
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
        """Bind rows whose first half are ciphertexts, and the second half their numbers."""
        counts = [len(row) // 2 for row in rows]
        return self._native.bind(
            "weighted_sum",
            [
                (*row[:count], *self._slots.numbers(row[count:]))
                for row, count in zip(rows, counts, strict=True)
            ],
        )


def _load_keys(native: NativeEvaluator, header: Header, parts: Iterator[bytes]) -> None:
    """Load each key into the evaluator and drop its bytes; raises ``ValueError`` for too few or too many keys."""
    loads: list[Callable[[bytes], None]] = [
        partial(native.load_rotation_key, element) for element in header.elements
    ]
    if header.keys.relinearization:
        loads.insert(0, native.load_relinearization_keys)
    for load, part in zip(loads, parts, strict=True):
        load(part)


Numbers: TypeAlias = Callable[[Sequence[float]], Sequence[int]]
"""Numbers for all slots in the interpreter's form."""

# A block of this many sums is 128 KiB: with its summands, it stays in the second-level cache.
_SUMS = 32
# Operations and schemes whose plaintexts SEAL would transform in every call, or requires in NTT form.
_TAKES_TRANSFORMED: Mapping[str, tuple[Scheme, ...]] = {
    "mul_plain": ("bgv",),
    "mul_plain_ntt": ("bfv", "bgv"),
    "multiply_accumulate": ("bfv", "bgv"),
}


def uses(program: Program) -> list[tuple[int, bool]]:
    """The constants that its nodes take, each form once: as encoded, or transformed."""
    taken = [
        (constant, _is_transformed(program, node)) for node in program.nodes for constant in node.constants
    ]
    return list(dict.fromkeys(taken))


def translated(program: Program, encoded: Numbers) -> list[ProgramNode]:
    """The program's nodes, with those of several sums merged; plaintexts are numbered as in :func:`uses`."""
    places = {use: place for place, use in enumerate(uses(program))}
    return [_translated(program, nodes, places, encoded) for nodes in _in_one_pass(program.nodes)]


def _in_one_pass(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """Yield each node alone, except consecutive sums of the same ciphertexts, which are yielded in groups.

    A group reads each ciphertext from memory once, and groups are small enough to occupy all threads.
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


def _is_transformed(program: Program, node: Node) -> bool:
    return program.scheme in _TAKES_TRANSFORMED.get(node.operation, ())


class SealAdapter(DeclaredAdapter):
    """The SEAL in the native module that the declaration requires."""

    def __init__(self, declared: Declaration) -> None:
        super().__init__(declared)
        (name,) = declared.requires
        self._module = binding.load(name)

    def info(self) -> LibraryInfo:
        module = self._module
        return LibraryInfo(
            library=self._declared.library,
            variant=self._declared.variant,
            version=module.seal_version,
            hexl=module.has_hexl,
            build=provenance.beside(module) | module.build_facts,
            is_debug=module.is_debug_build,
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return seal_parameters.resolve(self._module, spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        return SealKeyOwner(self._module, parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return SealEvaluator(self._module, self._declared, public_material)
