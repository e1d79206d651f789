"""Published figures beside ours; they are looked at together and never ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from ciphermark_benchmark.formats import NOTHING, interval, level, quantity, time_with_interval
from ciphermark_db.gateway import Database, Table
from ciphermark_db.reports import report

Row = Mapping[str, Any]

_UNSTATED = "unstated"


def beside(database: Database, run_id: str | None) -> Table:
    """Every published figure, with what a run has of the same case: several rows where that has several ring
    dimensions, and none of ours where it has none, or without a run.
    """
    rows = report(database, "published", run_id=run_id)
    return Table(tuple(rows[0]), [tuple(row.values()) for row in rows])


def show(console: Console, database: Database, run_id: str | None) -> None:
    """Print published figures beside a run's, one table per source and host."""
    if run_id is None:
        console.print("ours: no run is recorded yet")
    else:
        (run,) = report(database, "run", run_id=run_id)
        console.print(
            f"ours: run {run_id} of suite {escape(run['suite'])} on host {escape(run['hostname'])} "
            f"({escape(run['cpu_model'])})",
            soft_wrap=True,
        )
    console.print("Hosts differ, and so may parameters: these figures are no comparison of libraries.")
    rows = report(database, "published", run_id=run_id)
    for (source, year, host), group in groupby(rows, key=_origin):
        place = "on a host that is not told" if host == _UNSTATED else f"on {host}"
        title = f"[bold]{escape(source)}, {year}[/bold] · measured {escape(place)}"
        console.print(f"\n{title}", soft_wrap=True)
        console.print(_pretty(list(group)))


def _origin(row: Row) -> tuple[str, int, str]:
    return row["source"], row["year"], row["published_host"]


def _pretty(rows: Sequence[Row]) -> RichTable:
    table = RichTable(box=None, pad_edge=False)
    for name in ("system", "scheme"):
        table.add_column(name, no_wrap=True)
    table.add_column("figure", min_width=20)
    table.add_column("published", justify="right", no_wrap=True)
    table.add_column("note")
    for name in ("ours", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("our case", min_width=24)
    last = None
    for row in rows:
        told = (row["system"], row["scheme"], row["figure"])
        stated = (*told, quantity(row["published_value"], row["unit"]), row["note"] or "")
        shown = ("",) * len(stated) if stated == last else stated  # once, beside all of ours
        table.add_row(*map(escape, (*shown, *_ours(row))))
        last = stated
    return table


def _ours(row: Row) -> tuple[str, str, str]:
    """Our figure, its interval, and the parameters that it was measured with."""
    if row["median"] is None:
        return NOTHING, "", ""
    ring = f"N {row['ring_dimension']}{' (smallest)' if row['is_least'] else ''}"
    place = f"{row['variant']} {row['operation']}, {ring}, {level(row['security_2018'])} (2018)"
    if row["unit"] == "s":
        return (*time_with_interval(row["median"], row["ci_low"], row["ci_high"]), place)
    own = "" if row["ci_low"] is None else interval(row["ci_low"], row["ci_high"], 1e-6)
    return quantity(row["median"], row["unit"]), own, place
