"""Figures with data in them: charts as Vega-Lite, SVG, PNG, PDF; tables as CSV and for people."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, repeat
from typing import Any
from urllib.parse import urlencode

import vl_convert

from ciphermark_dashboards.cache import Kept
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.store import Store, with_values
from ciphermark_present import query
from ciphermark_present.catalogue.columns import OF_CASE, PARAMETERS, with_differing
from ciphermark_present.figure import Column, Figure
from ciphermark_present.query import Answer, Query, Row

_PNG_SCALE = 2.0
_STANDALONE_WIDTH = 760  # of charts by themselves, their axes apart
_BETWEEN = 70  # pixels from one small chart to the next, with the axis of that
_KEPT_ROWS = 200_000
_MISSING = "not in this run"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a grid: its text, how the trial ended, and the case it links to."""

    text: str
    status: str
    comparison_key: str | None


@dataclass(frozen=True)
class Filled:
    """A figure with the answer to its query for a selection."""

    figure: Figure
    selection: Selection
    answer: Answer

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows by column name."""
        return self.answer.mappings

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The table's columns: the figure's, and the parameters that the rows differ in."""
        return with_differing(self.figure.columns, self.rows, PARAMETERS)

    @cached_property
    def specification(self) -> dict[str, Any] | None:
        """The chart in Vega-Lite, data inside; nothing where there is nothing to draw."""
        chart = self.figure.draw(self.rows)
        return None if chart is None else chart.to_dict(validate=False)  # a test validates every chart

    @property
    def sql(self) -> str:
        """The query with its parameters written out; once for each run where it is about one of several."""
        return "\n".join(with_values(query) for query in _queries(self.figure, self.selection))

    @property
    def csv(self) -> str:
        """All columns of the query, as PostgreSQL gave them."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.answer.columns)
        writer.writerows([_cell(value) for value in row] for row in self.answer.rows)
        return text.getvalue()

    def written(self, most: int | None = None) -> list[list[str]]:
        """The table's cells, for people; of all rows or the first ``most``."""
        return [[column.cell(row) for column in self.columns] for row in self.rows[:most]]

    def lines(self, most: int) -> Iterator[list[tuple[str, str, str]]]:
        """The first rows of the table for a page; of each cell its class, its text, and the address it links to."""
        classes = [_class(column) for column in self.columns]
        for row, texts in zip(self.rows, self.written(most), strict=False):
            addresses = chain((self._case(row),), repeat(""))
            yield [
                (f"status-{text}" if kind == "status" else kind, text, address)
                for kind, text, address in zip(classes, texts, addresses, strict=False)
            ]

    def _case(self, row: Row) -> str:
        """The address of the case that a row is about."""
        if not row.get("comparison_key"):
            return ""
        run_id = row.get("run_id") or self.selection.runs[0]
        return f"/case?{urlencode({'run': run_id, 'case': row['comparison_key']})}"

    @cached_property
    def variants(self) -> list[str]:
        """The variants of the rows."""
        return sorted({row["variant"] for row in self.rows})

    @cached_property
    def place(self) -> tuple[Column, ...]:
        """What the rows of the figure's grid are about: its columns, and the parameters that cases differ in."""
        assert self.figure.grid is not None
        return with_differing(self.figure.grid.place, self.rows, OF_CASE)

    @cached_property
    def grid(self) -> list[tuple[list[str], list[Cell]]]:
        """The rows of the figure's grid, one per case: what they are about, and a cell per variant.

        What is missing says so; where libraries made unlike things of a case, all are told.
        """
        grid = self.figure.grid
        assert grid is not None
        found: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.rows:
            cells = found.setdefault((row["comparison_key"], self.place[0].cell(row)), {})
            if (
                row["variant"] not in cells or row["status"] == "ok"
            ):  # of several processes some may have failed
                cells[row["variant"]] = row
        missing = Cell(_MISSING, "missing", None)
        return [
            (
                [_told(column, cells.values()) for column in self.place],
                [
                    Cell(grid.cell(cells[name]), cells[name]["status"], cells[name]["comparison_key"])
                    if name in cells
                    else missing
                    for name in self.variants
                ],
            )
            for cells in found.values()
        ]


class Figures:
    """Fills figures, and keeps them until more of their runs is recorded."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._figures: Kept[Filled] = Kept(_KEPT_ROWS, lambda item: 1 + len(item.answer.rows))
        self._choices: Kept[Answer] = Kept(_KEPT_ROWS, lambda item: 1 + len(item.rows))

    def recorded(self, runs: tuple[str, ...]) -> str:
        """What is recorded of runs, as a text that changes when more is."""
        return repr(self._store.ask("recorded", {"runs": list(runs)}).rows)

    def choices(self, run_id: str, recorded: str) -> Answer:
        """What a run has to choose from."""
        return self._choices.get(recorded, lambda: self._store.ask("choices", {"run_id": run_id}))

    def filled(self, figure: Figure, selection: Selection, recorded: str) -> Filled:
        """The figure for a selection; ``recorded`` is what :meth:`recorded` says of its runs."""
        key = repr((figure.name, selection.parameters, recorded))
        return self._figures.get(key, lambda: filled(self._store, figure, selection))


def filled(store: Store, figure: Figure, selection: Selection) -> Filled:
    """Ask the figure's query."""
    queries = _queries(figure, selection)
    if figure.combine is not None:
        with ThreadPoolExecutor(len(queries)) as pool:  # one after the other they would take twice as long
            answers = list(pool.map(store.answer, queries))
        return Filled(figure, selection, figure.combine(answers, selection.parameters))
    answer = store.answer(queries[0])
    if figure.derive is not None:
        answer = figure.derive(answer, selection.parameters)
    return Filled(figure, selection, answer)


def _queries(figure: Figure, selection: Selection) -> list[Query]:
    """One for each run."""
    return [query.of(figure, run_id, selection.parameters) for run_id in selection.runs]


def svg(specification: Row) -> str:
    """A chart as SVG."""
    return str(vl_convert.vegalite_to_svg(json.dumps(_standalone(specification))))


def png(specification: Row, scale: float = _PNG_SCALE) -> bytes:
    """A chart as PNG."""
    return bytes(vl_convert.vegalite_to_png(json.dumps(_standalone(specification)), scale=scale))


def pdf(specification: Row) -> bytes:
    """A chart as PDF."""
    return bytes(vl_convert.vegalite_to_pdf(json.dumps(_standalone(specification))))


def _standalone(specification: Row) -> dict[str, Any]:
    """A picture has no page whose width it could take: all are as wide, whatever the number of small charts."""
    is_container = specification.get("width") == "container"
    changed = {"width": _STANDALONE_WIDTH} if is_container else _in_columns(specification)
    return {**specification, **changed, "background": "white"}


def _in_columns(specification: Row) -> dict[str, Any]:
    """What makes small charts take the width of a picture together."""
    if "facet" not in specification:
        return {}
    field = specification["facet"]["field"]
    charts = len({row[field] for row in specification["data"]["values"]})
    columns = max(1, min(charts, specification.get("columns", 1)))
    width = (_STANDALONE_WIDTH - _BETWEEN * (columns - 1)) // columns
    return {"columns": columns, "spec": {**specification["spec"], "width": width}}


def _told(column: Column, rows: Iterable[Row]) -> str:
    return " / ".join(dict.fromkeys(column.cell(row) for row in rows))


def _class(column: Column) -> str:
    named = {"status": "status", "error": "long"}
    return named.get(column.name) or ("number" if column.is_number else "prose" if column.is_prose else "")


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return value.isoformat() if isinstance(value, datetime) else value


def as_json(specification: Row) -> str:
    """A chart as Vega-Lite."""
    return json.dumps(specification)
