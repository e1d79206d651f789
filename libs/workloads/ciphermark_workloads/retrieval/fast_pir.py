"""FastPIR: a query is an encrypted 1 among zeros, and the answer what it selects of the database."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_contract.interfaces import Vector
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import columns
from ciphermark_workloads.retrieval.columns import ColumnRetrieval, Layout, RowsOf
from ciphermark_workloads.retrieval.database import Integers
from ciphermark_workloads.retrieval.queries import IndexRetrieval
from ciphermark_workloads.workload import Workload


class FastPir(IndexRetrieval, ColumnRetrieval[int]):
    """FastPIR: see :mod:`ciphermark_circuits.selection`."""

    name = "fast-pir"
    title = "private retrieval of an element of a database by its index (FastPIR)"

    def server_bytes(self, parameters: Parameters) -> int:
        return columns.server_bytes(self.layout(parameters), len(parameters.moduli))

    def outline(self, parameters: Parameters) -> Workload[int, Integers]:
        """Of two blocks at most, and a few columns."""
        options, row = self.options, parameters.ring_dimension // 2
        return self.with_less(
            {
                "elements": min(options.elements, row + 1),
                "element_bytes": min(options.element_bytes, columns.FEW_BYTES),
            }
        )

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """A vector for each block; raises ``UserError`` for an index that the database does not have."""
        self.require_index(given)
        return columns.query_vectors([given], self.layout(parameters))

    def tables(self, layout: Layout) -> list[RowsOf]:
        database = self.database()
        return [lambda block: database.rows(*layout.members(block))]

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Integers:
        return columns.element(outputs[0], given, self.layout(parameters))

    def layout_at(self, row: int, bits: int) -> Layout:
        return Layout(self.options.elements, self.options.element_bytes, row, bits)


WORKLOADS = (FastPir(),)
