"""The results of a run as tables, for the terminal and for papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from rich.text import Text

from ciphermark_analysis.ratios import Kind
from ciphermark_benchmark import run_notes
from ciphermark_benchmark.figure_rows import rows
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_core.security import OLDEST, Table
from ciphermark_db.database import Database
from ciphermark_present import catalogue, formats, headings, host_state, listing
from ciphermark_present.catalogue import published, ranking
from ciphermark_present.console import Terminal
from ciphermark_present.figure import Figure, Layout, Rows
from ciphermark_present.printed import Printed, Wanted
from ciphermark_present.query import AS_MEASURED, TABLE, Row
from ciphermark_present.terminal import fitting, show, wrapped

MAIN_PHASE = "evaluate"  # the default, with which all other metrics are shown, too
MIXED = (
    "Security levels are mixed (--across-security-levels): ratios between different levels are marked, and do not "
    "compare like with like."
)
_SHOWN_ID = 8  # characters of a run's id
UNCORRECTED_HELP = "Show times without correction for host interference."


_SCREENS = 98  # lines: two screens of 50, less the lines of a prompt


def show_results(console: Terminal, database: Database, run_id: str, wanted: Wanted) -> None:
    """Print the number of wins by variant, the ranked variants of every case of a run, its other results, and the host
    state. The output fits two screens, unless the reader wants it ``is_whole`` or ``is_detailed``.
    """
    width = console.width
    lines = [*wrapped(MIXED, width, "yellow")] * wanted.across_security_levels
    lines += [*wrapped(AS_MEASURED, width, "yellow")] * database.is_uncorrected
    lines += wrapped(heading(database, run_id), width)
    lines += (line for text in _verdicts(database, run_id, wanted) for line in wrapped(text, width, "bold"))
    layouts = _tables(database, run_id, wanted)
    groups = [tables for _, tables in layouts]
    end = [line for text in _end(database, run_id, wanted) for line in wrapped(text, width)]
    if not (wanted.is_whole or wanted.is_detailed):
        groups = fitting(groups, width, _SCREENS - len(lines) - len(end) - _AROUND)
    ranked = [
        table
        for (layout, _), tables in zip(layouts, groups, strict=True)
        if layout is ranking.OVERVIEW
        for table in tables
    ]
    if ranked:
        lines += (Text(""), *map(Text, ranking.legend(ranked, width, wanted.baseline)))
    for line in lines:
        console.print(line, soft_wrap=True)
    show(console, (table for tables in groups for table in tables))
    if not any(groups):
        console.print(
            Text(f"No {headings.time_of(wanted.phase)} to rank: no library completed a trial that has one.")
        )
    console.print()
    hidden = sum(len(tables) for _, tables in layouts) - sum(map(len, groups))
    shortened = sum(bool(table.hidden_rows) for tables in groups for table in tables)
    for line in (*_hidden(run_id, hidden, shortened), *end):
        console.print(line, soft_wrap=True)
    _show_notes(console, database, run_id, wanted.has_notes)


_AROUND = 8  # lines: empty lines, legend, hidden tables, number of notes


def _hidden(run_id: str, tables: int, shortened: int) -> Iterator[Text]:
    """The numbers of omitted and of shortened tables, and the option that prints them."""
    counts = [f"{_tables_in_words(tables)} hidden"] * bool(tables)
    counts += [f"{_tables_in_words(shortened)} shortened"] * bool(shortened)
    if counts:
        yield Text(
            f"{', '.join(counts)}. All tables: ciphermark results {run_id[:_SHOWN_ID]} --all", style="bold"
        )


def _tables_in_words(count: int) -> str:
    return "1 table" if count == 1 else f"{count} tables"


def _end(database: Database, run_id: str, wanted: Wanted) -> Iterator[str]:
    """The host state, and where to find more."""
    for row in database.report("host_state", run_id=run_id):
        yield from host_state.told(row)
    if not wanted.is_detailed:
        yield f"Intervals, parameters and stages: ciphermark results {run_id[:_SHOWN_ID]} --details"


def _verdicts(database: Database, run_id: str, wanted: Wanted) -> Iterator[str]:
    is_main = wanted.phase == MAIN_PHASE
    chosen: dict[str, Any] = {"across_security_levels": wanted.across_security_levels, TABLE: wanted.table}
    figures = ranking.OF_RUN if is_main else ranking.OF_PHASE
    answers = [
        rows(database, figure, run_id, chosen if is_main else chosen | {"phase": wanted.phase})
        for figure in figures
    ]
    tell = ranking.of_run if is_main else ranking.of_phase
    return tell(answers, wanted)


def of_run(database: Database, run_id: str, wanted: Wanted) -> Iterator[Printed]:
    """All tables of a run that a reader wants in a paper."""
    for layout, tables in _tables(database, run_id, replace(wanted, is_for_paper=True)):
        is_ranking = layout is ranking.OVERVIEW
        yield from (ranking.explained(table, wanted.baseline) if is_ranking else table for table in tables)


def _tables(database: Database, run_id: str, wanted: Wanted) -> list[tuple[Layout, list[Printed]]]:
    """The tables of every figure, by the figure's layout. Raises ``UserError`` where none has the wanted name."""
    pairs = list(_pairs(wanted))
    names = list(dict.fromkeys(figure.name for figure, _ in pairs))
    own = [pair for pair in pairs if not wanted.name or _is_named(pair[0].name, wanted.name)]
    groups = [
        (figure, layout, _of_layout(database, run_id, figure, layout, wanted)) for figure, layout in own
    ]
    counts = Counter(figure.name for figure, _, tables in groups for _ in tables)
    numbers: Counter[str] = Counter()
    named: list[tuple[Layout, list[Printed]]] = []
    for figure, layout, tables in groups:
        kept = []
        for table in tables:
            numbers[figure.name] += 1
            number = f"-{numbers[figure.name]}" if counts[figure.name] > 1 else ""
            if wanted.name in ("", figure.name, figure.name + number):
                kept.append(replace(table, name=figure.name + number))
        if kept:
            named.append((layout, kept))
    if wanted.name and not named:
        hint = did_you_mean(wanted.name, names)
        raise UserError(
            f"--table {wanted.name}: this run has no such table; tables are {', '.join(names)}{hint}"
        )
    return named


def _is_named(figure: str, name: str) -> bool:
    """Whether a table's name is that of a figure, or of one of its tables."""
    return name == figure or (name.startswith(f"{figure}-") and name.removeprefix(f"{figure}-").isdigit())


def _pairs(wanted: Wanted) -> Iterator[tuple[Figure, Layout]]:
    """The figures with their layouts that a reader wants."""
    for figure, layout in catalogue.printed():
        is_wanted = layout.needs_details in (None, wanted.is_detailed)
        if is_wanted and (wanted.phase == MAIN_PHASE or not layout.is_main):
            yield figure, layout


def _of_layout(
    database: Database, run_id: str, figure: Figure, layout: Layout, wanted: Wanted
) -> list[Printed]:
    chosen = {
        "phase": wanted.phase,
        "across_security_levels": wanted.across_security_levels,
        TABLE: wanted.table,
    }
    answers: list[Rows] = [rows(database, each, run_id, chosen) for each in (figure, *layout.others)]
    is_ranking = layout in (ranking.OVERVIEW, ranking.RANKING)
    if is_ranking and wanted.baseline:
        answers[0] = _relative(database, run_id, answers[0], wanted)
    shown = ranking.PAPER if layout is ranking.OVERVIEW and wanted.is_for_paper else layout
    return listing.tables(figure, shown, answers, wanted)


def _relative(database: Database, run_id: str, ranks: Rows, wanted: Wanted) -> Rows:
    """The ranks relative to the wanted baseline. Raises ``UserError`` for a variant that the run lacks."""
    variants = sorted({row["variant"] for row in ranks})
    if wanted.baseline not in variants:
        hint = did_you_mean(wanted.baseline, variants)
        raise UserError(f"--relative-to {wanted.baseline}: this run has {', '.join(variants)}{hint}")
    kind: Kind = "equal_security" if wanted.table == OLDEST else "equal_security_2024"
    if wanted.across_security_levels:
        kind = "across_security_levels"
    ratios = database.ratios_to(wanted.baseline, run_id, kind)
    return ranking.relative(ranks, ratios, database.is_uncorrected)


def show_published(console: Terminal, database: Database, run_id: str | None) -> None:
    """Print published values next to a run's, one table per source and host."""
    if run_id is None:
        console.print("Ours: no run is recorded yet")
    else:
        (run,) = database.report("run", run_id=run_id)
        console.print(f"Ours: run {run_in_words(run)} ({run['cpu_model']})", soft_wrap=True)
    console.print(published.ABOUT)
    show(console, published.tables(rows(database, published.PUBLISHED, run_id)))


def table_of(database: Database, run_id: str) -> Table:
    """The security table of the run's suite."""
    (row,) = database.report("run_security_table", run_id=run_id)
    return cast("Table", row["security_table"])


def heading(database: Database, run_id: str) -> str:
    """The description of a run, and how its trials ended."""
    (facts,) = database.report("run", run_id=run_id)
    counts = database.report("run_statuses", run_id=run_id)
    statuses = ", ".join(f"{row['trials']:,} {row['status']}" for row in counts)
    return f"Run {run_in_words(facts)}. Trials: {statuses or 'none'}"


def run_in_words(facts: Row) -> str:
    """The description of a run: the beginning of its id, its suite, start and host; ``facts`` as in
    the report ``run``.
    """
    when = formats.minute(facts["started_at"])
    return f"{facts['id'][:_SHOWN_ID]} of suite {facts['suite']}, {when}, host {facts['hostname']}"


def _show_notes(console: Terminal, database: Database, run_id: str, has_notes: bool) -> None:
    notes = run_notes.notes(database.report("run_measured", run_id=run_id))
    if not has_notes and notes:
        many = "1 measurement note" if len(notes) == 1 else f"{len(notes)} measurement notes"
        console.print(Text(f"{many}: ciphermark results {run_id[:_SHOWN_ID]} --notes"))
        return
    for note in notes:
        for line in wrapped(f"Note: {note}", console.width):
            console.print(line, soft_wrap=True)
