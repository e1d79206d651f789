"""The page that advises on a library and parameters for a workload, within limits that a reader sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from ciphermark_core.errors import UserError
from ciphermark_dashboards import page_tables, templating
from ciphermark_dashboards.benchmark import Benchmark, ServiceAwayError
from ciphermark_dashboards.filters import ARRANGED, Selection, require_known
from ciphermark_dashboards.navigation import PARAMETERS
from ciphermark_dashboards.pages import ADVISE_PATH
from ciphermark_dashboards.rendering import Cell, Filled, Table, libraries
from ciphermark_present import formats
from ciphermark_present.catalogue import advice
from ciphermark_present.query import Answer, Row

_UNCONNECTED = "This dashboard is read-only: no benchmark service with libraries is configured."
_DEFAULT = "logistic"
OBJECTIVES = {"time": "the time", "memory": "the memory", "bytes": "the bytes"}
BANDWIDTHS = {"": "100 Mbit/s", "10Mbit/s": "10 Mbit/s", "1Gbit/s": "1 Gbit/s", "10Gbit/s": "10 Gbit/s"}
LEVELS = ("128", "192", "256")
TABLES = {"2018": "HE Standard (2018)", "2024": "guidelines (2024)"}
_MOST_LEFT_OUT = 100  # rows of a page
_FEW = 1.001  # an interval of values that a slider can have is wider


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that a slider sets: its name, its label, the cost of a candidate that it is on, and how texts write it.
    ``is_floor``: the limit is a minimum.
    """

    name: str
    label: str
    cost: Callable[[Row], float | None]
    write: Callable[[float], str]
    kind: str
    is_floor: bool = False


def _value(name: str) -> Callable[[Row], float | None]:
    def of(costs: Row) -> float | None:
        value = costs[name]
        value = value["value"] if isinstance(value, dict) else value
        return None if value is None else float(value)

    return of


def _per_second(costs: Row) -> float:
    return 1 / float(costs["evaluation_s"]["value"])


LIMITS = (
    Limit("latency", "Time, at most", _value("latency_s"), formats.seconds, "s"),
    Limit("throughput", "Passes per second, at least", _per_second, formats.three_digits, "", is_floor=True),
    Limit("server_memory", "Server memory, at most", _value("server_memory_bytes"), formats.size, "B"),
    Limit("client_memory", "Client memory, at most", _value("client_memory_bytes"), formats.size, "B"),
    Limit("upload", "Upload, at most", _value("upload_bytes"), formats.size, "B"),
    Limit("download", "Download, at most", _value("download_bytes"), formats.size, "B"),
    Limit("keys", "Keys, at most", _value("key_bytes"), formats.size, "B"),
    Limit("error", "Largest error, at most", _value("error"), formats.small, ""),
)
_FIELDS = (
    *(limit.name for limit in LIMITS),
    "workload",
    "objective",
    "bandwidth",
    "security",
    "security_table",
)
_NUMBERS = ("throughput", "error")


@dataclass(frozen=True, slots=True)
class Slider:
    """A limit as the page shows it: the text of its field, and the decimal logarithms of its ends and position."""

    limit: Limit
    text: str
    low: float
    high: float
    at: float


def router(benchmark: Benchmark | None) -> APIRouter:
    """The route of the page."""
    routes = APIRouter()

    @routes.get(ADVISE_PATH)
    async def asked(request: Request) -> HTMLResponse:
        given = {name: text for name, text in request.query_params.items() if text}
        require_known([*given], (*_FIELDS, *PARAMETERS, ARRANGED))
        workloads, why_not = await _offered(benchmark)
        answer = None
        if benchmark is not None and workloads:
            given.setdefault("workload", _DEFAULT if _DEFAULT in workloads else workloads[0])
            try:
                answer = await benchmark.advise(body(given))
            except ServiceAwayError:
                raise
            except UserError as error:
                why_not = str(error)
        return await run_in_threadpool(_page, workloads, why_not, given, answer)

    return routes


async def _offered(benchmark: Benchmark | None) -> tuple[list[str], str | None]:
    """The workloads that the service can advise on; or the reason why there is none now."""
    if benchmark is None:
        return [], _UNCONNECTED
    try:
        return await benchmark.advisees(), None
    except UserError as error:
        return [], str(error)


def body(given: Mapping[str, str]) -> dict[str, Any]:
    """The request to the service. Raises ``UserError`` for a limit that is no number."""
    asked: dict[str, Any] = {name: text for name, text in given.items() if name in _FIELDS}
    try:
        asked |= {name: float(asked[name]) for name in _NUMBERS if name in asked}
        asked |= {"security": int(asked["security"])} if "security" in asked else {}
    except ValueError:
        raise UserError("The limits of throughput, error and security are numbers without a unit.") from None
    return asked


def sliders(answer: Row | None, given: Mapping[str, str]) -> list[Slider]:
    """The limits with a range of predicted costs, from the smallest to the largest among the candidates."""
    costs = [item["costs"] for item in (answer or {"candidates": []})["candidates"] if item["costs"]]
    limits = (answer or {"limits": {}})["limits"]
    several = []
    for limit in LIMITS:
        values = [value for each in costs if (value := limit.cost(each))]
        low, high = min(values, default=1.0), max(values, default=1.0)
        if high < _FEW * low:
            if limit.name in given:
                several.append(Slider(limit, given[limit.name], 0.0, 0.0, 0.0))
            continue
        free = low if limit.is_floor else high
        at = min(max(limits.get(limit.name) or free, low), high)
        several.append(
            Slider(limit, given.get(limit.name, ""), *(math.log10(each) for each in (low, high, at)))
        )
    return several


def _page(
    workloads: Sequence[str], why_not: str | None, given: Mapping[str, str], answer: Row | None
) -> HTMLResponse:
    context: dict[str, Any] = {
        "title": "Advise",
        "path": ADVISE_PATH,
        "workloads": workloads,
        "why_not": why_not,
    }
    context |= {"given": given, "sliders": sliders(answer, given), "objectives": OBJECTIVES, "levels": LEVELS}
    context |= {
        "bandwidths": BANDWIDTHS,
        "tables": TABLES,
        "answer": answer,
        "reading": advice.POINTS.reading,
    }
    if answer is not None:
        context |= _answered(answer, given)
    return templating.page("advise.html", **context)


def _answered(answer: Row, given: Mapping[str, str]) -> dict[str, Any]:
    chart, points = _filled(advice.chart_rows(answer)), _filled(advice.point_rows(answer))
    kept = {name: text for name, text in given.items() if name != ARRANGED}
    arrangements = page_tables.arrangements(given.get(ARRANGED, ""))
    return {
        "finding": advice.finding(answer),
        "about": advice.about(answer),
        "specification": chart.specification,
        "look": libraries([chart]),
        "points": page_tables.of(points, arrangements, f"{ADVISE_PATH}?{urlencode(kept)}")
        if points.rows
        else None,
        "suites": [point["suite"] for point in answer["points"]],
        "nearest": _table(advice.nearest_rows(answer), "What would have to give", "text"),
        "left_out": _table(advice.left_out_rows(answer), "Reason", "why_not"),
    }


def _filled(rows: Sequence[Row]) -> Filled:
    columns = tuple(rows[0]) if rows else ()
    return Filled(advice.POINTS, Selection(()), Answer(columns, [tuple(row.values()) for row in rows]))


def _table(rows: Sequence[Row], head: str, column: str) -> Table:
    heads = [("Library", False), ("Parameters", False), (head, False)]
    cells = [
        [Cell(row["variant"]), Cell(row["candidate"], "prose"), Cell(row[column], "prose")]
        for row in rows[:_MOST_LEFT_OUT]
    ]
    return Table(heads, cells, len(rows) - len(cells))
