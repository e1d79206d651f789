"""The named queries behind the command line's tables."""

from __future__ import annotations

from typing import Any

from ciphermark_db.gateway import Database
from ciphermark_db.sql import blocks


def report(database: Database, name: str, **params: Any) -> list[dict[str, Any]]:
    """The rows of a block of ``reports.sql``, by column name."""
    table = database.query(blocks("reports")[name].decode(), params)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
