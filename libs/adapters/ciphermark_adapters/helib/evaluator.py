"""The server side: HElib's operations on ciphertexts, with public material alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ciphermark_adapters.helib import binding, slots
from ciphermark_adapters.helib import parameters as parameter_sets
from ciphermark_adapters.helib.binding import NativeEvaluator
from ciphermark_adapters.helib.key_owner import require_none
from ciphermark_adapters.helib.managed import HElibManaged
from ciphermark_adapters.helib.public_material import PublicMaterial
from ciphermark_adapters.helib.slots import Slots
from ciphermark_adapters.native_binding import Binder, NativeBound, execute
from ciphermark_contract.declaration import Declaration, DeclaredEvaluator
from ciphermark_contract.interfaces import (
    Bound,
    Handle,
    Operator,
    Row,
    Vector,
)


class HElibEvaluator(DeclaredEvaluator):
    """Computes with the key-switching matrices of the public key."""

    def __init__(self, material: PublicMaterial, declared: Declaration) -> None:
        super().__init__(material.parameters, material.keys, declared)
        context = parameter_sets.context_of(material.parameters)
        self._slots = Slots(material.parameters, context.slot_exponents)
        native = self._native = binding.module().Evaluator(context, material.public_key)
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
        self,
        values: Vector,
        like: Handle | None = None,
        scale: float | None = None,
        level: int | None = None,
    ) -> Handle:
        """See the contract. Plaintexts of bgv have no scale.

        One that is made for a level has its ciphertext primes. That is enough for every ciphertext there but those of
        bgv that a product has moved to small primes: HElib raises ``RuntimeError`` for these.
        """
        level = len(self.parameters.moduli) - 1 if level is None else level
        scale = scale or self.parameters.scale or 1.0
        return self._encode(self._slots.ordered(values), like, level, scale)

    def load(self, data: bytes) -> Handle:
        return self._native.load(data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        require_none(compression)
        data: bytes = ciphertext.dump()
        return data

    def level(self, ciphertext: Handle) -> int:
        """See the contract: how many products of the first ciphertext primes are smaller than the modulus."""
        return int(ciphertext.level)

    def scale(self, ciphertext: Handle) -> float | None:
        """See the contract: HElib's rational factor."""
        return float(ciphertext.scale) if self._slots.are_real else None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.polynomials)

    def managed(self) -> Operator:
        """HElib's own alignment of operands: see :mod:`.managed`."""
        return HElibManaged(self)

    def _binders_of(self, native: NativeEvaluator) -> dict[str, Binder]:
        return {
            "negate": native.negate,
            "add": native.add,
            "sub": native.sub,
            "add_plain": native.add_plain,
            "sub_plain": native.sub_plain,
            "mul_plain": native.mul_plain,
            "add_plain_prepared": native.add_plain_prepared,
            "mul_plain_prepared": native.mul_plain,
            "mul": native.mul,
            "mul_full": native.mul_full,
            "square": native.square,
            "relinearize": native.relinearize,
            "rescale": native.mod_down,
            "mod_switch": native.mod_down,
            "rotate": self._bind_rotate,
            "substitute": self._bind_substitute,
            "rotate_columns": self._bind_conjugate,
            "conjugate": self._bind_conjugate,
        }

    def _bind_rotate(self, rows: Sequence[Row]) -> NativeBound:
        n = self.parameters.ring_dimension
        return self._native.automorphism([(a, slots.rotation(n, steps)) for a, steps in rows])

    def _bind_substitute(self, rows: Sequence[Row]) -> NativeBound:
        n = self.parameters.ring_dimension
        return self._native.automorphism([(a, slots.exponent(n, element)) for a, element in rows])

    def _bind_conjugate(self, rows: Sequence[Row]) -> NativeBound:
        """X → X^(−1): it swaps the rows of bgv."""
        exponent = slots.exponent(self.parameters.ring_dimension, -1)
        return self._native.automorphism([(a, exponent) for (a,) in rows])
