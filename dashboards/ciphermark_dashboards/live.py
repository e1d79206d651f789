"""The pages about runs: their list, a run in progress, starting and cancelling."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from ciphermark_core.errors import UserError
from ciphermark_dashboards import recorded_run, templating
from ciphermark_dashboards.access import form
from ciphermark_dashboards.benchmark import Benchmark, ServiceAwayError
from ciphermark_dashboards.filters import CARRIED, require_known
from ciphermark_dashboards.navigation import PARAMETERS, Navigation
from ciphermark_dashboards.store import NotFoundError, Store
from ciphermark_present.query import Row

PATH = templating.RUNS["path"]
_RUNS_PER_PAGE = 200
_NUMBER = re.compile(r"[1-9][0-9]{0,4}")
_EVENT = re.compile(r"[0-9]{1,18}")
_NO_EVENTS = b"retry: 3000\n\n"  # the browser reconnects after so many milliseconds


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page of a list; ``name`` is the query parameter that holds its number, which begins at 1."""

    name: str
    rows: Sequence[Row]
    number: int
    has_more: bool


def router(
    store: Store, benchmark: Benchmark | None, services_file: Path | None, navigation: Navigation
) -> APIRouter:
    """The routes. Without a benchmark service they list recorded runs, and start none. ``services_file`` lists failed
    services.
    """
    routes = APIRouter()

    @routes.get(PATH)
    async def listed(request: Request) -> HTMLResponse:
        params = request.query_params
        require_known(params, ("open", "recorded", *PARAMETERS))
        in_progress = await run_in_threadpool(_sheet, store, "open_runs", "open", params)
        recorded = await run_in_threadpool(_sheet, store, "runs", "recorded", params)
        suites, reason = await _offered(benchmark)
        return templating.page(
            "runs.html",
            **templating.RUNS,
            open=in_progress,
            is_connected=benchmark is not None,
            recorded=recorded,
            reference_runs=await run_in_threadpool(_reference_runs, store),
            context={name: params[name] for name in PARAMETERS if params.get(name)},
            suites=suites,
            why_not=reason,
            ailing=await run_in_threadpool(ailing, services_file),
            **await run_in_threadpool(navigation.of_query, params),
        )

    @routes.get(PATH + "/{run}")
    async def looked_at(run: str, request: Request) -> Response:
        row = await run_in_threadpool(store.find_run, run)
        run_id = row["run_id"] if row else run
        live = await _live(benchmark, run_id, is_recorded=row is not None)
        if row is None and live is None:
            raise NotFoundError(f"There is no run {run}. Select one on the page Runs.")
        if run_id != run:
            return RedirectResponse(f"{PATH}/{run_id}", status_code=303)
        chosen = {name: request.query_params.get(name, "") for name in CARRIED}
        context = await run_in_threadpool(navigation.of_query, {**chosen, "run": run_id})
        context |= await run_in_threadpool(recorded_run.page, store, run_id, context)
        return templating.page(
            "run.html",
            title=f"Run {run_id[:8]}",
            path=PATH,
            run_id=run_id,
            live=live,
            run=row,
            **context,
        )

    @routes.get(PATH + "/{run_id}/events")
    async def events(run_id: UUID, request: Request) -> Response:
        try:
            stream = await _service(benchmark).events(run_id, _last_heard(request))
        except ServiceAwayError:
            # The browser stops reconnecting after any response other than a stream.
            return Response(_NO_EVENTS, media_type="text/event-stream")
        return StreamingResponse(
            stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    @routes.post(PATH)
    async def started(request: Request) -> RedirectResponse:
        fields = await form(request)
        text = fields.get("suite_yaml", "").strip()
        body = {"suite_yaml": text} if text else {"suite": fields.get("suite", "")}
        run = await _service(benchmark).submit(body, request.scope.get("principal"))
        return RedirectResponse(f"{PATH}/{run['id']}", status_code=303)

    @routes.post(PATH + "/{run_id}/cancel")
    async def cancelled(run_id: UUID, request: Request) -> RedirectResponse:
        await form(request)
        await _service(benchmark).cancel(run_id, request.scope.get("principal"))
        return RedirectResponse(f"{PATH}/{run_id}", status_code=303)

    return routes


def _reference_runs(store: Store) -> list[Row]:
    return [run for run in store.run_choices() if run["is_shipped"]]


def _last_heard(request: Request) -> int:
    """The number of the last event that a browser has received; 0 where it has received none."""
    event_id = request.headers.get("last-event-id", "")
    return int(event_id) if _EVENT.fullmatch(event_id) else 0


def ailing(services_file: Path | None) -> list[Row]:
    """The services that are not running, as the supervisor recorded them; empty without a record."""
    if services_file is None:
        return []
    try:
        rows = json.loads(services_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [row for row in rows if row["state"] != "running"]


def _sheet(store: Store, block: str, name: str, params: Mapping[str, str]) -> Sheet:
    """A page of a block's rows. The query requests one row more than the page shows."""
    number = params.get(name, "1")
    if not _NUMBER.fullmatch(number):
        raise UserError(f"{name} {number!r}: page numbers start at 1")
    page = int(number)
    bounds = {"limit": _RUNS_PER_PAGE + 1, "offset": (page - 1) * _RUNS_PER_PAGE}
    rows = store.ask(block, bounds).mappings
    return Sheet(name, rows[:_RUNS_PER_PAGE], page, len(rows) > _RUNS_PER_PAGE)


async def _offered(benchmark: Benchmark | None) -> tuple[list[str], str | None]:
    """The suites that can be started; or the reason why none can be started now."""
    if benchmark is None:
        return [], "This dashboard is read-only: no benchmark service is configured."
    try:
        return await benchmark.suites(), None
    except UserError as error:
        return [], str(error)


async def _live(benchmark: Benchmark | None, asked: str, is_recorded: bool) -> dict[str, Any] | None:
    """The service's state of a run. For a recorded run it may be missing: the page then shows the recorded state."""
    run_id = _uuid(asked)
    if benchmark is None or run_id is None:
        return None
    try:
        return await benchmark.run(run_id)
    except NotFoundError:
        return None
    except UserError:
        if is_recorded:
            return None
        raise


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _service(benchmark: Benchmark | None) -> Benchmark:
    if benchmark is None:
        raise UserError(
            "This dashboard has no benchmark service: set CIPHERMARK_BENCHMARK_URL to start runs here."
        )
    return benchmark
