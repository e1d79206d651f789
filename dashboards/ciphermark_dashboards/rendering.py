"""Figures with data in them: tables for people, charts as Vega-Lite, SVG and PNG, rows as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from statistics import mean
from threading import Lock
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import typst
import vl_convert

from ciphermark_core.controls import visible_in
from ciphermark_core.security import OLDEST
from ciphermark_dashboards import fonts
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.store import Store, with_values
from ciphermark_present import charting, query, theme
from ciphermark_present.catalogue.columns import (
    OF_CASE,
    PARAMETERS,
    acceleration_marks,
    legend,
    marked,
    with_differing,
)
from ciphermark_present.figure import Column, Figure
from ciphermark_present.query import AS_MEASURED, Answer, Query, Row
from ciphermark_present.sentences import with_level

_PNG_SCALE = 2.0
_STANDALONE_WIDTH = 760  # of standalone charts, without their axes
_BETWEEN = 70  # pixels from one small chart to the next, including that one's axis
_KEPT_ROWS = 200_000
_FEW = 3  # values in a cell of a table of reasons
NOTHING = ("", "–")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table. ``kind`` is its class: a number, prose, a long text, the outcome of a trial. ``address`` is
    its link. ``length`` is that of the whole text, where ``text`` is its beginning. ``share`` is the length of a bar,
    as a share of the longest one; ``is_best``: it is among the shortest.
    """

    text: str
    kind: str = ""
    address: str = ""
    length: int = 0
    share: float = 0.0
    is_best: bool = False

    def cut(self, most: int) -> Cell:
        """The beginning of the text, and the length of the whole."""
        length = self.length or len(self.text)
        if length <= most:
            return self
        return replace(self, text=f"{self.text[:most]}… (first {most:,} of {length:,} characters)")


_MISSING = Cell("not in this run", "status-missing")


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people: column labels, each with whether it heads numbers; rows, and the number of omitted rows.

    ``legend`` explains the marks in it. ``same`` has the values that all rows share, whose columns are left out. In a
    grid, ``places`` are the first columns, which identify a row; one column for each variant follows.
    """

    head: Sequence[tuple[str, bool]]
    rows: Sequence[Sequence[Cell]]
    left_out: int = 0
    same: str = ""
    places: int = 0
    legend: str = ""

    def first(self, most: int, characters: int) -> Table:
        """The first rows, with long texts cut."""
        rows = [[cell.cut(characters) for cell in row] for row in self.rows[:most]]
        return replace(self, rows=rows, left_out=self.left_out + len(self.rows) - len(rows))

    def said_once(self, first: int, end: int) -> Table:
        """The table without those of the columns ``first`` to ``end`` that have one text, or none, in all rows."""
        texts = {place: {row[place].text for row in self.rows} for place in range(first, end)}
        same = {place: values.pop() for place, values in texts.items() if len(values) == 1}
        said = [f"{self.head[place][0]} {text}" for place, text in same.items() if text not in NOTHING]
        columns = [place for place in range(len(self.head)) if place not in same]
        return replace(
            self,
            head=[self.head[place] for place in columns],
            rows=[[row[place] for place in columns] for row in self.rows],
            same=f"All rows: {'; '.join(said)}." if said else "",
            places=sum(place < self.places for place in columns),
        )


def failures(rows: Sequence[Row]) -> Table:
    """The cases that were not measured, by library and reason; ``rows`` are those of the block ``failures``."""
    head = [("Variant", False), ("Outcome", False), ("Scheme", False), ("N", True), ("Experiment", False)]
    head += [("Operation", False), ("Trials", True), ("Reason", False)]
    cells = [
        [
            Cell(row["variant"], address=case_address(row["run_id"], row["comparison_group"])),
            Cell(row["status"], f"status-{row['status']}"),
            Cell(_several(row["schemes"])),
            Cell(_several(row["ring_dimensions"]), "number" if len(row["ring_dimensions"]) == 1 else ""),
            Cell(_several(row["experiments"])),
            Cell(_several(row["operations"])),
            Cell(str(row["trials"]), "number"),
            Cell(row["error"] or "–", "long", length=row["error_characters"]),
        ]
        for row in rows
    ]
    return Table(head, cells, rows[0]["kinds"] - len(rows) if rows else 0)


def _several(values: Sequence[object]) -> str:
    """The first few values, and the number of the others."""
    more = len(values) - _FEW
    return ", ".join(map(str, values[:_FEW])) + (f" and {more} more" if more > 0 else "")


def whole(rows: Sequence[Row], run_id: str, most: int) -> str:
    """The command that prints the whole reasons, where some are longer than ``most`` characters and cut; else empty."""
    if max((row["error_characters"] for row in rows), default=0) <= most:
        return ""
    return (
        'ciphermark sql "select variant, operation, status, error from results '
        f"where run_id = '{run_id}' and error is not null\""
    )


@dataclass(frozen=True)
class Filled:
    """A figure with the answer to its query for a selection."""

    figure: Figure
    selection: Selection
    answer: Answer

    @cached_property
    def rows(self) -> list[Row]:
        """The rows by column name, with their levels by the chosen table."""
        table = self.selection.parameters.get(query.TABLE, OLDEST)
        return [with_level(row, table) for row in self.answer.mappings]

    @cached_property
    def title(self) -> str:
        """The finding of the rows; without one, the figure's title."""
        return (self.rows and self.figure.finding(self.rows)) or self.figure.title

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The table's columns: the figure's, and the parameters in which the rows differ."""
        return with_differing(self.figure.columns, self.rows, PARAMETERS)

    @cached_property
    def specification(self) -> dict[str, Any] | None:
        """The chart in Vega-Lite with its data, all characters visible; ``None`` where there is nothing to draw."""
        chart = self.figure.draw([{theme.ADDRESS: self.case_address(row), **row} for row in self.rows])
        if chart is None:
            return None
        # A test validates every chart.
        drawn: dict[str, Any] = theme.dressed(visible_in(chart.to_dict(validate=False)))
        if self.selection.is_uncorrected:
            title = (
                {"text": drawn["title"], "subtitle": AS_MEASURED}
                if "title" in drawn
                else {"text": AS_MEASURED}
            )
            drawn["title"] = title
        return drawn

    @property
    def linked(self) -> dict[str, Any] | None:
        """The chart for a page: its marks lead to their cases."""
        return self.specification and theme.linked(self.specification)

    @property
    def sql(self) -> str:
        """The query with its parameters written out; one query for each run where the figure compares runs."""
        return "\n".join(with_values(query) for query in _queries(self.figure, self.selection))

    @property
    def csv(self) -> str:
        """All columns of the query, as PostgreSQL returned them."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.answer.columns)
        writer.writerows([_plain(value) for value in row] for row in self.answer.rows)
        return text.getvalue()

    def table(self, most: int | None = None, left_out: str = "") -> Table:
        """The rows one by one, all or the first ``most``, without a column that is ``left_out``."""
        columns = [column for column in self.columns if column.name != left_out]
        rows = []
        shown = marked(self.rows, most)
        for row in shown:
            cells = [cell_of(column, row) for column in columns]
            cells[0] = replace(cells[0], address=self.case_address(row))
            rows.append(cells)
        head = [(column.label, column.is_number) for column in columns]
        texts = (cell.text for cells in rows for cell in cells)
        return Table(head, rows, len(self.rows) - len(rows), legend="; ".join(legend(shown, texts)))

    @cached_property
    def grid(self) -> Table:
        """The figure's grid: a row for each case, a cell for each variant. A missing result has the reason in its cell.
        Where libraries resolved a case differently, its row lists all values.
        """
        grid = self.figure.grid
        assert grid is not None
        place = with_differing(grid.place, self.rows, OF_CASE)
        variants = sorted({row["variant"] for row in self.rows})
        cases: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.rows:
            case = cases.setdefault((row["comparison_group"], place[0].cell(row)), {})
            if (
                row["variant"] not in case or row["status"] == "ok"
            ):  # some of several processes may have failed
                case[row["variant"]] = row
        rows = [
            [
                Cell(" / ".join(dict.fromkeys(map(column.cell, case.values()))), _kind(column))
                for column in place
            ]
            + [self._variant(case[name]) if name in case else _MISSING for name in variants]
            for case in cases.values()
        ]
        marks = acceleration_marks(self.rows)
        names = [(name + marks[name], True) for name in variants]
        head = [(column.label, column.is_number) for column in place] + names
        return Table(head, rows, places=len(place)).said_once(1, len(place))

    @cached_property
    def narrow(self) -> Table:
        """A table for paper: the grid where there is one. Otherwise the rows, without the values that they share and
        without the reasons, which have a table of their own.
        """
        if self.figure.grid:
            return self.grid
        table = self.table(left_out="error")
        return table.said_once(0, len(table.head)) if len(table.rows) > 1 else table

    def _variant(self, row: Row) -> Cell:
        assert self.figure.grid is not None
        return Cell(self.figure.grid.cell(row), f"status-{row['status']}", self.case_address(row))

    def case_address(self, row: Row) -> str:
        """The address of the case of a row."""
        key = row.get("comparison_group")
        return case_address(row.get("run_id") or self.selection.runs[0], key) if key else ""


def libraries(figures: Sequence[Filled]) -> dict[str, tuple[str, str]]:
    """Colour and shape of the variants that charts distinguish by them, in the order of the ranking: of the mean place
    among the rows of a case, of which figures list the fastest first.
    """
    drawn = [item for item in figures if item.specification and item.specification["usermeta"]["legend"]]
    names = {name for item in drawn for name in (item.specification or {})["usermeta"]["legend"]}
    places: dict[str, list[int]] = {name: [] for name in names}
    for item in drawn:
        cases: Counter[tuple[Any, Any]] = Counter()
        for row in item.rows:
            case = row.get("comparison_group"), row.get("operation")
            if row.get("variant") in names:
                places[row["variant"]].append(cases[case])
                cases[case] += 1
    ranking = sorted(names, key=lambda name: (mean(places[name] or [0]), name))
    return {name: charting.look(name, sorted(names)) for name in ranking}


def case_address(run_id: str, key: str) -> str:
    """The address of a case's page."""
    return f"/case?{urlencode({'run': run_id, 'case': key})}"


def cell_of(column: Column, row: Row) -> Cell:
    """A row's cell in a column, with its class."""
    text, kind = column.cell(row), _kind(column)
    if kind == "status":
        return Cell(text, f"status-{text}")
    return Cell(text, f"{kind} warning".strip() if column.is_warning(row[column.name]) else kind)


def _kind(column: Column) -> str:
    named = {"status": "status", "error": "long"}
    return named.get(column.name) or ("number" if column.is_number else "prose" if column.is_prose else "")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return value.isoformat() if isinstance(value, datetime) else value


class Kept(Generic[T]):
    """A cache of the latest requested items, up to a total weight. Safe to use from any thread."""

    def __init__(self, most: int, weight: Callable[[T], int]) -> None:
        self._most = most
        self._weight = weight
        self._items: OrderedDict[Hashable, T] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The item of a key, made where it is not cached. Two threads may make it at once; both get one item."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key]
        item = make()
        with self._lock:
            if key in self._items:
                return self._items[key]
            self._items[key] = item
            self._total += self._weight(item)
            while self._total > self._most and len(self._items) > 1:
                _, dropped = self._items.popitem(last=False)
                self._total -= self._weight(dropped)
        return item


class Figures:
    """Fills figures, and caches them until more of their runs is recorded."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._figures: Kept[Filled] = Kept(_KEPT_ROWS, lambda item: 1 + len(item.answer.rows))
        self._choices: Kept[Answer] = Kept(_KEPT_ROWS, lambda item: 1 + len(item.rows))

    def choices(self, run: Row) -> list[dict[str, Any]]:
        """The choices that a run offers."""
        run_id = run["run_id"]
        key = (run_id, run["recorded"])
        return self._choices.get(key, lambda: self._store.ask("choices", {"run_id": run_id})).mappings

    def filled(self, figure: Figure, selection: Selection) -> Filled:
        """The figure for a selection."""
        key = repr((figure.name, selection.parameters, selection.recorded))
        return self._figures.get(key, lambda: filled(self._store, figure, selection))


def filled(store: Store, figure: Figure, selection: Selection) -> Filled:
    """Execute the figure's query."""
    queries = _queries(figure, selection)
    if figure.combine is not None:
        with ThreadPoolExecutor(len(queries)) as pool:  # sequential queries would take twice as long
            answers = list(pool.map(store.answer, queries))
        return Filled(figure, selection, figure.combine(answers, selection.parameters))
    answer = store.answer(queries[0])
    if figure.derive is not None:
        answer = figure.derive(answer, selection.parameters)
    return Filled(figure, selection, answer)


def _queries(figure: Figure, selection: Selection) -> list[Query]:
    """The queries, one for each run."""
    return [query.of(figure, run_id, selection.parameters) for run_id in selection.runs]


def svg(specification: Row, width: float = _STANDALONE_WIDTH, columns: int | None = None) -> str:
    """A chart as SVG. ``width`` is that of the plot, or of all small charts together, without their axes; these have so
    many ``columns``.
    """
    fonts.register()
    return str(vl_convert.vegalite_to_svg(json.dumps(_standalone(specification, width, columns))))


def panels(specification: Row) -> int:
    """The number of small charts; 0 for a chart without them."""
    if "facet" not in specification:
        return 0
    field = specification["facet"]["field"]
    return len({row[field] for row in specification["data"]["values"]})


def png(specification: Row, scale: float = _PNG_SCALE) -> bytes:
    """A chart as PNG."""
    fonts.register()
    return bytes(
        vl_convert.vegalite_to_png(json.dumps(_standalone(specification, _STANDALONE_WIDTH)), scale=scale)
    )


def pdf(source: bytes, files: Mapping[str, bytes]) -> bytes:
    """A document in Typst as PDF; ``files`` are what it reads."""
    document: Any = {"main.typ": source, **files}
    return bytes(typst.compile(document, font_paths=[fonts.FOLDER]))


def _standalone(specification: Row, width: float, columns: int | None = None) -> dict[str, Any]:
    """The specification at the width of a picture: the same for any number of small charts."""
    is_container = specification.get("width") == "container"
    changed = {"width": width} if is_container else _in_columns(specification, width, columns)
    return {**specification, **changed}


def _in_columns(specification: Row, width: float, wanted: int | None) -> dict[str, Any]:
    """The properties that make small charts fill the width of a picture together."""
    if "facet" not in specification:
        return {}
    columns = max(1, min(panels(specification), wanted or specification.get("columns", 1)))
    each = (width - _BETWEEN * (columns - 1)) // columns
    return {"columns": columns, "spec": {**specification["spec"], "width": each}}
