"""The results of a run as tables, for the terminal and for papers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from rich.text import Text

from ciphermark_benchmark import run_notes
from ciphermark_benchmark.figure_rows import rows
from ciphermark_core.security import Table
from ciphermark_db.database import Database
from ciphermark_present import catalogue, formats, headings, host_state, listing
from ciphermark_present.catalogue import published, ranking
from ciphermark_present.console import Terminal
from ciphermark_present.printed import Printed, Wanted
from ciphermark_present.query import AS_MEASURED, TABLE
from ciphermark_present.terminal import show

MAIN_PHASE = "evaluate"  # with it everything else is told, too
MIXED = (
    "security levels are mixed, as --across-security-levels asks: a ratio between unequal levels compares unlike "
    "things, and its row says so"
)
UNCORRECTED_HELP = "Times as the clock measured them, without correction for host interference."


def show_results(console: Terminal, database: Database, run_id: str, wanted: Wanted) -> None:
    """Print the verdict, the ranked variants of every case of a run, what else it measured, and what spoils it."""
    if wanted.across_security_levels:
        console.print(Text(MIXED, style="yellow"))
    if database.is_uncorrected:
        console.print(Text(AS_MEASURED, style="yellow"))
    console.print(Text(heading(database, run_id)))
    for sentence in _verdicts(database, run_id, wanted):
        console.print(Text(sentence, style="bold"))
    tables = list(of_run(database, run_id, wanted))
    is_ranked = tables and tables[0].title and headings.time_of(wanted.phase) in tables[0].about
    if is_ranked and not wanted.is_detailed:
        console.print(Text(f"\n{ranking.EXPLAINED}"))
    show(console, tables)
    if not tables:
        console.print(
            f"Nothing to rank in phase {wanted.phase}: no library has a trial of this run in it that was ok."
        )
    console.print()
    for row in database.report("host_state", run_id=run_id):
        for sentence in host_state.told(row):
            console.print(Text(f"host: {sentence}"))
    if tables and not wanted.is_detailed:
        console.print(Text(f"intervals, parameters and parts: ciphermark results {run_id[:8]} --details"))
    _show_notes(console, database, run_id, wanted.has_notes)


def _verdicts(database: Database, run_id: str, wanted: Wanted) -> Iterator[str]:
    is_main = wanted.phase == MAIN_PHASE
    chosen: dict[str, Any] = {"across_security_levels": wanted.across_security_levels, TABLE: wanted.table}
    figures = ranking.OF_RUN if is_main else ranking.FIGURES
    answers = [
        rows(database, figure, run_id, chosen if is_main else chosen | {"phase": wanted.phase})
        for figure in figures
    ]
    tell = ranking.of_run if is_main else ranking.of_phase
    return tell(answers, wanted)


def of_run(database: Database, run_id: str, wanted: Wanted) -> Iterator[Printed]:
    """The tables that :func:`show_results` prints: those of every figure, as far as a reader wants them."""
    chosen = {
        "phase": wanted.phase,
        "across_security_levels": wanted.across_security_levels,
        TABLE: wanted.table,
    }
    for figure, layout in catalogue.printed():
        is_wanted = layout.needs_details in (None, wanted.is_detailed)
        if is_wanted and (wanted.phase == MAIN_PHASE or not layout.is_main):
            answers = [rows(database, each, run_id, chosen) for each in (figure, *layout.others)]
            yield from listing.tables(figure, layout, answers, wanted)


def show_published(console: Terminal, database: Database, run_id: str | None) -> None:
    """Print published values beside a run's, one table per source and host."""
    if run_id is None:
        console.print("ours: no run is recorded yet")
    else:
        (run,) = database.report("run", run_id=run_id)
        place = f"host {run['hostname']} ({run['cpu_model']})"
        console.print(f"ours: run {run_id} of suite {run['suite']} on {place}", soft_wrap=True)
    console.print(published.ABOUT)
    show(console, published.tables(rows(database, published.PUBLISHED, run_id)))


def table_of(database: Database, run_id: str) -> Table:
    """The table that levels of security of the run's suite are of."""
    (row,) = database.report("run_security_table", run_id=run_id)
    return cast("Table", row["security_table"])


def heading(database: Database, run_id: str) -> str:
    """Which run it is, and how its trials ended."""
    (facts,) = database.report("run", run_id=run_id)
    counts = database.report("run_statuses", run_id=run_id)
    statuses = ", ".join(f"{row['trials']} {row['status']}" for row in counts)
    when = formats.minute(facts["started_at"])
    return f"run {run_id} of suite {facts['suite']}, {when}, host {facts['hostname']}: {statuses}"


def _show_notes(console: Terminal, database: Database, run_id: str, has_notes: bool) -> None:
    notes = run_notes.notes(database.report("run_measured", run_id=run_id))
    if not has_notes and notes:
        many = "1 measurement note" if len(notes) == 1 else f"{len(notes)} measurement notes"
        console.print(Text(f"{many}: ciphermark results {run_id[:8]} --notes"))
        return
    for note in notes:
        console.print(Text(f"note: {note}"))
