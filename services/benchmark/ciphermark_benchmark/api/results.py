"""Routes of results: results, comparisons of whole runs (including their continuations on other hosts), adapters,
hosts.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel

from ciphermark_analysis.comparison import COLUMNS, Rule, paired, settled
from ciphermark_analysis.family import ERROR
from ciphermark_analysis.two_runs import judgements
from ciphermark_benchmark import export
from ciphermark_benchmark.api.runs import RunId, Shared
from ciphermark_benchmark.api.state import Answer, Recorded, State
from ciphermark_benchmark.api.views import Adapters, ComparedRow, Comparison, Hosts, ResultRow, example_csv
from ciphermark_benchmark.figure_rows import rows
from ciphermark_core.percentages import factor
from ciphermark_db.database import Database, Table
from ciphermark_db.sql import blocks
from ciphermark_present.catalogue.comparing import EXIT_CODES, TWO_RUNS, said_once, summary
from ciphermark_web.problems import documented

Form = Literal["json", "csv", "parquet"]
_MEDIA_TYPES: dict[Form, str] = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
Row = Mapping[str, Any]

_PARTS = ("a_run_id", "b_run_id")
# Together with the part, these columns identify a row of the query.
_PLACE = ("comparison_group", "variant", "phase", "metric", "repetitions")
_IfNoneMatch = Annotated[str | None, Header(description="entity tags of answers that are at hand")]
_Asked = Annotated[Form, Query(description="form of the answer")]
_Percentage = Annotated[str | None, Query(max_length=20, examples=["10%"])]


def _table(row: type[BaseModel], answer: type[BaseModel] | None = None) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that returns a table of such rows: in JSON ``answer``, or by default a list."""
    return documented("not-found", "not-ready") | {
        200: {
            "model": answer or list[row],  # type: ignore[valid-type]
            "content": {
                "text/csv": {"schema": {"type": "string"}, "example": example_csv(row)},
                "application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}},
            },
        },
        304: {"description": "The answer at hand is still right"},
    }


router = APIRouter(prefix="/v1", tags=["results"])


@router.get(
    "/runs/{run_id}/results", summary="Results of a run", response_class=Response, responses=_table(ResultRow)
)
async def results(
    run_id: RunId, state: Shared, format: _Asked = "json", if_none_match: _IfNoneMatch = None
) -> Response:
    """Every row of the view `results` for the run and what continues it; see docs/reference/sql/results.md."""
    recorded = await _recorded(state, str(run_id))

    def compute() -> bytes:
        with state.connect() as database:
            sql = blocks("jobs")["results_of_parts"].decode()
            return export.rendered(database.query(sql, {"parts": list(recorded.parts)}), format)

    return await _answered(state, (recorded, format), compute, if_none_match, format)


@router.get(
    "/compare",
    summary="Compare two runs",
    response_class=Response,
    responses=_table(ComparedRow, Comparison),
)
async def compare(  # noqa: PLR0913, PLR0917 - each parameter is one of the request
    state: Shared,
    a: Annotated[UUID, Query(description="the run that ratios are relative to")],
    b: Annotated[UUID, Query(description="the run that is judged")],
    threshold: _Percentage = None,
    require_power: _Percentage = None,
    format: _Asked = "json",
    if_none_match: _IfNoneMatch = None,
) -> Response:
    """Two runs, case by case: changed, unchanged, undecided, or not comparable and why; in JSON with the verdict of the
    whole, as `ciphermark compare` has it. Times that differ by less than `threshold`, such as `10%` (`10%25` in an
    address), are unchanged; by default each metric has its own. An undecided result whose interval rules out a slowdown
    of `require_power` is accepted. What continues a run on another host is part of it; `a_run_id` and `b_run_id` name
    the parts that measured.
    """
    ids, least = (str(a), str(b)), factor("threshold", threshold)
    power = factor("require_power", require_power)
    recorded = [await _recorded(state, run_id) for run_id in ids]

    def compute() -> bytes:
        parts_a, parts_b = (run.parts or (run_id,) for run_id, run in zip(ids, recorded, strict=True))
        with state.connect() as database:
            table = compared(database, parts_a, parts_b, least)
        content = export.rendered(table, format)
        return _with_summary(table, content, power) if format == "json" else content

    return await _answered(state, (ids, least, power, *recorded, format), compute, if_none_match, format)


def _with_summary(table: Table, results: bytes, power: float | None) -> bytes:
    """The JSON of a :class:`Comparison`, from the JSON of its rows."""
    judged = said_once([dict(zip(table.columns, row, strict=True)) for row in table.rows])
    whole = summary(judged, power)
    document = asdict(whole) | {
        "exit_code": EXIT_CODES[whole.conclusion],
        "false_alarm_rate": round(ERROR, 6),
    }
    return b'%s, "results": %s}\n' % (json.dumps(document, indent=1).encode()[:-2], results.rstrip())


@router.get("/adapters", response_model=Adapters, summary="Libraries on this host", responses=documented())
async def adapters(state: Shared) -> Response:
    """What is installed where the API runs, how it was built, what it can do; what is missing and how to get it."""
    libraries = await state.libraries.answer()
    return Response(b'{"adapters":' + libraries + b"}", media_type="application/json")


@router.get("/hosts", response_model=Hosts, summary="Benchmark workers", responses=documented("not-ready"))
async def hosts(state: Shared) -> dict[str, object]:
    """Every benchmark worker, what its host offers, and what it executes."""
    return {"hosts": await state.store.rows("hosts", {"stalled_s": state.stalled_s})}


async def _recorded(state: State, run_id: str) -> Recorded:
    """The recorded parts and trials of a run, at most a moment old."""

    async def look() -> Recorded:
        parts = await state.store.rows("run_parts", {"id": run_id})
        if not parts:
            await state.run(
                run_id
            )  # an unknown run raises ``Problem``; one that no host has begun has no results
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


@dataclass(frozen=True, slots=True)
class Pair:
    """A part of run a, a part of run b, and the comparison of their results."""

    a: str
    b: str
    rows: Sequence[Row]


def compared(
    database: Database, parts_a: Sequence[str], parts_b: Sequence[str], threshold: float | None = None
) -> Table:
    """One row per case, phase and metric of either run, with the parts that measured it. Each run needs at least one
    part. ``threshold`` is the threshold for times, as in :class:`Rule`.

    No result mixes hosts: a case that several parts of a run measured, in separate processes, has a row for each part.
    """
    results = {part: rows(database, TWO_RUNS, part) for part in {*parts_a, *parts_b}}
    pairs = [Pair(a, b, paired(results[a], results[b])) for a, b in product(parts_a, parts_b)]
    settled_rows = settled(whole(pairs))
    rule = Rule.over(settled_rows, across_security_levels=False, threshold=threshold)
    judged = [
        (*judgement, *_parts(row))
        for row, judgement in zip(settled_rows, judgements(settled_rows, rule), strict=True)
    ]
    return Table((*COLUMNS, *_PARTS), judged)


def whole(pairs: Sequence[Pair]) -> list[Row]:
    """The rows of two runs, from the rows of all pairs of their parts; ``a_run_id`` and ``b_run_id`` name the parts.

    A result counts as missing in the other run only if none of that run's parts has it; then the other part is
    ``None``. Pure.
    """
    named = [_named(pair, row) for pair in pairs for row in pair.rows]
    both = [row for row in named if None not in _parts(row)]
    met = {(part, _place(row)) for row in both for part in _parts(row)}
    alone = {
        (_parts(row), _place(row), row["a_status"], row["b_status"]): row
        for row in named
        if None in _parts(row) and not met & {(part, _place(row)) for part in _parts(row)}
    }
    return both + list(alone.values())


def _named(pair: Pair, row: Row) -> Row:
    a = None if row["a_status"] is None else pair.a
    b = None if row["b_status"] is None else pair.b
    return {**row, "a_run_id": a, "b_run_id": b}


def _parts(row: Row) -> tuple[str | None, ...]:
    return tuple(row[part] for part in _PARTS)


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _PLACE)
