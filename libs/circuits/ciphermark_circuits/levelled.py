"""Arithmetic for circuits that were written without levels (ckks), as libraries with automatic scaling do it.

Every level has one scale. Products are relinearized and rescaled at once; an operand from above is brought down by a
product with 1.
"""

from __future__ import annotations

import numpy as np

from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, lowered


class Levelled:
    """Operations on ciphertexts whose scales follow from their levels: that of the first is ``like``'s."""

    def __init__(self, evaluator: Evaluator, like: Handle) -> None:
        self.evaluator = evaluator
        top, scale = evaluator.level(like), evaluator.scale(like)
        assert scale is not None, "levelled arithmetic is for ckks"
        self._scales = {top: scale}
        for level in range(top, 0, -1):
            self._scales[level - 1] = self._scales[level] ** 2 / evaluator.parameters.moduli[level]

    def scale(self, level: int) -> float:
        """The scale of a level, at most that of the first ciphertext."""
        return self._scales[level]

    def product(self, a: Handle, b: Handle) -> Handle:
        """a·b, one level below the lower of them."""
        return self._shrunk(self.evaluator.apply("mul", *self._together(a, b)))

    def square(self, a: Handle) -> Handle:
        """a², one level below."""
        return self._shrunk(self.evaluator.apply("square", a))

    def scaled(self, a: Handle, factor: float) -> Handle:
        """a·factor, one level below."""
        return self._scaled(a, factor, self.evaluator.level(a) - 1)

    def sum(self, a: Handle, b: Handle) -> Handle:
        """a + b, at the lower level."""
        return self.evaluator.apply("add", *self._together(a, b))

    def difference(self, a: Handle, b: Handle) -> Handle:
        """a − b, at the lower level."""
        return self.evaluator.apply("sub", *self._together(a, b))

    def less(self, a: Handle, number: float) -> Handle:
        """a − number."""
        return self.evaluator.apply("sub_plain", a, self._constant(a, number, self.evaluator.scale(a)))

    def _together(self, a: Handle, b: Handle) -> tuple[Handle, Handle]:
        level = min(self.evaluator.level(a), self.evaluator.level(b))
        return self._lowered(a, level), self._lowered(b, level)

    def _lowered(self, a: Handle, level: int) -> Handle:
        return a if self.evaluator.level(a) == level else self._scaled(a, 1.0, level)

    def _scaled(self, a: Handle, factor: float, level: int) -> Handle:
        if level < 0:
            raise Exhausted("no level is left in the modulus chain for another multiplication")
        evaluator = self.evaluator
        high = lowered(evaluator, a, level + 1)
        before = evaluator.scale(high)
        assert before is not None
        scale = self._scales[level] * evaluator.parameters.moduli[level + 1] / before
        return evaluator.apply(
            "rescale", evaluator.apply("mul_plain", high, self._constant(high, factor, scale))
        )

    def _constant(self, like: Handle, number: float, scale: float | None) -> Handle:
        values = np.full(self.evaluator.parameters.slots, number)
        return self.evaluator.encode(values, like=like, scale=scale)

    def _shrunk(self, raw: Handle) -> Handle:
        if self.evaluator.level(raw) == 0:
            raise Exhausted("no level is left in the modulus chain for another multiplication")
        return self.evaluator.apply("rescale", self.evaluator.apply("relinearize", raw))
