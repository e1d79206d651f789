"""The client side: SEAL's keys, encryption and decryption."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ciphermark_adapters.bindings import NativeBound, execute
from ciphermark_adapters.seal import parameters as seal_parameters
from ciphermark_adapters.seal.binding import SealContext, SealModule
from ciphermark_adapters.seal.slots import Slots
from ciphermark_contract.interfaces import (
    Bound,
    Handle,
    KeyOwner,
    KeyRequest,
    PythonBound,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_contract.operations import OPERATIONS
from ciphermark_contract.operations.words import joined
from ciphermark_core import wire
from ciphermark_core.model import Parameters


class SealKeyOwner(KeyOwner):
    """Makes secret and public key at once, and evaluation keys whenever they are asked for: it holds none of them."""

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
        """See the contract: keys are made one by one. An evaluator encrypts nothing: it gets no public key."""
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
            raise Unsupported(f"no {item} were made for this key owner")
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
        """See the contract; all from SEAL's KeyGenerator, of which a key pair takes a new one."""
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
            f"SEAL cannot relinearize or rotate at N = {parameters.ring_dimension} with this chain: key "
            "switching needs a special prime beside a ciphertext modulus larger than t; take a larger N or "
            "write modulus_bits with two primes or more"
        )


def _elements(parameters: Parameters, keys: KeyRequest, context: SealContext) -> tuple[int, ...]:
    """The k of all automorphisms X → X^k that are asked for, below 2N, each once."""
    # A rotation by 0 steps needs no key, and SEAL's step 0 is another automorphism.
    turned = {context.galois_element(steps) for steps in keys.steps}
    others = {element % (2 * parameters.ring_dimension) for element in keys.elements}
    return tuple(sorted(turned | others))


@dataclass(frozen=True, slots=True)
class Header:
    """The first part. The keys follow in SEAL's own format, uncompressed: relinearization keys where ``keys`` has them,
    and a rotation key for each of ``elements``, the k of X → X^k.
    """

    parameters: Parameters
    keys: KeyRequest
    elements: tuple[int, ...]
