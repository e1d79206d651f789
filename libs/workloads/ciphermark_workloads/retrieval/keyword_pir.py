"""Retrieval by keyword: cuckoo hashing over FastPIR.

The table has four parts, and a record may have one place in each (Pagh and Rodler, ESA 2001; Fotakis et al., STACS
2003). A record is a tag of 8 bytes, which is a keyed hash of the keyword, the length of the value in 2 bytes, and the
value. The possible places of a record follow from its keyword and the seed of the hash; its actual place depends on all
records.

Places with the same position in the four parts are neighbors in the slots, and each column returns four slots further.
One answer thus has the records of all possible places of a keyword, at the cost of one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import msgspec
import numpy as np

from ciphermark_contract.interfaces import Vector
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import columns, queries
from ciphermark_workloads.retrieval.columns import ColumnRetrieval, Layout, RowsOf
from ciphermark_workloads.retrieval.database import Integers, Rows
from ciphermark_workloads.retrieval.queries import KeywordRetrieval
from ciphermark_workloads.workload import Workload

PARTS = 4
TAG_BYTES = 8
LENGTH_BYTES = 2
HEAD_BYTES = TAG_BYTES + LENGTH_BYTES
KEYWORD_BYTES = 16
_LOAD = 0.9  # of places that are taken; above 0.977 no arrangement exists (four places each)
_EVICTIONS = 500
_NOBODY = -1


@dataclass(frozen=True, slots=True)
class Table:
    """The possible places of ``count`` keywords: places are numbered so that the part is the number modulo four."""

    count: int
    hash_seed: int

    @property
    def places(self) -> int:
        """The number of places in all parts together."""
        return PARTS * int(np.ceil(self.count / _LOAD / PARTS))

    def choices(self, keyword: bytes) -> tuple[int, ...]:
        """The place of a keyword in each part."""
        words = np.frombuffer(self._hashed(keyword, b"places", 8 * PARTS), dtype="<u8")
        height = self.places // PARTS
        return tuple(int(word) % height * PARTS + part for part, word in enumerate(words))

    def tag(self, keyword: bytes) -> bytes:
        """The first bytes of a keyword's record; another keyword has the same tag with a probability of 2^-64."""
        return self._hashed(keyword, b"tag", TAG_BYTES)

    def record(self, keyword: bytes, value: bytes) -> bytes:
        """The bytes of a record."""
        return self.tag(keyword) + len(value).to_bytes(LENGTH_BYTES, "big") + value

    def arranged(self, keywords: Sequence[bytes]) -> Integers:
        """The number of the keyword in each place, −1 for empty places.

        Raises ``UserError`` for a duplicate keyword, and ``Unsupported`` where a keyword has no place after 500
        evictions.
        """
        if len(set(keywords)) < len(keywords):
            raise UserError("a keyword is there twice: a database has one record of each")
        choices = [self.choices(keyword) for keyword in keywords]
        generator = np.random.default_rng(self.hash_seed)
        places = np.full(self.places, _NOBODY, dtype=np.int64)
        for number in range(len(keywords)):
            self._insert(number, places, choices, generator)
        return places

    def _insert(
        self,
        number: int,
        places: Integers,
        choices: Sequence[tuple[int, ...]],
        generator: np.random.Generator,
    ) -> None:
        last = _NOBODY
        for _ in range(_EVICTIONS):
            free = next((place for place in choices[number] if places[place] == _NOBODY), None)
            if free is not None:
                places[free] = number
                return
            others = [place for place in choices[number] if place != last]  # not back at once
            last = others[int(generator.integers(len(others)))]
            places[last], number = number, int(places[last])
        raise Unsupported(
            f"a record of {len(choices)} finds no place among {len(places)} after {_EVICTIONS} evictions: take another "
            "hash_seed"
        )

    def _hashed(self, keyword: bytes, purpose: bytes, size: int) -> bytes:
        key = self.hash_seed.to_bytes(8, "big")
        return hashlib.blake2b(keyword, digest_size=size, key=key, person=purpose).digest()


def value_in(record: Integers, tag: bytes) -> Integers | None:
    """The value in a record with this tag; ``None`` for a record with another tag, or without a keyword. Bytes are in
    the form of ``database.bytes_of``.

    Raises ``ValueError`` for an invalid record.
    """
    length = int(record[TAG_BYTES]) << 8 | int(record[TAG_BYTES + 1])
    if (record < 0).any() or length > record.size - HEAD_BYTES:
        raise ValueError("what was decrypted is no record")
    if length == 0 or not np.array_equal(record[:TAG_BYTES], np.frombuffer(tag, dtype=np.uint8)):
        return None
    return record[HEAD_BYTES : HEAD_BYTES + length]


def generated(count: int, seed: int) -> list[bytes]:
    """Keywords of 16 bytes, made from a seed; two of them are equal with a probability below n²·2^-129."""
    drawn: Rows = np.random.default_rng([seed, PARTS]).integers(
        0, 256, (count, KEYWORD_BYTES), dtype=np.uint8
    )
    return [row.tobytes() for row in drawn]


_BYTES_TO_ARRANGE = 1000  # of Python's, for a record in the table


class Options(queries.KeywordOptions, frozen=True):
    """The records, and their location."""

    hash_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="seed of the keywords' positions")
    ] = 1


class KeywordPir(KeywordRetrieval[bytes], ColumnRetrieval[bytes]):
    """Generated keywords have 16 bytes."""

    name = "keyword-pir"
    title = "private retrieval of a record of a database by its keyword (cuckoo hashing over FastPIR)"
    Options = Options

    def server_bytes(self, parameters: Parameters) -> int:
        arranged: int = self.options.records * (_BYTES_TO_ARRANGE + self.options.value_bytes)
        return super().server_bytes(parameters) + arranged

    def outline(self, parameters: Parameters) -> Workload[bytes, Integers]:
        """A database with as many records as a row has slots, of a few bytes each. A smaller database keeps its own
        table, in which some records may find no place. For a larger one, a test has found a place for every record of
        the outline.
        """
        options, row = self.options, parameters.ring_dimension // 2
        if options.records > row:
            return self.with_less(
                {
                    "records": row,
                    "value_bytes": min(options.value_bytes, columns.FEW_BYTES),
                    "hash_seed": Options().hash_seed,
                    "database_seed": Options().database_seed,
                }
            )
        if options.database:
            return self
        return self.with_less({"value_bytes": min(options.value_bytes, columns.FEW_BYTES)})

    def another(self, generator: np.random.Generator) -> bytes:
        return generator.bytes(KEYWORD_BYTES)

    def vectors(self, stage: str, given: bytes, parameters: Parameters) -> list[Vector]:
        """A vector for each block of the table; a slot of each part is 1 in both rows."""
        return columns.query_vectors(self._table().choices(given), self.layout(parameters))

    def tables(self, layout: Layout) -> list[RowsOf]:
        """The elements of each block; raises ``UserError`` and ``Unsupported`` as :meth:`Table.arranged`."""
        records = self._records()
        return [lambda block: records[slice(*layout.members(block))]]

    def output(self, outputs: Sequence[Vector], given: bytes, parameters: Parameters) -> Integers:
        layout, table = self.layout(parameters), self._table()
        records = [columns.element(outputs[0], place, layout) for place in table.choices(given)]
        try:
            values = [value_in(record, table.tag(given)) for record in records]
        except ValueError:
            return self.no_record()
        return next((value for value in values if value is not None), self.absent())

    def numbers(self) -> Mapping[bytes, int]:
        own = self.own()
        return _numbers(self.options.records, self.options.database_seed) if own is None else own.numbers

    def _records(self) -> Rows:
        """The content of each place of the table: shape (places, bytes of a record), zeros for empty places."""
        options, table, names = self.options, self._table(), [*self.numbers()]
        values = [*self.values()]
        records = np.zeros((table.places, HEAD_BYTES + options.value_bytes), dtype=np.uint8)
        for place, number in enumerate(table.arranged(names)):
            if number >= 0:
                record = table.record(names[number], values[number])
                records[place, : len(record)] = np.frombuffer(record, dtype=np.uint8)
        return records

    def _table(self) -> Table:
        return Table(self.options.records, self.options.hash_seed)

    def layout_at(self, row: int, bits: int) -> Layout:
        size = HEAD_BYTES + self.options.value_bytes
        return Layout(self._table().places, size, row, bits, PARTS)


@lru_cache(maxsize=2)
def _numbers(records: int, seed: int) -> dict[bytes, int]:
    return {keyword: number for number, keyword in enumerate(generated(records, seed))}


WORKLOADS = (KeywordPir(),)
