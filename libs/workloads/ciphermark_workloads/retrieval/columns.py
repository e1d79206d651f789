"""A server's answer by FastPIR, from the elements of each block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ciphermark_circuits import selection
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_workloads.retrieval import packing
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.layout import Layout


def answered(
    evaluator: Evaluator, query: Sequence[Handle], layout: Layout, rows_of: Callable[[int], Rows]
) -> Handle:
    """One ciphertext for a query of ``layout.blocks`` ciphertexts; ``rows_of`` makes the elements of a block, at most
    R of them, of shape (count, S).
    """
    blocks = [packing.block_vectors(rows_of(block), layout) for block in range(layout.blocks)]
    store = [[block[column] for block in blocks] for column in range(layout.columns)]
    return selection.answer(evaluator, query, store, layout.stride)
