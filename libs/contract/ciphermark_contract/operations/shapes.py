"""Level, scale and polynomials of a handle, and the effects of operations on them. Pure.

An effect takes the resolved parameters, the shapes of the operands and then the arguments; where each operand is
several handles, a list of shapes for each. The rules are those of the schemes, not of a library. A violation raises
``Exhausted`` where the modulus chain is spent, else ``ValueError``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from ciphermark_core.errors import Exhausted
from ciphermark_core.model import Parameters

# Scales that differ by less count as equal: they differ by rounding. HElib multiplies scales by exponentials of
# logarithms. A logarithm between 32 and 64 is off by up to 2^-48, and so is the exponential, relative to itself: the
# bound is the error of eight modulus switches. Other libraries divide by the primes, with an error of 2^-53 each time.
# A sum's relative error is below the bound, too; noise exceeds 2^-43 at scales up to 2^50.
_SAME_SCALE = 2.0**-45


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a handle, known without its values.

    ``level`` is the number of switches to a smaller modulus that are left. ``scale`` is the exact scale (ckks, else
    ``None``). ``polynomials`` is 2 for a fresh ciphertext and 1 for a plaintext.
    """

    level: int
    scale: float | None = None
    polynomials: int = 2


def top_level(parameters: Parameters) -> int:
    """The level of a fresh ciphertext: level 0 is the smallest modulus that still exceeds t, or its largest prime."""
    modulus = max(parameters.spec.plain_residues, default=parameters.plain_modulus or 1)
    products: Iterable[int] = accumulate(parameters.moduli, operator.mul)
    return sum(product > modulus for product in products) - 1


def fresh(parameters: Parameters, *_: Any) -> Shape:
    """A fresh encryption."""
    return Shape(top_level(parameters), parameters.scale)


def encoded(parameters: Parameters, *_: Any) -> Shape:
    """A plaintext at the top level and the default scale."""
    return replace(fresh(parameters), polynomials=1)


def encoded_at(parameters: Parameters, _: Any, like: Shape) -> Shape:
    """A plaintext at the level of a ciphertext and the default scale."""
    return Shape(like.level, parameters.scale, polynomials=1)


def kept(_: Parameters, a: Shape, *__: Any) -> Shape:
    """The shape of the first operand."""
    return a


def turned(_: Parameters, a: Shape, *__: Any) -> Shape:
    """The shape of the operand, which must have two polynomials: a key switches one."""
    if a.polynomials != 2:
        raise ValueError(
            f"a ciphertext of {a.polynomials} polynomials cannot be rotated: relinearize it first"
        )
    return a


def added(_: Parameters, *several: Shape) -> Shape:
    """A sum: operands must have equal levels and scales."""
    first, *others = dict.fromkeys(several)  # most of hundreds are equal
    if not others:
        return first
    for other in others:
        _require_one_level(first, other)
        if not is_one_scale(first.scale, other.scale):
            raise ValueError(f"ciphertexts of scales {first.scale} and {other.scale} cannot be added")
    return replace(first, polynomials=max(operand.polynomials for operand in (first, *others)))


def added_many(parameters: Parameters, several: Sequence[Shape]) -> Shape:
    """The sum of a list."""
    return added(parameters, *several)


def multiplied(parameters: Parameters, a: Shape, b: Shape) -> Shape:
    """A product: scales are multiplied, and polynomials added as degrees are."""
    _require_one_level(a, b)
    scale = _scaled(parameters, a, b.scale)
    return Shape(a.level, scale, a.polynomials + b.polynomials - 1)


def squared(parameters: Parameters, a: Shape) -> Shape:
    """A product with itself."""
    return multiplied(parameters, a, a)


def accumulated(parameters: Parameters, several: Sequence[Shape], plaintexts: Sequence[Shape]) -> Shape:
    """A sum of products with plaintexts."""
    return added(parameters, *map(multiplied, [parameters] * len(several), several, plaintexts))


def multiplied_by_number(parameters: Parameters, a: Shape, *_: Any) -> Shape:
    """A product with a number, which is encoded at the default scale."""
    return replace(a, scale=_scaled(parameters, a, parameters.scale))


def weighted_sum(parameters: Parameters, several: Sequence[Shape], _: Sequence[float]) -> Shape:
    """A sum of products with numbers."""
    return added(parameters, *(multiplied_by_number(parameters, item) for item in dict.fromkeys(several)))


def multiplied_fully(parameters: Parameters, a: Shape, b: Shape) -> Shape:
    """A relinearized product, one level lower in the schemes whose products consume a level."""
    product = relinearized(parameters, multiplied(parameters, a, b))
    step = {"ckks": rescaled, "bgv": switched}.get(parameters.spec.scheme, kept)
    return step(parameters, product)


def relinearized(_: Parameters, a: Shape) -> Shape:
    """The shape of the operand, with two polynomials."""
    return replace(a, polynomials=2)


def switched(_: Parameters, a: Shape) -> Shape:
    """One level lower."""
    if a.level == 0:
        raise Exhausted("no level is left in the modulus chain")
    return replace(a, level=a.level - 1)


def rescaled(parameters: Parameters, a: Shape) -> Shape:
    """One level lower, with the scale divided by exactly the dropped prime."""
    return replace(switched(parameters, a), scale=(a.scale or 1.0) / parameters.moduli[a.level])


def bootstrapped(parameters: Parameters, a: Shape) -> Shape:
    """The top level less the depth of bootstrapping, at an unchanged scale.

    Raises ``Exhausted`` for an operand below the level that bootstrapping takes.
    """
    bootstrapping = parameters.require_bootstrapping()
    if a.level < bootstrapping.operand_level:
        raise Exhausted(
            f"bootstrapping takes level {bootstrapping.operand_level}, and the operand is at {a.level}"
        )
    return replace(turned(parameters, a), level=top_level(parameters) - bootstrapping.depth)


def placed(_: Parameters, plaintext: Shape, like: Shape) -> Shape:
    """A plaintext at the level of a ciphertext."""
    return replace(plaintext, level=like.level)


def _scaled(parameters: Parameters, a: Shape, scale: float | None) -> float | None:
    if a.scale is None or scale is None:
        return None
    product = a.scale * scale
    if int(math.log2(product)) >= math.prod(parameters.moduli[: a.level + 1]).bit_length():
        raise Exhausted(
            f"a product of scale 2^{math.log2(product):.0f} does not fit the modulus of level {a.level}"
        )
    return product


def _require_one_level(a: Shape, b: Shape) -> None:
    if a.level != b.level:
        raise ValueError(f"operands are at levels {a.level} and {b.level}: bring them to one level first")


def is_one_scale(a: float | None, b: float | None) -> bool:
    """Whether two scales are equal except for rounding; scales that do not exist are."""
    return a is None or b is None or abs(a / b - 1) < _SAME_SCALE
