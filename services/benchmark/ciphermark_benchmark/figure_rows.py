"""The rows of figures, from the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ciphermark_db.database import Database, Table
from ciphermark_present import query
from ciphermark_present.figure import Figure


def asked(
    database: Database, figure: Figure, run_id: str | None, chosen: Mapping[str, Any] | None = None
) -> Table:
    """The query result of a figure for a run; ``chosen`` are values of filters by column."""
    statement = query.of(figure, run_id, chosen or {})
    return database.query(statement.text, statement.parameters)


def rows(
    database: Database, figure: Figure, run_id: str | None, chosen: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The rows of :func:`asked`, by column name."""
    table = asked(database, figure, run_id, chosen)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
