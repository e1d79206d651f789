"""Managed operations: the same names as the primitives, with levels and scales taken care of.

``mul`` and ``square`` relinearize; in ckks they and ``mul_plain`` rescale, in bgv they switch to the next modulus
while there is one. A chain too short for key switching leaves products as they are, of three and more polynomials.
Two ciphertexts are brought to one level and, before they are added, to one exact scale.
Plaintext operands are vectors here, encoded at the ciphertext's level: the encoding is part of a
managed operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, Operator, Vector
from ciphermark_contract.operations import where

# Scales closer than this are one scale: adding such ciphertexts errs less than the ckks noise itself.
_SCALE_TOLERANCE = 2.0**-45


class Managed(Operator):
    """Managed operations built from an evaluator's primitives."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._scheme = evaluator.parameters.spec.scheme
        managed: dict[str, Callable[..., Handle]] = {
            "add": self._add,
            "sub": self._sub,
            "add_plain": self._add_plain,
            "sub_plain": self._sub_plain,
            "mul_plain": self._mul_plain,
            "mul_scalar": self._mul_scalar,
            "mul": self._mul,
            "square": self._square,
        }
        primitives = evaluator.operations
        names = where(lambda row: row.is_managed and row.name in primitives)
        self._table = {name: managed.get(name, primitives[name]) for name in names}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """The managed operations whose primitives exist."""
        return self._table

    def reason_against(self, operation: str) -> str:
        """The evaluator's own reason."""
        return self._evaluator.reason_against(operation)

    def _add(self, a: Handle, b: Handle) -> Handle:
        return self._evaluator.apply("add", *self._at_one_scale(a, b))

    def _sub(self, a: Handle, b: Handle) -> Handle:
        return self._evaluator.apply("sub", *self._at_one_scale(a, b))

    def _add_plain(self, a: Handle, values: Vector) -> Handle:
        return self._evaluator.apply("add_plain", a, self._at_scale_of(a, values))

    def _sub_plain(self, a: Handle, values: Vector) -> Handle:
        return self._evaluator.apply("sub_plain", a, self._at_scale_of(a, values))

    def _mul_plain(self, a: Handle, values: Vector) -> Handle:
        self._require_level(a)
        product = self._evaluator.apply("mul_plain", a, self._evaluator.encode(values, like=a))
        return self._rescaled(product)

    def _mul_scalar(self, a: Handle, number: float) -> Handle:
        self._require_level(a)
        return self._rescaled(self._evaluator.apply("mul_scalar", a, number))

    def _mul(self, a: Handle, b: Handle) -> Handle:
        a, b = aligned(self._evaluator, a, b)
        self._require_level(a)
        return self._shrunk(self._evaluator.apply("mul", a, b))

    def _square(self, a: Handle) -> Handle:
        self._require_level(a)
        return self._shrunk(self._evaluator.apply("square", a))

    def _at_scale_of(self, a: Handle, values: Vector) -> Handle:
        return self._evaluator.encode(values, like=a, scale=self._evaluator.scale(a))

    def _shrunk(self, product: Handle) -> Handle:
        if "relinearize" in self._evaluator.operations:
            product = self._evaluator.apply("relinearize", product)
        if self._scheme == "bgv" and self._evaluator.level(product) > 0:
            return self._evaluator.apply("mod_switch", product)
        return self._rescaled(product)

    def _rescaled(self, product: Handle) -> Handle:
        return self._evaluator.apply("rescale", product) if self._scheme == "ckks" else product

    def _require_level(self, a: Handle) -> None:
        if self._scheme == "ckks" and self._evaluator.level(a) == 0:
            raise Exhausted("no level is left in the modulus chain for another multiplication")

    def _at_one_scale(self, a: Handle, b: Handle) -> tuple[Handle, Handle]:
        """Both ciphertexts at one level and, in ckks, at the scale of the lower one, for addition."""
        evaluator = self._evaluator
        scale_a, scale_b = evaluator.scale(a), evaluator.scale(b)
        if scale_a is None or scale_b is None or abs(scale_a / scale_b - 1) < _SCALE_TOLERANCE:
            return aligned(evaluator, a, b)
        if evaluator.level(a) >= evaluator.level(b):
            return matched(evaluator, a, b), b
        return a, matched(evaluator, b, a)


def matched(evaluator: Evaluator, high: Handle, low: Handle, factor: float = 1.0) -> Handle:
    """``high``·factor at the level and exact scale of ``low`` (ckks): a product at a chosen scale, rescaled.

    One level of difference pays for it. At equal levels there is none to spend, and scales that differ there
    cannot be added.
    """
    level = evaluator.level(low)
    if evaluator.level(high) == level:
        raise ValueError(
            f"scales {evaluator.scale(high)} and {evaluator.scale(low)} differ at one level: "
            "multiply one of the ciphertexts by 1 first"
        )
    high = lowered(evaluator, high, level + 1)
    scale_high, scale_low = evaluator.scale(high), evaluator.scale(low)
    assert scale_high is not None
    assert scale_low is not None
    scale = scale_low * evaluator.parameters.moduli[level + 1] / scale_high
    factors = evaluator.encode(np.full(evaluator.parameters.slots, factor), like=high, scale=scale)
    return evaluator.apply("rescale", evaluator.apply("mul_plain", high, factors))


def aligned(evaluator: Evaluator, a: Handle, b: Handle) -> tuple[Handle, Handle]:
    """Both ciphertexts at the lower of their levels."""
    level = min(evaluator.level(a), evaluator.level(b))
    return lowered(evaluator, a, level), lowered(evaluator, b, level)


def lowered(evaluator: Evaluator, a: Handle, level: int) -> Handle:
    """The ciphertext switched down to a level; one that is not above it stays as it is."""
    while evaluator.level(a) > level:
        a = evaluator.apply("mod_switch", a)
    return a


def next_lower(evaluator: Evaluator, a: Handle) -> Handle:
    """The ciphertext at the next modulus, where there is one and the library switches to it."""
    if evaluator.level(a) > 0 and "mod_switch" in evaluator.operations:
        return evaluator.apply("mod_switch", a)
    return a
