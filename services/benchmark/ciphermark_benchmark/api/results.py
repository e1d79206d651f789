"""Routes of figures: results, comparisons, adapters, hosts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel

from ciphermark_benchmark import export
from ciphermark_benchmark.api import comparing
from ciphermark_benchmark.api.answers import Answer
from ciphermark_benchmark.api.rows import ComparedRow, ResultRow, example_csv
from ciphermark_benchmark.api.runs import RunId, Shared
from ciphermark_benchmark.api.state import Recorded, State, connected
from ciphermark_benchmark.api.views import Adapters, Hosts
from ciphermark_db.sql import blocks
from ciphermark_web.problems import documented

Form = Literal["json", "csv", "parquet"]
_MEDIA_TYPES: dict[Form, str] = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
_IfNoneMatch = Annotated[str | None, Header(description="entity tags of answers that are at hand")]
_Asked = Annotated[Form, Query(description="form of the answer")]


def _table(row: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that answers with a table of such rows."""
    return documented("not-found", "not-ready") | {
        200: {
            "model": list[row],  # type: ignore[valid-type]
            "content": {
                "text/csv": {"schema": {"type": "string"}, "example": example_csv(row)},
                "application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}},
            },
        },
        304: {"description": "The answer at hand is still right"},
    }


router = APIRouter(prefix="/v1", tags=["figures"])


@router.get(
    "/runs/{run_id}/results", summary="Results of a run", response_class=Response, responses=_table(ResultRow)
)
async def results(
    run_id: RunId, state: Shared, format: _Asked = "json", if_none_match: _IfNoneMatch = None
) -> Response:
    """Every row of the view `results` for the run and what continues it: what docs/sql.md describes."""
    recorded = await _recorded(state, str(run_id))

    def compute() -> bytes:
        with connected(state) as database:
            sql = blocks("jobs")["results_of_parts"].decode()
            return export.rendered(database.query(sql, {"parts": list(recorded.parts)}), format)

    return await _answered(state, (recorded, format), compute, if_none_match, format)


@router.get("/compare", summary="Compare two runs", response_class=Response, responses=_table(ComparedRow))
async def compare(
    state: Shared,
    a: Annotated[UUID, Query(description="the run that ratios are relative to")],
    b: Annotated[UUID, Query(description="the run that is judged")],
    format: _Asked = "json",
    if_none_match: _IfNoneMatch = None,
) -> Response:
    """Two runs, case by case: changed, unchanged, or not comparable and why. What continues a run on another host is
    part of it; `a_run_id` and `b_run_id` name the parts that measured.
    """
    ids = str(a), str(b)
    known = [await _recorded(state, run_id) for run_id in ids]

    def compute() -> bytes:
        parts_a, parts_b = (found.parts or (run_id,) for run_id, found in zip(ids, known, strict=True))
        with connected(state) as database:
            return export.rendered(comparing.compared(database, parts_a, parts_b), format)

    return await _answered(state, (ids, *known, format), compute, if_none_match, format)


@router.get("/adapters", response_model=Adapters, summary="Libraries on this host", responses=documented())
async def adapters(state: Shared) -> Response:
    """What is installed where the API runs, how it was built, what it can do; what is missing and how to get it."""

    told = await state.libraries.told()
    return Response(b'{"adapters":' + told + b"}", media_type="application/json")


@router.get("/hosts", response_model=Hosts, summary="Benchmark workers", responses=documented("not-ready"))
async def hosts(state: Shared) -> dict[str, object]:
    """Every benchmark worker, what its host offers, and what it executes."""
    return {"hosts": await state.store.rows("hosts", {"stalled_s": state.stalled_s})}


async def _recorded(state: State, run_id: str) -> Recorded:
    """What is recorded of a run by now, or was a moment ago."""

    async def look() -> Recorded:
        parts = await state.store.rows("run_parts", {"id": run_id})
        if not parts:
            await state.run(
                run_id
            )  # a run that no host has begun has no results; one that is not there is told
        last = max((part["sequence"] or 0 for part in parts), default=0)
        return Recorded(tuple(part["id"] for part in parts), last)

    return await state.recent.get(run_id, look)


async def _answered(
    state: State, key: Hashable, compute: Any, if_none_match: str | None, format: Form
) -> Response:
    answer: Answer = await state.answers.get(key, compute)
    headers = {"ETag": answer.etag}
    if if_none_match is not None and answer.etag in [tag.strip() for tag in if_none_match.split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(answer.body, headers=headers, media_type=_MEDIA_TYPES[format])
