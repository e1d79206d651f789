"""Retrieval by an index from a grid of plaintexts, of which encrypted monomials select: what MulPIR and SealPIR have in
common.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from ciphermark_circuits import expansion
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import grid_formulas
from ciphermark_workloads.retrieval.by_index import IndexRetrieval
from ciphermark_workloads.retrieval.grid import Grid
from ciphermark_workloads.retrieval.symbols import Integers
from ciphermark_workloads.workload import Arrays, Workload


class GridRetrieval(IndexRetrieval):
    """See :mod:`ciphermark_circuits.expansion` for the query; ``Layout`` is the kind of grid."""

    Layout: ClassVar[type[Grid]] = Grid

    def server_bytes(self, parameters: Parameters) -> int:
        return grid_formulas.server_bytes(self.layout(parameters), len(parameters.moduli))

    def outline(self, parameters: Parameters) -> Workload[int, Integers]:
        """Of two rows and two columns of plaintexts at most."""
        most = 4 * self.layout(parameters).per_plaintext
        return self.with_less({"elements": min(self.options.elements, most)})

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Those of the expansion's rotations, told without making the database."""
        most = max(self.layout(parameters).selections)
        return KeyRequest.of(rotations=expansion.steps(parameters.ring_dimension, most))

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """A polynomial for each ciphertext of a query, by its slots: 2^(−rounds)·ΣX^k, k the places that it selects.
        Raises ``UserError`` for an index that the database does not have.
        """
        self.require_index(given)
        layout = self.layout(parameters)
        return [
            expansion.packed(parameters, places, count)
            for count, places in zip(layout.selections, layout.selected(given), strict=True)
        ]

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """As many ciphertexts as :meth:`selected` gives. The plaintexts of the database are the constants of the
        program.
        """
        return [*self.layers(stage, evaluator, inputs, state, public).values()][-1]

    def layers(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> Mapping[str, list[Handle]]:
        """The query's expansion, what a row's selection leaves of each column, and the answer."""
        rows, columns = self.expanded(evaluator, inputs)
        entries, answer = self.selected(evaluator, rows, columns)
        return {"expansion": [*rows, *columns], "first dimension": entries, "second dimension": answer}

    @abstractmethod
    def selected(
        self, evaluator: Evaluator, rows: Sequence[Handle], columns: Sequence[Handle]
    ) -> tuple[list[Handle], list[Handle]]:
        """What ``rows`` select of each column, a ciphertext each, and the answer, which ``columns`` select of these.
        The database is made and laid out here.
        """

    def input_ciphertexts(self, stage: str, parameters: Parameters) -> int:
        return len(self.layout(parameters).selections)

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Integers:
        return self.layout(parameters).element(list(outputs), given)

    def layout(self, parameters: Parameters) -> Grid:
        """Raises ``Unsupported`` for a database that is too large for one query."""
        return self.Layout.of(self.options.elements, self.options.element_bytes, parameters)

    def expanded(self, evaluator: Evaluator, inputs: Sequence[Handle]) -> tuple[list[Handle], list[Handle]]:
        """The selections of a row and of a column that a query expands to."""
        layout = self.layout(evaluator.parameters)
        entries = [
            entry
            for packed, count in zip(inputs, layout.selections, strict=True)
            for entry in expansion.expanded(evaluator, packed, count)
        ]
        rows, _ = layout.shape
        return entries[:rows], entries[rows:]

    def store(self, layout: Grid, chunk: int) -> Iterator[list[Vector]]:
        """The plaintexts of one chunk, column by column."""
        rows, columns = layout.shape
        for column in range(columns):
            yield [self._plaintext(layout, row, column, chunk) for row in range(rows)]

    def _plaintext(self, layout: Grid, row: int, column: int, chunk: int) -> Vector:
        first, stop = layout.members(row, column)
        if first == stop:
            return np.ones(layout.slots, dtype=np.int64)
        return layout.plaintext(self.database().rows(first, stop), chunk)
