"""FastPIR: a query is an encrypted 1 among zeros, and the answer what it selects of the database."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_circuits import selection
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.retrieval import columns, formulas, packing
from ciphermark_workloads.retrieval.by_index import IndexRetrieval
from ciphermark_workloads.retrieval.layout import Layout
from ciphermark_workloads.retrieval.parameters import layout_for, recommended, roomy, seeded
from ciphermark_workloads.retrieval.symbols import Integers
from ciphermark_workloads.workload import Arrays


class FastPir(IndexRetrieval):
    """FastPIR: see :mod:`ciphermark_circuits.selection`."""

    name = "fast-pir"
    title = "private retrieval of an element of a database by its index (FastPIR)"
    is_seeded = True

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "mul_plain", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 4096, one prime of 50 bits for data and one of 56 to switch keys, while noise and elements fit."""
        self.require_scheme(scheme)
        return recommended(scheme, self._layout_at)

    def seeded_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return seeded(scheme, self._layout_at)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return roomy(scheme, self._layout_at)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Those of the answer's rotations, said here so that a client need not make the database to know them."""
        steps = selection.steps(self._layout(parameters).columns)
        return KeyRequest(relinearization=False, rotations=steps)

    def server_bytes(self, parameters: Parameters) -> int:
        return formulas.server_bytes(self._layout(parameters), len(parameters.moduli))

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """A vector for each block; raises ``UserError`` for an index that the database does not have."""
        self.require_index(given)
        return packing.query_vectors([given], self._layout(parameters))

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """One ciphertext. The database is made and laid out here, its plaintexts are the constants of the program."""
        layout, database = self._layout(evaluator.parameters), self.database()
        return [
            columns.answered(evaluator, inputs, layout, lambda block: database.rows(*layout.members(block)))
        ]

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Integers:
        return packing.element(outputs[0], given, self._layout(parameters))

    def _layout(self, parameters: Parameters) -> Layout:
        """Raises ``Unsupported`` for elements that are too long."""
        return layout_for(self._layout_at, parameters)

    def _layout_at(self, row: int, bits: int) -> Layout:
        return Layout(self.options.elements, self.options.element_bytes, row, bits)


WORKLOADS = (FastPir(),)
