"""The contract over Lattigo: schemes bfv, bgv and ckks, every loop and program in Go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeAlias

from ciphermark_adapters import binaries, provenance
from ciphermark_adapters.bindings import Binder, NativeBound, NativeLoops, NativeSlots, execute
from ciphermark_adapters.lattigo import binding
from ciphermark_adapters.lattigo import parameters as parameter_sets
from ciphermark_adapters.lattigo.binding import Handle
from ciphermark_contract import requests
from ciphermark_contract.bound import Collections
from ciphermark_contract.declaration import Declaration, DeclaredAdapter
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    KeyOwner,
    KeyRequest,
    Prepared,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_contract.operations import OPERATIONS
from ciphermark_contract.program import Node, Program
from ciphermark_core import wire
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec


class LattigoKeyOwner(KeyOwner):
    """Generates secret and public key in its constructor, and evaluation keys on request; it keeps none of these.
    With a given ``secret`` it generates the others only.
    """

    def __init__(self, parameters: Parameters, keys: KeyRequest, secret: bytes = b"") -> None:
        requests.require_key_switching(parameters, keys)
        self.parameters = parameters
        self._keys = keys
        self._slots = NativeSlots(parameters)
        self._context = parameter_sets.context_of(parameters)
        self._material = _material(parameters, keys, self._context)
        self._native = binding.KeyOwner(self._context, secret)

    def bind_encrypt(self, rows: Sequence[Row]) -> NativeBound:
        """See the contract: the loop is native, values are checked and copied here."""
        return self._native.bind_encrypt([self._slots.typed(values) for (values,) in rows])

    def bind_decrypt(self, rows: Sequence[Row]) -> NativeBound:
        """See the contract: the loop is native."""
        ciphertexts = [ciphertext for (ciphertext,) in rows]
        return self._native.bind_decrypt(ciphertexts, self.parameters.slots, self._slots.kind)

    def empty(self) -> Bound:
        """See the contract: the native loop over nothing."""
        return binding.bind_empty()

    def encrypt(self, values: Vector) -> Handle:
        ciphertext: Handle = execute(self.bind_encrypt, values)
        return ciphertext

    def decrypt(self, ciphertext: Handle) -> Vector:
        values: Vector = execute(self.bind_decrypt, ciphertext)
        return values

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """See the contract; there is none for ckks."""
        return None if self._slots.are_real else self._native.budget_bits(ciphertext)

    def public_material(self) -> Iterator[bytes]:
        """See the contract: keys are generated one by one. An evaluator does not encrypt, so it gets no public key."""
        yield wire.to_line(Header(self.parameters, self._keys))
        for name, element in self._material:
            yield self._native.dump(name, element)

    def dump_secret(self) -> bytes:
        return self._native.dump("secret_key")

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        requests.require_uncompressed(compression, "Lattigo")
        return binding.dump(ciphertext)

    def load(self, data: bytes) -> Handle:
        return binding.load(self._context, data)

    def dump_key(self, item: str, compression: str) -> bytes:
        """Lattigo's own format."""
        requests.require_uncompressed(compression, "Lattigo")
        return self._dumped(item, {item: item for item in ("parameters", "public_key", "secret_key")}, "")

    def dump_seeded(self, item: str, values: Vector, compression: str) -> bytes:
        """See the contract: Lattigo's compressed evaluation keys."""
        requests.require_uncompressed(compression, "Lattigo")
        return self._dumped(item, {}, "_seeded")

    def bind_key_generation(self, item: str) -> Bound:
        """See the contract; all keys are from one generator of Lattigo."""
        if item not in ("key_pair", "relinearization_key", "rotation_key"):
            return super().bind_key_generation(item)
        return self._native.bind_generation(item)

    def _dumped(self, item: str, others: Mapping[str, str], suffix: str) -> bytes:
        """One of ``others``, or the evaluation keys that were requested."""
        if item in others:
            return self._native.dump(others[item])
        single = item.removesuffix(suffix).removesuffix("s")
        several = [element for name, element in self._material if name == single]
        if several:
            return b"".join(self._native.dump(f"{single}{suffix}", element) for element in several)
        raise Unsupported(f"this key set has no {item.replace('_', ' ')}")


def _elements(ring_dimension: int, keys: KeyRequest) -> tuple[int, ...]:
    """The k < 2N of all requested automorphisms X → X^k, each once."""
    rotations = {parameter_sets.rotation(ring_dimension, steps) for steps in keys.steps}
    others = {parameter_sets.exponent(ring_dimension, element) for element in keys.elements}
    return tuple(sorted(rotations | others))


def _material(parameters: Parameters, keys: KeyRequest, context: Handle) -> list[tuple[str, int]]:
    """The evaluation keys in their order, by Lattigo's names, with the k of X → X^k where they are of rotations."""
    names = [("relinearization_key", 0)] * bool(keys.relinearization)
    names += [("rotation_key", element) for element in _elements(parameters.ring_dimension, keys)]
    if keys.bootstrapping:
        names += [
            ("bootstrapping_relinearization_key", 0),
            ("bootstrapping_to_sparse", 0),
            ("bootstrapping_to_dense", 0),
            *(("bootstrapping_rotation_key", element) for element in binding.circuit(context).elements),
        ]
    return names


@dataclass(frozen=True, slots=True)
class Header:
    """The first part of public material; the evaluation keys follow in Lattigo's own format."""

    parameters: Parameters
    keys: KeyRequest


_Automorphisms: TypeAlias = tuple[str, Callable[[Sequence[float]], list[int]]]


class LattigoEvaluator(NativeLoops):
    """Computes with the evaluation keys of the public material."""

    def __init__(self, declared: Declaration, material: Iterable[bytes]) -> None:
        parts = iter(material)
        header = wire.from_line(next(parts, b""), Header)
        super().__init__(header.parameters, header.keys, declared)
        self._slots = NativeSlots(header.parameters)
        self._context = parameter_sets.context_of(header.parameters)
        self._native = binding.Evaluator(self._context)
        keys = _material(header.parameters, header.keys, self._context)
        for (name, _), part in zip(keys, parts, strict=True):
            self._native.add_key(name, part)
        self._native.complete()
        own = self._own_binders()
        self._binders = {name: own.get(name) or partial(self._native.bind, name) for name in self._names}
        self.offer({name: partial(execute, bind) for name, bind in self._binders.items()})

    def empty(self) -> Bound:
        """See the contract: the native loop over nothing."""
        return binding.bind_empty()

    def _interpreted(self, program: Program, constants: Sequence[Vector], threads: int) -> Prepared:
        """For an interpreter in Go."""
        vectors = [self._slots.typed(values) for values in constants]
        levels = [constant.level for constant in program.constants]
        scales = [constant.scale or 0.0 for constant in program.constants]
        plaintexts = binding.encode(self._context, vectors, levels, scales, threads)
        nodes = [self._translated(node) for node in program.nodes]
        return self._native.program(len(program.inputs), nodes, plaintexts, program.outputs)

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        """See the contract. Plaintexts of bfv and bgv have the factor 1."""
        if level is None:
            level = len(self.parameters.moduli) - 1 if like is None else self.level(like)
        (plaintext,) = binding.encode(self._context, [self._slots.typed(values)], [level], [scale or 0.0])
        return plaintext

    def load(self, data: bytes) -> Handle:
        return binding.load(self._context, data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        requests.require_uncompressed(compression, "Lattigo")
        return binding.dump(ciphertext)

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        requests.require_uncompressed(compression, "Lattigo")
        return binding.dump(plaintext)

    def level(self, ciphertext: Handle) -> int:
        return binding.shape(ciphertext).level

    def scale(self, ciphertext: Handle) -> float | None:
        return binding.shape(ciphertext).scale if self._slots.are_real else None

    def polynomials(self, ciphertext: Handle) -> int:
        return binding.shape(ciphertext).polynomials

    def _own_binders(self) -> dict[str, Binder]:
        """Those of operations whose operands Go takes in another form."""
        return {
            **{name: partial(self._bind_automorphisms, name) for name in self._automorphisms},
            "add_scalar": partial(self._bind_number, "add_scalar"),
            "mul_scalar": partial(self._bind_number, "mul_scalar"),
            "weighted_sum": self._bind_weighted_sum,
            "encode": self._bind_encode,
            "encode_coefficients": self._bind_encode_coefficients,
            "encode_at_level": self._bind_encode_at_level,
        }

    @cached_property
    def _automorphisms(self) -> Mapping[str, _Automorphisms]:
        """The names of automorphisms in Go, and their elements by an operation's arguments."""
        n = self.parameters.ring_dimension

        def rotations(arguments: Sequence[float]) -> list[int]:
            return [parameter_sets.rotation(n, int(steps)) for steps in arguments]

        def exponents(arguments: Sequence[float]) -> list[int]:
            return [parameter_sets.exponent(n, int(element)) for element in arguments or (-1,)]

        return {
            "rotate": ("automorphism", rotations),
            "rotate_hoisted": ("rotate_hoisted", rotations),
            "substitute": ("automorphism", exponents),
            "rotate_columns": ("automorphism", exponents),
            "conjugate": ("automorphism", exponents),
        }

    def _bind_automorphisms(self, operation: str, rows: Sequence[Row], /) -> NativeBound:
        name, elements = self._automorphisms[operation]
        counts = [len(row) - 1 for row in rows] if OPERATIONS[operation].has_several_results else None
        return self._native.bind(name, [(a, *elements(arguments)) for a, *arguments in rows], counts)

    def _bind_number(self, operation: str, rows: Sequence[Row], /) -> NativeBound:
        """Bind rows of a ciphertext and a number; raises ``Unsupported`` for a fraction in an exact scheme."""
        for row in rows:
            OPERATIONS[operation].require_arguments(self._scheme, row)
        return self._native.bind(operation, rows)

    def _bind_weighted_sum(self, rows: Sequence[Row], /) -> NativeBound:
        """Bind rows whose first half are ciphertexts, and the second half their numbers."""
        numbers = [number for row in rows for number in row[len(row) // 2 :]]
        if not self._slots.are_real and not all(float(number).is_integer() for number in numbers):
            raise ValueError("numbers of bfv and bgv are whole")
        return self._native.bind("weighted_sum", rows)

    def _bind_encode(self, rows: Sequence[Row], /) -> NativeBound:
        top = len(self.parameters.moduli) - 1
        return self._native.bind_encode([self._slots.typed(values) for (values,) in rows], [top] * len(rows))

    def _bind_encode_coefficients(self, rows: Sequence[Row], /) -> NativeBound:
        typed = [self._slots.typed(values) for (values,) in rows]
        vectors = [parameter_sets.turned(self.parameters, values, self._turn) for values in typed]
        return self._native.bind_encode_coefficients(vectors)

    @cached_property
    def _turn(self) -> int:
        """The k of X → X^k that brings the contract's slots to Lattigo's, which belong to another root of unity."""
        return parameter_sets.turn(self.parameters, binding.slot_root(self._context))

    def _bind_encode_at_level(self, rows: Sequence[Row], /) -> NativeBound:
        vectors = [self._slots.typed(values) for values, _ in rows]
        return self._native.bind_encode(vectors, [self.level(like) for _, like in rows])

    def _translated(self, node: Node) -> Mapping[str, object]:
        """A node as Go reads it: automorphisms by their elements, numbers in both kinds."""
        name, arguments = node.operation, list(node.arguments)
        if node.operation in self._automorphisms:
            name, elements = self._automorphisms[node.operation]
            arguments = [*elements(arguments)]
        return {
            "operation": name,
            "operands": node.operands,
            "plaintexts": node.constants,
            "floats": arguments,
            "integers": [int(argument) for argument in arguments],
            "results": len(node.results),
        }


class LattigoAdapter(DeclaredAdapter):
    """The Lattigo in the shared library."""

    def info(self) -> LibraryInfo:
        facts = binding.facts()
        settings = {
            name: text for name, text in facts.items() if name.startswith(("-", "GO", "CGO")) and text
        }
        build = {
            provenance.COMPILER: facts["go"],
            provenance.FLAGS: " ".join(f"{name}={text}" for name, text in sorted(settings.items())),
            provenance.BINARY: binaries.digest(binding.path()),
            provenance.TOLD_BY: "Go's build information",
            "collector": (
                f"GOGC = {binding.GROWTH_PERCENT}, and a memory limit: that of the process or the host, less a quarter "
                "or 1 GiB"
            ),
        }
        return LibraryInfo(
            library=self._declared.library,
            variant=self._declared.variant,
            version=facts["github.com/tuneinsight/lattigo/v6"].removeprefix("v"),
            hexl=False,
            build=build,
            is_debug=False,
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        return LattigoKeyOwner(parameters, keys)

    def restored_owner(self, parameters: Parameters, keys: KeyRequest, secret: bytes) -> KeyOwner:
        if not secret:
            raise ValueError("these bytes are no secret key")
        return LattigoKeyOwner(parameters, keys, secret)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return LattigoEvaluator(self._declared, public_material)

    def collections(self) -> Collections:
        return binding.collections()
