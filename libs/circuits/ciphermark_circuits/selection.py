"""The entries of a table that an encrypted selection picks, side by side in one ciphertext (FastPIR).

The table is in the clear, in columns of several blocks; the selection has a ciphertext for each block, all zeros but
for a 1 in one slot of each row of one of them. So the inner product of the selection with a column is the column's
entry in that slot, and 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ciphermark_circuits.layout import power_of_two, powers
from ciphermark_circuits.plain_products import TERMS, Factors
from ciphermark_contract.interfaces import Evaluator, Handle, Vector

# Sums of so many columns are alive at once, where a selection is longer than what is multiplied at a time.
_COLUMNS = 64


def steps(columns: int, stride: int = 1) -> tuple[int, ...]:
    """The rotations that :func:`answer` takes: −1, −2, −4, … of less than ``columns``, times the stride, in ascending
    order.
    """
    return tuple(-step * stride for step in reversed(powers(1, power_of_two(columns))))


def answer(
    evaluator: Evaluator, selection: Sequence[Handle], columns: Sequence[Sequence[Vector]], stride: int = 1
) -> Handle:
    """The selected entries: that of column j in the slot that is j·stride steps to the right of the selected one, in
    each row; 0 elsewhere. ``columns`` holds a vector of all slots for each ciphertext of the selection, and none of
    them is 0. As many slots may be selected as the stride, which divides R: one of each residue modulo the stride.

    A row of R slots takes at most R/stride columns. Of b blocks and c columns: b·c products and b·c − 1 additions,
    those of a column in one operation where there is one; c − 1 rotations, no multiplication of ciphertexts. What is
    transformed to NTT form is each ciphertext of the selection, once; and each column's sum is transformed back.
    """
    return with_sums(evaluator, selection, columns, stride)[1]


def with_sums(
    evaluator: Evaluator, selection: Sequence[Handle], columns: Sequence[Sequence[Vector]], stride: int = 1
) -> tuple[list[Handle], Handle]:
    """The inner product with each column, and :func:`answer`, which adds them up turned."""
    factors = Factors.of(evaluator, selection)
    together = 1 if len(selection) <= TERMS else _COLUMNS
    totals: list[Handle] = []  # of the columns that come next, the first of them last

    products: list[Handle] = []

    def column(number: int) -> Handle:
        if not totals:
            totals.extend(factors.inner_products(columns[number : number + together])[::-1])
        products.append(factors.restored(totals.pop()))
        return products[-1]

    answered = _side_by_side(_Columns(evaluator, column, stride), 0, len(columns))
    return products, answered


@dataclass(frozen=True, slots=True)
class _Columns:
    """Columns, each made when its turn comes."""

    evaluator: Evaluator
    made: Callable[[int], Handle]
    stride: int


def _side_by_side(columns: _Columns, first: int, count: int) -> Handle:
    """Columns from ``first`` on, each one stride further to the right than the one before.

    Halves are added up, the second turned as a whole: one rotation fewer than columns, by powers of two alone, and no
    more ciphertexts at a time than there are halvings.
    """
    if count == 1:
        return columns.made(first)
    half, evaluator = power_of_two(count) // 2, columns.evaluator
    left = _side_by_side(columns, first, half)
    right = _side_by_side(columns, first + half, count - half)
    return evaluator.apply("add", left, evaluator.apply("rotate", right, -half * columns.stride))
