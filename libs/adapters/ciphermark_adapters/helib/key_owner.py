"""The client side: HElib's keys, encryption and decryption."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np

from ciphermark_adapters.helib import binding, slots
from ciphermark_adapters.helib import parameters as parameter_sets
from ciphermark_adapters.helib.public_material import PublicMaterial
from ciphermark_adapters.helib.slots import Slots
from ciphermark_adapters.native_binding import NativeBound, execute
from ciphermark_contract.interfaces import (
    Bound,
    Exhausted,
    Handle,
    KeyOwner,
    KeyRequest,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_core.model import Parameters


class DecryptionBound(Bound):
    """A native decryption whose results are brought into the contract's order off the clock."""

    def __init__(self, native: NativeBound, slots: Slots) -> None:
        self._native = native
        self._slots = slots

    def run(self, loops: int) -> int:
        return self._native.run(loops)

    def results(self) -> list[Handle]:
        return [self._slots.contract_order(values) for values in self._native.results()]


class HElibKeyOwner(KeyOwner):
    """Generates the keys when it is made."""

    def __init__(self, parameters: Parameters, keys: KeyRequest) -> None:
        self.parameters = parameters
        self._keys = keys
        self._context = parameter_sets.context_of(parameters)
        self._slots = Slots(parameters, self._context.slot_exponents)
        self._automorphisms = _automorphisms(parameters.ring_dimension, keys)
        make = binding.module().KeyOwner
        native = self._native = make(self._context, keys.relinearization is not None, self._automorphisms)
        is_real = self._slots.are_real
        self._bind_native_encrypt = native.encrypt_reals if is_real else native.encrypt_integers
        self._bind_native_decrypt = native.decrypt_reals if is_real else native.decrypt_integers

    def bind_encrypt(self, rows: Sequence[Row]) -> NativeBound:
        """See the contract: the loop is native, values are converted here."""
        ordered = [(self._slots.ordered(values),) for (values,) in rows]
        return self._bind_native_encrypt(ordered, self.parameters.scale or 1.0)

    def bind_decrypt(self, rows: Sequence[Row]) -> Bound:
        """See the contract: the loop is native."""
        return DecryptionBound(self._bind_native_decrypt(rows), self._slots)

    def empty(self) -> Bound:
        """See the contract: the native loop over nothing."""
        return binding.module().bind_empty()

    def encrypt(self, values: Vector) -> Handle:
        return execute(self.bind_encrypt, values)

    def decrypt(self, ciphertext: Handle) -> Vector:
        """See the contract. Where HElib refuses for too much noise, slots are what no value is: −1, ckks infinite."""
        try:
            return self._slots.contract_order(execute(self._bind_native_decrypt, ciphertext))
        except Exhausted:
            count = self.parameters.slots
            return np.full(count, np.inf) if self._slots.are_real else np.full(count, -1, dtype=np.int64)

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """HElib's capacity: by its bound on the noise, not by the noise itself."""
        return None if self._slots.are_real else int(ciphertext.capacity_bits)

    def public_material(self) -> Iterator[bytes]:
        material = PublicMaterial(self.parameters, self._keys, self._native.dump_public_key())
        yield msgspec.msgpack.encode(material)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        require_none(compression)
        data: bytes = ciphertext.dump()
        return data

    def load(self, data: bytes) -> Handle:
        return self._native.load(data)

    def dump_key(self, item: str, compression: str) -> bytes:
        """HElib's own format."""
        require_none(compression)
        dumps = self._dumps()
        if item not in dumps:
            raise Unsupported(f"no {item} were made for this key owner")
        return dumps[item]()

    def _dumps(self) -> dict[str, Callable[[], bytes]]:
        native = self._native
        dumps = {
            "parameters": self._context.dump,
            "public_key": native.dump_public_key,
            "secret_key": native.dump_secret_key,
        }
        return dumps

    def dump_seeded(self, item: str, values: Vector, compression: str) -> bytes:
        """See the contract: matrices, whose random half HElib keeps as a seed."""
        require_none(compression)
        dumps: dict[str, Callable[[], bytes]] = {}
        if self._keys.relinearization:
            dumps["relinearization_keys_seeded"] = self._native.dump_relinearization_keys
        if self._automorphisms:
            dumps["rotation_keys_seeded"] = self._native.dump_rotation_keys
        return dumps[item]() if item in dumps else super().dump_seeded(item, values, compression)


def require_none(compression: str) -> None:
    """Raise ``Unsupported`` for any compression: HElib has none."""
    if compression != "none":
        raise Unsupported(f"HElib offers no compression {compression}, only none")


def _automorphisms(ring_dimension: int, keys: KeyRequest) -> list[int]:
    """Exponents of the automorphisms that need a key; a rotation by 0 steps needs none."""
    rotations = [slots.rotation(ring_dimension, steps) for steps in keys.steps]
    return rotations + [slots.exponent(ring_dimension, element) for element in keys.elements]
