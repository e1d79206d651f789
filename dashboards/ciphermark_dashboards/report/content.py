"""What a report holds, read from the store: the same figures as the pages, one set per scheme and security level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ciphermark_core.errors import UserError
from ciphermark_dashboards import filters, pages, rendering
from ciphermark_dashboards.filters import Selection, selected
from ciphermark_dashboards.formats import level
from ciphermark_dashboards.pages import Page
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.report import summary
from ciphermark_dashboards.store import Row, Store


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one page for one scheme and security level; none of them is empty."""

    title: str
    figures: tuple[Filled, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """``facts`` is the run with its host; ``caveats`` is what spoils its figures."""

    title: str
    facts: Row
    summary: tuple[str, ...]
    caveats: tuple[str, ...]
    outcomes: Sequence[Row]
    failures: Sequence[Row]
    builds: Sequence[Row]
    sections: tuple[Section, ...]


def made(store: Store, run: str) -> Report:
    """The report of a run, named by its id, the beginning of it, or ``last``. Raises ``UserError`` for no such run."""
    run_id = _run_id(store, run)
    (facts,) = store.ask("run_facts", {"run_id": run_id}).mappings
    outcomes = store.ask("outcomes", {"parts": [run_id]}).mappings
    builds = store.ask("builds", {"parts": [run_id]}).mappings
    sections = tuple(_sections(store, run_id))
    return Report(
        title=f"{facts['suite']} on {facts['hostname']}",
        facts=facts,
        summary=tuple(summary.sentences(outcomes, sections_by_figure(sections))),
        caveats=tuple(summary.caveats(facts, builds)),
        outcomes=outcomes,
        failures=store.ask("failures", {"parts": [run_id]}).mappings,
        builds=builds,
        sections=sections,
    )


def sections_by_figure(sections: Sequence[Section]) -> Mapping[str, list[Filled]]:
    """All filled figures by the name of the figure."""
    found: dict[str, list[Filled]] = {}
    for section in sections:
        for item in section.figures:
            found.setdefault(item.figure.name, []).append(item)
    return found


def _sections(store: Store, run_id: str) -> Iterator[Section]:
    rows = store.ask("choices", {"run_id": run_id}).mappings
    for page in pages.PAGES:
        here = [row for row in rows if row["experiment"] in page.experiments]
        for selection in _selections(run_id, page, here):
            figures = [rendering.filled(store, figure, selection) for figure in page.figures]
            told = tuple(item for item in figures if item.rows)
            if told:
                yield Section(_heading(page, selection), told)


def _selections(run_id: str, page: Page, rows: Sequence[Row]) -> Iterator[Selection]:
    """One for each scheme and security level that the page's experiments have; one where it does not ask for them."""
    subject = (("run", run_id),)
    if filters.SCHEME not in page.filters:
        if rows:
            yield selected(subject, page.filters, rows, ())
        return
    places = sorted(
        {(row["scheme"], row["security_2018"]) for row in rows if row["security_2018"] is not None}
    )
    for scheme, security in places:
        query = [("scheme", scheme), ("security", str(security))]
        here = [row for row in rows if (row["scheme"], row["security_2018"]) == (scheme, security)]
        yield selected(subject, page.filters, here, query)


def _heading(page: Page, selection: Selection) -> str:
    parameters: dict[str, Any] = selection.parameters
    if "scheme" not in parameters:
        return page.title
    return f"{page.title}: {parameters['scheme']}, {level(parameters['security'])} (2018)"


def _run_id(store: Store, run: str) -> str:
    known = [str(row["run_id"]) for row in store.ask("run_choices", {}).mappings]
    if not known:
        raise UserError("there is no run to report on; make one: ciphermark run suites/quick.yaml")
    if run == "last":
        return known[0]
    found = [run_id for run_id in known if run_id.startswith(run)]
    if len(found) != 1:
        what = "is no run here" if not found else f"is the beginning of {len(found)} runs"
        raise UserError(f"{run!r} {what}; the latest is {known[0]}")
    return found[0]
