"""Where the elements of a database lie in a grid of plaintexts, by MulPIR (Ali et al., USENIX Security 2021). Pure.

Elements lie side by side in the slots of a plaintext, as many as fit whole; one that is longer than a plaintext takes
several, its *chunks*, in as many grids. The plaintexts form a grid that is filled column by column.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from ciphermark_circuits import expansion
from ciphermark_contract.interfaces import Vector
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters
from ciphermark_workloads.retrieval import symbols
from ciphermark_workloads.retrieval.database import Rows
from ciphermark_workloads.retrieval.layout import symbol_bits
from ciphermark_workloads.retrieval.symbols import Integers


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
        return symbols.count_of(self.element_bytes, self.symbol_bits)

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
        parts = symbols.symbols_of(rows, self.symbol_bits)[:, chunk * self.slots : (chunk + 1) * self.slots]
        slots = np.ones(self.slots, dtype=np.int64)
        slots[: parts.size] += parts.reshape(-1)
        return slots

    def element(self, chunks: list[Vector], index: int) -> Integers:
        """The element in the slots of an answer: S bytes, :data:`.symbols.NO_BYTE` where no symbol is."""
        *_, first = self.place(index)
        found = np.concatenate(chunks)[first : first + self.symbols] - 1
        element: Integers = symbols.bytes_of(found[np.newaxis], self.element_bytes, self.symbol_bits)[0]
        return element
