"""A server's answer by FastPIR, from the elements of each block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ciphermark_circuits import selection
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_workloads.retrieval import packing
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.layout import Layout

RowsOf: TypeAlias = Callable[[int], Rows]


def answered(
    evaluator: Evaluator, query: Sequence[Handle], layout: Layout, rows_of: RowsOf
) -> tuple[list[Handle], Handle]:
    """One ciphertext for a query of ``layout.blocks`` ciphertexts, after the sum of each column's products;
    ``rows_of`` makes the elements of a block, at most R of them, of shape (count, S).
    """
    blocks = [packing.block_vectors(rows_of(block), layout) for block in range(layout.blocks)]
    store = [[block[column] for block in blocks] for column in range(layout.columns)]
    return selection.with_sums(evaluator, query, store, layout.stride)
