"""Linear means: score(x) = w·(x − m̄), w the difference of the class means m₁ and m₀, m̄ their mean.

The client divides each row by the size of its class and puts rows of class 1 into even blocks, rows of class 0 into
odd ones: both means come out of one sum, no label is shown, and training multiplies nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Evaluator, Handle


def train(evaluator: Evaluator, rows: Sequence[Handle], block: int) -> list[Handle]:
    """The model: w in even and −w in odd blocks; 2·m̄ in all blocks. No multiplication."""
    means = sums.sum_of_blocks(evaluator, sums.total(evaluator, rows), 2 * block)
    swapped = evaluator.apply("rotate", means, block)
    return [evaluator.apply("sub", means, swapped), evaluator.apply("add", means, swapped)]


def infer(evaluator: Evaluator, rows: Sequence[Handle], model: Sequence[Handle], block: int) -> list[Handle]:
    """2·score in the first slot of even blocks, −2·score in odd ones, of rows 2·x. One multiplication deep."""
    weights, middle = model
    return [
        sums.inner_products(evaluator, weights, evaluator.apply("sub", row, middle), block) for row in rows
    ]
