"""Linear models: class means under encryption, and scores of a plain model.

Linear means: score(x) = w·(x − m̄), w the difference of the class means m₁ and m₀, m̄ their mean.

The client divides each row by the size of its class and puts rows of class 1 into even blocks, rows of class 0 into
odd ones: one sum gives both means, no label is revealed, and training needs no multiplication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Evaluator, Handle


def train(evaluator: Evaluator, rows: Sequence[Handle], block: int) -> list[Handle]:
    """The model: w in even and −w in odd blocks; 2·m̄ in all blocks. No multiplication."""
    means = sums.sum_of_blocks(evaluator, sums.total(evaluator, rows), 2 * block)
    swapped = evaluator.apply("rotate", means, block)
    return [evaluator.apply("sub", means, swapped), evaluator.apply("add", means, swapped)]


def infer(evaluator: Evaluator, rows: Sequence[Handle], model: Sequence[Handle], block: int) -> list[Handle]:
    """2·score in the first slot of even blocks, −2·score in odd ones, for rows 2·x. One multiplication deep."""
    weights, middle = model
    return [
        sums.inner_products(evaluator, weights, evaluator.apply("sub", row, middle), block) for row in rows
    ]


@dataclass(frozen=True, slots=True)
class Term:
    """A column, its encoded weight, and the shift that is added to the column before weighting."""

    column: int
    weight: Handle
    shift: Handle | None = None


@dataclass(frozen=True, slots=True)
class Scorer:
    """Encoded operands for groups of ``columns`` columns, at least one in ``added``.

    Columns of weight 0 are left out: libraries refuse products without randomness.
    """

    columns: int
    added: Sequence[Term]
    subtracted: Sequence[Term] = ()
    bias: Handle | None = None


def scores(evaluator: Evaluator, columns: Sequence[Handle], scorer: Scorer) -> list[Handle]:
    """Σ ± weight·(column + shift) + bias of each group of columns, for a plain model.

    It needs no evaluation key and no rotation. Not rescaled: products of ckks are at scale².
    """
    return [
        _score(evaluator, columns[start : start + scorer.columns], scorer)
        for start in range(0, len(columns), scorer.columns)
    ]


def _score(evaluator: Evaluator, columns: Sequence[Handle], scorer: Scorer) -> Handle:
    score = _weighed(evaluator, columns, scorer.added)
    if scorer.subtracted:
        score = evaluator.apply("sub", score, _weighed(evaluator, columns, scorer.subtracted))
    return score if scorer.bias is None else evaluator.apply("add_plain", score, scorer.bias)


def _weighed(evaluator: Evaluator, columns: Sequence[Handle], terms: Sequence[Term]) -> Handle:
    products = []
    for term in terms:
        column = columns[term.column]
        if term.shift is not None:
            column = evaluator.apply("add_plain", column, term.shift)
        products.append(evaluator.apply("mul_plain", column, term.weight))
    return sums.total(evaluator, products)
