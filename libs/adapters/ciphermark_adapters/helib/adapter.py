"""The contract over HElib: schemes bgv and ckks, every loop native."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
import numpy as np

from ciphermark_adapters import provenance
from ciphermark_adapters.bindings import Binder, NativeBound, execute
from ciphermark_adapters.helib import binding
from ciphermark_adapters.helib import parameters as parameter_sets
from ciphermark_adapters.helib.binding import NativeEvaluator
from ciphermark_adapters.helib.parameters import Slots
from ciphermark_contract import requests
from ciphermark_contract.declaration import Declaration, DeclaredAdapter, DeclaredEvaluator
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    Exhausted,
    Handle,
    KeyOwner,
    KeyRequest,
    Managed,
    Operator,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_contract.operations import OPERATIONS
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec


class DecryptionBound(Bound):
    """A native decryption. Results are reordered to the contract's order, which is not timed."""

    def __init__(self, native: NativeBound, slots: Slots) -> None:
        self._native = native
        self._slots = slots

    def run(self, loops: int) -> int:
        return self._native.run(loops)

    def results(self) -> list[Handle]:
        return [self._slots.contract_order(values) for values in self._native.results()]


class HElibKeyOwner(KeyOwner):
    """Generates the keys in its constructor."""

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
        """See the contract. Where HElib refuses for too much noise, slots are impossible values: −1, ckks infinite."""
        try:
            return self._slots.contract_order(execute(self._bind_native_decrypt, ciphertext))
        except Exhausted:
            count = self.parameters.slots
            return np.full(count, np.inf) if self._slots.are_real else np.full(count, -1, dtype=np.int64)

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """HElib's capacity, which follows from its bound on the noise, not from the noise itself."""
        return None if self._slots.are_real else int(ciphertext.capacity_bits)

    def public_material(self) -> Iterator[bytes]:
        material = PublicMaterial(self.parameters, self._keys, self._native.dump_public_key())
        yield msgspec.msgpack.encode(material)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        requests.require_uncompressed(compression, "HElib")
        data: bytes = ciphertext.dump()
        return data

    def load(self, data: bytes) -> Handle:
        return self._native.load(data)

    def dump_key(self, item: str, compression: str) -> bytes:
        """HElib's own format."""
        requests.require_uncompressed(compression, "HElib")
        dumps = {
            "parameters": self._context.dump,
            "public_key": self._native.dump_public_key,
            "secret_key": self._native.dump_secret_key,
        }
        if item not in dumps:
            raise Unsupported(f"this key set has no {item}")
        return dumps[item]()

    def dump_seeded(self, item: str, values: Vector, compression: str) -> bytes:
        """See the contract: key-switching matrices, whose random half HElib keeps as a seed."""
        requests.require_uncompressed(compression, "HElib")
        dumps: dict[str, Callable[[], bytes]] = {}
        if self._keys.relinearization:
            dumps["relinearization_keys_seeded"] = self._native.dump_relinearization_keys
        if self._automorphisms:
            dumps["rotation_keys_seeded"] = self._native.dump_rotation_keys
        return dumps[item]() if item in dumps else super().dump_seeded(item, values, compression)


def _automorphisms(ring_dimension: int, keys: KeyRequest) -> list[int]:
    """Exponents of the automorphisms that need a key; a rotation by 0 steps needs none."""
    rotations = [parameter_sets.rotation(ring_dimension, steps) for steps in keys.steps]
    return rotations + [parameter_sets.exponent(ring_dimension, element) for element in keys.elements]


@dataclass(frozen=True, slots=True)
class PublicMaterial:
    """``public_key`` is HElib's, in its binary format: context, encryption key and key-switching matrices."""

    parameters: Parameters
    keys: KeyRequest
    public_key: bytes


class HElibEvaluator(DeclaredEvaluator):
    """Computes with the key-switching matrices of the public key."""

    def __init__(self, material: PublicMaterial, declared: Declaration) -> None:
        super().__init__(material.parameters, material.keys, declared)
        context = parameter_sets.context_of(material.parameters)
        self._slots = Slots(material.parameters, context.slot_exponents)
        native = self._native = binding.module().Evaluator(
            context, material.public_key, material.parameters.scale or 1.0
        )
        self._encode = native.encode_reals if self._slots.are_real else native.encode_integers
        binders = self._binders_of(native)
        self._binders = {name: binders[name] for name in self._names if name not in declared.calls}
        self.offer({name: partial(execute, bind) for name, bind in self._binders.items()})

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """The loop is native and runs with the GIL released."""
        bind = self._binders.get(operation)
        return super().bound(operation, rows) if bind is None else bind(rows)

    def empty(self) -> Bound:
        """See the contract: the native loop over nothing."""
        return binding.module().bind_empty()

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        """See the contract. Plaintexts of bgv have no scale.

        A plaintext for a level has that level's ciphertext primes. They suffice for every ciphertext at the level,
        except bgv ciphertexts that a product has moved to small primes: HElib raises ``RuntimeError`` for these.
        """
        level = len(self.parameters.moduli) - 1 if level is None else level
        scale = scale or self.parameters.scale or 1.0
        return self._encode(self._slots.ordered(values), like, level, scale)

    def load(self, data: bytes) -> Handle:
        return self._native.load(data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        requests.require_uncompressed(compression, "HElib")
        data: bytes = ciphertext.dump()
        return data

    def level(self, ciphertext: Handle) -> int:
        """See the contract: the number of products of the first ciphertext primes below the modulus."""
        return int(ciphertext.level)

    def scale(self, ciphertext: Handle) -> float | None:
        """See the contract: HElib's rational factor."""
        return float(ciphertext.scale) if self._slots.are_real else None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.polynomials)

    def managed(self) -> Operator:
        """HElib's own alignment of operands: see :class:`HElibManaged`."""
        return HElibManaged(self)

    def _binders_of(self, native: NativeEvaluator) -> dict[str, Binder]:
        is_real = self._slots.are_real
        return {
            "negate": native.negate,
            "add": native.add,
            "sub": native.sub,
            "add_plain": native.add_plain,
            "sub_plain": native.sub_plain,
            "mul_plain": native.mul_plain,
            "add_plain_ntt": native.add_plain_ntt,
            "mul_plain_ntt": native.mul_plain,
            "mul": native.mul,
            "mul_full": native.mul_full,
            "square": native.square,
            "relinearize": native.relinearize,
            "rescale": native.mod_down,
            "mod_switch": native.drop_prime if is_real else native.mod_down,
            "add_scalar": native.add_real
            if is_real
            else partial(_bind_integers, "add_scalar", native.add_integer),
            "mul_scalar": native.mul_real
            if is_real
            else partial(_bind_integers, "mul_scalar", native.mul_integer),
            "rotate": self._bind_rotate,
            "substitute": self._bind_substitute,
            "rotate_columns": self._bind_conjugate,
            "conjugate": self._bind_conjugate,
        }

    def _bind_rotate(self, rows: Sequence[Row]) -> NativeBound:
        n = self.parameters.ring_dimension
        return self._native.automorphism([(a, parameter_sets.rotation(n, steps)) for a, steps in rows])

    def _bind_substitute(self, rows: Sequence[Row]) -> NativeBound:
        n = self.parameters.ring_dimension
        return self._native.automorphism([(a, parameter_sets.exponent(n, element)) for a, element in rows])

    def _bind_conjugate(self, rows: Sequence[Row]) -> NativeBound:
        """X → X^(−1): it swaps the rows of bgv."""
        exponent = parameter_sets.exponent(self.parameters.ring_dimension, -1)
        return self._native.automorphism([(a, exponent) for (a,) in rows])


def _bind_integers(operation: str, bind: Binder, rows: Sequence[Row]) -> NativeBound:
    """An operation of bgv with a number; raises ``Unsupported`` for a fraction."""
    for row in rows:
        OPERATIONS[operation].require_arguments("bgv", row)
    return bind([(a, int(number)) for a, number in rows])


class HElibManaged(Managed):
    """The managed operations, without the alignment that other libraries need: HElib aligns operands itself.

    Before an addition it switches operands up to the larger modulus, and gives ckks ciphertexts one scale by integer
    factors. Before a multiplication it switches to the modulus that the noise requires. Operands are therefore passed
    unchanged. bgv products stay at their modulus until the next one switches them. A ckks result is rescaled while its
    scale stays near the parameter set's or above.
    """

    def _total(self, operation: str, a: Handle, b: Handle) -> Handle:
        return self._rescaled(self._evaluator.apply(operation, a, b))

    def _mul(self, a: Handle, b: Handle) -> Handle:
        for operand in (a, b):
            self._require_level(operand)
        return self._shrunk(self._evaluator.apply("mul", a, b))

    def _shrunk(self, product: Handle) -> Handle:
        if "relinearize" in self._evaluator.operations:
            product = self._evaluator.apply("relinearize", product)
        return self._rescaled(product)

    def _rescaled(self, result: Handle) -> Handle:
        while self._is_scaled_up(result):
            result = self._evaluator.apply("rescale", result)
        return result

    def _is_scaled_up(self, result: Handle) -> bool:
        """Whether the scale divided by the next prime is nearer to the default scale than to 1."""
        evaluator = self._evaluator
        level, scale, default = evaluator.level(result), evaluator.scale(result), evaluator.parameters.scale
        if scale is None or default is None or level == 0:
            return False
        return scale / evaluator.parameters.moduli[level] > math.sqrt(default)


class HElibAdapter(DeclaredAdapter):
    """The HElib that the native module was built against."""

    def __init__(self, declared: Declaration) -> None:
        super().__init__(declared)
        self._module = binding.module()

    def info(self) -> LibraryInfo:
        module = self._module
        return LibraryInfo(
            library=self._declared.library,
            variant=self._declared.variant,
            version=module.helib_version,
            hexl=self._declared.hexl,
            build=provenance.beside(module) | module.build_facts,
            is_debug=module.is_debug_build,
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        requests.require_key_switching(parameters, keys)
        return HElibKeyOwner(parameters, keys)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        material = msgspec.msgpack.decode(b"".join(public_material), type=PublicMaterial)
        return HElibEvaluator(material, self._declared)
