"""Databases: n elements of S bytes each, numbered from 0; and their bytes as symbols of w bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Rows: TypeAlias = npt.NDArray[np.uint8]  # an element each, of shape (count, S)


class Database(Protocol):
    """The server's data, by index."""

    def rows(self, start: int, stop: int) -> Rows:
        """The elements from ``start`` to before ``stop``, 0 ≤ start < stop ≤ n: of shape (stop − start, S)."""


_CHUNK = 1024  # elements that are generated together, independently of earlier ones


@dataclass(frozen=True, slots=True)
class Generated:
    """``elements`` elements of ``element_bytes`` bytes, uniform from 0 to 255, made from a seed."""

    elements: int
    element_bytes: int
    seed: int

    def rows(self, start: int, stop: int) -> Rows:
        """The elements from ``start`` to before ``stop``, 0 ≤ start < stop ≤ n: of shape (stop − start, S)."""
        parts = []
        for first in range(start - start % _CHUNK, stop, _CHUNK):
            chunk = _chunk(self.element_bytes, self.seed, first // _CHUNK)
            parts.append(chunk[max(start - first, 0) : stop - first])
        return np.concatenate(parts)


@lru_cache(maxsize=1)  # sequential reads of a few elements make each chunk once
def _chunk(element_bytes: int, seed: int, number: int) -> Rows:
    generator = np.random.default_rng([seed, number])
    return generator.integers(0, 256, (_CHUNK, element_bytes), dtype=np.uint8)


Integers: TypeAlias = npt.NDArray[np.int64]
NO_BYTE = -1  # in an element: the decrypted value is not a symbol


def count_of(size: int, bits: int) -> int:
    """Number of symbols for ``size`` bytes: ⌈8·size/w⌉."""
    return -(-8 * size // bits)


def symbols_of(rows: Rows, bits: int) -> Integers:
    """The symbols in [0, 2^w) of rows of bytes, w < 32, of shape (count, symbols of a row)."""
    unit = gcd(8, bits)  # divides both a byte and a symbol
    each, size = 8 // unit, bits // unit  # symbols and bytes of the repeated unit
    count = count_of(rows.shape[1], bits)
    filled = np.zeros((len(rows), -(-count // each), size), dtype=np.uint8)
    filled.reshape(len(rows), -1)[:, : rows.shape[1]] = rows
    symbols = np.empty((*filled.shape[:2], each), dtype=np.int64)
    for number in range(each):
        symbols[:, :, number] = _symbol(filled, number * bits, bits)
    return symbols.reshape(len(rows), -1)[:, :count]


def _symbol(groups: npt.NDArray[np.uint8], first: int, bits: int) -> npt.NDArray[np.uint32]:
    """For each group of bytes, the ``bits`` bits from ``first`` on; bits lost in a shift belong to the symbol
    before.
    """
    end = first + bits
    total = np.zeros(groups.shape[:2], dtype=np.uint32)
    for place in range(first // 8, -(-end // 8)):
        octets, left = groups[:, :, place].astype(np.uint32), end - 8 * (place + 1)
        total |= octets << left if left >= 0 else octets >> -left
    total &= (1 << bits) - 1
    return total


def bytes_of(symbols: Integers, size: int, bits: int) -> Integers:
    """The inverse of :func:`symbols_of` for rows of ``size`` bytes: :data:`NO_BYTE` for numbers that are not
    symbols.
    """
    is_none = (symbols < 0) | (symbols >> bits != 0)
    digits = (symbols[..., np.newaxis] >> np.arange(bits - 1, -1, -1)) & 1
    lost = np.broadcast_to(is_none[..., np.newaxis], digits.shape)
    shape = len(digits), size, 8
    of_bytes, is_lost = (
        part.reshape(len(digits), -1)[:, : 8 * size].reshape(shape) for part in (digits, lost)
    )
    return np.where(is_lost.any(axis=-1), NO_BYTE, of_bytes @ (1 << np.arange(7, -1, -1)))
