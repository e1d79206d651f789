"""The outline of CKKS bootstrapping with any level budget and slots: its operations after raising the modulus.

CoeffsToSlots, EvalMod and SlotsToCoeffs as in Bossuat et al., "Efficient bootstrapping for approximate homomorphic
encryption with non-sparse keys", EUROCRYPT 2021. The matrices stand for those of the transform: the tracer's constants
are real vectors, and a program depends on their number and place alone. The polynomial of the cosine is one of powers,
which takes as many products as in the Chebyshev basis. Products with the imaginary unit are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_circuits import monomials, sums
from ciphermark_circuits.layout import powers
from ciphermark_circuits.products import product
from ciphermark_contract.interfaces import Evaluator, Handle

_DOUBLINGS = 3  # of the angle
MIN_DEPTH = _DOUBLINGS + 2  # of EvalMod
_MANY = 12  # levels of EvalMod from which the angle is doubled six times, as dense secrets require


def raised(evaluator: Evaluator, ciphertexts: Sequence[Handle]) -> list[Handle]:
    """The bootstrapped ciphertext of a raised one, by the parameters' bootstrapping: slots, level budget and depth.

    With fewer slots, the sum over the subring comes first, and one EvalMod serves both parts.
    """
    (x,) = ciphertexts
    bootstrapping = evaluator.parameters.require_bootstrapping()
    every, (encoding, decoding) = evaluator.parameters.slots, bootstrapping.parameters.level_budget
    slots = bootstrapping.parameters.slots or every
    x = sums.turned_sum(evaluator, x, powers(slots, every))
    depth = bootstrapping.depth - encoding - decoding
    inner = float(
        evaluator.parameters.moduli[evaluator.level(x) - encoding]
    )  # EvalMod's primes are its scale
    for place, stage in enumerate(_stages(slots, encoding)):
        x = _transformed(evaluator, x, place, *stage, inner)
    turned = evaluator.apply("conjugate", x)
    halves = [evaluator.apply("add", x, turned)]
    if slots == every:
        halves.append(evaluator.apply("sub", x, turned))
    x = sums.total(evaluator, [reduced(evaluator, half, depth) for half in halves])
    for place, stage in enumerate(_stages(slots, decoding), encoding):
        x = _transformed(evaluator, x, place, *stage, evaluator.parameters.scale or 1.0)
    return [x]


def reduced(evaluator: Evaluator, x: Handle, depth: int) -> Handle:
    """EvalMod in so many levels: a polynomial of a cosine, and doublings of its angle, y → 2y² − c."""
    doublings = 2 * _DOUBLINGS if depth >= _MANY else _DOUBLINGS
    coefficients = [1.0] * (1 << (depth - doublings))
    scales = [evaluator.scale(x) or 1.0] * (evaluator.level(x) + 1)
    x = monomials.without_constant(evaluator, x, coefficients, scales)
    for _ in range(doublings):
        squared = product(evaluator, x, x)
        x = evaluator.apply("add", squared, squared)
        ones = np.ones(evaluator.parameters.slots)
        x = evaluator.apply("sub_plain", x, evaluator.encode(ones, like=x, scale=evaluator.scale(x)))
    return x


def _stages(slots: int, count: int) -> list[tuple[range, int]]:
    """The diagonals of each stage, and their distance: 2·radix − 1 around the main one. The last stage reaches around
    all slots, where diagonals coincide.
    """
    size, stride, stages = slots.bit_length() - 1, 1, list[tuple[range, int]]()
    for place in range(count):
        radix = 1 << size // count + (place < size % count)
        reaches_around = radix * stride == slots
        stages.append((range(radix) if reaches_around else range(1 - radix, radix), stride))
        stride *= radix
    return stages


def _transformed(  # noqa: PLR0913, PLR0917 - a stage, and its place
    evaluator: Evaluator, x: Handle, place: int, diagonals: range, stride: int, result_scale: float
) -> Handle:
    """A stage of a transform in baby and giant steps, one level deep, at a scale."""
    babies = 1 << (2 * diagonals.stop).bit_length() // 2
    turned = sums.rotated_by_each(evaluator, x, [stride * step for step in range(babies)])
    scale = result_scale * evaluator.parameters.moduli[evaluator.level(x)] / (evaluator.scale(x) or 1.0)
    inner = []
    for giant in range(diagonals.start // babies * babies, diagonals.stop, babies):
        terms = (
            evaluator.apply("mul_plain", item, _diagonal(evaluator, item, place, giant + baby, scale))
            for baby, item in enumerate(turned)
            if giant + baby in diagonals
        )
        total = sums.total(evaluator, terms)
        inner.append(evaluator.apply("rotate", total, giant * stride) if giant else total)
    return evaluator.apply("rescale", sums.total(evaluator, inner))


def _diagonal(evaluator: Evaluator, like: Handle, place: int, number: int, scale: float) -> Handle:
    return evaluator.encode(np.array([place, number, scale]), like=like, scale=scale)
