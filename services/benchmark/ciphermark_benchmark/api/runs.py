"""Routes of runs: submit, list, inspect, follow, cancel, delete."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from typing import Annotated
from uuid import UUID

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import StreamingResponse

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import deletion
from ciphermark_benchmark.api import suites
from ciphermark_benchmark.api.state import MAX_LISTENERS, State, state_of
from ciphermark_benchmark.api.views import RunDetail, RunLine, Runs, Submitted, Suites
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.jobs.needs import Needs, Offer, needs_of, reason_against
from ciphermark_benchmark.jobs.store import Row, Submission
from ciphermark_benchmark.runner.runs import require_variants
from ciphermark_benchmark.suite.form import Suite
from ciphermark_web.keyring import Principal
from ciphermark_web.problems import Problem, documented

MAX_QUEUED = 10_000
NO_WORKER = "no benchmark worker is there: start one with `ciphermark worker`"
_LARGEST_NUMBER = (1 << 63) - 1

router = APIRouter(prefix="/v1", tags=["runs"])
Shared = Annotated[State, Depends(state_of)]


async def _principal_of(request: Request) -> Principal:
    """The principal of a request; asynchronous, to avoid a change of threads."""
    principal: Principal = request.scope["principal"]
    return principal


Caller = Annotated[Principal, Depends(_principal_of)]
RunId = Annotated[UUID, Path(description="the id that POST /v1/runs gave, or of a run of the command line")]
_UNKNOWN = documented("not-found", "not-ready")
_EVENTS = """\
id: 10
event: trial
data: {"sequence": 10, "trial_id": "e919d3d7-c2e2-5337-99c7-0064aa391715", \
"run_id": "927d5e7a-49c3-433d-81c6-666cae32cf41", "host": "bench", "variant": "seal", "experiment": "arithmetic", \
"operation": "add", "scheme": "bfv", "ring_dimension": 2048, "vector_length": 2048, "process": 0, "status": "ok", \
"error": null, "duration_s": 0.26}

event: state
data: {"state": "done", "reason": null, "host": "bench", "attempts": 1, "trials": 2, \
"progress": null}

"""


@router.post(
    "/runs",
    status_code=202,
    response_model=RunDetail,
    summary="Submit a suite",
    responses=documented("not-ready", "too-many", "unsupported"),
)
async def submit(body: Submitted, state: Shared, principal: Caller) -> Row:
    """Queue a suite. A host that has its variants, and whatever else is needed, will execute it."""
    (count,) = await state.store.rows("count_queued")
    if count["jobs"] >= MAX_QUEUED:
        raise Problem("too-many", f"{MAX_QUEUED} runs wait already: try again later")
    suite, text = await asyncio.to_thread(_checked, state.catalogue, body)
    require_variants(suite, body.variants)
    offers = await _offers(state)
    reason = await asyncio.to_thread(reason_against, suite, body.variants, offers)
    if reason is not None:
        raise Problem("unsupported", reason)
    needs = await asyncio.to_thread(
        needs_of, suite, body.variants, body.needs.isa, body.needs.memory_mb, offers
    )
    job = Submission(str(uuid.uuid4()), suite.name, text, tuple(body.variants), needs)
    await state.store.submit(state.queue, job, principal.name)
    return await _detail(state, await state.run(job.id))


def _checked(catalogue: suites.Catalogue, body: Submitted) -> tuple[Suite, str]:
    """The suite of a request, and its text."""
    data_sets = Catalogue(data_directories.find(), os.environ)
    if isinstance(body.suite, str):
        text, origin = catalogue.text(body.suite), f"suite {body.suite}"
    elif body.suite is not None:
        text, origin = json.dumps(body.suite, indent=1, ensure_ascii=False), "suite"
    else:
        text, origin = str(body.suite_yaml), "suite_yaml"
    return suites.checked(text, origin, data_sets), text


@router.get("/suites", response_model=Suites, summary="Suites by name", responses=documented())
def shelved(state: Shared) -> dict[str, list[str]]:
    """What `suite` may name in POST /v1/runs."""
    return {"suites": state.catalogue.names()}


@router.get("/runs", response_model=Runs, summary="List runs, the latest first", responses=_UNKNOWN)
async def listed(
    state: Shared,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[UUID | None, Query(description="only runs that are listed behind this one")] = None,
) -> dict[str, object]:
    """Runs of the service, in the order of their submission, among those of the command line, in the order of their
    recording. The place of a run never changes: a page is followed by the same runs, whatever begins meanwhile.
    """
    if before is not None:
        await state.run(str(before))
    parameters = {"id": None, "before": None if before is None else str(before), "limit": limit}
    rows = await state.store.rows("runs", parameters)
    return {"runs": rows, "next": rows[-1]["id"] if len(rows) == limit else None}


@router.get("/runs/{run_id}", response_model=RunDetail, summary="Look at a run", responses=_UNKNOWN)
async def looked_at(run_id: RunId, state: Shared) -> Row:
    """A run, what is recorded of it, and why it waits."""
    return await _detail(state, await state.run(str(run_id)))


@router.post(
    "/runs/{run_id}/cancel",
    status_code=202,
    response_model=RunLine,
    summary="Cancel a run",
    responses=documented("not-found", "not-ready", "unsupported"),
)
async def cancelled(run_id: RunId, state: Shared, principal: Caller) -> Row:
    """End a run: at once while it is queued, between two turns while it is executed. What was measured stays.

    A run that has ended stays as it is. Submitters may cancel their own runs, admins all.
    """
    run = await state.run(str(run_id))
    if run["state"] == "recorded":
        raise Problem("unsupported", "this is a run of the command line: end it there, with Ctrl-C")
    await _require_own(state, run["id"], principal)
    (job,) = await state.store.rows("job", {"id": run["id"]})
    if job["ended_at"] is None:
        await state.store.cancel(state.queue.job_manager, job, principal.name)
    return await state.run(run["id"])


@router.delete(
    "/runs/{run_id}",
    status_code=204,
    summary="Delete a run",
    responses=documented("not-found", "not-ready", "unsupported"),
)
async def deleted(run_id: RunId, state: Shared, principal: Caller) -> None:
    """Delete a run that has ended, with all that is recorded of it. Journals on other hosts stay. For admins."""
    if not principal.may("admin"):
        raise Problem("forbidden", f"{principal.name} is a {principal.role}; this needs an admin")
    run = await state.run(str(run_id))
    if run["state"] in ("queued", "running"):
        raise Problem("unsupported", "this run has not ended: cancel it first")
    await asyncio.to_thread(_deleted, state, run["id"], principal.name)


def _deleted(state: State, run_id: str, actor: str) -> None:
    with state.connect() as database:
        deletion.delete(data_directories.find(), database, run_id, actor)


async def _require_own(state: State, run_id: str, principal: Principal) -> None:
    """Raise ``Problem`` if a principal other than an admin acts on another user's run."""
    submitters = [row["actor"] for row in await state.store.rows("submitter", {"id": run_id})]
    if not (principal.may("admin") or principal.name in submitters):
        raise Problem("forbidden", f"{principal.name} did not submit this run; this needs an admin")


@router.get(
    "/runs/{run_id}/events",
    summary="Listen to a run",
    response_class=StreamingResponse,
    responses=documented("not-found", "not-ready", "too-many")
    | {200: {"content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EVENTS}}}},
)
async def events(
    run_id: RunId,
    state: Shared,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=_LARGEST_NUMBER, description="resume after this event")
    ] = None,
) -> StreamingResponse:
    """Server-sent events: `trial` for every recorded trial, `state` at first, at every change and at last.

    Whoever comes late is told everything from the beginning, or from behind `Last-Event-ID`. The stream ends with
    the run.
    """
    run = await state.run(str(run_id))
    if state.watches.listeners >= MAX_LISTENERS:
        raise Problem("too-many", f"{MAX_LISTENERS} listen already: try again later")
    stream = state.watches.listen(run["id"], last_event_id or 0)
    return StreamingResponse(stream, media_type="text/event-stream")


async def _detail(state: State, run: Row) -> Row:
    parts = await state.store.rows("run_parts", {"id": run["id"]})
    statuses = await state.store.rows("run_statuses", {"id": run["id"]})
    waits_for = await _waits_for(state, run["id"]) if run["state"] == "queued" else None
    recorded = {row["status"]: row["trials"] for row in statuses}
    return run | {"parts": parts, "recorded": recorded, "waits_for": waits_for}


async def _waits_for(state: State, run_id: str) -> str:
    (row,) = await state.store.rows("run_needs", {"id": run_id})
    needs = Needs(tuple(row["variants"]), tuple(row["isa"]), row["memory_mb"], row["are_chosen"])
    return why_it_waits(needs, await _offers(state))


def why_it_waits(needs: Needs, offers: list[Offer]) -> str:
    """The reason why a queued run waits, as text. Pure."""
    if not offers:
        return NO_WORKER
    needed = needs.among(offers)
    lacking = {offer.hostname: offer.lacks(needed) for offer in offers}
    able = [offer for offer in offers if not offer.lacks(needed)]
    if able and all(offer.waits_for for offer in able):
        return "; ".join(f"{offer.hostname}, which waits for {offer.waits_for}" for offer in able)
    if able:
        return "its turn"
    lacks = "; ".join(f"{host} lacks {', '.join(items)}" for host, items in lacking.items())
    return f"a host that meets its needs: {lacks}"


async def _offers(state: State) -> list[Offer]:
    """The offers of hosts with live workers."""
    hosts = await state.store.rows("hosts", {"stalled_s": state.stalled_s})
    return [msgspec.convert(host, Offer) for host in hosts if host["is_alive"]]
