"""MulPIR: two encrypted places, of a row and of a column, and a product of ciphertexts that selects by both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ciphermark_circuits import expansion, grid
from ciphermark_circuits.plain_products import Factors
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.retrieval import grid_formulas
from ciphermark_workloads.retrieval.by_index import IndexRetrieval
from ciphermark_workloads.retrieval.grid import Grid
from ciphermark_workloads.retrieval.symbols import Integers
from ciphermark_workloads.workload import Arrays

# Symbols of two whole bytes, and slots in every ring up to N = 32768.
_PLAIN_MODULUS = 65537


class MulPir(IndexRetrieval):
    """MulPIR: see :mod:`ciphermark_circuits.grid`, and :mod:`ciphermark_circuits.expansion` for its query."""

    name = "mul-pir"
    title = "private retrieval of an element of a database by its index (MulPIR)"
    pass_s = 1.0

    def operations(self, scheme: Scheme) -> tuple[str, ...]:
        return ("add", "sub", "mul", "mul_plain", "rotate")

    def parameters(self, scheme: Scheme) -> ParameterSpec:
        """N = 8192 and three primes of 50 bits, the size up to which HEXL has its fastest arithmetic: secure enough for
        192 bits, and with room for the noise of every database that options allow: see :mod:`.grid_formulas`.
        """
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 8192, (50, 50, 50), plain_modulus=_PLAIN_MODULUS)

    def roomy_parameters(self, scheme: Scheme) -> ParameterSpec:
        self.require_scheme(scheme)
        return ParameterSpec(scheme, 8192, (56, 56, 60), plain_modulus=_PLAIN_MODULUS)

    def keys(self, parameters: Parameters) -> KeyRequest:
        """Those of the expansion's rotations and of the product, told without making the database."""
        steps = expansion.steps(parameters.ring_dimension, sum(self._grid(parameters).shape))
        return KeyRequest(relinearization=True, rotations=steps)

    def server_bytes(self, parameters: Parameters) -> int:
        return grid_formulas.server_bytes(self._grid(parameters), len(parameters.moduli))

    def vectors(self, stage: str, given: int, parameters: Parameters) -> list[Vector]:
        """One polynomial, by its slots: 2^(−rounds)·(X^row + X^(n1 + column)). Raises ``UserError`` for an index that
        the database does not have.
        """
        self.require_index(given)
        layout, modulus = self._grid(parameters), parameters.plain_modulus or 0
        row, column, _ = layout.place(given)
        both = expansion.monomials(parameters, [row, layout.shape[0] + column]).sum(axis=0)
        divisor = pow(2, -expansion.rounds(sum(layout.shape)), modulus)
        return [both % modulus * divisor % modulus]

    def circuit(
        self,
        stage: str,
        evaluator: Evaluator,
        inputs: Sequence[Handle],
        state: Sequence[Handle],
        public: Arrays,
    ) -> list[Handle]:
        """A ciphertext for each chunk. The database is made and laid out here, its plaintexts are the constants of the
        program.
        """
        layout = self._grid(evaluator.parameters)
        rows, columns = layout.shape
        selected = expansion.expanded(evaluator, inputs[0], rows + columns)
        factors = Factors.of(evaluator, selected[:rows])
        return [
            grid.answer(evaluator, factors, selected[rows:], self._store(layout, chunk))
            for chunk in range(layout.chunks)
        ]

    def output(self, outputs: Sequence[Vector], given: int, parameters: Parameters) -> Integers:
        return self._grid(parameters).element(list(outputs), given)

    def _store(self, layout: Grid, chunk: int) -> Iterator[list[Vector]]:
        rows, columns = layout.shape
        for column in range(columns):
            yield [self._plaintext(layout, row, column, chunk) for row in range(rows)]

    def _plaintext(self, layout: Grid, row: int, column: int, chunk: int) -> Vector:
        first, stop = layout.members(row, column)
        if first == stop:
            return np.ones(layout.slots, dtype=np.int64)
        return layout.plaintext(self.database().rows(first, stop), chunk)

    def _grid(self, parameters: Parameters) -> Grid:
        """Raises ``Unsupported`` for a database that is too large for one query."""
        return Grid.of(self.options.elements, self.options.element_bytes, parameters)


WORKLOADS = (MulPir(),)
