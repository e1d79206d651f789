"""The server side: OpenFHE's operations on ciphertexts, with public material alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import openfhe

from ciphermark_adapters.openfhe import bootstrapping
from ciphermark_adapters.openfhe.ciphertexts import (
    Naturalizer,
    OpenfheBound,
    PublicMaterial,
    checked,
    dump,
    load,
)
from ciphermark_contract.declaration import Declaration, DeclaredEvaluator
from ciphermark_contract.interfaces import Bound, Handle, Row, Vector


class OpenFheEvaluator(DeclaredEvaluator):
    """Computes with a context and evaluation keys."""

    def __init__(self, material: PublicMaterial, declared: Declaration) -> None:
        super().__init__(material.parameters, material.keys, declared)
        self._top = len(material.parameters.moduli) - 1
        self._context = openfhe.DeserializeCryptoContextString(material.context, openfhe.BINARY)
        self._naturalizer = Naturalizer(self._context, is_real=self._scheme == "ckks")
        _take_keys(material)
        self.offer(self._functions(material))

    def apply(self, operation: str, *operands: Any) -> Handle:
        return OpenfheBound.once(super().apply, operation, *operands)

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """Products of equal scales need no correction: there the library's call is timed alone."""
        function = self.functions[operation]
        if function == self._scaled_product and all(
            a.GetScalingFactor() == plaintext.GetScalingFactor() for a, plaintext in rows
        ):
            function = self._context.EvalMult
        return OpenfheBound(function, rows)

    def encode(
        self,
        values: Vector,
        like: Handle | None = None,
        scale: float | None = None,
        level: int | None = None,
    ) -> Handle:
        """See the contract. A ckks scale other than a power of the default one is multiplied into the values."""
        full = checked(values, self.parameters)
        dropped = 0 if like is None else like.GetLevel()
        if level is not None:
            dropped = len(self.parameters.moduli) - 1 - level
        default = self.parameters.scale
        if default is None:
            return self._context.MakePackedPlaintext(full, 1, dropped)
        scale = scale or default
        degree = max(1, round(math.log2(scale) / math.log2(default)))
        plaintext = self._context.MakeCKKSPackedPlaintext(full * (scale / default**degree), degree, dropped)
        plaintext.SetScalingFactor(scale)
        return plaintext

    def load(self, data: bytes) -> Handle:
        """See the contract. The ciphertext becomes one of the library: see :class:`.ciphertexts.Naturalizer`."""
        return self._naturalizer.copied(load(data))

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        return dump(ciphertext, compression)

    def level(self, ciphertext: Handle) -> int:
        return self._top - int(ciphertext.GetLevel())

    def scale(self, ciphertext: Handle) -> float | None:
        return float(ciphertext.GetScalingFactor()) if self._scheme == "ckks" else None

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.NumberCiphertextElements())

    def _functions(self, material: PublicMaterial) -> dict[str, Callable[..., Handle]]:
        context = self._context
        multiply, rotate = context.EvalMultNoRelin, context.EvalRotate
        functions: dict[str, Callable[..., Handle]] = {
            "negate": context.EvalNegate,
            "add": context.EvalAdd,
            "sub": context.EvalSub,
            "add_plain": context.EvalAdd,
            "sub_plain": context.EvalSub,
            "add_plain_prepared": context.EvalAdd,
            "mul_plain": context.EvalMult if self._scheme != "ckks" else self._scaled_product,
            "mul_plain_prepared": context.EvalMult,
            "mul": multiply,
            "mul_full": self._full_products[self._scheme],
            "square": lambda a: multiply(a, a),
            "relinearize": context.Relinearize,
            "rescale": self._rescale,
            "rotate": lambda a, steps: rotate(a, steps) if steps else a.Clone(),
            "rotate_hoisted": self._rotate_hoisted,
            "add_many": lambda *several: context.EvalAddMany(several),
            "add_scalar": lambda a, number: context.EvalAdd(a, float(number)),
            "mul_scalar": self._scaled_by_number,
            "encode": self._encode_at_top,
            "mod_switch": context.ModReduce if self._scheme == "bgv" else self._level_reduce,
        }
        return functions | self._keyed_functions(material)

    def _keyed_functions(self, material: PublicMaterial) -> dict[str, Callable[..., Handle]]:
        """Those that take keys of their own, where these were made."""
        functions: dict[str, Callable[..., Handle]] = {}
        if material.keys.automorphisms:
            automorphism = self._automorphism(material.key_tag)
            functions |= dict.fromkeys(("rotate_columns", "conjugate"), lambda a: automorphism(a, -1))
            functions["substitute"] = automorphism
        if material.keys.bootstrapping:
            bootstrapping.set_up(self._context, self.parameters)
            functions["bootstrap"] = partial(bootstrapping.bootstrapped, self._context, self.parameters)
        if material.switching_key is not None:
            functions["key_switch"] = self._key_switch(material.switching_key, material.second_key_tag)
        return functions

    def _key_switch(self, key: bytes, tag: str) -> Callable[[Handle], Handle]:
        switch, to_second = self._context.KeySwitch, openfhe.DeserializeEvalKeyString(key, openfhe.BINARY)

        def switched(a: Handle) -> Handle:
            result = switch(a, to_second)
            result.SetKeyTag(tag)
            return result

        return switched

    def _rotate_hoisted(self, a: Handle, *steps: int) -> list[Handle]:
        context, order = self._context, 2 * self.parameters.ring_dimension
        digits = context.EvalFastRotationPrecompute(a)
        return [context.EvalFastRotation(a, step, order, digits) if step else a.Clone() for step in steps]

    def _automorphism(self, tag: str) -> Callable[[Handle, int], Handle]:
        keys = openfhe.CryptoContext.GetEvalAutomorphismKeyMap(tag)
        order, apply = 2 * self.parameters.ring_dimension, self._context.EvalAutomorphism
        return lambda a, element: apply(a, element % order, keys)

    @property
    def _full_products(self) -> dict[str, Callable[..., Handle]]:
        """bfv has no modulus to go down to; the others relinearize and go down in one call."""
        context = self._context
        return {"bfv": context.EvalMult, "bgv": context.ComposedEvalMult, "ckks": self._rescaled_product}

    def _rescaled_product(self, a: Handle, b: Handle) -> Handle:
        result = self._context.ComposedEvalMult(a, b)
        dropped = self.parameters.moduli[self._top - a.GetLevel()]
        result.SetScalingFactor(a.GetScalingFactor() * b.GetScalingFactor() / dropped)
        return result

    def _scaled_product(self, a: Handle, plaintext: Handle) -> Handle:
        """EvalMult squares the ciphertext's scale, whatever the scale of the plaintext."""
        result = self._context.EvalMult(a, plaintext)
        result.SetScalingFactor(a.GetScalingFactor() * plaintext.GetScalingFactor())
        return result

    def _scaled_by_number(self, a: Handle, number: float) -> Handle:
        """EvalMult squares the ciphertext's scale here, too; the number is encoded at the default one."""
        result = self._context.EvalMult(a, float(number))
        result.SetScalingFactor(a.GetScalingFactor() * (self.parameters.scale or 1.0))
        return result

    def _encode_at_top(self, values: Vector) -> Handle:
        make = self._context.MakePackedPlaintext
        return (
            make(values) if self.parameters.scale is None else self._context.MakeCKKSPackedPlaintext(values)
        )

    def _rescale(self, a: Handle) -> Handle:
        result = self._context.Rescale(a)
        result.SetScalingFactor(a.GetScalingFactor() / self.parameters.moduli[self._top - a.GetLevel()])
        return result

    def _level_reduce(self, a: Handle) -> Handle:
        return self._context.LevelReduce(a, None, 1)


def _take_keys(material: PublicMaterial) -> None:
    """Put the evaluation keys into OpenFHE's maps, where keys of this very tag are not there already.

    They are when owner and evaluator share a process; OpenFHE refuses to read keys a second time.
    """
    tag, binary = material.key_tag, openfhe.BINARY
    if material.relinearization_keys and tag not in openfhe.CryptoContext.GetAllEvalMultKeys():
        openfhe.DeserializeEvalMultKeyString(material.relinearization_keys, binary)
    if material.rotation_keys and tag not in openfhe.CryptoContext.GetAllEvalAutomorphismKeys():
        openfhe.DeserializeEvalAutomorphismKeyString(material.rotation_keys, binary)
