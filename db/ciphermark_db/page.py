"""``python -m ciphermark_db.page URL PAGE`` writes the listing of views in a page of Markdown again, as in docs/sql.md.

The database has all of it: views and what they are from the files in ``views``, what columns mean from ``columns.csv``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from ciphermark_db.database import Database
from ciphermark_db.schema import STATISTICS
from ciphermark_db.sql import blocks

TABLES = (*STATISTICS, "metric", "dimension", "experiment", "published")
_BEGIN, _END = "<!-- views -->\n", "<!-- end of views -->\n"
_WITH_UNIT = re.compile(r"(.*?)(?: \[([^\[\]]+)\])?", re.DOTALL)


def listing(database: Database) -> str:
    """What a migrated database has for its readers: each view with its columns, what columns mean, and the tables."""
    lines: list[str] = []
    for name, meaning, columns in _asked(database, "views"):
        lines += [f"### `{name}`", "", f"{meaning}.", "", ", ".join(f"`{column}`" for column in columns), ""]
    lines += ["### What columns mean", "", "The same in all views.", ""]
    lines += ["| column | type | unit | meaning |", "|---|---|---|---|"]
    lines += [_line(*row) for row in _asked(database, "columns")]
    return "\n".join([*lines, "", *_tables(database)])


def with_listing(page: str, text: str) -> str:
    """The page with this listing between its marks. Raises ``ValueError`` for a page without them."""
    before, begin, rest = page.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {_BEGIN.strip()} and {_END.strip()}")
    return f"{before}{begin}\n{text}\n{end}{after}"


def _tables(database: Database) -> Iterator[str]:
    rows = _asked(database, "tables", tables=[*TABLES])
    for (name, meaning), columns in groupby(rows, lambda row: row[:2]):
        yield from (f"### `{name}`", "", f"{meaning}.", "", "| column | type | meaning |", "|---|---|---|")
        yield from (f"| `{column}` | {kind} | {_cell(text)} |" for _, _, column, kind, text in columns)
        yield ""


def _asked(database: Database, block: str, **params: Any) -> list[tuple[Any, ...]]:
    return database.query(blocks("page")[block].decode(), params).rows


def _line(name: str, kind: str, comment: str) -> str:
    match = _WITH_UNIT.fullmatch(comment)
    assert match is not None
    return f"| `{name}` | {kind} | {match[2] or ''} | {_cell(match[1])} |"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def main() -> None:
    """Write the page that is named after the URL of a database."""
    url, path = sys.argv[1:]
    page = Path(path)
    with Database.open(url) as database:
        database.migrate()
        text = listing(database)
    page.write_text(with_listing(page.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
