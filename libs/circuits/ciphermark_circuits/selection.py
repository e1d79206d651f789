"""The entries of a table that an encrypted selection picks, side by side in one ciphertext (FastPIR).

The table is in the clear, in columns of several blocks; the selection has a ciphertext for each block, all zeros but
for a 1 in one slot of each row of one of them. So the inner product of the selection with a column is the column's
entry in that slot, and 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ciphermark_circuits import sums
from ciphermark_circuits.layout import power_of_two, powers
from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_contract.operands import restored, transformed
from ciphermark_contract.operations import OPERATIONS, Kind

# Products with a plaintext, those first that spare transforms.
_PRODUCTS = ("mul_plain_prepared", "mul_plain")
# What makes many products and their sum one operation.
_FUSED = ("multiply_accumulate",)
# At N = 4096 and one prime so many ciphertexts are 4 MB, and a column's plaintexts 2 MB: less than a cache that cores
# share. Sums of so many columns are alive at once, where a selection is longer.
_TERMS = 64
_COLUMNS = 64


def steps(columns: int) -> tuple[int, ...]:
    """The rotations that :func:`answer` takes: −1, −2, −4, … of less than ``columns``, in ascending order."""
    return tuple(-step for step in reversed(powers(1, power_of_two(columns))))


def answer(evaluator: Evaluator, selection: Sequence[Handle], columns: Sequence[Sequence[Vector]]) -> Handle:
    """The selected entries: that of column j in the slot that is j steps to the right of the selected one, in each row;
    0 elsewhere. ``columns`` holds a vector of all slots for each ciphertext of the selection, and none of them is 0.

    A row of R slots takes at most R columns. Of b blocks and c columns: b·c products and b·c − 1 additions, those of a
    column in one operation where there is one; c − 1 rotations, no multiplication of ciphertexts. What is transformed
    to evaluation form is each ciphertext of the selection, once; and each column's sum is transformed back.
    """
    product = next((name for name in _PRODUCTS if name in evaluator.operations), _PRODUCTS[-1])
    is_transformed = Kind.TRANSFORMED in OPERATIONS[product].operands
    factors = [transformed(evaluator, item) for item in selection] if is_transformed else selection

    together = 1 if len(factors) <= _TERMS else _COLUMNS
    totals: list[Handle] = []  # of the columns that come next, the first of them last

    def column(number: int) -> Handle:
        if not totals:
            totals.extend(
                _inner_products(evaluator, product, factors, columns[number : number + together])[::-1]
            )
        total = totals.pop()
        return restored(evaluator, total) if is_transformed else total

    return _side_by_side(evaluator, column, 0, len(columns))


def _inner_products(
    evaluator: Evaluator, product: str, factors: Sequence[Handle], columns: Sequence[Sequence[Vector]]
) -> list[Handle]:
    """Of the same factors with each column, some factors after the other: so many are in a cache for all columns."""
    totals: list[Handle] = []
    for start in range(0, len(factors), _TERMS):
        some = factors[start : start + _TERMS]
        for number, column in enumerate(columns):
            plaintexts = [
                evaluator.encode(values, like=factor)
                for factor, values in zip(some, column[start : start + _TERMS], strict=True)
            ]
            part = _inner_product(evaluator, product, some, plaintexts)
            if start == 0:
                totals.append(part)
            else:
                totals[number] = evaluator.apply("add", totals[number], part)
    return totals


def _inner_product(
    evaluator: Evaluator, product: str, factors: Sequence[Handle], plaintexts: Sequence[Handle]
) -> Handle:
    """In one operation where there is one, and more than one term."""
    fused = next((name for name in _FUSED if name in evaluator.operations), None)
    if fused is not None and len(factors) > 1:
        return evaluator.apply(fused, *factors, *plaintexts)
    products = (
        evaluator.apply(product, factor, plaintext)
        for factor, plaintext in zip(factors, plaintexts, strict=True)
    )
    return sums.total(evaluator, products)


def _side_by_side(evaluator: Evaluator, column: Callable[[int], Handle], first: int, count: int) -> Handle:
    """Columns from ``first`` on, each made when its turn comes and one step further to the right than the one before.

    Halves are added up, the second turned as a whole: one rotation fewer than columns, by powers of two alone, and no
    more ciphertexts at a time than there are halvings.
    """
    if count == 1:
        return column(first)
    half = power_of_two(count) // 2
    left = _side_by_side(evaluator, column, first, half)
    right = _side_by_side(evaluator, column, first + half, count - half)
    return evaluator.apply("add", left, evaluator.apply("rotate", right, -half))
