"""Products with exact scales, and polynomials built from them.

Rescaling comes before relinearization: the key switch, the most expensive step, then works on one prime less. Rounding
errors are then multiplied by the square of the secret key, which makes them about √N times larger. Products with little
scale left are therefore relinearized first. A product whose scale a prime would nearly consume keeps it for the next
product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_contract.interfaces import Evaluator, Exhausted, Handle, Vector, aligned, lowered, matched

# The operation that multiplies a ciphertext by itself.
_SQUARE = ("square",)
# Minimum scales after rescaling, as shares of the parameters' scale.
_LITTLE = 2.0**-8
_LEAST = 2.0**-24


def product(evaluator: Evaluator, a: Handle, b: Handle) -> Handle:
    """a·b, with operands brought to one level, and the product rescaled and relinearized."""
    return shrunk(evaluator, raw_product(evaluator, a, b))


def raw_product(evaluator: Evaluator, a: Handle, b: Handle) -> Handle:
    """a·b of three polynomials, at the product of the scales. Apply :func:`shrunk` once to a sum of such products."""
    if a is b and any(name in evaluator.operations for name in _SQUARE):
        return evaluator.apply("square", a)
    return evaluator.apply("mul", *aligned(evaluator, a, b))


def shrunk(evaluator: Evaluator, raw: Handle) -> Handle:
    """A raw product reduced to two polynomials.

    It is rescaled in ckks if enough scale remains, and switched to the next modulus in bgv while there is one. Raises
    ``Exhausted`` in ckks at the last level.
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

    bfv and bgv take integers. Powers are computed by halving, so a polynomial of degree d has depth ⌈log2(d)⌉ + 1,
    including the multiplication by the coefficients.
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
    """result + coefficient·power; in ckks the term is computed at the level and exact scale of the result."""
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


def weighted(evaluator: Evaluator, a: Handle, values: Vector, level: int | None = None) -> Handle:
    """a·values (ckks) at a level and the parameters' scale, exactly; by default one level below ``a``.

    Raises ``Exhausted`` where no level is left for it.
    """
    level = evaluator.level(a) - 1 if level is None else level
    if level < 0:
        raise Exhausted("no level is left in the modulus chain for another multiplication")
    a = lowered(evaluator, a, level + 1)
    scale, usual = evaluator.scale(a), evaluator.parameters.scale
    assert scale is not None
    assert usual is not None
    prime = evaluator.parameters.moduli[level + 1]
    plain = evaluator.encode(values, like=a, scale=usual * prime / scale)
    return evaluator.apply("rescale", evaluator.apply("mul_plain", a, plain))
