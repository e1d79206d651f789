"""Two gradient steps with a linear sigmoid in whole numbers (bfv, bgv): exact, without rescaling.

With z = (2y − 1)·(1, x)·2^f and S = Σ z, the steps end at a multiple of κ·S − Σ (z·S)·z, κ = n·4^f/α: scales are
public constants, and only a common positive factor is lost. Rows lie as for :mod:`.logistic_regression`.
"""

from __future__ import annotations

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.logistic_regression import Rows
from ciphermark_circuits.products import product, raw_product, shrunk
from ciphermark_contract.interfaces import Evaluator, Handle


def train(evaluator: Evaluator, rows: Rows, kappa: int) -> Handle:
    """The weights in every block. Two multiplications deep."""
    start = sums.sum_of_blocks(evaluator, sums.total(evaluator, rows.z2), rows.block)
    terms = []
    for z, z2 in zip(rows.z, rows.z2, strict=True):
        u = sums.sum_in_blocks(evaluator, product(evaluator, z, start), rows.block)
        terms.append(raw_product(evaluator, u, z2))
    gradient = sums.sum_of_blocks(evaluator, shrunk(evaluator, sums.total(evaluator, terms)), rows.block)
    parameters = evaluator.parameters
    factor = np.full(parameters.slots, kappa % (parameters.plain_modulus or 1), dtype=np.int64)
    managed = evaluator.managed()
    return managed.apply("sub", managed.apply("mul_plain", start, factor), gradient)
