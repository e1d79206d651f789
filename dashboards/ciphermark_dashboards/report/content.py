"""What a report holds, read from the store: the same figures as the pages, for each scheme, level and data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ciphermark_dashboards import filters, pages, rendering, runs
from ciphermark_dashboards.filters import Choice, Selection, selected
from ciphermark_dashboards.pages import Page
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.report import summary
from ciphermark_dashboards.store import Store
from ciphermark_present import query
from ciphermark_present.catalogue import ranking
from ciphermark_present.formats import level
from ciphermark_present.notes import Note
from ciphermark_present.query import Row

_SINGLE = (filters.PHASE, filters.DATA, filters.THREADS)  # of these a section shows one value


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one page for one place; none of them is empty. ``scope`` says what the page has and this not."""

    title: str
    scope: str
    figures: tuple[Filled, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """``facts`` is the run with its host; ``headline`` is what to know before anything else; ``caveats`` is what spoils
    its figures; ``notes`` is what these include; ``has_sql``: they show their SQL.
    """

    title: str
    facts: Row
    headline: tuple[str, ...]
    summary: tuple[str, ...]
    caveats: tuple[str, ...]
    failures: Sequence[Row]
    builds: Sequence[Row]
    sections: tuple[Section, ...]
    notes: tuple[Note, ...] = ()
    has_sql: bool = False


def made(store: Store, run: str, has_sql: bool = False, notes: Iterable[Note] = ()) -> Report:
    """The report of a run, named by its id, the beginning of it, or ``last``. Raises ``UserError`` for no such run.

    ``has_sql``: with what each figure asks the database; ``notes`` are those of what was measured.
    """
    run_id = str(runs.named(store, run)["run_id"])
    (facts,) = store.ask("run_facts", {"run_id": run_id}).mappings
    outcomes = store.ask("outcomes", {"parts": [run_id]}).mappings
    builds = store.ask("builds", {"parts": [run_id]}).mappings
    states = store.ask("host_state", {"run_id": run_id}).mappings
    sections = tuple(_sections(store, run_id))
    figures = [item for section in sections for item in section.figures]
    return Report(
        title=f"{facts['suite']} on {facts['hostname']}",
        facts=facts,
        headline=tuple(summary.headline(outcomes, _verdicts(store, run_id))),
        summary=tuple(summary.sentences(outcomes, figures)),
        caveats=tuple(summary.caveats(facts, builds, states)),
        failures=store.ask("failures", {"parts": [run_id]}).mappings,
        builds=builds,
        sections=sections,
        notes=tuple(notes),
        has_sql=has_sql,
    )


def needed(report: Report, item: Filled) -> list[Note]:
    """The notes that a figure needs, by the rows it has."""
    about, column = item.figure.noted_by
    return [note for note in report.notes if note.about == about and note.is_needed(column, item.rows)]


def _verdicts(store: Store, run_id: str) -> Iterator[str]:
    """Who is fastest how often, as the command line tells it."""
    chosen = {"any_security": False}
    answers = [store.answer(query.of(figure, run_id, chosen)).mappings for figure in ranking.OF_RUN]
    yield from ranking.of_run(answers, any_security=False)


def _sections(store: Store, run_id: str) -> Iterator[Section]:
    rows = store.ask("choices", {"run_id": run_id}).mappings
    for page in pages.PAGES:
        asked: set[str] = set()
        for selection in _selections(run_id, page, page.choices(rows)):
            figures = [rendering.filled(store, figure, selection) for figure in page.figures]
            told = tuple(item for item in figures if item.rows and item.sql not in asked)
            asked |= {item.sql for item in figures}  # what does not depend on the data set is told once
            if told:
                yield Section(_heading(page, selection), _scope(selection), told)


def _selections(run_id: str, page: Page, rows: Sequence[Row]) -> Iterator[Selection]:
    """One for each scheme and security level that the page's subjects have, else for each value of its first filter."""
    subject = (("run", run_id),)
    if filters.SCHEME not in page.filters:
        first = page.filters[0]
        for value in sorted({row[first.column] for row in rows if row[first.column] is not None}):
            yield selected(subject, page.filters, rows, [(first.name, value)])
        return
    places = sorted(
        {(row["scheme"], row["security_compared"]) for row in rows if row["security_compared"] is not None}
    )
    for scheme, security in places:
        asked = [("scheme", scheme), ("security", str(security))]
        here = [row for row in rows if (row["scheme"], row["security_compared"]) == (scheme, security)]
        yield selected(subject, page.filters, here, asked)


def _heading(page: Page, selection: Selection) -> str:
    parameters: dict[str, Any] = selection.parameters
    if "scheme" not in parameters:
        first = page.filters[0]
        return f"{page.title}: {first.label.lower()} {parameters[first.column]}"
    return f"{page.title}: {parameters['scheme']}, {level(parameters['security_compared'])} (2018)"


def _scope(selection: Selection) -> str:
    """What is shown of the filters that take one value, what is left out, and how to get it."""
    single = [choice for choice in selection.choices if choice.filter in _SINGLE and choice.chosen]
    shown = ", ".join(_told(choice, choice.chosen) for choice in single)
    left_out = [
        _told(choice, tuple(value for value in choice.values if value not in choice.chosen))
        for choice in single
        if len(choice.values) > 1
    ]
    if not left_out:
        return f"Shown: {shown}." if shown else ""
    return (
        f"Shown: {shown}. Left out: {', '.join(left_out)}; the dashboard's filters show them, and so does "
        "`ciphermark figure` with its option --filter. Not every figure depends on all of these."
    )


def _told(choice: Choice, values: Sequence[Any]) -> str:
    return f"{choice.filter.label.lower()} {' and '.join(map(choice.filter.write, values))}"
