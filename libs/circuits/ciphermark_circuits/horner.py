"""Sums of ciphertexts that are each turned by another multiple of a step, by Horner's rule: one key, or two."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_contract.interfaces import Evaluator, Handle


def steps(count: int, step: int, chains: int = 1) -> tuple[int, ...]:
    """The rotations that :func:`turned_total` of ``count`` ciphertexts takes."""
    return (step,) if chains == 1 else (step, count // chains * step)


def turned_total(evaluator: Evaluator, items: Sequence[Handle], step: int, chains: int = 1) -> Handle:
    """Σ_j (items[j] turned by j·step): the last is turned, the one before it added, and so on, which are as many
    rotations as ciphertexts less one.

    ``chains``, a divisor of their number, are independent of each other until they are put together likewise: so many
    threads have work. Rotations stay as many.
    """
    length = len(items) // chains
    totals = [items[end - 1] for end in range(length, len(items) + 1, length)]
    for place in range(length - 2, -1, -1):
        totals = [
            evaluator.apply("add", evaluator.apply("rotate", total, step), items[chain * length + place])
            for chain, total in enumerate(totals)
        ]
    return totals[0] if chains == 1 else turned_total(evaluator, totals, length * step)
