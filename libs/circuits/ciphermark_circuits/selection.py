"""Encrypted selection of table entries, side by side in one ciphertext (FastPIR).

The table is plain, in columns of several blocks. The selection has a ciphertext for each block: all zeros except a 1 in
one slot of each row of one of them. The inner product of the selection with a column is the column's entry in that
slot, and 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ciphermark_circuits.layout import power_of_two, powers
from ciphermark_circuits.plain_products import TERMS, Factors
from ciphermark_contract.interfaces import Evaluator, Handle, Vector

# Number of columns whose sums are alive at once, for a selection longer than the factors multiplied at a time.
_COLUMNS = 64


def steps(columns: int, stride: int = 1) -> tuple[int, ...]:
    """The rotations of :func:`answer`, in ascending order: −1, −2, −4, … below ``columns``, times the stride."""
    return tuple(-step * stride for step in reversed(powers(1, power_of_two(columns))))


def answer(
    evaluator: Evaluator, selection: Sequence[Handle], columns: Sequence[Sequence[Vector]], stride: int = 1
) -> Handle:
    """Return the selected entries: in each row, that of column j is j·stride slots right of the selected one; else 0.

    ``columns`` holds a vector of all slots, not 0, for each ciphertext of the selection. The stride divides R, the
    slots of a row, and is the maximum number of selected slots: one of each residue modulo the stride. A row takes at
    most R/stride columns.

    For b blocks and c columns, it takes b·c products and b·c − 1 additions, with those of a column in one operation
    where the library has one. It takes c − 1 rotations, and no multiplication of ciphertexts. Each ciphertext of the
    selection is transformed to NTT form once, and each column's sum back.
    """
    return with_sums(evaluator, selection, columns, stride)[1]


def with_sums(
    evaluator: Evaluator, selection: Sequence[Handle], columns: Sequence[Sequence[Vector]], stride: int = 1
) -> tuple[list[Handle], Handle]:
    """The inner product with each column, and :func:`answer`, which adds them rotated."""
    factors = Factors.of(evaluator, selection)
    together = 1 if len(selection) <= TERMS else _COLUMNS
    totals: list[Handle] = []  # of the next columns, in reverse order

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
    """Columns, each computed when it is needed."""

    evaluator: Evaluator
    made: Callable[[int], Handle]
    stride: int


def _side_by_side(columns: _Columns, first: int, count: int) -> Handle:
    """Columns from ``first`` on, each one stride further to the right than the one before.

    Halves are added, the second rotated as a whole: one rotation fewer than columns, by powers of two only, and at most
    as many ciphertexts at a time as there are halvings.
    """
    if count == 1:
        return columns.made(first)
    half, evaluator = power_of_two(count) // 2, columns.evaluator
    left = _side_by_side(columns, first, half)
    right = _side_by_side(columns, first + half, count - half)
    return evaluator.apply("add", left, evaluator.apply("rotate", right, -half * columns.stride))
