"""Elements as symbols in slots, the vectors of a query, and the element that an answer holds. Pure.

A symbol of w bits is kept as itself plus 1, which is below t: no plaintext is 0 then, and libraries refuse the product
of a ciphertext with 0. A slot of 0 holds no symbol, and tells an answer that went wrong.
"""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_contract.vectors import Vector
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.layout import Layout

Integers: TypeAlias = npt.NDArray[np.int64]
NO_BYTE = -1  # in an element: what was decrypted is no symbol


def block_vectors(rows: Rows, layout: Layout) -> Integers:
    """The plaintexts of one block, whose elements are the ``rows``: of shape (columns, 2R), in [0, t). Slots without an
    element are 0.
    """
    slots = np.zeros((layout.columns, 2, layout.row), dtype=np.int64)
    slots[:, :, : len(rows)] = _symbols(rows, layout).transpose(2, 1, 0) + 1
    return slots.reshape(layout.columns, -1)


def query_vectors(index: int, layout: Layout) -> list[Vector]:
    """What is encrypted to ask for an element: a vector of 2R slots for each block, all 0 but for the slots of the
    element in its block, which are 1.
    """
    block, slot = layout.place(index)
    slots = np.zeros((layout.blocks, 2, layout.row), dtype=np.int64)
    slots[block, :, slot] = 1
    return list(slots.reshape(layout.blocks, -1))


def element(answer: Vector, index: int, layout: Layout) -> Integers:
    """The element in the slots of an answer to the query for it: S bytes, :data:`NO_BYTE` where no symbol is."""
    _, slot = layout.place(index)
    places = (slot + np.arange(layout.columns)) % layout.row
    return _bytes(answer.reshape(2, -1)[:, places] - 1, layout)[: layout.element_bytes]


def _symbols(rows: Rows, layout: Layout) -> Integers:
    """The symbols of elements, of shape (count, 2, columns): bits in their order, the last symbol filled with zeros."""
    halves = np.zeros((len(rows), 2 * layout.half_bytes), dtype=np.uint8)
    halves[:, : layout.element_bytes] = rows
    shifts, per_symbol = _digits(layout)
    digits = (halves[..., np.newaxis] >> shifts) & _mask(layout)
    filled = np.zeros((len(rows), 2, layout.columns * per_symbol), dtype=np.uint8)
    filled[..., : shifts.size * layout.half_bytes] = digits.reshape(len(rows), 2, -1)
    symbols = np.zeros((len(rows), 2, layout.columns), dtype=np.int64)
    for number in range(per_symbol):
        symbols = (symbols << _unit(layout)) | filled[..., number::per_symbol]
    return symbols


def _bytes(symbols: Integers, layout: Layout) -> Integers:
    """The inverse of :func:`_symbols` for one element, of symbols of shape (2, columns): both halves as one."""
    is_none = (symbols < 0) | (symbols >> layout.symbol_bits != 0)
    shifts, per_symbol = _digits(layout)
    places = np.arange(per_symbol - 1, -1, -1) * _unit(layout)
    digits = (symbols[..., np.newaxis] >> places) & _mask(layout)
    found = _of_bytes(digits, layout) << shifts.astype(np.int64)
    is_lost = _of_bytes(np.broadcast_to(is_none[..., np.newaxis], digits.shape), layout).any(axis=-1)
    whole: Integers = np.where(is_lost, NO_BYTE, found.sum(axis=-1))
    return whole.reshape(-1)


def _of_bytes(digits: Vector, layout: Layout) -> Vector:
    """Digits of both halves as those of each byte, what fills the last symbol left out: (2, half, digits of a byte)."""
    per_byte = 8 // _unit(layout)
    halves: Vector = digits.reshape(2, -1)[:, : layout.half_bytes * per_byte]
    return halves.reshape(2, -1, per_byte)


def _unit(layout: Layout) -> int:
    """Bits of a digit: as many as divide both a byte and a symbol."""
    return gcd(8, layout.symbol_bits)


def _mask(layout: Layout) -> int:
    return (1 << _unit(layout)) - 1


def _digits(layout: Layout) -> tuple[npt.NDArray[np.uint8], int]:
    """Where the digits of a byte are in it, the highest first, and how many digits a symbol has."""
    unit = _unit(layout)
    shifts = np.arange(0, 8, unit, dtype=np.uint8)[::-1]
    return shifts, layout.symbol_bits // unit
