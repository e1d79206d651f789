"""The pages about runs themselves: their list, one in progress, starting and cancelling."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from ciphermark_core.errors import UserError
from ciphermark_dashboards import templating
from ciphermark_dashboards.access import form
from ciphermark_dashboards.benchmark import Benchmark
from ciphermark_dashboards.errors import NotFoundError, ServiceAwayError
from ciphermark_dashboards.store import Store

PATH = templating.RUNS["path"]
_RECORDED_RUNS = 200


def router(store: Store, benchmark: Benchmark | None) -> APIRouter:
    """The routes. Without a benchmark service they list what is recorded, and start nothing."""
    routes = APIRouter()

    @routes.get(PATH)
    async def listed(request: Request) -> HTMLResponse:
        recorded = await run_in_threadpool(store.ask, "runs", {"limit": _RECORDED_RUNS})
        suites, queued, reason = await _offered(benchmark)
        return templating.page(
            "runs.html",
            **templating.RUNS,
            recorded=recorded.mappings,
            open=[run for run in queued if run["state"] in ("queued", "running")],
            suites=suites,
            why_not=reason,
        )

    @routes.get(PATH + "/{run_id}")
    async def looked_at(run_id: str) -> HTMLResponse:
        facts = (await run_in_threadpool(store.ask, "run_facts", {"run_id": run_id})).mappings
        live = await _live(benchmark, run_id)
        if not facts and live is None:
            raise NotFoundError(f"{run_id} is no run here: choose one on the page Runs.")
        parts = (await run_in_threadpool(store.ask, "parts", {"run_id": run_id})).mappings
        asked = {"parts": [part["run_id"] for part in parts]}
        found: dict[str, Any] = {
            name: (await run_in_threadpool(store.ask, name, asked)).mappings
            for name in ("outcomes", "failures", "builds")
        }
        return templating.page(
            "run.html",
            title=f"Run {run_id[:8]}",
            path=PATH,
            run_id=run_id,
            facts=facts[0] if facts else None,
            live=live,
            parts=parts,
            **found,
        )

    @routes.get(PATH + "/{run_id}/events")
    async def events(run_id: str, request: Request) -> Response:
        stream = _service(benchmark).events(run_id, request.headers.get("last-event-id"))
        return StreamingResponse(
            stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    @routes.post(PATH)
    async def started(request: Request) -> RedirectResponse:
        fields = await form(request)
        text = fields.get("suite_yaml", "").strip()
        body = {"suite_yaml": text} if text else {"suite": fields.get("suite", "")}
        run = await _service(benchmark).submit(body)
        return RedirectResponse(f"{PATH}/{run['id']}", status_code=303)

    @routes.post(PATH + "/{run_id}/cancel")
    async def cancelled(run_id: str, request: Request) -> RedirectResponse:
        await form(request)
        await _service(benchmark).cancel(run_id)
        return RedirectResponse(f"{PATH}/{run_id}", status_code=303)

    return routes


async def _offered(benchmark: Benchmark | None) -> tuple[list[str], list[dict[str, Any]], str | None]:
    """The suites that can be started and the service's runs; or why nothing can be started now."""
    if benchmark is None:
        return [], [], "This dashboard only reads: it was started without a benchmark service."
    try:
        return await benchmark.suites(), (await benchmark.runs())["runs"], None
    except ServiceAwayError as error:
        return [], [], str(error)


async def _live(benchmark: Benchmark | None, run_id: str) -> dict[str, Any] | None:
    if benchmark is None:
        return None
    try:
        return await benchmark.run(run_id)
    except UserError:
        return None  # a run of the command line, or the service is away: what is recorded is shown


def _service(benchmark: Benchmark | None) -> Benchmark:
    if benchmark is None:
        raise UserError(
            "This dashboard was started without a benchmark service: set CIPHERMARK_BENCHMARK_URL to start runs here."
        )
    return benchmark
