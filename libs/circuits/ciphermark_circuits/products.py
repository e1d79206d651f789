"""Products with exact scales, and polynomials made of them.

Rescaling comes before relinearization: the key switch, which costs most, then works on one prime less. Rounding errors
meet the square of the secret key then, which makes them about √N times larger: products with little scale left are
relinearized first. Those that a prime would leave almost nothing of keep their scale, for the next product to spend.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, Vector, aligned, matched

# Shares of the parameters' scale that rescaling leaves.
_LITTLE = 2.0**-8
_LEAST = 2.0**-24


def product(evaluator: Evaluator, a: Handle, b: Handle) -> Handle:
    """a·b, brought to one level before, and rescaled and relinearized after."""
    return shrunk(evaluator, raw_product(evaluator, a, b))


def raw_product(evaluator: Evaluator, a: Handle, b: Handle) -> Handle:
    """a·b of three polynomials, at the product of the scales: sums of such products are shrunk at once."""
    if a is b:
        return evaluator.apply("square", a)
    return evaluator.apply("mul", *aligned(evaluator, a, b))


def shrunk(evaluator: Evaluator, raw: Handle) -> Handle:
    """A product with two polynomials again: rescaled in ckks where scale is left then, switched to the next modulus in
    bgv while there is one.

    Raises ``Exhausted`` in ckks at the last level.
    """
    scheme = evaluator.parameters.spec.scheme
    if scheme == "ckks":
        return _shrunk_reals(evaluator, raw)
    if scheme == "bgv" and evaluator.level(raw) > 0:
        raw = evaluator.apply("mod_switch", raw)
    return evaluator.apply("relinearize", raw)


def _shrunk_reals(evaluator: Evaluator, raw: Handle) -> Handle:
    level, scale, usual = evaluator.level(raw), evaluator.scale(raw), evaluator.parameters.scale
    assert scale is not None
    assert usual is not None
    left = scale / evaluator.parameters.moduli[level]
    if left < usual * _LEAST:
        return evaluator.apply("relinearize", raw)
    if level == 0:
        raise Exhausted("no level is left in the modulus chain for another multiplication")
    if left < usual * _LITTLE:
        return evaluator.apply("rescale", evaluator.apply("relinearize", raw))
    return evaluator.apply("relinearize", evaluator.apply("rescale", raw))


def polynomial(evaluator: Evaluator, x: Handle, coefficients: Sequence[float]) -> Handle:
    """coefficients[0] + coefficients[1]·x + … in every slot; the last coefficient must not be 0.

    bfv and bgv take integers. Powers are made by halving, so that a polynomial of degree d is ⌈log2(d)⌉ + 1 deep,
    the multiplication by the coefficients included.
    """
    if len(coefficients) < 2 or coefficients[-1] == 0:
        raise ValueError("a polynomial needs a last coefficient that is not 0, of x or a higher power")
    powers = {1: x}
    for exponent in range(2, len(coefficients)):
        left, right = powers[exponent // 2], powers[exponent - exponent // 2]
        powers[exponent] = product(evaluator, left, right)
    managed = evaluator.managed()
    highest = len(coefficients) - 1
    result = managed.apply("mul_plain", powers[highest], _constant(evaluator, coefficients[highest]))
    for exponent in range(1, highest):
        if coefficients[exponent] != 0:
            result = _with_term(evaluator, result, powers[exponent], coefficients[exponent])
    if coefficients[0] == 0:
        return result
    return managed.apply("add_plain", result, _constant(evaluator, coefficients[0]))


def _with_term(evaluator: Evaluator, result: Handle, power: Handle, coefficient: float) -> Handle:
    """result + coefficient·power; in ckks the term is made at the level and exact scale of the result."""
    if evaluator.parameters.spec.scheme == "ckks":
        return evaluator.apply("add", result, matched(evaluator, power, result, coefficient))
    managed = evaluator.managed()
    term = managed.apply("mul_plain", power, _constant(evaluator, coefficient))
    return managed.apply("add", result, term)


def _constant(evaluator: Evaluator, value: float) -> Vector:
    parameters = evaluator.parameters
    if parameters.plain_modulus is None:
        return np.full(parameters.slots, value, dtype=np.float64)
    return np.full(parameters.slots, int(value) % parameters.plain_modulus, dtype=np.int64)
