"""The subjects of pages and figures: the runs, and the choices within them, as named in addresses and commands."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ciphermark_dashboards.filters import CARRIED, Query, Selection, require_known, selected
from ciphermark_dashboards.pages import CASE_PAGE, COMPARE_PAGE, FIGURE_PAGES
from ciphermark_dashboards.rendering import Figures
from ciphermark_dashboards.store import NotFoundError, Store
from ciphermark_present.page import Page
from ciphermark_present.query import Row

_LATEST = 20  # runs searched for results when a page has no choice


class Selections:
    """Selections by parameters, name and value each. Raises ``UserError`` for parameters that do not fit a run."""

    def __init__(self, store: Store, figures: Figures) -> None:
        self._store = store
        self._figures = figures

    def of_figure(self, name: str, query: Query) -> Selection:
        """The selection of a standalone figure: the same as on its page."""
        page = FIGURE_PAGES[name]
        choose = {CASE_PAGE.path: self.of_case, COMPARE_PAGE.path: self.of_two}
        return choose.get(page.path, partial(self.of_page, page))(query)

    def of_page(self, page: Page, query: Query) -> Selection:
        """The selection of a page about one run, by default the latest that has a case for it."""
        name = dict(query).get("run", "")
        run = self._store.run(name) if name else self._latest_for(page)
        rows = page.choices(self._figures.choices(run))
        selection = selected((("run", run["run_id"]),), page.filters, rows, query)
        return _about(replace(selection, text=page.question), run)

    def _latest_for(self, page: Page) -> Row:
        """The latest run, among recent ones, with a case that the page is about; else the latest."""
        latest = self._store.run("")
        if page.choices(self._figures.choices(latest)):
            return latest
        others = map(self._store.run, (run["run_id"] for run in self._store.run_choices()[:_LATEST]))
        return next((run for run in others if page.choices(self._figures.choices(run))), latest)

    def of_case(self, query: Query) -> Selection:
        """One case of a run, by its key."""
        given = dict(query)
        require_known(given, ("run", "case", *CARRIED, *(item.name for item in CASE_PAGE.filters)))
        run = self._store.run(given.get("run", ""))
        case = given.get("case", "")
        if not case:
            raise NotFoundError(
                "Missing case: add case=KEY, a value of the column comparison_group of `results`."
            )
        subject = (("run", run["run_id"]),)
        rest = [(name, value) for name, value in query if name != "case"]
        selection = selected(subject, CASE_PAGE.filters, (), rest)
        return _about(replace(selection, given=tuple(query), extra={"comparison_group": case}), run)

    def of_two(self, query: Query) -> Selection:
        """Two runs, by default the latest, and the one before it of the same suite."""
        given = dict(query)
        b = self._store.run(given.get("b", ""))
        a = self._store.run(given.get("a") or self._store.run_before(b["run_id"]))
        subject = (("a", a["run_id"]), ("b", b["run_id"]))
        return _about(selected(subject, COMPARE_PAGE.filters, (), query), a, b)


def _about(selection: Selection, *runs: Row) -> Selection:
    return replace(selection, recorded=", ".join(run["recorded"] for run in runs))
