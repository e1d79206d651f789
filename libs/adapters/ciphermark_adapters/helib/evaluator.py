"""The server side: HElib's operations on ciphertexts, with public material alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ciphermark_adapters.helib import binding, slots
from ciphermark_adapters.helib import parameters as parameter_sets
from ciphermark_adapters.helib.binding import Binder, NativeBound, NativeEvaluator, execute
from ciphermark_adapters.helib.key_owner import require_none
from ciphermark_adapters.helib.managed import HElibManaged
from ciphermark_adapters.helib.public_material import PublicMaterial
from ciphermark_adapters.helib.slots import Slots
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import (
    Bound,
    Evaluator,
    Handle,
    Operator,
    PythonBound,
    Row,
    Unsupported,
    Vector,
)
from ciphermark_contract.operations import require_keys, served


class HElibEvaluator(Evaluator):
    """Computes with the key-switching matrices of the public key."""

    def __init__(self, material: PublicMaterial, declared: Declaration) -> None:
        self.parameters = material.parameters
        self._declared = declared
        self._keys = material.keys
        context = parameter_sets.context_of(material.parameters)
        self._slots = Slots(material.parameters, context.slot_exponents)
        native = self._native = binding.module().Evaluator(context, material.public_key)
        self._encode = native.encode_reals if self._slots.are_real else native.encode_integers
        names = served(declared.operations[material.parameters.spec.scheme], material.keys)
        binders = self._binders_of(native)
        self._binders = {name: binders[name] for name in names if name not in declared.calls}
        known = {name: partial(execute, bind) for name, bind in self._binders.items()}
        self._operations = declared.functions(self, names, known)

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """See the contract; operations whose keys were not made are missing."""
        return self._operations

    def reason_against(self, operation: str) -> str:
        """See the contract. A declared operation is missing only for want of its key."""
        if operation in self._declared.operations[self.parameters.spec.scheme]:
            return f"no key for {operation} was requested"
        return self._declared.reason_against(operation, self.parameters.spec.scheme)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        """See the contract: the loop is native and runs with the GIL released."""
        function = self.function(operation)
        bind = self._binders.get(operation)
        return PythonBound(function, rows) if bind is None else bind(rows)

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
        """See the contract. Plaintexts of bgv have no scale; those of ckks are made beside a ciphertext."""
        if level is not None and like is None:
            raise Unsupported("HElib encodes for the modulus of a ciphertext: see the managed operations")
        return self._encode(self._slots.ordered(values), like, scale or self.parameters.scale or 1.0)

    def load(self, data: bytes) -> Handle:
        return self._native.load(data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        require_none(compression)
        data: bytes = ciphertext.dump()
        return data

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        """See the contract; HElib cannot."""
        raise Unsupported(self._declared.reason_against("dump_plaintext", self.parameters.spec.scheme))

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
            "mul": native.mul,
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
        # Without the key HElib would compose the rotation of several others: not the primitive any more.
        for row in rows:
            require_keys("rotate", row, self._keys)
        n = self.parameters.ring_dimension
        return self._native.automorphism([(a, slots.rotation(n, steps)) for a, steps in rows])

    def _bind_substitute(self, rows: Sequence[Row]) -> NativeBound:
        for row in rows:
            require_keys("substitute", row, self._keys)
        n = self.parameters.ring_dimension
        return self._native.automorphism([(a, slots.exponent(n, element)) for a, element in rows])

    def _bind_conjugate(self, rows: Sequence[Row]) -> NativeBound:
        """X → X^(−1): it swaps the rows of bgv."""
        exponent = slots.exponent(self.parameters.ring_dimension, -1)
        return self._native.automorphism([(a, exponent) for (a,) in rows])
