"""What every registry does: rows by name, each of one meaning."""

from __future__ import annotations

from typing import Protocol, TypeVar


class Named(Protocol):
    """A row of a registry."""

    @property
    def name(self) -> str:
        """What it is known by."""


Row = TypeVar("Row", bound=Named)


def add(rows: dict[str, Row], row: Row) -> Row:
    """Make a row known, and return it. Raises ``ValueError`` where its name has another meaning already."""
    if rows.setdefault(row.name, row) != row:
        raise ValueError(f"there is another {type(row).__name__.lower()} {row.name!r} already")
    return row
