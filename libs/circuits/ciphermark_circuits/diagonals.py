"""Products of a matrix with an encrypted vector by diagonals, in baby and giant steps (Halevi and Shoup, "Faster
homomorphic linear transformations in HElib", CRYPTO 2018).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ciphermark_circuits import sums
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, Vector


def product(evaluator: Evaluator, a: Handle, diagonals: Sequence[Vector], babies: int) -> Handle:
    """Σ_d diagonals[d]·(a turned by d), each diagonal a vector of all slots and none of them 0. Not rescaled.

    ``babies`` divides the number of diagonals. There are as many rotations as babies and giants less one each, and as
    many products as diagonals: those of a giant step are multiplied with diagonals turned back, and turned together.
    """
    turned = [a, *(evaluator.apply("rotate", a, step) for step in range(1, babies))]
    giants = range(0, len(diagonals), babies)
    factors = Factors.of(evaluator, turned)
    columns = [
        [np.roll(diagonal, giant) for diagonal in diagonals[giant : giant + babies]] for giant in giants
    ]
    products = [factors.restored(item) for item in factors.inner_products(columns)]
    return sums.total(
        evaluator,
        (
            evaluator.apply("rotate", item, giant) if giant else item
            for giant, item in zip(giants, products, strict=True)
        ),
    )
