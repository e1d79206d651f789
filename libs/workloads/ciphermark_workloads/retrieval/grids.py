"""Where the elements of a database lie in a grid of plaintexts, by MulPIR (Ali et al., USENIX Security 2021).

Elements lie side by side in the slots of a plaintext, as many as fit whole; one that is longer than a plaintext takes
several, its *chunks*, in as many grids. The plaintexts form a grid that is filled column by column.

Two kinds of grid, costs, sizes and the noise of answers, and what MulPIR and SealPIR have in common: encrypted
monomials select from the grid. Costs are those of n1 rows and n2 columns, for elements of ``chunks`` plaintexts each,
with k data primes and one special prime. Sizes are SEAL's: N words of 8 bytes for each prime of a polynomial.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt, log2, sqrt
from typing import ClassVar

import numpy as np

from ciphermark_circuits import expansion
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Vector
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import database
from ciphermark_workloads.retrieval.columns import SIGMA, symbol_bits
from ciphermark_workloads.retrieval.database import Integers, Rows
from ciphermark_workloads.retrieval.queries import IndexRetrieval
from ciphermark_workloads.workload import Arrays, Workload


@dataclass(frozen=True, slots=True)
class Grid:
    """``elements`` elements of ``element_bytes`` bytes, in plaintexts of ``slots`` slots of ``symbol_bits`` bits each.

    Raises ``Unsupported`` for more rows and columns than a query of one ciphertext expands to.
    """

    elements: int
    element_bytes: int
    slots: int
    symbol_bits: int

    def __post_init__(self) -> None:
        rows, columns = self.shape
        if max(self.selections) > expansion.most(self.slots):
            them = "rows and columns together" if len(self.selections) == 1 else "rows or columns"
            raise Unsupported(
                f"{self.elements} elements of {self.element_bytes} bytes make a grid of {rows} × {columns} "
                f"plaintexts, and one ciphertext of N = {self.slots} selects "
                f"{expansion.most(self.slots)} {them}"
            )

    @classmethod
    def of(cls, elements: int, element_bytes: int, parameters: Parameters) -> Grid:
        """The grid for resolved parameters of bfv or bgv; raises ``Unsupported`` for too large a database."""
        bits = symbol_bits(parameters.plain_modulus or 0)
        return cls(elements, element_bytes, parameters.ring_dimension, bits)

    @property
    def symbols(self) -> int:
        """Symbols of an element: ⌈8S/w⌉."""
        return database.count_of(self.element_bytes, self.symbol_bits)

    @property
    def chunks(self) -> int:
        """Plaintexts of an element: 1 where it fits one."""
        return -(-self.symbols // self.slots)

    @property
    def per_plaintext(self) -> int:
        """Elements of a plaintext, at least 1."""
        return max(1, self.slots // self.symbols)

    @property
    def plaintexts(self) -> int:
        """Of one chunk of all elements: M = ⌈n/elements of a plaintext⌉."""
        return -(-self.elements // self.per_plaintext)

    @property
    def shape(self) -> tuple[int, int]:
        """n1 rows and n2 columns of at least M places together: the fewest columns, each of which costs a product of
        ciphertexts, for which the query is expanded in no more rounds than a square's.
        """
        side = isqrt(self.plaintexts)
        rows = side + (side * side < self.plaintexts)
        square = rows + -(-self.plaintexts // rows)
        most = 1 << expansion.rounds(square)
        columns = next(
            columns for columns in range(1, rows + 1) if -(-self.plaintexts // columns) + columns <= most
        )
        return -(-self.plaintexts // columns), columns

    @property
    def selections(self) -> tuple[int, ...]:
        """How many ciphertexts each one of a query expands to: a row's and a column's place together, of one."""
        return (sum(self.shape),)

    def selected(self, index: int) -> list[list[int]]:
        """Which of them are 1 for an element: of each ciphertext of a query."""
        row, column, _ = self.place(index)
        return [[row, self.shape[0] + column]]

    def place(self, index: int) -> tuple[int, int, int]:
        """Row and column of an element's plaintext, 0 ≤ index < n, and its first slot there."""
        plaintext, position = divmod(index, self.per_plaintext)
        column, row = divmod(plaintext, self.shape[0])
        return row, column, position * self.symbols

    def members(self, row: int, column: int) -> tuple[int, int]:
        """The elements of a plaintext: from the first to before the second number, none where both are equal."""
        first = (column * self.shape[0] + row) * self.per_plaintext
        return min(first, self.elements), min(first + self.per_plaintext, self.elements)

    def plaintext(self, rows: Rows, chunk: int) -> Vector:
        """The plaintext of these elements, of shape (N,), in [1, t): symbols are kept as themselves plus 1 (no
        plaintext is 0, and a decrypted 0 is no symbol), and what is filled up as a symbol of 0.
        """
        parts = database.symbols_of(rows, self.symbol_bits)[:, chunk * self.slots : (chunk + 1) * self.slots]
        slots = np.ones(self.slots, dtype=np.int64)
        slots[: parts.size] += parts.reshape(-1)
        return slots

    def element(self, chunks: list[Vector], index: int) -> Integers:
        """The element in the slots of an answer: S bytes, :data:`.database.NO_BYTE` where no symbol is."""
        *_, first = self.place(index)
        found = np.concatenate(chunks)[first : first + self.symbols] - 1
        element: Integers = database.bytes_of(found[np.newaxis], self.element_bytes, self.symbol_bits)[0]
        return element


@dataclass(frozen=True, slots=True)
class SquareGrid(Grid):
    """See :class:`Grid`. Raises ``Unsupported`` for more rows than a ciphertext expands to."""

    @property
    def shape(self) -> tuple[int, int]:
        """n1 ≥ n2: ⌊√M⌋ each, and one more of the rows, then of the columns, where that is not enough."""
        side = isqrt(self.plaintexts)
        rows = side + (side * side < self.plaintexts)
        return rows, side + (rows * side < self.plaintexts)

    @property
    def selections(self) -> tuple[int, ...]:
        """Rows of one ciphertext, columns of another."""
        return self.shape

    def selected(self, index: int) -> list[list[int]]:
        """The row, and the column."""
        row, column, _ = self.place(index)
        return [[row], [column]]


_WORD = 8  # bytes of a coefficient modulo a prime, and of a slot before it is encoded


@dataclass(frozen=True, slots=True)
class Counts:
    """Operations of the server for one answer. ``additions`` are all, also those that double what has no partner.
    Ciphertexts are transformed where they are kept in coefficient form.
    """

    rotations: int
    shifts: int
    differences: int
    plain_products: int
    products: int
    relinearizations: int
    additions: int
    transforms: int
    transforms_back: int


def counts(grid: Grid) -> Counts:
    """n1 + n2 − 1 rotations for the expansion; and for each chunk n1·n2 products with plaintexts, n2 of ciphertexts,
    one relinearization.
    """
    rows, columns = grid.shape
    turned = expansion_counts(grid)
    return Counts(
        rotations=turned,
        shifts=turned,
        differences=turned,
        plain_products=grid.chunks * rows * columns,
        products=grid.chunks * columns,
        relinearizations=grid.chunks,
        additions=expansion_additions(grid) + grid.chunks * (rows * columns - 1),
        transforms=rows,
        transforms_back=grid.chunks * columns,
    )


def expansion_counts(grid: Grid) -> int:
    """Rotations, shifts and differences of the expansion, each: one less than what each ciphertext expands to."""
    return sum(count - 1 for count in grid.selections)


def expansion_additions(grid: Grid) -> int:
    """Sums of the expansion, also those that double what has no partner: 2^rounds − 1 for each ciphertext."""
    return sum((1 << expansion.rounds(count)) - 1 for count in grid.selections)


def store_bytes(grid: Grid, primes: int) -> int:
    """The database as plaintexts in evaluation form."""
    rows, columns = grid.shape
    return grid.chunks * rows * columns * grid.slots * primes * _WORD


def server_bytes(grid: Grid, primes: int) -> int:
    """What a server holds while it prepares: the store, and each plaintext as a vector and in coefficient form."""
    return grid.elements * grid.element_bytes + store_bytes(grid, primes + 2)


def query_bytes(grid: Grid, primes: int) -> int:
    """A query, both polynomials of each ciphertext written out."""
    return len(grid.selections) * ciphertext_bytes(grid, primes)


def ciphertext_bytes(grid: Grid, primes: int) -> int:
    """Two polynomials."""
    return 2 * grid.slots * primes * _WORD


def answer_bytes(grid: Grid) -> int:
    """An answer: a ciphertext for each chunk, at the last prime."""
    return grid.chunks * ciphertext_bytes(grid, 1)


def key_bytes(grid: Grid, primes: int) -> int:
    """The keys of ⌈log2(n1 + n2)⌉ rotations and of relinearization."""
    return rotation_key_bytes(grid, primes) + one_key_bytes(grid, primes)


def rotation_key_bytes(grid: Grid, primes: int) -> int:
    """The keys of the expansion's rotations: one for each round of the longest."""
    return expansion.rounds(max(grid.selections)) * one_key_bytes(grid, primes)


def one_key_bytes(grid: Grid, primes: int) -> int:
    """A digit for every data prime."""
    return primes * ciphertext_bytes(grid, primes + 1)


def noise_ratio(grid: Grid, primes: int, prime_bits: int, plain_modulus: int, deviation: float) -> float:
    """The largest noise that decrypts right, q/2t, divided by the standard deviation of an answer's noise before it is
    switched to a smaller modulus; all primes, the special one too, have ``prime_bits`` bits.

    A fresh error of this ``deviation`` a coefficient, and the errors of key switches (a digit of q_i times an error σ,
    divided by the special prime, over all digits; and what rounding by it leaves, times a ternary secret), are added
    up with variances that double in each round. A product with a plaintext of N coefficients that are uniform modulo t
    multiplies deviations by (t/√12)·√N, and n1 of them are added. A product of ciphertexts multiplies an error by t·k,
    k the other's quotient by q, of variance (1 + 2N/3)/12 a coefficient, over N coefficients; n2 are added (Fan and
    Vercauteren, "Somewhat practical fully homomorphic encryption", 2012). The selection's own error is smaller by the
    first factor.
    """
    rows, columns = grid.shape
    selection = selection_deviation(grid.slots, max(grid.selections), primes, deviation)
    answer = answer_deviation(selection, grid.slots, rows * columns, plain_modulus)
    return float(2.0 ** (primes * prime_bits - 1 - log2(plain_modulus) - log2(answer)))


def answer_deviation(selection: float, slots: int, plaintexts: int, plain_modulus: int) -> float:
    """Of the noise of an answer over so many plaintexts of N slots, of selections whose noise has the deviation
    ``selection``: see :func:`noise_ratio`.
    """
    product = selection * plain_modulus / sqrt(12) * sqrt(slots)
    return product * plain_modulus * sqrt(rounding_variance(slots) * slots * plaintexts)


def selection_deviation(slots: int, count: int, primes: int, deviation: float) -> float:
    """The standard deviation of the noise of the ``count`` ciphertexts that one of a query expands to, of fresh errors
    of this ``deviation``.
    """
    switch = primes * slots * SIGMA**2 / 12 + rounding_variance(slots)
    copies = float(1 << expansion.rounds(count))
    return sqrt(copies * deviation**2 + (copies - 1) * switch)


def rounding_variance(ring_dimension: int) -> float:
    """Of what rounding both polynomials of a ciphertext leaves, one of them times a ternary secret."""
    return (1 + 2 * ring_dimension / 3) / 12


class GridRetrieval(IndexRetrieval):
    """See :mod:`ciphermark_circuits.expansion` for the query; ``Layout`` is the kind of grid."""

    Layout: ClassVar[type[Grid]] = Grid

    def server_bytes(self, parameters: Parameters) -> int:
        return server_bytes(self.layout(parameters), len(parameters.moduli))

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
