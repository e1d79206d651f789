"""Pyfhel behind the contract: one ``Pyfhel`` object per side, ``PyCtxt`` and ``PyPtxt`` as handles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import msgspec
from Pyfhel import PyCtxt, __version__

from ciphermark_adapters.pyfhel import parameters as parameter_sets
from ciphermark_adapters.seal_wrappers import SealBound, WrapperKeyOwner, padded, wheel_facts
from ciphermark_contract import requests
from ciphermark_contract.declaration import Declaration, DeclaredAdapter, DeclaredEvaluator
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    Handle,
    KeyOwner,
    KeyRequest,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec, Scheme

_COMPRESSIONS = ("none", "zlib", "zstd")
_COLUMNS = 0  # SEAL's step for the key that swaps the rows


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """Material for an evaluator, serialized by Pyfhel; an absent key is ``None``.

    Pyfhel's only Galois element is −1. The public key is absent: an evaluator does not encrypt. With a public key,
    Pyfhel crashes on a decryption; without, it refuses it.
    """

    parameters: Parameters
    relinearization_keys: bytes | None
    rotation_keys: bytes | None
    keys: KeyRequest


def _require_known(compression: str) -> None:
    if compression not in _COMPRESSIONS:
        raise Unsupported(f"Pyfhel offers the compressions {', '.join(_COMPRESSIONS)}, not {compression}")


class PyfhelKeyOwner(WrapperKeyOwner):
    """The client's Pyfhel object with all keys."""

    def __init__(self, parameters: Parameters, keys: KeyRequest) -> None:
        self.parameters = parameters
        self._keys = keys
        he = self._he = parameter_sets.context_of(parameters)
        he.keyGen()
        if keys.relinearization:
            he.relinKeyGen()
        steps = [*keys.steps, *(_COLUMNS for _ in keys.elements)]
        if steps:
            he.rotateKeyGen(steps)
        self._encrypt, self._decrypt = {
            "bfv": (he.encryptInt, he.decryptInt),
            "bgv": (he.encryptBGV, he.decryptBGV),
            "ckks": (he.encryptFrac, he.decryptFrac),
        }[parameters.spec.scheme]

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """See the contract; Pyfhel reports it for bfv only."""
        if self.parameters.spec.scheme != "bfv":
            return None
        return int(self._he.noise_level(ciphertext))

    def public_material(self) -> Iterator[bytes]:
        keys = self._keys
        has_rotation_keys = bool(keys.rotations or keys.automorphisms)
        material = PublicMaterial(
            parameters=self.parameters,
            relinearization_keys=self._he.to_bytes_relin_key("none") if keys.relinearization else None,
            rotation_keys=self._he.to_bytes_rotate_key("none") if has_rotation_keys else None,
            keys=keys,
        )
        yield msgspec.msgpack.encode(material)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        _require_known(compression)
        return bytes(ciphertext.to_bytes(compression))

    def load(self, data: bytes) -> Handle:
        return PyCtxt(pyfhel=self._he, bytestring=data)

    def bind_key_generation(self, item: str) -> Bound:
        """See the contract: uses a separate object, because Pyfhel's new keys replace the old ones."""
        he = parameter_sets.context_of(self.parameters)
        he.keyGen()
        makers: dict[str, Callable[[], object]] = {
            "key_pair": he.keyGen,
            "relinearization_key": he.relinKeyGen,
            "rotation_key": partial(he.rotateKeyGen, [1]),
        }
        return SealBound(makers[item], [()]) if item in makers else super().bind_key_generation(item)

    def dump_key(self, item: str, compression: str) -> bytes:
        _require_known(compression)
        he, keys = self._he, self._keys
        items = {
            "parameters": he.to_bytes_context,
            "public_key": he.to_bytes_public_key,
            "secret_key": he.to_bytes_secret_key,
        }
        if keys.relinearization:
            items["relinearization_keys"] = he.to_bytes_relin_key
        if keys.rotations or keys.automorphisms:
            items["rotation_keys"] = he.to_bytes_rotate_key
        if item not in items:
            raise Unsupported(f"no {item.replace('_', ' ')} were made")
        return bytes(items[item](compression))


class PyfhelEvaluator(DeclaredEvaluator):
    """The server's Pyfhel object: context and evaluation keys only."""

    def __init__(self, material: PublicMaterial, declared: Declaration) -> None:
        super().__init__(material.parameters, material.keys, declared)
        he = self._he = parameter_sets.context_of(material.parameters)
        if material.relinearization_keys is not None:
            he.from_bytes_relin_key(material.relinearization_keys)
        if material.rotation_keys is not None:
            he.from_bytes_rotate_key(material.rotation_keys)
        self.offer(_functions(he, self._scheme) | {"encode": self._top_encoder()})
        self._fewest_primes = _fewest_primes(material.parameters)

    def reason_against(self, operation: str) -> str:
        if operation in self.operations:
            return f"managed {operation} needs relinearization keys; none were requested"
        return super().reason_against(operation)

    def apply(self, operation: str, *operands: Any) -> Handle:
        return SealBound.once(super().apply, operation, *operands)

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        return SealBound(self.functions[operation], rows)

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        """See the contract; Pyfhel encodes ckks at the top level, so lower levels need modulus switches."""
        full, he = padded(values, self.parameters.slots), self._he
        if self._scheme == "bfv":
            return he.encodeInt(full)
        if self._scheme == "bgv":
            return he.encodeBGV(full)
        plaintext = he.encodeFrac(full, None, scale or self.parameters.scale)
        top = len(self.parameters.moduli) - 1
        if level is None:
            level = top if like is None else self.level(like)
        for _ in range(top - level):
            he.mod_switch_to_next_ptxt(plaintext, False)
        return plaintext

    def load(self, data: bytes) -> Handle:
        return PyCtxt(pyfhel=self._he, bytestring=data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        _require_known(compression)
        return bytes(ciphertext.to_bytes(compression))

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        _require_known(compression)
        return bytes(plaintext.to_bytes(compression))

    def level(self, ciphertext: Handle) -> int:
        return self._primes(ciphertext) - self._fewest_primes

    def scale(self, ciphertext: Handle) -> float | None:
        return float(ciphertext.scale) if self._scheme == "ckks" else None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.size())

    def _top_encoder(self) -> Callable[[Vector], Handle]:
        """Pyfhel's encoding of a vector of all slots at the top level and the default scale."""
        he, scale = self._he, self.parameters.scale
        encoders: dict[str, Callable[[Vector], Handle]] = {
            "bfv": he.encodeInt,
            "bgv": he.encodeBGV,
            "ckks": lambda values: he.encodeFrac(values, None, scale),
        }
        return encoders[self._scheme]

    def _primes(self, ciphertext: Handle) -> int:
        """Number of primes of the ciphertext's modulus, from its size: Pyfhel's ``mod_level`` counts products."""
        words = ciphertext.sizeof_ciphertext("none") // 8
        return int(words // (self.parameters.ring_dimension * ciphertext.size()))


def _functions(he: Any, scheme: Scheme) -> dict[str, Callable[..., Handle]]:
    """One thin function per operation; the last argument of Pyfhel's functions requests a new ciphertext."""
    negate, add, sub, mul, square = he.negate, he.add, he.sub, he.multiply, he.square
    add_plain, sub_plain, mul_plain = he.add_plain, he.sub_plain, he.multiply_plain
    rotate, flip, mod_switch = he.rotate, he.flip, he.mod_switch_to_next_ctxt

    def relinearize(a: Handle) -> Handle:
        copy = a.copy()
        he.relinearize(copy)
        return copy

    def rescale(a: Handle) -> Handle:
        copy = a.copy()
        he.rescale_to_next(copy)
        return copy

    go_down: dict[str, Callable[[Handle], object]] = {
        "ckks": he.rescale_to_next,
        "bgv": lambda product: mod_switch(product, False),
    }
    step = go_down.get(scheme, lambda product: None)

    def mul_full(a: Handle, b: Handle) -> Handle:
        product = mul(a, b, True)
        he.relinearize(product)
        step(product)
        return product

    return {
        "negate": lambda a: negate(a, True),
        "add": lambda a, b: add(a, b, True),
        "sub": lambda a, b: sub(a, b, True),
        "add_plain": lambda a, b: add_plain(a, b, True),
        "sub_plain": lambda a, b: sub_plain(a, b, True),
        "mul_plain": lambda a, b: mul_plain(a, b, True),
        "mul": lambda a, b: mul(a, b, True),
        "mul_full": mul_full,
        "square": lambda a: square(a, True),
        "rotate": lambda a, steps: rotate(a, steps, True),
        "rotate_columns": lambda a: flip(a, True),
        "mod_switch": lambda a: mod_switch(a, True),
        "relinearize": relinearize,
        "rescale": rescale,
    }


def _fewest_primes(parameters: Parameters) -> int:
    """Number of primes at the lowest level: SEAL stops where the modulus would not exceed t."""
    modulus = parameters.plain_modulus or 1
    counts = range(1, len(parameters.moduli) + 1)
    return next(count for count in counts if math.prod(parameters.moduli[:count]) > modulus)


@cache
def _facts() -> dict[str, str]:
    """Build facts of the installed Pyfhel."""
    sample = parameter_sets.context_of(parameter_sets.resolve(ParameterSpec("bfv", 4096, None, 65537)))
    return wheel_facts("Pyfhel", "libAfhel.so", sample.to_bytes_context("none"))


class PyfhelAdapter(DeclaredAdapter):
    """Pyfhel as built by the setup."""

    def info(self) -> LibraryInfo:
        facts = _facts()
        return LibraryInfo("Pyfhel", self._declared.variant, str(__version__), facts["hexl"] == "on", facts)

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        requests.require_key_switching(parameters, keys)
        return PyfhelKeyOwner(parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return PyfhelEvaluator(
            msgspec.msgpack.decode(b"".join(public_material), type=PublicMaterial), self._declared
        )
