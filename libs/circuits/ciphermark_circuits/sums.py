"""Sums: of ciphertexts, and over slots by rotations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from ciphermark_circuits.layout import powers
from ciphermark_circuits.products import product
from ciphermark_contract.interfaces import Evaluator, Handle


def total(evaluator: Evaluator, ciphertexts: Iterable[Handle]) -> Handle:
    """The sum of ciphertexts of one level and scale, each taken when the sum of those before it is there."""
    return reduce(lambda a, b: evaluator.apply("add", a, b), ciphertexts)


def turned_sum(evaluator: Evaluator, a: Handle, steps: Iterable[int]) -> Handle:
    """a plus itself turned, for each number of steps in order.

    Steps s, 2s, …, 2^(k−1)·s give every slot the sum of 2^k slots at distances of s, itself the first.
    """
    for step in steps:
        a = evaluator.apply("add", a, evaluator.apply("rotate", a, step))
    return a


def sum_in_blocks(evaluator: Evaluator, a: Handle, block: int) -> Handle:
    """The first slot of each block of slots: the sum of the block. Other slots mix two blocks."""
    return turned_sum(evaluator, a, powers(1, block))


def sum_of_blocks(evaluator: Evaluator, a: Handle, block: int) -> Handle:
    """The sum of all blocks, in every block: slot i gets what all slots i modulo ``block`` sum up to."""
    return turned_sum(evaluator, a, powers(block, evaluator.parameters.ring_dimension // 2))


def inner_products(evaluator: Evaluator, a: Handle, b: Handle, block: int) -> Handle:
    """The inner product of each pair of blocks, in their first slots. One multiplication deep."""
    return sum_in_blocks(evaluator, product(evaluator, a, b), block)
