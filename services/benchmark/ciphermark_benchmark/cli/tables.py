"""Figures in the terminal: what the database answers, as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from ciphermark_benchmark.figure_rows import asked, rows
from ciphermark_db import host_drift
from ciphermark_db.comparison import COLUMNS, settled, with_judgement
from ciphermark_db.gateway import Database, Table
from ciphermark_db.pairing import paired
from ciphermark_db.reports import report
from ciphermark_figures.catalogue.comparing import TWO_RUNS
from ciphermark_figures.catalogue.published import PUBLISHED
from ciphermark_figures.figure import Figure
from ciphermark_figures.listings import (
    comparing,
    depths,
    first_executions,
    learning,
    published,
    ranking,
    repetitions,
    workloads,
)
from ciphermark_figures.listings.printed import Head, Printed
from ciphermark_figures.sentences import host_state
from ciphermark_workloads.catalogue import WORKLOADS

MIXED = (
    "security levels are mixed, as --any-security asks: a ratio between unequal levels compares unlike things, "
    "and its row says so"
)
_MAIN_PHASE = "operation"  # with it everything else is told, too


def show_results(
    console: Console, database: Database, run_id: str, phase: str = _MAIN_PHASE, any_security: bool = False
) -> None:
    """Print the ranked variants of every case of a run, its operations in a row, workloads, and depths."""
    if any_security:
        console.print(f"[yellow]{MIXED}[/yellow]", soft_wrap=True)

    def found(figures: Iterable[Figure], of_phase: str = _MAIN_PHASE) -> list[list[dict[str, Any]]]:
        chosen = {"phase": of_phase, "any_security": any_security}
        return [rows(database, figure, run_id, chosen) for figure in figures]

    shown = show(console, ranking.tables(found(ranking.FIGURES, phase), any_security))
    if phase == _MAIN_PHASE:
        shown |= show(console, repetitions.tables(found(repetitions.FIGURES), any_security))
    titles = {name: workload.title for name, workload in WORKLOADS.items()}
    if show(console, learning.tables(found(learning.FIGURES), any_security, titles)):
        console.print(f"\n{learning.EXPLAINED}", soft_wrap=True)
        shown = True
    shown |= show(console, workloads.tables(found(workloads.FIGURES), any_security, titles))
    shown |= show(console, depths.tables(found(depths.FIGURES), any_security))
    if phase == _MAIN_PHASE:
        shown |= show(console, first_executions.tables(found(first_executions.FIGURES), any_security))
    if not shown:
        console.print(
            f"Nothing to rank in phase {phase}: no library has a trial of this run in it that was ok."
        )
    for row in report(database, "host_state", run_id=run_id):
        for sentence in host_state.told(row):
            console.print(f"host: {escape(sentence)}", soft_wrap=True)
    console.print()


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


def show_comparison(console: Console, database: Database, runs: tuple[str, str], any_security: bool) -> None:
    """Print the comparison of two runs, one table per parameters, level, vector and threads."""
    of_runs = [_run(database, run_id) for run_id in runs]
    for name, run in zip("ab", of_runs, strict=True):
        started = f"{run['started_at']:%Y-%m-%d %H:%M}"
        place = f"{started}, host {escape(run['hostname'])}"
        console.print(f"{name}: run {run['id']} of suite {escape(run['suite'])}, {place}", soft_wrap=True)
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
    table = compared(database, runs, any_security)
    judged = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    show(console, comparing.tables(judged))
    drift = host_drift.told(judged)
    if drift is not None:
        console.print(f"host: {drift}.", soft_wrap=True)


def compared(database: Database, runs: tuple[str, str], any_security: bool) -> Table:
    """One row per case, phase and metric of either run. Ratios are within one security level, by the 2018 table, or
    with ``any_security`` across levels.
    """
    a, b = (rows(database, TWO_RUNS, run_id) for run_id in runs)
    return Table(COLUMNS, [with_judgement(row, any_security) for row in settled(paired(a, b))])


def published_table(database: Database, run_id: str | None) -> Table:
    """Every published figure, with what a run has of the same case: several rows where that has several ring
    dimensions, and none of ours where it has none, or without a run.
    """
    return asked(database, PUBLISHED, run_id)


def show(console: Console, tables: Iterable[Printed]) -> bool:
    """Print tables; False without any."""
    is_any = False
    for table in tables:
        is_any = True
        title = f"[bold]{escape(table.title)}[/bold]" if table.title else ""
        console.print(f"\n{title}" if title else "", soft_wrap=True)
        if table.about:
            console.print(escape(table.about), soft_wrap=True)
        console.print(_rich(table))
    return is_any


def _run(database: Database, run_id: str) -> dict[str, Any]:
    (facts,) = report(database, "run", run_id=run_id)
    return facts


def _rich(table: Printed) -> RichTable:
    """Remarks need room: with them columns stand closer together."""
    is_tight = any(head.is_remark and head.text for head in table.heads)
    made = RichTable(box=None, pad_edge=False, padding=(0, 1, 0, 0) if is_tight else (0, 1))
    for head in table.heads:
        made.add_column(
            head.text,
            justify="right" if head.is_number else "left",
            no_wrap=not head.is_prose,
            min_width=head.least_width or None,
        )
    for row in table.rows:
        made.add_row(*(_cell(head, text) for head, text in zip(table.heads, row, strict=True)))
    return made


def _cell(head: Head, text: str) -> str:
    return f"[yellow]{escape(text)}[/yellow]" if head.is_remark and text else escape(text)
