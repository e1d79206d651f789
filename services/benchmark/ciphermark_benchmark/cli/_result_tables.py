"""The results of a run as tables, for the terminal and for papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from ciphermark_benchmark import run_notes
from ciphermark_benchmark.cli._tables import MIXED, show
from ciphermark_benchmark.figure_rows import rows
from ciphermark_db.database import Database
from ciphermark_present import host_state
from ciphermark_present.figure import Figure
from ciphermark_present.listings import (
    depths,
    first_executions,
    inference,
    layers,
    learning,
    limits,
    objects,
    overview,
    ranking,
    repetitions,
    retrieval,
    verdicts,
    workloads,
)
from ciphermark_present.listings.printed import Printed
from ciphermark_present.listings.retrieval import Prices
from ciphermark_workloads.catalogue import WORKLOADS

MAIN_PHASE = verdicts.OPERATION  # with it everything else is told, too


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reader wants of a run: a phase, ratios across levels, every interval and parameter, the notes; and what
    computation and bytes cost.
    """

    phase: str = MAIN_PHASE
    any_security: bool = False
    is_detailed: bool = False
    has_notes: bool = False
    prices: Prices = field(default_factory=Prices)


def show_results(console: Console, database: Database, run_id: str, wanted: Wanted) -> None:
    """Print the verdict, the ranked variants of every case of a run, what else it measured, and what spoils it."""
    if wanted.any_security:
        console.print(Text(MIXED, style="yellow"))
    console.print(Text(heading(database, run_id)))
    ranked = _asked(database, run_id, ranking.FIGURES, wanted)
    for sentence in _verdicts(database, run_id, ranked, wanted):
        console.print(Text(sentence, style="bold"))
    tables = _tables(database, run_id, ranked, wanted)
    if not wanted.is_detailed and ranking.contests(ranked, wanted.any_security):
        console.print(Text(f"\n{overview.EXPLAINED}"))
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


def _verdicts(
    database: Database, run_id: str, ranked: Sequence[Sequence[dict[str, Any]]], wanted: Wanted
) -> Iterator[str]:
    if wanted.phase != MAIN_PHASE:
        return verdicts.of_phase(ranked, wanted.any_security)
    chosen = {"any_security": wanted.any_security}
    answers = [rows(database, figure, run_id, chosen) for figure in verdicts.FIGURES]
    return verdicts.of_run(answers, wanted.any_security)


def of_run(database: Database, run_id: str, wanted: Wanted) -> list[Printed]:
    """The tables that :func:`show_results` prints."""
    return _tables(database, run_id, _asked(database, run_id, ranking.FIGURES, wanted), wanted)


def _tables(
    database: Database, run_id: str, ranked: Sequence[Sequence[dict[str, Any]]], wanted: Wanted
) -> list[Printed]:
    def found(figures: Iterable[Figure]) -> list[list[dict[str, Any]]]:
        return _asked(database, run_id, figures, Wanted(any_security=any_security))

    any_security = wanted.any_security
    titles = {name: workload.title for name, workload in WORKLOADS.items()}
    is_main = wanted.phase == MAIN_PHASE
    listing = ranking if wanted.is_detailed else overview
    tables = [*listing.tables(ranked, any_security)]
    if is_main:
        tables += repetitions.tables(found(repetitions.FIGURES), any_security, wanted.is_detailed)
    tables += learning.tables(found(learning.FIGURES), any_security, titles, wanted.is_detailed)
    tables += inference.tables(found(inference.FIGURES), any_security)
    tables += retrieval.tables(found(retrieval.FIGURES), any_security, wanted.prices)
    tables += layers.tables(found(layers.FIGURES), any_security)
    tables += workloads.tables(found(workloads.FIGURES), any_security, titles)
    limited = depths if wanted.is_detailed else limits
    tables += limited.tables(found(depths.FIGURES), any_security)
    if is_main:
        tables += objects.tables(found(objects.FIGURES), any_security)
    if is_main and wanted.is_detailed:
        tables += first_executions.tables(found(first_executions.FIGURES), any_security)
    return tables


def _asked(
    database: Database, run_id: str, figures: Iterable[Figure], wanted: Wanted
) -> list[list[dict[str, Any]]]:
    chosen = {"phase": wanted.phase, "any_security": wanted.any_security}
    return [rows(database, figure, run_id, chosen) for figure in figures]


def heading(database: Database, run_id: str) -> str:
    """Which run it is, and how its trials ended."""
    (facts,) = database.report("run", run_id=run_id)
    counts = database.report("run_statuses", run_id=run_id)
    told = ", ".join(f"{row['trials']} {row['status']}" for row in counts)
    when = f"{facts['started_at']:%Y-%m-%d %H:%M}"
    return f"run {run_id} of suite {facts['suite']}, {when}, host {facts['hostname']}: {told}"


def _show_notes(console: Console, database: Database, run_id: str, has_notes: bool) -> None:
    notes = run_notes.notes(database.report("run_measured", run_id=run_id))
    if not has_notes and notes:
        many = "1 note" if len(notes) == 1 else f"{len(notes)} notes"
        console.print(Text(f"{many} on what figures include: ciphermark results {run_id[:8]} --notes"))
        return
    for note in notes:
        console.print(Text(f"note: {note}"))
