"""Figures in the terminal: what the database answers, as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from ciphermark_benchmark.figure_rows import asked, rows
from ciphermark_db.gateway import Database, Table
from ciphermark_db.reports import report
from ciphermark_present.catalogue.published import PUBLISHED
from ciphermark_present.listings import layout, published
from ciphermark_present.listings.printed import Printed

MIXED = (
    "security levels are mixed, as --any-security asks: a ratio between unequal levels compares unlike things, "
    "and its row says so"
)


def show_published(console: Console, database: Database, run_id: str | None) -> None:
    """Print published figures beside a run's, one table per source and host."""
    if run_id is None:
        console.print("ours: no run is recorded yet")
    else:
        run = _run(database, run_id)
        place = f"host {escape(run['hostname'])} ({escape(run['cpu_model'])})"
        console.print(f"ours: run {run_id} of suite {escape(run['suite'])} on {place}", soft_wrap=True)
    console.print(published.ABOUT)
    show(console, published.tables(rows(database, PUBLISHED, run_id)))


def published_table(database: Database, run_id: str | None) -> Table:
    """Every published figure, with what a run has of the same case: several rows where that has several ring
    dimensions, and none of ours where it has none, or without a run.
    """
    return asked(database, PUBLISHED, run_id)


def show(console: Console, tables: Iterable[Printed]) -> None:
    """Print tables, as wide as the console at most."""
    for table in tables:
        console.print()
        if table.title:
            console.print(Text(table.title, style="bold"))
        for text in filter(None, (table.about,)):
            console.print(Text(text))
        for line in layout.lines(table, console.width):
            console.print(Text(line), soft_wrap=True)
        if table.explained:
            console.print(Text(f"\n{table.explained}"))


def _run(database: Database, run_id: str) -> dict[str, Any]:
    (facts,) = report(database, "run", run_id=run_id)
    return facts
