"""The grid of SealPIR (Angel et al., IEEE S&P 2018): nearly square, its rows and its columns selected apart. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from ciphermark_workloads.retrieval.grid import Grid


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
