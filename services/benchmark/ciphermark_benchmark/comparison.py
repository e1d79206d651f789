"""Two runs, case by case, at one security level or, where asked, at any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from ciphermark_benchmark import table_headings
from ciphermark_benchmark.formats import digits, interval, level, quantity
from ciphermark_benchmark.ranking import MIXED
from ciphermark_db.comparison import COLUMNS, LEVELS, settled, with_judgement
from ciphermark_db.gateway import Database, Table
from ciphermark_db.pairing import paired
from ciphermark_db.reports import report

Row = Mapping[str, Any]

_HEADING = ("scheme", "ring_dimension", *LEVELS, "size", "data_pattern", "data_set", "threads")


def compared(database: Database, run_a: str, run_b: str, any_security: bool = False) -> Table:
    """One row per case, phase and metric of either run. Ratios are within one security level, by the 2018 table, or
    with ``any_security`` across levels.
    """
    a, b = (report(database, "run_figures", run_id=run_id) for run_id in (run_a, run_b))
    return Table(COLUMNS, [with_judgement(row, any_security) for row in settled(paired(a, b))])


def show(console: Console, database: Database, runs: tuple[str, str], any_security: bool) -> None:
    """Print the comparison of two runs, one table per parameters, level, vector and threads."""
    of_runs = [report(database, "run", run_id=run_id)[0] for run_id in runs]
    for name, run in zip("ab", of_runs, strict=True):
        started = f"{run['started_at']:%Y-%m-%d %H:%M}"
        console.print(
            f"{name}: run {run['id']} of suite {escape(run['suite'])}, {started}, host {escape(run['hostname'])}",
            soft_wrap=True,
        )
    if len({run["fingerprint"] for run in of_runs}) > 1:
        console.print("[yellow]the hosts are not the same: what differs may be theirs[/yellow]")
    if any_security:
        console.print(f"[yellow]{MIXED}[/yellow]", soft_wrap=True)
    else:
        console.print(
            "a/b is formed within one security level (2018 table), across levels with --any-security; above 1, b is "
            "faster or smaller",
            soft_wrap=True,
        )
    table = compared(database, *runs, any_security)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    for _, group in groupby(rows, key=lambda row: tuple(row[name] for name in _HEADING)):
        same = list(group)
        console.print(f"\n[bold]{escape(_heading(same[0]))}[/bold]", soft_wrap=True)
        console.print(_pretty(same))


def _heading(row: Row) -> str:
    data = row["data_set"] or f"{row['data_pattern']} data"
    levels = [
        f"{' against '.join(dict.fromkeys(level(row[f'{run}_security_{year}']) for run in _known(row)))} ({year})"
        for year in ("2018", "2024")
    ]
    return (
        f"{row['scheme']} · N = {row['ring_dimension']} · security {', '.join(levels)} · {data}, "
        f"{row['size']} values, {table_headings.threads(row)}"
    )


def _known(row: Row) -> str:
    """The runs that resolved the parameters; both where none did."""
    return "".join(run for run in "ab" if row[f"{run}_security_2018"] is not None) or "ab"


def _pretty(rows: Sequence[Row]) -> RichTable:
    table = RichTable(box=None, pad_edge=False)
    table.add_column("operation")
    table.add_column("variant", no_wrap=True)
    for name in ("phase", "metric"):
        table.add_column(name)
    for name in ("a", "b", "a/b", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    last = None
    for row in rows:
        count = row["repetitions"]
        name = row["operation"] if count is None else f"{row['operation']} × {count}"
        bounds = "" if row["ratio_low"] is None else escape(interval(row["ratio_low"], row["ratio_high"]))
        figures = [quantity(row[f"{run}_median"], row["unit"] or "") for run in "ab"]
        told = escape("; ".join(filter(None, (row["verdict"], row["remark"]))))
        place = (name if name != last else "", escape(row["variant"]), row["phase"], row["metric"])
        table.add_row(*(text or "" for text in place), *figures, digits(row["ratio"]), bounds, told)
        last = name
    return table
