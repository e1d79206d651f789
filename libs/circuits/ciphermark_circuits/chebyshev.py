"""Polynomials in the Chebyshev basis T_k(x) on [−1, 1], with exact scales (ckks).

Paterson and Stockmeyer's division, by T_m for a power of two m: c·T_k = 2c·T_m·T_{k−m} − c·T_{|k−2m|} for k > m. A
degree below 2^d takes d levels. All terms of a sum have one level and one exact scale. Both are chosen backwards from
the result, and the encoding of coefficients absorbs the difference. Products are summed before they are rescaled and
relinearized, once for each sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.layout import Floats
from ciphermark_circuits.products import raw_product, shrunk
from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, lowered


@dataclass(frozen=True, slots=True)
class OddPolynomial:
    """Σ coefficients[i]·T_{2i+1}(x).

    A sum of degree below ``leaves``, a power of two, is not divided further; T_1, T_3, … below it are computed once.
    """

    coefficients: tuple[float, ...]
    leaves: int

    @property
    def degree(self) -> int:
        """Degree of the polynomial."""
        return 2 * len(self.coefficients) - 1

    @property
    def depth(self) -> int:
        """Levels from the argument down to the value."""
        return self.degree.bit_length()

    def full(self) -> Floats:
        """Coefficients of T_0, T_1, …"""
        full = np.zeros(self.degree + 1)
        full[1::2] = self.coefficients
        return full

    def __call__(self, x: Any) -> Any:
        """The value at a plain argument."""
        return np.polynomial.chebyshev.chebval(x, self.full())


class Basis:
    """The T_k of a ciphertext, each computed at its first use: k = 1, odd numbers and powers of two.

    T_k lies ⌈log2 k⌉ levels below T_1.
    """

    def __init__(self, evaluator: Evaluator, x: Handle) -> None:
        self._evaluator = evaluator
        self._made: dict[int, Handle] = {1: x}
        self._top = evaluator.level(x)

    def level(self, k: int) -> int:
        """The level of T_k, computed or not."""
        return self._top - (k - 1).bit_length()

    def __getitem__(self, k: int) -> Handle:
        if k not in self._made:
            half = 1 << (k - 1).bit_length() - 1
            self._made[k] = self._doubled(half) if k == 2 * half else self._between(half, k - half)
        return self._made[k]

    def _doubled(self, k: int) -> Handle:
        """T_2k = 2·T_k² − 1."""
        evaluator = self._evaluator
        raw = raw_product(evaluator, self[k], self[k])
        twice = shrunk(evaluator, evaluator.apply("add", raw, raw))
        ones = np.ones(evaluator.parameters.slots)
        return evaluator.apply(
            "sub_plain", twice, evaluator.encode(ones, like=twice, scale=evaluator.scale(twice))
        )

    def _between(self, m: int, n: int) -> Handle:
        """T_{m+n} = 2·T_m·T_n − T_{m−n}, the last multiplied by 1 at the scale of the product."""
        evaluator = self._evaluator
        raw = raw_product(evaluator, self[m], self[n])
        other = times(evaluator, self[m - n], 1.0, evaluator.level(raw), _scale(evaluator, raw))
        return shrunk(evaluator, evaluator.apply("sub", evaluator.apply("add", raw, raw), other))


def evaluate(evaluator: Evaluator, x: Handle, polynomials: Sequence[OddPolynomial]) -> Handle:
    """The composition of polynomials, the first applied first, at the parameters' scale.

    It consumes the sum of their depths in levels. Raises ``Exhausted`` for too few levels.
    """
    scale = evaluator.parameters.scale
    assert scale is not None, "the Chebyshev basis is for ckks"
    for polynomial in polynomials:
        x = value(evaluator, x, polynomial, evaluator.level(x) - polynomial.depth, scale)
    return x


def value(evaluator: Evaluator, x: Handle, polynomial: OddPolynomial, level: int, scale: float) -> Handle:
    """A polynomial's value at a scale and a level; the level is at least the polynomial's depth below that of x.

    Raises ``Exhausted`` for a level below the last.
    """
    if level < 0:
        depth = polynomial.depth
        raise Exhausted(f"a polynomial takes {depth} levels, and the ciphertext has {evaluator.level(x)}")
    division = _Division(evaluator, Basis(evaluator, x), polynomial.leaves)
    return division.value(polynomial.full(), level, scale)


def series(
    evaluator: Evaluator,
    x: Handle,
    coefficients: Sequence[float],
    leaves: int = 4,
    scale: float | None = None,
) -> Handle:
    """Σ coefficients[k]·T_k(x) of any parity, by default at the parameters' scale; degree d takes ⌈log2(d + 1)⌉ levels.

    Raises ``Exhausted`` for too few levels, ``ValueError`` for a constant.
    """
    values = _trimmed(np.asarray(coefficients, dtype=np.float64))
    scale = evaluator.parameters.scale if scale is None else scale
    assert scale is not None, "the Chebyshev basis is for ckks"
    if len(values) == 1:
        raise ValueError("a constant needs no series: add it as a plaintext")
    level = evaluator.level(x) - (len(values) - 1).bit_length()
    if level < 0:
        raise Exhausted(f"a polynomial of degree {len(values) - 1} does not fit level {evaluator.level(x)}")
    return _Division(evaluator, Basis(evaluator, x), leaves).value(values, level, scale)


def times(evaluator: Evaluator, a: Handle, factor: float, level: int, scale: float) -> Handle:
    """a·factor at a chosen level and scale, not rescaled."""
    a = lowered(evaluator, a, level)
    factors = np.full(evaluator.parameters.slots, factor)
    plain = evaluator.encode(factors, like=a, scale=scale / _scale(evaluator, a))
    return evaluator.apply("mul_plain", a, plain)


@dataclass(frozen=True, slots=True)
class _Division:
    """Evaluates coefficient vectors (of T_0, T_1, …, the last not 0) over one basis."""

    evaluator: Evaluator
    basis: Basis
    leaves: int

    def value(self, coefficients: Floats, level: int, scale: float) -> Handle:
        """The value at a level and scale, with two polynomials."""
        evaluator = self.evaluator
        raw = self._raw(coefficients, level + 1, scale * evaluator.parameters.moduli[level + 1])
        return evaluator.apply("rescale", raw) if evaluator.polynomials(raw) == 2 else shrunk(evaluator, raw)

    def _raw(self, coefficients: Floats, level: int, scale: float) -> Handle:
        """The value at a level and scale before it is rescaled and relinearized."""
        degree = len(coefficients) - 1
        if degree < self.leaves and self.basis.level(degree) >= level:
            return self._leaf(coefficients, level, scale)
        evaluator, m = self.evaluator, 1 << (degree.bit_length() - 1)
        quotient, rest = divided(coefficients, m)
        divisor = lowered(evaluator, self.basis[m], level)
        if len(quotient) == 1:
            raw = times(evaluator, divisor, float(quotient[0]), level, scale)
        else:
            factor = self.value(quotient, level, scale / _scale(evaluator, divisor))
            raw = evaluator.apply("mul", divisor, factor)
        if len(rest) > 1:
            return evaluator.apply("add", raw, self._raw(rest, level, scale))
        return self._raised(raw, float(rest[0]))

    def _leaf(self, coefficients: Floats, level: int, scale: float) -> Handle:
        """Σ c_k·T_k."""
        evaluator = self.evaluator
        terms = [
            times(evaluator, self.basis[k], coefficients[k], level, scale)
            for k in range(1, len(coefficients))
            if coefficients[k] != 0
        ]
        return self._raised(sums.total(evaluator, terms), float(coefficients[0]))

    def _raised(self, raw: Handle, number: float) -> Handle:
        """The sum with a number, at the scale of ``raw``."""
        if number == 0:
            return raw
        numbers = np.full(self.evaluator.parameters.slots, number)
        plain = self.evaluator.encode(numbers, like=raw, scale=_scale(self.evaluator, raw))
        return self.evaluator.apply("add_plain", raw, plain)


def divided(coefficients: Floats, m: int) -> tuple[Floats, Floats]:
    """Quotient and remainder of Σ c_k·T_k, of a degree from m to 2m − 1, by T_m."""
    quotient, rest = np.zeros(len(coefficients) - m), coefficients[:m].copy()
    quotient[0] = coefficients[m]
    for k in range(m + 1, len(coefficients)):
        quotient[k - m] = 2 * coefficients[k]
        rest[2 * m - k] -= coefficients[k]
    return quotient, _trimmed(rest)


def _trimmed(coefficients: Floats) -> Floats:
    """Without zeros at the end; at least one coefficient."""
    return coefficients[: max(np.flatnonzero(coefficients), default=0) + 1]


def _scale(evaluator: Evaluator, ciphertext: Handle) -> float:
    scale = evaluator.scale(ciphertext)
    assert scale is not None, "the Chebyshev basis is for ckks"
    return scale
