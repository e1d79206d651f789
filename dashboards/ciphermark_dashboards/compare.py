"""The page about two runs, or the latest runs of two hosts."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from ciphermark_analysis import comparison, two_runs
from ciphermark_core.errors import UserError
from ciphermark_dashboards import runs, templating
from ciphermark_dashboards.filters import SHOW, require_known
from ciphermark_dashboards.pages import COMPARE_PAGE
from ciphermark_dashboards.store import Store
from ciphermark_dashboards.views import Views, named, nothing_yet
from ciphermark_present import host_state
from ciphermark_present.catalogue import comparing
from ciphermark_present.catalogue.comparing import said_once
from ciphermark_present.query import Row

_ANY_LEVEL = "Security levels are mixed: a ratio between unequal levels compares unlike things."
_OTHER_HOST = "The hosts are not the same: what differs may be theirs."
_SAME_RUN = "Both are one and the same run: choose another."


class Comparison:
    """Answers ``/compare``."""

    def __init__(self, store: Store, views: Views) -> None:
        self._store = store
        self._views = views

    def page(self, request: Request) -> Response:
        """Two runs; two hosts are sent on to the latest runs of theirs."""
        if "host_a" in request.query_params:
            return self._of_hosts(request)
        choices = runs.choices(self._store)
        if not choices:
            return nothing_yet()
        selection = self._views.of_two(request)
        offered = self._views.offered(choices, selection)
        figures = self._views.filled(COMPARE_PAGE, selection)
        a, b = (next(run for run in offered if run["run_id"] == run_id) for run_id in selection.runs)
        notes = _counted(figures[0].rows, is_whole=selection.parameters["show"] == SHOW.preferred)
        drift = comparison.drift(figures[0].rows)
        notes += [f"Host: {drift}."] if drift else []
        shared = two_runs.shared(figures[0].rows)
        notes += [f"{shared.capitalize()}."] if shared else []
        states = [self._store.ask("host_state", {"run_id": run_id}).mappings for run_id in selection.runs]
        unlike = host_state.unlike_corrections(*states)
        notes += [f"{unlike.capitalize()}."] if unlike else []
        notes += [_SAME_RUN] if a == b else []
        notes += [_OTHER_HOST] if a["host_id"] != b["host_id"] else []
        notes += [_ANY_LEVEL] if selection.parameters["levels"] == "any" else []
        return templating.page(
            "compare.html",
            title=COMPARE_PAGE.title,
            lead=COMPARE_PAGE.lead,
            path=COMPARE_PAGE.path,
            selection=selection,
            query=selection.query_string,
            figures=figures,
            runs=named(offered),
            chosen={"a": a, "b": b},
            hosts=self._store.ask("hosts", {}).mappings,
            notes=notes,
        )

    def _of_hosts(self, request: Request) -> Response:
        require_known(request.query_params, ("host_a", "host_b"))
        asked = {name: request.query_params.get(name, "") for name in ("host_a", "host_b")}
        found = self._store.ask("latest_of_hosts", asked).mappings
        if not found:
            raise UserError(
                "These two hosts have executed no suite in common: run one suite on both, then compare."
            )
        pair = urlencode({"a": found[0]["run_a"], "b": found[0]["run_b"]})
        return RedirectResponse(f"{COMPARE_PAGE.path}?{pair}", 303)


def _counted(rows: Sequence[Row], is_whole: bool) -> list[str]:
    """How many figures were judged how, as the command line counts them, and the verdict where all of them are here."""
    found = said_once(rows)
    if is_whole:
        said = comparing.verdict_of_runs(found)
        return [f"{said[0].upper()}{said[1:]}."]
    return [", ".join(comparing.counted(found))] if found else []
