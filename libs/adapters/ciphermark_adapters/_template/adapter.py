"""The contract over a stand-in that encrypts nothing. Every REPLACE marks a part for your library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ciphermark_contract import requests
from ciphermark_contract.declaration import Declaration, DeclaredAdapter, DeclaredEvaluator
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    Exhausted,
    Handle,
    KeyOwner,
    KeyRequest,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_contract.operations import padded
from ciphermark_core import primes, wire
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec

_LARGEST_PLAIN_MODULUS = 1 << 31


# -- the stand-in: REPLACE this section by an import of your library -------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    """Represents a ciphertext or plaintext; it holds the slots IN PLAIN TEXT."""

    slots: Vector
    primes: int
    scale: float | None
    polynomials: int


def written(box: Box) -> bytes:
    """Serialize a box; like a ciphertext's, its size does not depend on the values of the slots."""
    return wire.to_line((box.slots.tobytes(), box.primes, box.scale, box.polynomials))


def read_box(data: bytes) -> Box:
    """The box that :func:`written` wrote; raises ``ValueError`` for damaged bytes."""
    slots, count, scale, polynomials = wire.from_line(data, tuple[bytes, int, float | None, int])
    return Box(np.frombuffer(slots, dtype=_kind(scale)), count, scale, polynomials)


def _kind(scale: float | None) -> Any:
    return np.int64 if scale is None else np.float64


class StandIn:
    """Not a homomorphic-encryption library: it has no keys, no noise and no security."""

    version = "1.0"

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters

    def encode(self, values: Vector, count: int, scale: float | None) -> Box:
        """Put a vector into a box, padded with zeros."""
        return Box(padded(values.astype(_kind(scale)), self._parameters.slots), count, scale, 1)

    def add(self, a: Box, b: Box) -> Box:
        """Slot by slot."""
        return replace(a, slots=self._reduced(np.add(a.slots, b.slots)))

    def sub(self, a: Box, b: Box) -> Box:
        """Slot by slot."""
        return replace(a, slots=self._reduced(np.subtract(a.slots, b.slots)))

    def multiply(self, a: Box, b: Box) -> Box:
        """Slot by slot; the result's scale is the product of the scales."""
        scale = None if a.scale is None or b.scale is None else a.scale * b.scale
        slots = self._reduced(np.multiply(a.slots, b.slots))
        return Box(slots, a.primes, scale, a.polynomials + b.polynomials - 1)

    def relinearize(self, a: Box) -> Box:
        """Reduce to two polynomials."""
        return replace(a, polynomials=2)

    def drop_prime(self, a: Box) -> Box:
        """Switch to the next smaller modulus."""
        return replace(a, primes=a.primes - 1)

    def rotate(self, a: Box, steps: int) -> Box:
        """Rotate to the left: the two rows of bfv, the single row of ckks."""
        rows = 1 if self._parameters.plain_modulus is None else 2
        return replace(a, slots=np.roll(a.slots.reshape(rows, -1), -steps, axis=1).reshape(-1))

    def _reduced(self, slots: Vector) -> Vector:
        modulus = self._parameters.plain_modulus
        return slots if modulus is None else slots % modulus


# -- the client ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """Material for an evaluator. REPLACE ``evaluation_keys`` by your library's bytes; never a secret key."""

    parameters: Parameters
    keys: KeyRequest
    evaluation_keys: bytes


class TemplateKeyOwner(KeyOwner):
    """REPLACE: generate all keys in the constructor."""

    def __init__(self, parameters: Parameters, keys: KeyRequest) -> None:
        self.parameters = parameters
        self._keys = keys
        self._library = StandIn(parameters)

    def encrypt(self, values: Vector) -> Handle:
        encoded = self._library.encode(values, len(self.parameters.moduli), self.parameters.scale)
        return replace(encoded, polynomials=2)

    def decrypt(self, ciphertext: Handle) -> Vector:
        """See the contract: all slots, int64 in [0, t) or float64."""
        values: Vector = ciphertext.slots
        return values

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """REPLACE, or declare the reason: see the declaration."""
        return None

    def public_material(self) -> Iterator[bytes]:
        """REPLACE: yield the evaluation keys one by one if your library can dump them so, since they are large."""
        yield wire.to_line(PublicMaterial(self.parameters, self._keys, b""))

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        """REPLACE by your library's own format: its length is what the size experiment records."""
        requests.require_uncompressed(compression, "the stand-in")
        return written(ciphertext)

    def load(self, data: bytes) -> Handle:
        """See the contract; damaged bytes raise ``ValueError`` or ``RuntimeError``."""
        return read_box(data)

    def dump_key(self, item: str, compression: str) -> bytes:
        """REPLACE: one of KEY_ITEMS, exactly those that the declaration lists as serializable."""
        requests.require_uncompressed(compression, "the stand-in")
        if item != "parameters":
            raise Unsupported(f"the stand-in has no {item.replace('_', ' ')}")
        return wire.to_line(self.parameters)


# -- the server ---------------------------------------------------------------------------------------------------


class TemplateEvaluator(DeclaredEvaluator):
    """REPLACE: load the evaluation keys here; there is no secret key on this side."""

    def __init__(self, material: PublicMaterial, declared: Declaration) -> None:
        super().__init__(material.parameters, material.keys, declared)
        library = self._library = StandIn(material.parameters)
        # REPLACE: one function per operation, as close to the library's own call as possible: it is timed.
        # Omit declared operations whose key is missing.
        functions: dict[str, Callable[..., Handle]] = {
            "add": library.add,
            "sub": library.sub,
            "add_plain": library.add,
            "mul_plain": library.multiply,
            "mul": library.multiply,
            "relinearize": library.relinearize,
            "rotate": library.rotate,
            "rescale": self._rescale,
            "mod_switch": self._mod_switch,
        }
        self.offer(functions)

    def apply(self, operation: str, *operands: Any) -> Handle:
        """See the contract. REPLACE: translate your library's errors to ``Unsupported`` and ``Exhausted`` here."""
        return super().apply(operation, *operands)

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """See the contract: checks here are not timed.

        The base class loops in Python. Give a native library a separate ``Bound`` whose ``run`` loops in native code
        with the GIL released and the destination preallocated: see ciphermark_adapters/seal/native.
        """
        return super().bound(operation, rows)

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        if level is None:
            level = len(self.parameters.moduli) - 1 if like is None else self.level(like)
        return self._library.encode(values, level + 1, scale or self.parameters.scale)

    def load(self, data: bytes) -> Handle:
        return read_box(data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        requests.require_uncompressed(compression, "the stand-in")
        return written(ciphertext)

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        """See the contract; where the library cannot, raise ``Unsupported`` and declare the reason."""
        requests.require_uncompressed(compression, "the stand-in")
        return written(plaintext)

    def level(self, ciphertext: Handle) -> int:
        return int(ciphertext.primes) - 1

    def scale(self, ciphertext: Handle) -> float | None:
        """See the contract: the exact scale, not its logarithm."""
        return None if ciphertext.scale is None else float(ciphertext.scale)

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.polynomials)

    def _rescale(self, a: Handle) -> Handle:
        switched = self._mod_switch(a)
        return replace(switched, scale=a.scale / self.parameters.moduli[self.level(a)])

    def _mod_switch(self, a: Handle) -> Handle:
        if self.level(a) == 0:
            raise Exhausted("no level is left in the modulus chain")
        return self._library.drop_prime(a)


# -- the library build --------------------------------------------------------------------------------------------


class TemplateAdapter(DeclaredAdapter):
    """Created once per worker; the base class keeps the declaration."""

    def info(self) -> LibraryInfo:
        """REPLACE: read version, compiler, flags and similar facts from the loaded library."""
        return LibraryInfo(
            library=self._declared.library,
            variant=self._declared.variant,
            version=StandIn.version,
            hexl=self._declared.hexl,
            build={"numpy": np.__version__},
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        """REPLACE: return the primes that your library takes; raise its refusals with their reason."""
        requests.require_ring(spec, "the stand-in")
        requests.require_scale(spec)
        requests.require_slots(spec)
        if (spec.plain_modulus or 0) >= _LARGEST_PLAIN_MODULUS:
            raise Unsupported("the stand-in takes a plaintext modulus below 2^31")
        bits = spec.modulus_bits or ()
        if spec.modulus_bits is None and spec.scheme == "ckks":
            # Ciphermark's own, for libraries without a default
            bits = primes.default_ckks_chain(spec.ring_dimension, spec.scale_bits or 0, spec.security_table)
        chain = requests.chosen_primes(spec, bits, "the stand-in")
        data = max(1, len(chain) - 1)
        requests.require_room(spec, sum(bits[:data]))
        return requests.resolved(spec, chain[:data], chain[data:])

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        if keys.automorphisms:
            raise Unsupported(self._declared.reasons["rotate_columns"])
        requests.require_key_switching(parameters, keys)
        return TemplateKeyOwner(parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return TemplateEvaluator(wire.from_line(b"".join(public_material), PublicMaterial), self._declared)
