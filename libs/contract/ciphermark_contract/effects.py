"""What each operation does to the shape of a ciphertext: level, exact scale, number of polynomials. Pure.

Rules of the schemes, not of a library; an operation that the rules forbid raises ``Exhausted`` where the chain is
spent, else ``ValueError``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ciphermark_core.errors import Exhausted
from ciphermark_core.model import Parameters

# Scales that differ by less than a double's last bits are one scale: so SEAL compares them, too.
_SAME_SCALE = 2.0**-50


@dataclass(frozen=True, slots=True)
class Shape:
    """Of a ciphertext (2 polynomials when fresh) or an encoded plaintext (1). ``scale`` is that of ckks."""

    level: int
    scale: float | None = None
    polynomials: int = 2


def top_level(parameters: Parameters) -> int:
    """The level of a fresh ciphertext: level 0 is the smallest modulus that still exceeds t."""
    modulus = parameters.plain_modulus or 1
    products: Iterable[int] = accumulate(parameters.moduli, operator.mul)
    return sum(product > modulus for product in products) - 1


def fresh(parameters: Parameters) -> Shape:
    """The shape of a fresh ciphertext."""
    return Shape(top_level(parameters), parameters.scale)


def effect(parameters: Parameters, operation: str, operands: Sequence[Shape]) -> Shape:
    """The shape of the result of an operation on ciphertexts and plaintexts of these shapes."""
    return _EFFECTS.get(operation, _unchanged)(parameters, operands)


def _unchanged(parameters: Parameters, operands: Sequence[Shape]) -> Shape:
    return operands[0]


def _turned(parameters: Parameters, operands: Sequence[Shape]) -> Shape:
    (a, *_) = operands
    if a.polynomials != 2:
        raise ValueError(
            f"a ciphertext of {a.polynomials} polynomials cannot be rotated: relinearize it first"
        )
    return a


def _sum(parameters: Parameters, operands: Sequence[Shape]) -> Shape:
    first = operands[0]
    for other in operands[1:]:
        _require_one_level(first, other)
        if not _is_one_scale(first.scale, other.scale):
            raise ValueError(f"ciphertexts of scales {first.scale} and {other.scale} cannot be added")
    return replace(first, polynomials=max(operand.polynomials for operand in operands))


def _product(parameters: Parameters, operands: Sequence[Shape]) -> Shape:
    a, b = operands if len(operands) > 1 else (operands[0], operands[0])
    _require_one_level(a, b)
    if a.scale is None or b.scale is None:
        return replace(a, polynomials=a.polynomials + b.polynomials - 1)
    scale = a.scale * b.scale
    if int(math.log2(scale)) >= math.prod(parameters.moduli[: a.level + 1]).bit_length():
        raise Exhausted(
            f"a product of scale 2^{math.log2(scale):.0f} does not fit the modulus of level {a.level}"
        )
    return Shape(a.level, scale, a.polynomials + b.polynomials - 1)


def _relinearized(parameters: Parameters, operands: Sequence[Shape]) -> Shape:
    return replace(operands[0], polynomials=2)


def _switched(parameters: Parameters, operands: Sequence[Shape]) -> Shape:
    (a,) = operands
    if a.level == 0:
        raise Exhausted("no level is left in the modulus chain")
    return replace(a, level=a.level - 1)


def _rescaled(parameters: Parameters, operands: Sequence[Shape]) -> Shape:
    (a,) = operands
    return replace(_switched(parameters, operands), scale=(a.scale or 1.0) / parameters.moduli[a.level])


def _require_one_level(a: Shape, b: Shape) -> None:
    if a.level != b.level:
        raise ValueError(f"operands are at levels {a.level} and {b.level}: bring them to one level first")


def _is_one_scale(a: float | None, b: float | None) -> bool:
    return a is None or b is None or abs(a / b - 1) < _SAME_SCALE


_Effect = Callable[[Parameters, Sequence[Shape]], Shape]
_EFFECTS: Mapping[str, _Effect] = {
    "add": _sum,
    "sub": _sum,
    "add_plain": _sum,
    "sub_plain": _sum,
    "mul": _product,
    "square": _product,
    "mul_plain": _product,
    "relinearize": _relinearized,
    "rescale": _rescaled,
    "mod_switch": _switched,
    "rotate": _turned,
    "rotate_columns": _turned,
}
