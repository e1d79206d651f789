"""Sums of ciphertexts weighted by numbers, in one operation where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Evaluator, Handle

# What makes many products and their sum one operation.
_FUSED = ("weighted_sum",)


def weighted(
    evaluator: Evaluator, ciphertexts: Sequence[Handle], rows: Sequence[Sequence[float]]
) -> list[Handle]:
    """Σ row[i]·ciphertexts[i] of each row, of ciphertexts of one level and scale; not rescaled."""
    return [_sum(evaluator, ciphertexts, row) for row in rows]


def _sum(evaluator: Evaluator, ciphertexts: Sequence[Handle], weights: Sequence[float]) -> Handle:
    fused = next((name for name in _FUSED if name in evaluator.operations), None)
    if fused is not None and len(ciphertexts) > 1:
        return evaluator.apply(fused, *ciphertexts, *weights)
    products = (
        evaluator.apply("mul_scalar", item, weight) for item, weight in zip(ciphertexts, weights, strict=True)
    )
    return sums.total(evaluator, products)
