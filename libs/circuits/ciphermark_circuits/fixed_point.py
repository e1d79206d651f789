"""Two gradient steps with a linear sigmoid in whole numbers (bfv, bgv): exact, without rescaling.

With z = (2y − 1)·(1, x)·2^f and S = Σ z, the steps end at a multiple of κ·S − Σ (z·S)·z, κ = n·4^f/α: scales are
public constants, and only a common positive factor is lost. The layout of rows is that of :mod:`.logistic_regression`.

A product consumes more bits of the noise budget than a prime has: about those of t and of N. Every product therefore
switches to the next modulus, also in bfv, where the library can: the budget is unchanged, and key switches cost less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_circuits import products, sums
from ciphermark_circuits.logistic_regression import Rows
from ciphermark_circuits.products import raw_product
from ciphermark_contract.interfaces import Evaluator, Handle, next_lower


def train(evaluator: Evaluator, rows: Rows, kappa: int) -> Handle:
    """The weights in every block. Two multiplications deep."""
    start = sums.sum_of_blocks(evaluator, sums.total(evaluator, rows.z2), rows.block)
    terms = []
    for z, z2 in zip(rows.z, rows.z2, strict=True):
        terms.append(raw_product(evaluator, _inner_products(evaluator, z, start, rows.block), z2))
    gradient = sums.sum_of_blocks(evaluator, _shrunk(evaluator, sums.total(evaluator, terms)), rows.block)
    parameters = evaluator.parameters
    factor = np.full(parameters.slots, kappa % (parameters.plain_modulus or 1), dtype=np.int64)
    managed = evaluator.managed()
    return managed.apply("sub", managed.apply("mul_plain", start, factor), gradient)


def infer(evaluator: Evaluator, rows: Sequence[Handle], weights: Handle, block: int) -> list[Handle]:
    """Scores in the first slot of each block. One multiplication deep."""
    return [_inner_products(evaluator, row, weights, block) for row in rows]


def _inner_products(evaluator: Evaluator, a: Handle, b: Handle, block: int) -> Handle:
    return sums.sum_in_blocks(evaluator, _shrunk(evaluator, raw_product(evaluator, a, b)), block)


def _shrunk(evaluator: Evaluator, raw: Handle) -> Handle:
    if evaluator.parameters.spec.scheme == "bfv":
        raw = next_lower(evaluator, raw)
    return products.shrunk(evaluator, raw)
