"""The layout of records that constant-weight codes select: on *shelves*, which are plaintexts. Pure.

Keywords are numbers. Keywords that differ only in their lowest bits share a shelf. The lowest bits give the place on
it, and the other bits are the encoded number. A record that is longer than a plaintext takes several, its *chunks*; a
shelf then has one record.

Numbers are code words of two ones (constant weight: Mahdavi and Kerschbaum, "Constant-weight PIR: single-round keyword
PIR via constant-weight equality operators", USENIX Security 2022).

A code word of length m is the pair of places a < b that are 1. In the combinatorial number system number k is the pair
with k = b·(b − 1)/2 + a, so m places are enough for m·(m − 1)/2 numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

import numpy as np

from ciphermark_circuits import expansion
from ciphermark_circuits.constant_weight import Code
from ciphermark_contract.interfaces import Vector
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import database
from ciphermark_workloads.retrieval.columns import symbol_bits
from ciphermark_workloads.retrieval.database import Integers

LENGTH_BYTES = 2  # of a value, before it


@dataclass(frozen=True, slots=True)
class KeywordTable:
    """For keywords of ``keyword_bits`` bits and values of at most ``value_bytes`` bytes, in plaintexts of ``slots``
    slots of ``symbol_bits`` bits each, with up to 2^``max_shared_bits`` records each.

    Raises ``Unsupported`` for code words that are longer than what a query of one ciphertext expands to.
    """

    keyword_bits: int
    value_bytes: int
    slots: int
    symbol_bits: int
    max_shared_bits: int

    def __post_init__(self) -> None:
        most = expansion.most(self.slots)
        if self.length > most:
            raise Unsupported(
                f"keywords of {self.keyword_bits} bits, {1 << self.shared_bits} of them a plaintext, are coded by "
                f"{self.length} places, and one ciphertext of N = {self.slots} has {most}"
            )

    @classmethod
    def of(
        cls, keyword_bits: int, value_bytes: int, parameters: Parameters, max_shared_bits: int
    ) -> KeywordTable:
        """For resolved parameters of bfv or bgv; raises ``Unsupported`` for keywords of too many bits."""
        bits = symbol_bits(parameters.plain_modulus or 0)
        return cls(keyword_bits, value_bytes, parameters.ring_dimension, bits, max_shared_bits)

    @property
    def symbols(self) -> int:
        """Symbols of a record, which consists of the value's length and the value."""
        return database.count_of(LENGTH_BYTES + self.value_bytes, self.symbol_bits)

    @property
    def chunks(self) -> int:
        """Plaintexts of a record: 1 where it fits one."""
        return -(-self.symbols // self.slots)

    @property
    def shared_bits(self) -> int:
        """The lowest bits of a keyword, which differ between records on a shelf: as many as there is room for."""
        room = max(1, self.slots // self.symbols)
        return min(room.bit_length() - 1, self.keyword_bits, self.max_shared_bits)

    @property
    def shelves(self) -> int:
        """The maximum number of shelves."""
        return 1 << (self.keyword_bits - self.shared_bits)

    @property
    def length(self) -> int:
        """Places of a code word: m."""
        return length(self.shelves)

    def code(self, keyword: int) -> Code:
        """The code of a keyword's shelf, 0 ≤ keyword < 2^keyword_bits."""
        return code(keyword >> self.shared_bits)

    def stored(self, records: Mapping[int, bytes]) -> dict[Code, list[Vector]]:
        """The plaintexts of each shelf that is not empty, a vector of shape (N,) for each chunk, in the order of the
        shelves' numbers. Symbols are stored plus 1, and slots without a record are 0.
        """
        shelves: dict[Code, Integers] = {}
        for keyword in sorted(records):
            shelf = shelves.setdefault(self.code(keyword), np.zeros(self.chunks * self.slots, dtype=np.int64))
            shelf[self._place(keyword)] = self._symbols(records[keyword])
        return {code: [*shelf.reshape(self.chunks, self.slots)] for code, shelf in shelves.items()}

    def value(self, chunks: list[Vector], keyword: int) -> Integers | None:
        """The value of a keyword in the slots of an answer: ``None`` where all slots are 0, since there is no record.

        Raises ``ValueError`` for an invalid record.
        """
        entries = np.concatenate(chunks)[self._place(keyword)]
        if not entries.any():
            return None
        size = LENGTH_BYTES + self.value_bytes
        record: Integers = database.bytes_of(entries[np.newaxis] - 1, size, self.symbol_bits)[0]
        length = int(record[0]) << 8 | int(record[1])
        if (record < 0).any() or not 0 < length <= self.value_bytes:
            raise ValueError("what was decrypted is no record")
        return record[LENGTH_BYTES : LENGTH_BYTES + length]

    def _place(self, keyword: int) -> slice:
        """The slots of a record, in sequence over all chunks."""
        first = (keyword & ((1 << self.shared_bits) - 1)) * self.symbols
        return slice(first, first + self.symbols)

    def _symbols(self, value: bytes) -> Integers:
        record = len(value).to_bytes(LENGTH_BYTES, "big") + value.ljust(self.value_bytes, b"\0")
        symbols = database.symbols_of(np.frombuffer(record, dtype=np.uint8)[np.newaxis], self.symbol_bits)
        entries: Integers = symbols[0] + 1
        return entries


def length(count: int) -> int:
    """The minimum number of places for ``count`` numbers, count ≥ 1: the smallest m with m·(m − 1)/2 ≥ count."""
    return _upper(count - 1) + 1


def code(number: int) -> Code:
    """The places that are 1 for a number ≥ 0, the lower first."""
    upper = _upper(number)
    return number - upper * (upper - 1) // 2, upper


def _upper(number: int) -> int:
    """The largest b with b·(b − 1)/2 ≤ number."""
    return (1 + isqrt(8 * number + 1)) // 2
