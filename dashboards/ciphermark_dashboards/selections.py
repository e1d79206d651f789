"""The subjects of pages and figures: the runs, and the choices within them, as named in addresses and commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ciphermark_dashboards.filters import ARRANGED, CARRIED, Query, Selection, require_known, selected
from ciphermark_dashboards.pages import CASE_PAGE, COMPARE_PAGE, FIGURE_PAGES
from ciphermark_dashboards.rendering import Figures
from ciphermark_dashboards.store import NotFoundError, Store
from ciphermark_present.page import Page
from ciphermark_present.query import Row

_OF_THE_PAGE = ("suite", "case")  # parameters of the page Compare that do not choose rows
_LATEST = 20  # runs searched for results when a page has no choice


class NoPairError(NotFoundError):
    """There are no two runs to compare; ``suite`` is the one to execute again."""

    def __init__(self, suite: str, is_chosen: bool) -> None:
        lack = f"The suite {suite} has no second run." if is_chosen else "No suite has two runs."
        super().__init__(f"{lack} Execute the suite {suite} again to compare.")
        self.suite = suite


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
        return next(self.of_runs(page, query))

    def of_runs(self, page: Page, query: Query) -> Iterator[Selection]:
        """The selections of a page about one run: that of the address; else those with a case for the page, the latest
        first and reference runs last; else the latest.
        """
        name, is_any = dict(query).get("run", ""), False
        runs = iter([self._store.run(name)]) if name else self._runs()
        for run in runs:
            rows = page.choices(self._figures.choices(run))
            if rows or name:
                is_any = True
                yield self._of_run(page, run, rows, query)
        if not is_any:
            yield self._of_run(page, next(self._runs()), (), query)

    def _runs(self) -> Iterator[Row]:
        """The runs that may answer: the latest, recent ones, then reference runs."""
        latest = self._store.find_run("")
        if latest is not None:
            yield latest
        choices = self._store.run_choices()
        recent = [run for run in choices if not run["is_shipped"]][:_LATEST]
        for run in (*recent, *(run for run in choices if run["is_shipped"])):
            if latest is None or run["run_id"] != latest["run_id"]:
                yield self._store.run(run["run_id"])

    @staticmethod
    def _of_run(page: Page, run: Row, rows: Sequence[Row], query: Query) -> Selection:
        selection = selected((("run", run["run_id"]),), page.filters, rows, query)
        return _about(replace(selection, text=page.question), run)

    def of_case(self, query: Query) -> Selection:
        """One case of a run, by its key."""
        given = dict(query)
        require_known(given, ("run", "case", ARRANGED, *CARRIED, *(item.name for item in CASE_PAGE.filters)))
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
        """Two runs: those of the address, else the last two of the suite in the address, else the last two of a suite.
        A suite takes precedence over runs of other suites. Raises :class:`NoPairError` where there are no two runs.
        """
        given = dict(query)
        filters = (item.name for item in COMPARE_PAGE.filters)
        require_known(given, ("a", "b", *_OF_THE_PAGE, *CARRIED, *filters))
        a, b = (self._store.run(given[name]) if given.get(name) else None for name in "ab")
        suite = given.get("suite", "")
        if suite and any(run is not None and run["suite"] != suite for run in (a, b)):
            a = b = None
        if a is None or b is None:
            a, b = self._pair(suite, a, b)
        own = [(name, text) for name, text in query if name not in _OF_THE_PAGE]
        subject = (("a", a["run_id"]), ("b", b["run_id"]))
        return _about(selected(subject, COMPARE_PAGE.filters, (), own), a, b)

    def _pair(self, suite: str, a: Row | None, b: Row | None) -> tuple[Row, Row]:
        """Two runs of a suite, the given ones included."""
        ids = {name: run["run_id"] for name, run in (("a", a), ("b", b)) if run is not None}
        pair = self._store.latest_pair(suite, **ids)
        if pair is None:
            run = a or b
            chosen = run["suite"] if run else suite
            latest = self._store.find_run("") or {"suite": "quick"}
            raise NoPairError(chosen or latest["suite"], is_chosen=bool(chosen))
        return self._store.run(pair[0]), self._store.run(pair[1])


def _about(selection: Selection, *runs: Row) -> Selection:
    return replace(selection, recorded=", ".join(run["recorded"] for run in runs))
