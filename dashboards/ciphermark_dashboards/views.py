"""Answers to requests for pages, figures and assets. Plain functions: FastAPI gives each a thread of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from ciphermark_dashboards import downloads, runs, templating
from ciphermark_dashboards.errors import NotFoundError
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.pages import CASE_PAGE, FIGURES, Page, measured
from ciphermark_dashboards.rendering import Figures, Filled
from ciphermark_dashboards.runs import Run
from ciphermark_dashboards.selections import Selections
from ciphermark_dashboards.serving import assets
from ciphermark_dashboards.store import Store
from ciphermark_present import formats, host_state

_AT_ONCE = 4  # queries of pages
_YEAR_S = 365 * 24 * 3600


class Views:
    """The pages about one run, its cases, and every figure by itself."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._figures = Figures(store)
        self._selections = Selections(store, self._figures)
        self._asking = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="figures")

    def page(self, page: Page, request: Request) -> HTMLResponse:
        """A page of figures about one run."""
        choices = runs.choices(self._store)
        if not choices:
            return nothing_yet()
        selection = self._selections.of_page(page, request.query_params.multi_items())
        figures = self.filled(page, selection)
        # What others published is there for every run.
        is_empty = not any(item.rows for item in figures if item.figure.subject is not None)
        return templating.page(
            "page.html",
            **_told(page, selection),
            figures=figures,
            is_empty=is_empty,
            elsewhere=self._elsewhere(selection.runs[0]) if is_empty else [],
            runs=named(self.offered(choices, selection)),
            notes=selection.notes,
            states=self._states(selection.runs[0]),
            run_id=selection.runs[0],
            filters_shown=True,
        )

    def case(self, request: Request) -> HTMLResponse:
        """One case of a run, by every variant."""
        selection = self._selections.of_case(request.query_params.multi_items())
        figures = self.filled(CASE_PAGE, selection)
        if not figures[0].rows:
            raise NotFoundError("This run has no such case: it may be of another run, or the link is old.")
        run_id = selection.runs[0]
        context = _told(CASE_PAGE, selection) | {"run_id": run_id, "states": self._states(run_id)}
        return templating.page("page.html", **context, figures=figures)

    def figure(self, name: str, kind: str, request: Request) -> Response:
        """One figure by itself, in one of the forms of ``downloads``."""
        if name not in FIGURES:
            raise NotFoundError(f"There is no figure {name}.")
        selection = self._selections.of_figure(name, request.query_params.multi_items())
        recorded = self._figures.recorded(selection.runs)
        return _as(kind, self._figures.filled(FIGURES[name], selection, recorded))

    def offered(self, choices: list[Run], selection: Selection) -> list[Run]:
        """The runs to choose from, and those that are chosen: they may be older."""
        known = {run["run_id"] for run in choices}
        older = [run_id for run_id in dict.fromkeys(selection.runs) if run_id not in known]
        return choices + [runs.named(self._store, run_id) for run_id in older]

    def of_two(self, request: Request) -> Selection:
        """The two runs that the address names; see :meth:`Selections.of_two`."""
        return self._selections.of_two(request.query_params.multi_items())

    def filled(self, page: Page, selection: Selection) -> list[Filled]:
        """The page's figures for a selection."""
        recorded = self._figures.recorded(selection.runs)
        ask = partial(self._figures.filled, selection=selection, recorded=recorded)
        return list(self._asking.map(ask, page.figures))

    def _elsewhere(self, run_id: str) -> list[Page]:
        """The pages that a run has something for."""
        return list(measured(self._figures.choices(run_id, self._figures.recorded((run_id,))).mappings))

    def _states(self, run_id: str) -> list[str]:
        """What hosts were like while samples of a run were taken."""
        rows = self._store.ask("host_state", {"run_id": run_id}).mappings
        return [sentence for row in rows for sentence in host_state.told(row)]


def asset(digest: str, name: str, request: Request) -> Response:
    """A stylesheet, script or picture, for a year."""
    found = assets().get(name)
    if found is None or found.digest != digest:
        raise NotFoundError("There is no such file.")
    headers = {"Cache-Control": f"public, max-age={_YEAR_S}, immutable"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(found.plain, media_type=found.content_type, headers=headers)
    packed = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(found.read(), media_type=found.content_type, headers=headers | packed)


def nothing_yet() -> HTMLResponse:
    """What an empty database has to say."""
    return templating.message(
        "No run yet",
        "Nothing has been recorded in this database. Make a first run, on the command line as here or on the page "
        "Runs where a benchmark service is connected, and open this page again:",
        example="ciphermark run quick",
    )


def named(found: list[Run]) -> list[tuple[str, str]]:
    """Runs as one chooses them: id and name."""
    return [
        (
            run["run_id"],
            " · ".join(
                (
                    *([run["label"]] if run["label"] else []),
                    run["suite"],
                    formats.moment(run["started_at"]),
                    run["host"],
                    run["run_id"][:8],
                    *(["imported"] if run["is_imported"] else []),
                )
            ),
        )
        for run in found
    ]


def _told(page: Page, selection: Selection) -> dict[str, Any]:
    return {
        "title": page.title,
        "lead": page.lead,
        "path": page.path,
        "selection": selection,
        "query": selection.query_string,
    }


def _as(kind: str, item: Filled) -> Response:
    form = downloads.FORMS.get(kind)
    if form is None:
        raise NotFoundError(f"A figure comes as {', '.join(downloads.FORMS)}, not {kind}.")
    headers = (
        {"Content-Disposition": f'attachment; filename="{item.figure.name}.csv"'} if kind == "csv" else {}
    )
    return Response(form.write(item), media_type=form.media_type, headers=headers)
