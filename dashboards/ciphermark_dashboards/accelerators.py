"""The page of accelerators: published against predicted times, sweeps, a roofline, and a machine with other values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from ciphermark_core.controls import visible_in
from ciphermark_core.errors import UserError
from ciphermark_dashboards import templating
from ciphermark_dashboards.advising import Limit, Slider
from ciphermark_dashboards.benchmark import Benchmark, ServiceAwayError
from ciphermark_dashboards.filters import require_known
from ciphermark_dashboards.navigation import PARAMETERS
from ciphermark_dashboards.pages import ACCELERATORS_PATH
from ciphermark_dashboards.rendering import Cell, Table
from ciphermark_dashboards.store import Store
from ciphermark_db.sql import blocks
from ciphermark_present import formats, theme
from ciphermark_present.catalogue import machine_charts, machines
from ciphermark_present.charting import Chart
from ciphermark_present.printed import Printed
from ciphermark_present.query import Query, Row

_UNCONNECTED = "This dashboard is read-only: no benchmark service with libraries is configured."
_RANGE = 8.0  # of a slider, to either side of the machine's own value
_MAX_DIGITS = 6
_FIELDS = ("program", "machine", "register_file", "bandwidth", "lanes", "digits")
_VALUES = (
    Limit("register_file", "Register file", lambda row: float(row["register_file_bytes"]), formats.size, "B"),
    Limit("bandwidth", "Bandwidth", lambda row: float(row["bandwidth"]), formats.size, "B/s"),
    Limit("lanes", "Lanes", lambda row: float(row["lanes"]), formats.three_digits, ""),
)


def router(benchmark: Benchmark | None, store: Store) -> APIRouter:
    """The route of the page."""
    routes = APIRouter()

    @routes.get(ACCELERATORS_PATH)
    async def shown(request: Request) -> HTMLResponse:
        given = {name: text for name, text in request.query_params.items() if text}
        require_known([*given], (*_FIELDS, *PARAMETERS))
        offered, rows, why_not = None, list[Row](), None if benchmark else _UNCONNECTED
        if benchmark is not None:
            try:
                offered = await benchmark.machines()
                rows = (await benchmark.predict_on_machine(body(given)))["rows"]
            except ServiceAwayError:
                raise
            except UserError as error:
                why_not = str(error)
        measured = await run_in_threadpool(_measured, store, offered)
        return await run_in_threadpool(_page, offered, rows, why_not, given, measured)

    return routes


def body(given: Mapping[str, str]) -> dict[str, Any]:
    """The request to the service. Raises ``UserError`` for lanes or digits that are no numbers."""
    asked: dict[str, Any] = {name: text for name, text in given.items() if name in _FIELDS}
    try:
        asked |= {"lanes": float(asked["lanes"])} if "lanes" in asked else {}
        asked |= {"digits": int(asked["digits"])} if "digits" in asked else {}
    except ValueError:
        raise UserError("Lanes and digits are numbers.") from None
    return asked


def sliders(rows: Sequence[Row], given: Mapping[str, str]) -> list[Slider]:
    """The values of the machine that a reader can change, around its own."""
    if not rows:
        return []
    usual, changed = rows[0], rows[-1]
    several = []
    for value in _VALUES:
        own, now = value.cost(usual), value.cost(changed)
        assert own is not None
        assert now is not None
        low, high = own / _RANGE, own * _RANGE
        at = min(max(now, low), high)
        ends = (math.log10(each) for each in (low, high, at))
        several.append(Slider(value, given.get(value.name, ""), *ends))
    return several


def _measured(store: Store, offered: Row | None) -> Sequence[Row]:
    """Measured times of programs: see the query."""
    if offered is None:
        return []
    text = blocks("reports")["measured_programs"].decode()
    return store.answer(Query(text, {"names": json.dumps(offered["measured"])})).mappings


def _page(
    offered: Row | None,
    rows: Sequence[Row],
    why_not: str | None,
    given: Mapping[str, str],
    measured: Sequence[Row],
) -> HTMLResponse:
    context: dict[str, Any] = {
        "title": "Accelerators",
        "path": ACCELERATORS_PATH,
        "given": given,
        "why_not": why_not,
        "offered": offered,
        "sliders": sliders(rows, given),
        "digits": range(1, _MAX_DIGITS + 1),
        "finding": machines.finding(rows) if rows else "",
        "answer": [_table(table) for table in machines.tables(rows, "Prediction")] if rows else [],
    }
    if offered is not None:
        published = offered["published"]
        several = [*machines.comparison(published), machines.measured(published["rows"], measured)]
        context["tables"] = [_table(table) for table in several if table.rows]
        context["charts"] = [
            (
                "published",
                "Predicted against published times",
                _drawn(machine_charts.compared(published["rows"])),
            ),
            (
                "sweeps",
                "Time against values of the machine",
                _drawn(machine_charts.sweeps(published["sweeps"])),
            ),
            ("roofline", "Roofline", _drawn(machine_charts.roofline(published["rows"]))),
        ]
    return templating.page("accelerators.html", **context)


def _drawn(chart: Chart) -> dict[str, Any]:
    drawn: dict[str, Any] = theme.dressed(visible_in(chart.to_dict(validate=False)))
    return drawn


def _table(printed: Printed) -> tuple[str, Table]:
    """A printed table for the page, with its title."""
    heads = [(formats.capitalized(head.text), head.is_number) for head in printed.heads]
    cells = [
        [
            Cell(text, "number" if head.is_number else "prose" if head.is_prose else "")
            for head, text in zip(printed.heads, row, strict=True)
        ]
        for row in printed.rows
    ]
    notes = filter(None, (printed.about, *printed.legend))
    return printed.title, Table(heads, cells, legend=". ".join(map(formats.capitalized, notes)))
