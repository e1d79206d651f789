"""Responses to requests for pages, figures and assets: plain functions, each executed in a thread of its own."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from threading import Event
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from ciphermark_dashboards import compare, overview, page_tables, pictures, templating
from ciphermark_dashboards.filters import CARRIED, FOR, Query, Selection
from ciphermark_dashboards.navigation import Navigation
from ciphermark_dashboards.pages import CASE_PAGE, COMPARE_PAGE, FIGURES, OVERVIEW_PATH, PAGES, measured
from ciphermark_dashboards.rendering import Figures, Filled, libraries
from ciphermark_dashboards.selections import NoPairError, Selections
from ciphermark_dashboards.snapshots import Snapshots
from ciphermark_dashboards.store import NotFoundError, Store
from ciphermark_present import answers, certainty, formats, host_state
from ciphermark_present.catalogue.case import CASE_OUTCOMES
from ciphermark_present.catalogue.comparing import TWO_RUNS
from ciphermark_present.page import SCHEME, Page
from ciphermark_present.query import DISTURBED_TIMES, Row
from ciphermark_present.questions import words

_AT_ONCE = 4  # queries of pages
_ANSWER_PX = 900  # width of the picture of an answer
_MAX_TRIED = 8  # runs until one has rows for a page
_YEAR_S = 365 * 24 * 3600
_SENTENCE_WORDS = 20
_DISTURBED = "Every time here has disturbed samples only: none is called the fastest."


class Views:
    """The pages about runs and cases, and standalone figures."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._figures = Figures(store)
        self._selections = Selections(store, self._figures)
        self._snapshots = Snapshots(store)
        self.navigation = Navigation(store, self._figures)
        self._asking = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="figures")

    def prepare(self, is_over: Event) -> None:
        """Draw what pages show without a choice, so that readers wait for queries and charts of their own choices only.
        Ends early where the service stops.
        """
        for page in PAGES:
            if is_over.is_set() or not self._store.run_choices():
                return
            _, figures, _ = self._answering(page, ())
            libraries(figures)  # draws them

    def overview(self, request: Request) -> HTMLResponse:
        """The question and its answer."""
        given = dict(request.query_params)
        shown = overview.page(self._snapshots.now(), given)
        if shown is None:
            return _nothing_compared() if self._store.run_choices() else _nothing_yet()
        place, run_id = shown["question"].place, str(shown["run"]["run_id"])
        chosen = {FOR: place.operation, SCHEME.name: place.scheme}
        return templating.page(
            "overview.html",
            title="Overview",
            path=OVERVIEW_PATH,
            **self._navigation_of_overview(run_id, chosen, shown["address"]()),
            **self._states(run_id, is_uncorrected=False),
            **shown,
        )

    def answer(self, kind: str, request: Request) -> Response:
        """The answer of the overview as a file: its rows, the query of these, or a picture."""
        shown = overview.page(self._snapshots.now(), dict(request.query_params))
        if shown is None:
            raise NotFoundError("No run has a timed case.")

        def picture() -> str:
            return templating.text("answer.svg.html", **shown)

        title = answers.plain(shown["answer"].headline)
        files: dict[str, Callable[[], str | bytes]] = {
            "csv": lambda: overview.csv_text(shown),
            "sql": lambda: str(shown["sql"]),
            "svg": picture,
            "png": lambda: pictures.png(picture()),
            "pdf": lambda: pictures.pdf(picture(), title, shown["about"], _ANSWER_PX),
        }
        if kind not in files:
            raise NotFoundError(f"An answer is available as {', '.join(files)}, not as {kind}.")
        named = {"Content-Disposition": 'attachment; filename="answer.csv"'} if kind == "csv" else {}
        return Response(files[kind](), media_type=pictures.MEDIA_TYPES[kind], headers=named)

    def _navigation_of_overview(self, run_id: str, chosen: Mapping[str, str], own: str) -> dict[str, Any]:
        context = self.navigation.of_run(self._store.run(run_id), chosen)
        return {**context, "links": {**context["links"], OVERVIEW_PATH: own}}

    def page(self, page: Page, request: Request) -> HTMLResponse:
        """A page of figures about one run."""
        choices = self._store.run_choices()
        if not choices:
            return _nothing_yet()
        query = request.query_params.multi_items()
        selection, figures, is_empty = self._answering(page, query)
        (run_id,) = selection.runs
        run = self._store.run(run_id)
        states = self._asking.submit(self._states, run_id, selection.is_uncorrected)
        elsewhere = list(measured(self._figures.choices(run))) if is_empty else []
        return _shown(
            "page.html",
            page,
            selection,
            figures,
            is_empty=is_empty,
            is_unmeasured=(is_empty or not selection.is_askable)
            and all(name in CARRIED for name, _ in query),
            suite=page.suite,
            elsewhere=elsewhere,
            runs=self._offered(choices, selection),
            notes=selection.notes,
            **answer(figures),
            **states.result(),
            run=run,
            run_id=run_id,
            **self.navigation.of_run(run, selection.carried),
        )

    def _answering(self, page: Page, query: Query) -> tuple[Selection, list[Filled], bool]:
        """The figures of the first run that has rows for any of them, else of the first run; and whether all are empty.
        Published values exist for every run.
        """
        selections = self._selections.of_runs(page, query)
        tried: list[tuple[Selection, list[Filled]]] = []
        for selection in islice(selections, _MAX_TRIED):
            tried.append((selection, self._filled(page, selection)))
            if any(item.rows for item in tried[-1][1] if item.figure.subject is not None):
                return *tried[-1], False
        return *tried[0], True

    def case(self, request: Request) -> HTMLResponse:
        """One case of a run, for every variant."""
        selection = self._selections.of_case(request.query_params.multi_items())
        (run_id,) = selection.runs
        figures = self._filled(CASE_PAGE, selection)
        outcomes = next(item.rows for item in figures if item.figure == CASE_OUTCOMES)
        if not outcomes:
            raise NotFoundError(
                "This run has no such case. The link may be outdated or belong to another run."
            )
        run, case = self._store.run(run_id), outcomes[0]
        question = words(case["operation"]).question
        name = f"{question[0].upper()}{question[1:]} in {SCHEME.spoken(case['scheme'])}"
        return _shown(
            "page.html",
            CASE_PAGE,
            selection,
            figures,
            case=case,
            answer=f"{name}, N = {case['ring_dimension']}",
            **self._states(run_id, selection.is_uncorrected),
            run=run,
            run_id=run_id,
            **self.navigation.of_run(run, {FOR: case["operation"], SCHEME.name: case["scheme"]}),
        )

    def compare(self, request: Request) -> Response:
        """Two runs of a suite, and the suite's history."""
        if not self._store.run_choices():
            return _nothing_yet()
        query = request.query_params
        try:
            selection = self._selections.of_two(query.multi_items())
        except NoPairError as error:
            return self._nothing_to_compare(error, query)
        item = self._figures.filled(TWO_RUNS, selection)
        return templating.page(
            "compare.html",
            title=COMPARE_PAGE.title,
            path=COMPARE_PAGE.path,
            selection=selection,
            query=selection.query_string,
            figures=[item],
            **compare.page(self._store, selection, item, query.get("case", "")),
            **self.navigation.of_run(self._store.run(selection.runs[1]), selection.carried),
        )

    def _nothing_to_compare(self, error: NoPairError, query: Mapping[str, str]) -> HTMLResponse:
        """The page Compare without two runs of a suite: the command that makes one, and the suite's reference run."""
        choices = [run for run in self._store.run_choices() if run["suite"] == error.suite]
        own, reference = (
            next((run["run_id"] for run in choices if run["is_shipped"] == is_shipped), "")
            for is_shipped in (False, True)
        )
        return templating.message(
            "Nothing to compare yet",
            str(error),
            example=f"ciphermark run {error.suite}",
            link=f"{COMPARE_PAGE.path}?{urlencode({'a': reference, 'b': own})}"
            if own and reference
            else None,
            link_text="Compare it with the reference run",
            **self.navigation.of_query(query),
        )

    def figure(self, name: str, kind: str, request: Request) -> Response:
        """One standalone figure, in one of the formats of ``pictures``, in the look that the address names."""
        if name not in FIGURES:
            raise NotFoundError(f"There is no figure named {name}.")
        if kind not in pictures.FORMS:
            raise NotFoundError(f"Figures are available as {', '.join(pictures.FORMS)}, not as {kind}.")
        query = request.query_params.multi_items()
        look = pictures.look(**{option: text for option, text in query if option in pictures.OPTIONS})
        rest = [(option, text) for option, text in query if option not in pictures.OPTIONS]
        item = self._figures.filled(FIGURES[name], self._selections.of_figure(name, rest))
        content = pictures.written(self._store, item, kind, look)
        named = {"Content-Disposition": f'attachment; filename="{name}.csv"'} if kind == "csv" else {}
        return Response(content, media_type=pictures.MEDIA_TYPES[kind], headers=named)

    def _filled(self, page: Page, selection: Selection) -> list[Filled]:
        return list(self._asking.map(partial(self._figures.filled, selection=selection), page.figures))

    def _offered(self, choices: Sequence[Row], selection: Selection) -> list[tuple[str, str]]:
        """The runs to choose from, and the chosen ones, which may be older: id and name."""
        choice_ids = {run["run_id"] for run in choices}
        older = [run_id for run_id in dict.fromkeys(selection.runs) if run_id not in choice_ids]
        return [(run["run_id"], _name(run)) for run in (*choices, *map(self._store.run, older))]

    def _states(self, run_id: str, is_uncorrected: bool) -> dict[str, Any]:
        """The state of the hosts during the samples of a run: in one word, and in sentences."""
        rows = self._store.ask("host_state", {"run_id": run_id}, is_uncorrected).mappings
        return {
            "state": host_state.word(rows),
            "states": [sentence for row in rows for sentence in host_state.told(row)],
        }


def answer(figures: Sequence[Filled]) -> dict[str, str]:
    """The answer of a page: the finding of the first figure that has one, named ``lead_figure``, how sure it is, and
    its first sentence where that is short. No answer names a time of disturbed samples only.
    """
    filled = [item for item in figures if item.rows]
    for item in filled:
        if finding := item.figure.finding(item.rows):
            sure = {"certainty": certainty.of(item.rows), "sentence": _short_sentence(item)}
            return {"answer": finding, "lead_figure": item.figure.name, **sure}
    if any(row.get(DISTURBED_TIMES) for item in filled for row in item.rows):
        return {"sentence": _DISTURBED}
    return {"sentence": _short_sentence(filled[0])} if filled else {}


def _short_sentence(item: Filled) -> str:
    tell = item.figure.tell
    text = next(tell(item.rows, item.selection.parameters), "") if tell else ""
    return text if len(text.split()) <= _SENTENCE_WORDS else ""


def asset(digest: str, name: str, request: Request) -> Response:
    """A stylesheet, script or picture, cached for a year."""
    item = templating.assets().get(name)
    if item is None or item.digest != digest:
        raise NotFoundError("This file does not exist.")
    headers = {"Cache-Control": f"public, max-age={_YEAR_S}, immutable"}
    packed = item.read()
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(gzip.decompress(packed), media_type=item.content_type, headers=headers)
    headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(packed, media_type=item.content_type, headers=headers)


def _shown(
    template: str, page: Page, selection: Selection, figures: Sequence[Filled], **more: Any
) -> HTMLResponse:
    """A page of figures."""
    return templating.page(
        template,
        title=page.title,
        lead=page.lead,
        path=page.path,
        selection=selection,
        query=selection.query_string,
        arrangements=page_tables.arrangements(selection.arranged),
        figures=figures,
        look=libraries(figures),
        **more,
    )


def _nothing_yet() -> HTMLResponse:
    """The page for an empty database."""
    return templating.message(
        "No run yet",
        "This database has no runs. Start one with the command below, or on the page Runs if a benchmark service is "
        "connected. Then reload this page.",
        example="ciphermark run quick",
    )


def _nothing_compared() -> HTMLResponse:
    """The overview's page for runs without a timed case."""
    return templating.message(
        "No result yet",
        "No run has a timed case. The page Runs lists outcomes and failures. The command below measures a few cases.",
        example="ciphermark run quick",
    )


def _name(run: Row) -> str:
    """A run's name in a list of choices."""
    imported = "reference" if run["is_shipped"] else "imported" if run["is_imported"] else None
    parts = (
        run["label"],
        run["suite"],
        formats.moment(run["started_at"]),
        run["host"],
        run["run_id"][:8],
        imported,
    )
    return " · ".join(part for part in parts if part)
