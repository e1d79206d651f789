"""Linear scores of a model known in the clear, one ciphertext per column: no evaluation key, nothing to rotate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Evaluator, Handle


@dataclass(frozen=True, slots=True)
class Term:
    """A column and its encoded weight, and what is added to the column before it is weighed."""

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
    """Σ ± weight·(column + shift) + bias of each group of columns. Not rescaled: products of ckks are at scale²."""
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
