"""What a query gives, as figures read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Column names, and the rows in the order of the query."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """The rows by column name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]
