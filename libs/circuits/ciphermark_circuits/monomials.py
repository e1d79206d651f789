"""Polynomials of one ciphertext in its powers, with exact scales (ckks).

Paterson and Stockmeyer's division by x^m for a power of two m: a degree below 2^d takes d levels. As in
:mod:`.chebyshev`, all terms of a sum have one level and one exact scale, which are chosen backwards from the result;
products are summed before they are rescaled and relinearized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.chebyshev import times
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.products import product, shrunk
from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, lowered


def depth(coefficients: Sequence[float]) -> int:
    """Levels from the argument down to the value."""
    return (len(coefficients) - 1).bit_length()


def without_constant(
    evaluator: Evaluator, x: Handle, coefficients: Sequence[float], scale_at: Sequence[float]
) -> Handle:
    """Σ coefficients[k]·x^k over k ≥ 1 in every slot, at the scale that ``scale_at`` has for its level.

    The last coefficient must not be 0. Raises ``Exhausted`` for too few levels.
    """
    level = evaluator.level(x) - depth(coefficients)
    if level < 0:
        raise Exhausted(
            f"a polynomial takes {depth(coefficients)} levels, and the ciphertext has {evaluator.level(x)}"
        )
    bits = (len(coefficients) - 1).bit_length()
    division = _Division(evaluator, _Powers(evaluator, x), 1 << (bits + 1) // 2)
    return division.value(np.array([0.0, *coefficients[1:]]), level, scale_at[level])


class _Powers:
    """The x^k of a ciphertext, each computed at its first use. x^k lies ⌈log2 k⌉ levels below x."""

    def __init__(self, evaluator: Evaluator, x: Handle) -> None:
        self._evaluator = evaluator
        self._made: dict[int, Handle] = {1: x}
        self._top = evaluator.level(x)

    def level(self, k: int) -> int:
        """The level of x^k, computed or not."""
        return self._top - (k - 1).bit_length()

    def __getitem__(self, k: int) -> Handle:
        if k not in self._made:
            half = 1 << (k - 1).bit_length() - 1
            self._made[k] = product(self._evaluator, self[half], self[k - half])
        return self._made[k]


@dataclass(frozen=True, slots=True)
class _Division:
    """Evaluates coefficient vectors over the powers of one ciphertext. The first coefficient is that of x^0."""

    evaluator: Evaluator
    powers: _Powers
    leaves: int

    def value(self, coefficients: Floats, level: int, scale: float) -> Handle:
        """The value at a level and scale, with two polynomials."""
        evaluator = self.evaluator
        raw = self._raw(coefficients, level + 1, scale * evaluator.parameters.moduli[level + 1])
        value = evaluator.apply("rescale", raw) if evaluator.polynomials(raw) == 2 else shrunk(evaluator, raw)
        if coefficients[0] == 0:
            return value
        constants = np.full(evaluator.parameters.slots, coefficients[0])
        return evaluator.apply("add_plain", value, evaluator.encode(constants, like=value, scale=scale))

    def _raw(self, coefficients: Floats, level: int, scale: float) -> Handle:
        """Σ coefficients[k]·x^k over k ≥ 1 at a level and scale before it is rescaled and relinearized."""
        evaluator, degree = self.evaluator, int(np.flatnonzero(coefficients)[-1])
        if degree < self.leaves and self.powers.level(degree) >= level:
            return self._leaf(coefficients, level, scale)
        m = 1 << degree.bit_length() - 1
        quotient, rest = coefficients[m : degree + 1], coefficients[:m]
        if degree == m:
            raw = times(evaluator, self.powers[m], float(quotient[0]), level, scale)
        else:
            divisor = lowered(evaluator, self.powers[m], level)
            factor = self.value(quotient, level, scale / (evaluator.scale(divisor) or 1.0))
            raw = evaluator.apply("mul", divisor, factor)
        return evaluator.apply("add", raw, self._raw(rest, level, scale)) if rest[1:].any() else raw

    def _leaf(self, coefficients: Floats, level: int, scale: float) -> Handle:
        """The sum of multiples of powers."""
        terms = (
            times(self.evaluator, self.powers[int(k)], float(coefficients[k]), level, scale)
            for k in np.flatnonzero(coefficients)
            if k
        )
        return sums.total(self.evaluator, terms)
