"""The logistic and the sign function by the circuits that CryptOracle measures, of fairmath's library polycircuit.

They interpolate at Chebyshev's nodes. The lower degrees are one series, which their library evaluates as a primitive,
and :mod:`.chebyshev` here. For the others, all T_k are computed one by one, although many are unused, and the highest
degrees by ladders of products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np

from ciphermark_circuits import chebyshev
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, lowered

LOGISTIC_RANGE = 25.0
_LOGISTIC_NODES, _LOGISTIC_DEGREE, _LOGISTIC_SERIES = 91, 77, 57
_SIGN_NODES, _SIGN_DEGREE, _SIGN_SERIES = 1027, 1023, 1007
# T_12 and T_13 are computed from incorrect factors, and unused.
_MISTAKEN = {12: (5, 5), 13: (5, 6)}


@cache
def logistic_polynomial() -> OddPolynomial:
    """1/(1 + exp(−25y)) − ½ on [−1, 1] up to degree 77, from values at 91 nodes."""
    angles = (np.arange(_LOGISTIC_NODES) + 0.5) * np.pi / _LOGISTIC_NODES
    values = 1 / (1 + np.exp(-LOGISTIC_RANGE * np.cos(angles)))
    degrees = range(1, _LOGISTIC_DEGREE + 1, 2)
    coefficients = [2 / _LOGISTIC_NODES * float(values @ np.cos(k * angles)) for k in degrees]
    return OddPolynomial(tuple(coefficients), leaves=8)


@cache
def sign_polynomial() -> OddPolynomial:
    """The sign on [−1, 1] up to degree 1023, from values at 1,027 nodes; in closed form."""
    k = np.arange(1, _SIGN_DEGREE + 1, 2)
    signs = np.where(k // 2 % 2 == 0, 1.0, -1.0)
    coefficients = signs * 2 / _SIGN_NODES / np.tan(k * np.pi / (2 * _SIGN_NODES))
    return OddPolynomial(tuple(float(c) for c in coefficients), leaves=32)


def logistic(evaluator: Evaluator, x: Handle) -> Handle:
    """The logistic function of x in [−25, 25], less ½: seven levels.

    116 products, 8 squares, 67 products with scalars, 71 additions, 85 + 31 subtractions, and the series.
    """
    levelled = Levelled(evaluator, x)
    coefficients = logistic_polynomial().coefficients
    ladders = _Ladders(levelled, _logistic_basis(levelled, x), coefficients)
    terms = [ladders.of(step) for step in _LOGISTIC_LADDERS]
    terms += [ladders.of_cubic(x, degree) for degree in range(65, _LOGISTIC_DEGREE + 1, 2)]
    series = OddPolynomial(coefficients[: _LOGISTIC_SERIES // 2 + 1], leaves=8)
    return levelled.sum(_series(levelled, ladders.basis[1], series), reduce(levelled.sum, terms))


def sign(evaluator: Evaluator, x: Handle) -> Handle:
    """The sign of x in [−1, 1]: ten levels.

    566 products, 63 products with scalars, 519 additions, 310 + 256 subtractions, and the series.
    """
    levelled = Levelled(evaluator, x)
    coefficients = sign_polynomial().coefficients
    ladders = _Ladders(levelled, _sign_basis(levelled, x), coefficients)
    series = OddPolynomial(coefficients[: _SIGN_SERIES // 2 + 1], leaves=32)
    return reduce(levelled.sum, [ladders.of(step) for step in _SIGN_LADDERS], _series(levelled, x, series))


@dataclass(frozen=True, slots=True)
class _Step:
    """c·T_{first + divisor + 2·divisor + …} = (((2^n·c·T_first)·T_divisor − 2^(n−1)·c·T_rest)·T_{2·divisor} − …), for n
    divisors up to ``last``, where ``rest`` is divisor − first."""

    first: int
    divisor: int
    last: int
    minus_degree: int | None = None  # the coefficient of this degree is subtracted from c

    @property
    def divisors(self) -> tuple[int, ...]:
        return tuple(1 << i for i in range(self.divisor.bit_length() - 1, self.last.bit_length()))

    @property
    def degree(self) -> int:
        return self.first + sum(self.divisors)


# The step of degree 65 below also yields T_63.
_LOGISTIC_LADDERS = (_Step(3, 8, 32), _Step(1, 4, 32), _Step(1, 2, 32, minus_degree=65))
_SIGN_LADDERS = (
    *(_Step(first, 16, 512) for first in (1, 3, 5, 7)),
    *(_Step(first, 8, 512) for first in (1, 3)),
    _Step(1, 4, 512),
    _Step(1, 2, 512),
)


@dataclass(frozen=True, slots=True)
class _Ladders:
    """Terms of high degree. ``basis`` holds T_k by k, ``coefficients`` are those of T_1, T_3, …"""

    levelled: Levelled
    basis: dict[int, Handle]
    coefficients: Sequence[float]

    def of(self, step: _Step) -> Handle:
        """One term."""
        factor = self.coefficients[step.degree // 2]
        if step.minus_degree is not None:
            factor -= self.coefficients[step.minus_degree // 2]
        factor *= 1 << len(step.divisors)
        start = self.levelled.scaled(self.basis[step.first], factor)
        return self._climbed(start, factor / 2, step.divisors, step.divisor - step.first)

    def of_cubic(self, x: Handle, degree: int) -> Handle:
        """c·T_degree for degree ≥ 67: from 32c·T_3, recomputed from x, to 2c·T_33, then times T_{degree − 33}.

        For 65 from 32c·(T_3 + T_1) to c·(T_65 + T_63).
        """
        levelled, factor = self.levelled, 32 * self.coefficients[degree // 2]
        cube = levelled.product(levelled.scaled(x, 4 * factor / LOGISTIC_RANGE**3), levelled.square(x))
        if degree == 65:
            start = levelled.difference(cube, levelled.scaled(self.basis[1], 2 * factor))
            return self._climbed(start, factor, (2, 4, 8, 16, 32), 1)
        start = levelled.difference(cube, levelled.scaled(x, 3 * factor / LOGISTIC_RANGE))
        half = self._climbed(start, factor / 2, (2, 4, 8, 16), 1)
        return self._climbed(half, factor / 32, (degree - 33,), degree - 66)

    def _climbed(self, value: Handle, factor: float, divisors: Sequence[int], rest: int) -> Handle:
        """value·T_d − factor·T_rest for each divisor d in turn, the factor halved each time."""
        levelled = self.levelled
        for divisor in divisors:
            value = levelled.product(value, self.basis[divisor])
            value = levelled.difference(value, levelled.scaled(self.basis[rest], factor))
            factor /= 2
        return value


def _sign_basis(levelled: Levelled, x: Handle) -> dict[int, Handle]:
    """T_1 to T_512."""
    basis = {1: x}
    for k in range(2, 513):
        _add_product(levelled, basis, k, ((k + 1) // 2, k // 2))
    return basis


def _logistic_basis(levelled: Levelled, x: Handle) -> dict[int, Handle]:
    """T_1 to T_63 of x/25; T_3 = 4y³ − 3y."""
    basis = {1: levelled.scaled(x, 1 / LOGISTIC_RANGE)}
    _add_product(levelled, basis, 2, (1, 1))
    cube = levelled.product(levelled.scaled(x, 4 / LOGISTIC_RANGE**3), levelled.square(x))
    basis[3] = levelled.difference(cube, levelled.scaled(basis[1], 3.0))
    for k in range(4, 64):
        _add_product(levelled, basis, k, _MISTAKEN.get(k, (k // 2, k - k // 2)))
    return basis


def _add_product(levelled: Levelled, basis: dict[int, Handle], k: int, factors: tuple[int, int]) -> None:
    """T_k = 2·T_a·T_b − T_{|a − b|}."""
    product = levelled.product(basis[factors[0]], basis[factors[1]])
    twice = levelled.sum(product, product)
    basis[k] = levelled.less(twice, 1.0) if k % 2 == 0 else levelled.difference(twice, basis[1])


def _series(levelled: Levelled, x: Handle, polynomial: OddPolynomial) -> Handle:
    level = levelled.evaluator.level(x) - polynomial.depth
    return chebyshev.value(levelled.evaluator, x, polynomial, level, levelled.scale(level))


class Levelled:
    """Arithmetic for circuits written without levels (ckks), as in libraries with automatic scaling.

    Every level has one scale; that of the first level is ``like``'s. Products are relinearized and rescaled at once. An
    operand at a higher level is lowered by a product with 1.
    """

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
