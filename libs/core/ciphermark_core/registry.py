"""Common behavior of registries: rows by name, with one meaning per name."""

from __future__ import annotations

from typing import Protocol, TypeVar


class Named(Protocol):
    """A row of a registry."""

    @property
    def name(self) -> str:
        """The name under which it is registered."""


Row = TypeVar("Row", bound=Named)


def add(rows: dict[str, Row], row: Row) -> Row:
    """Register a row, and return it. Raises ``ValueError`` where its name already has another meaning."""
    if rows.setdefault(row.name, row) != row:
        raise ValueError(f"there is another {type(row).__name__.lower()} {row.name!r} already")
    return row
