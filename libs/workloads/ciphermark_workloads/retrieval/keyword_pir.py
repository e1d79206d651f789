"""Retrieval by keyword: cuckoo hashing over FastPIR.

The four parts of the table lie side by side: places with the same position are neighbours in the slots, and columns
come back four slots further each. So one answer has the records of all places where a keyword's may be, for the work
of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any

import msgspec
import numpy as np

from ciphermark_contract.interfaces import Evaluator, Handle, Vector
from ciphermark_core.dimensions import Value
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import columns, formulas, keywords, packing, stored
from ciphermark_workloads.retrieval.by_columns import ColumnRetrieval
from ciphermark_workloads.retrieval.database import Generated, Rows
from ciphermark_workloads.retrieval.keywords import Table
from ciphermark_workloads.retrieval.layout import Layout
from ciphermark_workloads.retrieval.queries import Queries
from ciphermark_workloads.retrieval.symbols import NO_BYTE, Integers
from ciphermark_workloads.retrieval.work import Work
from ciphermark_workloads.workload import Arrays, Workload

ABSENT = -2  # the output for a keyword that the database does not have: no byte, and not NO_BYTE
_ABSENT_SHARE = 0.25  # of the keywords that are asked for
_BYTES_TO_ARRANGE = 1000  # of Python's, for a record in the table


class Options(Queries, frozen=True):
    """The records. The keyword that a client asks for is no option: the server is told all options."""

    records: Annotated[
        int, msgspec.Meta(ge=1, le=1 << 20, description="records of the database, each with a keyword")
    ] = 4096
    value_bytes: Annotated[int, msgspec.Meta(ge=1, le=1 << 15, description="bytes of a record's value")] = 256
    database_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="what the bytes of the database are made of")
    ] = 1
    hash_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="what the places of keywords are made of")
    ] = 1


class KeywordPir(ColumnRetrieval[bytes]):
    """The input is a keyword of 16 bytes, three of four times one that the database has; the output the bytes of its
    value, or :data:`ABSENT` alone.
    """

    name = "keyword-pir"
    title = "private retrieval of a record of a database by its keyword (cuckoo hashing over FastPIR)"
    Options = Options

    def server_bytes(self, parameters: Parameters) -> int:
        store = formulas.server_bytes(self.layout(parameters), len(parameters.moduli))
        arranged: int = self.options.records * (_BYTES_TO_ARRANGE + self.options.value_bytes)
        return store + arranged

    def outline(self, parameters: Parameters) -> Workload[bytes, Integers]:
        """Of as many records as a row has slots, of a few bytes each. Of fewer records the table is their own, since in
        it not all of them may find a place; of more it is one in which a test found that all do.
        """
        options, row = self.options, parameters.ring_dimension // 2
        if options.records > row:
            return self.with_less(
                {
                    "records": row,
                    "value_bytes": min(options.value_bytes, packing.FEW_BYTES),
                    "hash_seed": Options().hash_seed,
                    "database_seed": Options().database_seed,
                }
            )
        if options.database:
            return self
        return self.with_less({"value_bytes": min(options.value_bytes, packing.FEW_BYTES)})

    def with_file(self, option: str, name: str, data: bytes, values: Mapping[str, Value]) -> dict[str, Value]:
        return stored.record_options(name, data, values)

    def work(self) -> Work:
        """Of the values alone: tags and lengths of records are the protocol's."""
        options = self.options
        return Work(options.records * options.value_bytes, options.value_bytes)

    def input(self, seed: int, data: Any) -> bytes:
        """A keyword that the database has, each alike likely, or one that it does not have."""
        generator = np.random.default_rng(seed)
        if generator.random() < _ABSENT_SHARE:
            return generator.bytes(keywords.KEYWORD_BYTES)
        return self.keywords()[int(generator.integers(self.options.records))]

    def vectors(self, stage: str, given: bytes, parameters: Parameters) -> list[Vector]:
        """A vector for each block of the table; a slot of each part is 1 in both rows."""
        return packing.query_vectors(self._table().choices(given), self.layout(parameters))

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """One ciphertext. Raises ``UserError`` and ``Unsupported`` as :meth:`.keywords.Table.arranged`."""
        layout, records = self.layout(evaluator.parameters), self._records()
        return [
            columns.answered(evaluator, inputs, layout, lambda block: records[slice(*layout.members(block))])
        ]

    def output(self, outputs: Sequence[Vector], given: bytes, parameters: Parameters) -> Integers:
        """``NO_BYTE`` in all bytes of the value where what was decrypted is no record."""
        layout, table = self.layout(parameters), self._table()
        records = [packing.element(outputs[0], place, layout) for place in table.choices(given)]
        try:
            found = [keywords.value_in(record, table.tag(given)) for record in records]
        except ValueError:
            return np.full(self.options.value_bytes, NO_BYTE, dtype=np.int64)
        absent: Integers = np.full(1, ABSENT, dtype=np.int64)
        return next((value for value in found if value is not None), absent)

    def reference(self, given: bytes) -> Integers:
        number = self._numbers().get(given)
        if number is None:
            return np.full(1, ABSENT, dtype=np.int64)
        return np.frombuffer(self._value(number), dtype=np.uint8).astype(np.int64)

    def keywords(self) -> list[bytes]:
        """Of all records of the database."""
        return [*self._numbers()]

    def _records(self) -> Rows:
        """What is in each place of the table: of shape (places, bytes of a record), zeros where there is none."""
        options, table, names = self.options, self._table(), self.keywords()
        values = [*self._values()]
        records = np.zeros((table.places, keywords.HEAD_BYTES + options.value_bytes), dtype=np.uint8)
        for place, number in enumerate(table.arranged(names)):
            if number >= 0:
                record = table.record(names[number], values[number])
                records[place, : len(record)] = np.frombuffer(record, dtype=np.uint8)
        return records

    def _numbers(self) -> Mapping[bytes, int]:
        own = self._own()
        return _numbers(self.options.records, self.options.database_seed) if own is None else own.numbers

    def _value(self, number: int) -> bytes:
        own = self._own()
        return self._generated().rows(number, number + 1)[0].tobytes() if own is None else own.values[number]

    def _values(self) -> Iterable[bytes]:
        own = self._own()
        if own is not None:
            return own.values
        return (row.tobytes() for row in self._generated().rows(0, self.options.records))

    def _own(self) -> stored.Records | None:
        options = self.options
        if not options.database:
            return None
        return stored.records(options.database, options.records, options.value_bytes)

    def _generated(self) -> Generated:
        options = self.options
        return Generated(options.records, options.value_bytes, options.database_seed)

    def _table(self) -> Table:
        return Table(self.options.records, self.options.hash_seed)

    def layout_at(self, row: int, bits: int) -> Layout:
        size = keywords.HEAD_BYTES + self.options.value_bytes
        return Layout(self._table().places, size, row, bits, keywords.PARTS)


@lru_cache(maxsize=2)
def _numbers(records: int, seed: int) -> dict[bytes, int]:
    return {keyword: number for number, keyword in enumerate(keywords.generated(records, seed))}


WORKLOADS = (KeywordPir(),)
