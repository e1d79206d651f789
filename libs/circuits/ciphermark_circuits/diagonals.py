"""Products of a matrix with an encrypted vector by diagonals, in baby and giant steps (Halevi and Shoup, "Faster
homomorphic linear transformations in HElib", CRYPTO 2018). The matrix is plain or encrypted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, Vector

Operand = TypeVar("Operand")  # a vector, or a ciphertext of one
# The inner products of ciphertexts with each column of operands, one per ciphertext; two polynomials, not rescaled.
InnerProducts: TypeAlias = Callable[[Evaluator, Sequence[Handle], Sequence[Sequence[Operand]]], list[Handle]]


def columns(diagonals: Sequence[Vector], babies: int) -> list[list[Vector]]:
    """The diagonals of each giant step, rotated back by it; ``babies`` divides their number."""
    giants = range(0, len(diagonals), babies)
    return [[np.roll(diagonal, giant) for diagonal in diagonals[giant : giant + babies]] for giant in giants]


def steps(diagonals: int, babies: int) -> tuple[int, ...]:
    """The rotations of :func:`product`."""
    return (*range(1, babies), *range(babies, diagonals, babies))


def product(
    evaluator: Evaluator,
    a: Handle,
    turned_back: Sequence[Sequence[Operand]],
    inner_products: InnerProducts[Operand],
) -> Handle:
    """Σ_d diagonals[d]·(a rotated by d), for the result of :func:`columns`. Not rescaled.

    It takes one rotation fewer than baby steps, one fewer than giant steps, and one product per diagonal. The products
    of a giant step use diagonals rotated back, and their sum is rotated once.
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
    """Inner products with plain vectors of all slots, none of them 0."""
    factors = Factors.of(evaluator, ciphertexts)
    return [factors.restored(item) for item in factors.inner_products(columns)]


def with_ciphertexts(
    evaluator: Evaluator, ciphertexts: Sequence[Handle], columns: Sequence[Sequence[Handle]]
) -> list[Handle]:
    """Inner products with ciphertexts of the same level: summed with three polynomials, then relinearized once each."""
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
