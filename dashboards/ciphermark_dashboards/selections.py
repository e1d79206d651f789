"""What pages and figures are about: the runs, and what is chosen of them, as addresses and command lines name them."""

from __future__ import annotations

from functools import partial

from ciphermark_dashboards.filters import Query, Selection, require_known, selected
from ciphermark_dashboards.pages import CASE_PAGE, COMPARE_PAGE, FIGURE_PAGES, Page
from ciphermark_dashboards.rendering import Figures
from ciphermark_dashboards.store import NotFoundError, Store


class Selections:
    """Selections by parameters, name and value each; raises ``UserError`` for what makes no sense of a run."""

    def __init__(self, store: Store, figures: Figures) -> None:
        self._store = store
        self._figures = figures

    def of_figure(self, name: str, query: Query) -> Selection:
        """That of a figure by itself: as on its page."""
        page = FIGURE_PAGES[name]
        choose = {CASE_PAGE.path: self.of_case, COMPARE_PAGE.path: self.of_two}
        return choose.get(page.path, partial(self.of_page, page))(query)

    def of_page(self, page: Page, query: Query) -> Selection:
        """That of a page about one run, by default the latest."""
        run_id = self._run(dict(query).get("run", ""))
        rows = self._figures.choices(run_id, self._figures.recorded((run_id,))).mappings
        return selected((("run", run_id),), page.filters, page.choices(rows), query)

    def of_case(self, query: Query) -> Selection:
        """One case of a run, by its key."""
        given = dict(query)
        require_known(given, ("run", "case"))
        run_id = self._run(given.get("run", ""))
        case = given.get("case", "")
        if not case:
            raise NotFoundError(
                "Which case? It is named by its key, the column comparison_key of `results`: case=KEY."
            )
        return Selection((("run", run_id),), given=(("case", case),), extra={"comparison_key": case})

    def of_two(self, query: Query) -> Selection:
        """Two runs, by default the latest, and the one before it of the same suite."""
        given = dict(query)
        b = self._run(given.get("b", ""))
        a = given.get("a") or self._store.run_before(b)
        return selected((("a", self._run(a)), ("b", b)), COMPARE_PAGE.filters, (), query)

    def _run(self, asked: str) -> str:
        return str(self._store.run(asked)["run_id"])
