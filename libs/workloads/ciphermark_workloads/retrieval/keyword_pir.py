"""Retrieval by keyword: cuckoo hashing over FastPIR.

The four parts of the table lie side by side: places with the same position are neighbours in the slots, and columns
come back four slots further each. So one answer has the records of all places where a keyword's may be, for the work
of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated

import msgspec
import numpy as np

from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import by_keyword, formulas, keywords, packing
from ciphermark_workloads.retrieval.by_columns import ColumnRetrieval
from ciphermark_workloads.retrieval.by_keyword import KeywordRetrieval
from ciphermark_workloads.retrieval.columns import RowsOf
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.keywords import Table
from ciphermark_workloads.retrieval.layout import Layout
from ciphermark_workloads.retrieval.symbols import Integers
from ciphermark_workloads.workload import Workload

_BYTES_TO_ARRANGE = 1000  # of Python's, for a record in the table


class Options(by_keyword.Options, frozen=True):
    """The records, and where they are."""

    hash_seed: Annotated[
        int, msgspec.Meta(ge=0, lt=1 << 32, description="what the places of keywords are made of")
    ] = 1


class KeywordPir(KeywordRetrieval[bytes], ColumnRetrieval[bytes]):
    """Generated keywords have 16 bytes."""

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

    def another(self, generator: np.random.Generator) -> bytes:
        return generator.bytes(keywords.KEYWORD_BYTES)

    def vectors(self, stage: str, given: bytes, parameters: Parameters) -> list[Vector]:
        """A vector for each block of the table; a slot of each part is 1 in both rows."""
        return packing.query_vectors(self._table().choices(given), self.layout(parameters))

    def tables(self, layout: Layout) -> list[RowsOf]:
        """Raises ``UserError`` and ``Unsupported`` as :meth:`.keywords.Table.arranged`."""
        records = self._records()
        return [lambda block: records[slice(*layout.members(block))]]

    def output(self, outputs: Sequence[Vector], given: bytes, parameters: Parameters) -> Integers:
        layout, table = self.layout(parameters), self._table()
        records = [packing.element(outputs[0], place, layout) for place in table.choices(given)]
        try:
            found = [keywords.value_in(record, table.tag(given)) for record in records]
        except ValueError:
            return self.no_record()
        return next((value for value in found if value is not None), self.absent())

    def numbers(self) -> Mapping[bytes, int]:
        own = self.own()
        return _numbers(self.options.records, self.options.database_seed) if own is None else own.numbers

    def _records(self) -> Rows:
        """What is in each place of the table: of shape (places, bytes of a record), zeros where there is none."""
        options, table, names = self.options, self._table(), [*self.numbers()]
        values = [*self.values()]
        records = np.zeros((table.places, keywords.HEAD_BYTES + options.value_bytes), dtype=np.uint8)
        for place, number in enumerate(table.arranged(names)):
            if number >= 0:
                record = table.record(names[number], values[number])
                records[place, : len(record)] = np.frombuffer(record, dtype=np.uint8)
        return records

    def _table(self) -> Table:
        return Table(self.options.records, self.options.hash_seed)

    def layout_at(self, row: int, bits: int) -> Layout:
        size = keywords.HEAD_BYTES + self.options.value_bytes
        return Layout(self._table().places, size, row, bits, keywords.PARTS)


@lru_cache(maxsize=2)
def _numbers(records: int, seed: int) -> dict[bytes, int]:
    return {keyword: number for number, keyword in enumerate(keywords.generated(records, seed))}


WORKLOADS = (KeywordPir(),)
