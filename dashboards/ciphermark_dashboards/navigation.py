"""Addresses of all pages with the reader's choices: computation, scheme and run go along from page to page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ciphermark_dashboards.filters import CARRIED, FOR, carried
from ciphermark_dashboards.pages import COMPARE_PAGE, OVERVIEW_PATH, PAGES, RUNS_PATH
from ciphermark_dashboards.rendering import Figures
from ciphermark_dashboards.store import NotFoundError, Store
from ciphermark_present.query import Row

PARAMETERS = ("run", *CARRIED)


class Navigation:
    """The context of ``base.html``: ``links`` are addresses by path, ``homes`` the pages about the computation."""

    def __init__(self, store: Store, figures: Figures) -> None:
        self._store = store
        self._figures = figures

    def of_run(self, run: Row, chosen: Mapping[str, str]) -> dict[str, Any]:
        """For a run. Pages that it has no results for keep only the choices."""
        rows = self._figures.choices(run)
        run_id = str(run["run_id"])
        queries = {page.path: carried(page, rows, run_id, chosen) for page in PAGES}
        operation = chosen.get(FOR)
        compared = {"b": run_id} if self._store.latest_pair(b=run_id) else {}
        return {
            "links": {
                **_of_choices({**chosen, "run": run_id}),
                **{path: f"{path}?{query}" for path, query in queries.items() if query is not None},
                COMPARE_PAGE.path: _address(COMPARE_PAGE.path, {**compared, **chosen}),
            },
            "filled": [path for path, query in queries.items() if query is not None],
            "homes": [
                page.path
                for page in PAGES
                if operation and any(row["operation"] == operation for row in page.choices(rows))
            ],
        }

    def of_query(self, given: Mapping[str, str]) -> dict[str, Any]:
        """For the parameters of an address. A run that does not exist is left out."""
        chosen = {name: given[name] for name in CARRIED if given.get(name)}
        try:
            run = self._store.find_run(given["run"]) if given.get("run") else None
        except NotFoundError:
            run = None
        return self.of_run(run, chosen) if run else {"links": _of_choices(chosen)}


def _of_choices(chosen: Mapping[str, str]) -> dict[str, str]:
    paths = (OVERVIEW_PATH, RUNS_PATH, COMPARE_PAGE.path, *(page.path for page in PAGES))
    return {path: _address(path, chosen) for path in paths}


def _address(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
