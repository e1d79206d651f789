"""Elements as symbols in slots, the vectors of a query, and the element that an answer holds. Pure.

A symbol of w bits is kept as itself plus 1, which is below t: no plaintext is 0 then, and libraries refuse the product
of a ciphertext with 0. A slot of 0 holds no symbol, and tells an answer that went wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ciphermark_contract.vectors import Vector
from ciphermark_workloads.retrieval import symbols
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.layout import Layout
from ciphermark_workloads.retrieval.symbols import Integers

# Elements whose symbols are made at a time: what so many take in between is small enough for memory to be used again,
# which costs a fraction of new memory.
_TOGETHER = 256
FEW_BYTES = 16  # of an element, enough for several columns where a slot has up to 20 bits


def block_vectors(rows: Rows, layout: Layout) -> Integers:
    """The plaintexts of one block, whose elements are the ``rows``: of shape (columns, 2R), in [0, t). Slots without an
    element are 0.
    """
    slots = np.zeros((layout.columns, 2, layout.row), dtype=np.int64)
    for start in range(0, len(rows), _TOGETHER):
        some = rows[start : start + _TOGETHER]
        slots[:, :, start : start + len(some)] = _symbols(some, layout).transpose(2, 1, 0) + 1
    return slots.reshape(layout.columns, -1)


def query_vectors(indices: Iterable[int], layout: Layout) -> list[Vector]:
    """What is encrypted to ask for elements, which differ modulo the stride: a vector of 2R slots for each block, all 0
    but for the slots of the elements in their blocks, which are 1.
    """
    slots = np.zeros((layout.blocks, 2, layout.row), dtype=np.int64)
    for index in indices:
        block, slot = layout.place(index)
        slots[block, :, slot] = 1
    return list(slots.reshape(layout.blocks, -1))


def element(answer: Vector, index: int, layout: Layout) -> Integers:
    """The element in the slots of an answer to the query for it: S bytes, ``symbols.NO_BYTE`` where none is."""
    _, slot = layout.place(index)
    places = (slot + layout.stride * np.arange(layout.columns)) % layout.row
    halves = symbols.bytes_of(answer.reshape(2, -1)[:, places] - 1, layout.half_bytes, layout.symbol_bits)
    return halves.reshape(-1)[: layout.element_bytes]


def _symbols(rows: Rows, layout: Layout) -> Integers:
    """The symbols of the halves of elements, of shape (count, 2, columns)."""
    halves = np.zeros((len(rows), 2 * layout.half_bytes), dtype=np.uint8)
    halves[:, : layout.element_bytes] = rows
    found = symbols.symbols_of(halves.reshape(-1, layout.half_bytes), layout.symbol_bits)
    return found.reshape(len(rows), 2, -1)
