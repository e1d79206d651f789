"""Products of a matrix with an encrypted vector by diagonals, in baby and giant steps (Halevi and Shoup, "Faster
homomorphic linear transformations in HElib", CRYPTO 2018). The matrix is known in the clear, or encrypted too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, Vector

Operand = TypeVar("Operand")  # a vector, or a ciphertext of one
# The inner products of ciphertexts with each column of as many operands, not rescaled, of two polynomials.
InnerProducts: TypeAlias = Callable[[Evaluator, Sequence[Handle], Sequence[Sequence[Operand]]], list[Handle]]


def columns(diagonals: Sequence[Vector], babies: int) -> list[list[Vector]]:
    """The diagonals of each giant step, turned back by it; ``babies`` divides their number."""
    giants = range(0, len(diagonals), babies)
    return [[np.roll(diagonal, giant) for diagonal in diagonals[giant : giant + babies]] for giant in giants]


def steps(diagonals: int, babies: int) -> tuple[int, ...]:
    """The rotations that :func:`product` takes."""
    return (*range(1, babies), *range(babies, diagonals, babies))


def product(
    evaluator: Evaluator,
    a: Handle,
    turned_back: Sequence[Sequence[Operand]],
    inner_products: InnerProducts[Operand],
) -> Handle:
    """Σ_d diagonals[d]·(a turned by d), of what :func:`columns` makes of the diagonals. Not rescaled.

    There are as many rotations as babies and giants less one each, and as many products as diagonals: those of a giant
    step are multiplied with diagonals turned back, and turned together.
    """
    babies = len(turned_back[0])
    turned = [a, *(evaluator.apply("rotate", a, step) for step in range(1, babies))]
    products = inner_products(evaluator, turned, turned_back)
    return sums.total(
        evaluator,
        (
            evaluator.apply("rotate", item, giant * babies) if giant else item
            for giant, item in enumerate(products)
        ),
    )


def with_vectors(
    evaluator: Evaluator, ciphertexts: Sequence[Handle], columns: Sequence[Sequence[Vector]]
) -> list[Handle]:
    """Inner products with vectors in the clear, of all slots and none of them 0."""
    factors = Factors.of(evaluator, ciphertexts)
    return [factors.restored(item) for item in factors.inner_products(columns)]


def with_ciphertexts(
    evaluator: Evaluator, ciphertexts: Sequence[Handle], columns: Sequence[Sequence[Handle]]
) -> list[Handle]:
    """Inner products with ciphertexts of the same level: added up at three polynomials, and relinearized once each."""
    return [
        evaluator.apply(
            "relinearize",
            sums.total(
                evaluator,
                (evaluator.apply("mul", *pair) for pair in zip(ciphertexts, column, strict=True)),
            ),
        )
        for column in columns
    ]
