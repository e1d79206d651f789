"""Sums: of ciphertexts, and over slots by rotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from ciphermark_circuits.layout import powers
from ciphermark_circuits.products import product
from ciphermark_contract.interfaces import Evaluator, Handle


def total(evaluator: Evaluator, ciphertexts: Iterable[Handle]) -> Handle:
    """The sum of ciphertexts of one level and scale, consumed one by one."""
    return reduce(lambda a, b: evaluator.apply("add", a, b), ciphertexts)


def turned_sum(evaluator: Evaluator, a: Handle, steps: Iterable[int]) -> Handle:
    """Add to ``a`` its rotation by each number of steps, in order.

    Steps s, 2s, …, 2^(k−1)·s give every slot the sum of 2^k slots at distances of s, itself the first.
    """
    for step in steps:
        a = evaluator.apply("add", a, evaluator.apply("rotate", a, step))
    return a


def sum_in_blocks(evaluator: Evaluator, a: Handle, block: int) -> Handle:
    """The sum of each block of slots, in its first slot. Other slots mix two blocks."""
    return turned_sum(evaluator, a, powers(1, block))


def sum_of_blocks(evaluator: Evaluator, a: Handle, block: int) -> Handle:
    """The sum of all blocks, in every block: slot i receives the sum of all slots congruent to i modulo ``block``."""
    return turned_sum(evaluator, a, powers(block, evaluator.parameters.ring_dimension // 2))


def inner_products(evaluator: Evaluator, a: Handle, b: Handle, block: int) -> Handle:
    """The inner product of each pair of blocks, in their first slots. One multiplication deep."""
    return sum_in_blocks(evaluator, product(evaluator, a, b), block)


# The operation that computes many products and their sum.
_FUSED = ("weighted_sum",)


def weighted(
    evaluator: Evaluator, ciphertexts: Sequence[Handle], rows: Sequence[Sequence[float]]
) -> list[Handle]:
    """Σ row[i]·ciphertexts[i] for each row; ciphertexts have one level and scale. Not rescaled."""
    return [_sum(evaluator, ciphertexts, row) for row in rows]


def _sum(evaluator: Evaluator, ciphertexts: Sequence[Handle], weights: Sequence[float]) -> Handle:
    fused = next((name for name in _FUSED if name in evaluator.operations), None)
    if fused is not None and len(ciphertexts) > 1:
        return evaluator.apply(fused, *ciphertexts, *weights)
    products = (
        evaluator.apply("mul_scalar", item, weight) for item, weight in zip(ciphertexts, weights, strict=True)
    )
    return total(evaluator, products)


# The operation that decomposes a ciphertext once for all of its rotations.
_HOISTED = ("rotate_hoisted",)


def rotated_by_each(evaluator: Evaluator, a: Handle, steps: Sequence[int]) -> list[Handle]:
    """``a`` rotated by each of the steps; ``a`` itself for 0."""
    turns = [step for step in steps if step]
    hoisted = next((name for name in _HOISTED if name in evaluator.operations), None)
    if hoisted is not None and len(turns) > 1:
        rotations = iter(evaluator.apply(hoisted, a, *turns))
    else:
        rotations = (evaluator.apply("rotate", a, step) for step in turns)
    return [next(rotations) if step else a for step in steps]


def steps_of_turned_total(count: int, step: int, chains: int = 1) -> tuple[int, ...]:
    """The rotations of :func:`turned_total` for ``count`` ciphertexts."""
    return (step,) if chains == 1 else (step, count // chains * step)


def turned_total(evaluator: Evaluator, items: Sequence[Handle], step: int, chains: int = 1) -> Handle:
    """Σ_j (items[j] rotated by j·step): rotate the last item, add the one before it, and so on.

    It takes one rotation fewer than ciphertexts. ``chains``, a divisor of their number, is the number of independent
    partial sums, which are combined in the same way: it gives work to as many threads at the same number of rotations.
    """
    length = len(items) // chains
    totals = [items[end - 1] for end in range(length, len(items) + 1, length)]
    for place in range(length - 2, -1, -1):
        totals = [
            evaluator.apply("add", evaluator.apply("rotate", total, step), items[chain * length + place])
            for chain, total in enumerate(totals)
        ]
    return totals[0] if chains == 1 else turned_total(evaluator, totals, length * step)
