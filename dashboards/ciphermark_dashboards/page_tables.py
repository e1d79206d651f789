"""Tables of pages: at most eight columns, of which the others open with their row; sorted, and in pages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from ciphermark_core.errors import UserError
from ciphermark_dashboards.filters import ARRANGED
from ciphermark_dashboards.rendering import NOTHING, Cell, Filled, Table, cell_of
from ciphermark_present.catalogue.columns import legend, marked
from ciphermark_present.figure import OPENED, Column
from ciphermark_present.query import Row

MAX_COLUMNS = 8
ROWS = 25  # of a page
_MAX_CHARACTERS = 300  # of a text that opens; the page of the run and the CSV have more
_NEAR = 1.05  # values up to this multiple of the smallest are emphasized like it
# Values with these in common are compared by bars.
_PLACE = (
    *("run_id", "comparison_group", "object", "compression", "operation"),
    *("stage", "part", "phase", "metric", "repetitions", "vector_length"),
)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The order of a table's rows, and its page: from 1. ``column`` is empty for the order of the query."""

    column: str = ""
    is_descending: bool = False
    page: int = 1

    def text(self, figure: str) -> str:
        """The value in an address: FIGURE:COLUMN:PAGE; -COLUMN has the largest values first."""
        return f"{figure}:{'-' * self.is_descending}{self.column}:{self.page}"

    def by(self, column: str) -> Arrangement:
        """The arrangement after a click on a column's header."""
        return Arrangement(column, self.column == column and not self.is_descending)


def arrangements(text: str) -> dict[str, Arrangement]:
    """The arrangement that an address has, by figure. Raises ``UserError`` for another text."""
    if not text:
        return {}
    figure, _, rest = text.partition(":")
    column, _, page = rest.partition(":")
    if not figure or not page.isascii() or not page.isdecimal() or not 1 <= int(page) <= 1_000_000:
        raise UserError(f"{ARRANGED}={text}: write FIGURE:COLUMN:PAGE, such as latency:median:1")
    return {figure: Arrangement(column.removeprefix("-"), column.startswith("-"), int(page))}


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table: those that it shows, those that open with a row, and those with one value in all rows."""

    shown: tuple[Column, ...]
    opened: tuple[Column, ...]
    shared: tuple[Column, ...]


def columns_of(columns: Sequence[Column], rows: Sequence[Row]) -> Columns:
    """At most :data:`MAX_COLUMNS` columns to show; of the others, those with the largest ``detail`` open."""
    shared = [
        column
        for column in columns
        if column.text is None and len(rows) > 1 and len({str(row[column.name]) for row in rows}) == 1
    ]
    rest = [column for column in columns if column not in shared]
    shown = [column for column in rest if column.detail < OPENED] or rest[:1]
    while len(shown) > MAX_COLUMNS:
        shown.remove(max(shown[1:], key=lambda column: (column.detail, shown.index(column))))
    return Columns(tuple(shown), tuple(column for column in rest if column not in shown), tuple(shared))


def arranged(rows: Sequence[Row], columns: Sequence[Column], arrangement: Arrangement) -> list[Row]:
    """The rows in the order of a column, those without a value last; as they are for an unknown column."""
    if arrangement.column not in {column.name for column in columns}:
        return list(rows)
    present = [row for row in rows if row[arrangement.column] is not None]
    absent = [row for row in rows if row[arrangement.column] is None]
    key = _sortable(arrangement.column)
    return [*sorted(present, key=key, reverse=arrangement.is_descending), *absent]


def _sortable(column: str) -> Callable[[Row], Any]:
    def key(row: Row) -> Any:
        value = row[column]
        return tuple(value) if isinstance(value, list) else str(value) if isinstance(value, dict) else value

    return key


@dataclass(frozen=True, slots=True)
class Comparison:
    """The share of a bar's length, from 0 to 1, and whether the value is among the smallest of its case."""

    share: float
    is_best: bool


def comparisons(rows: Sequence[Row], column: Column) -> Callable[[Row], Comparison | None]:
    """The comparison of a row's value with those of other variants of its case; ``None`` without any."""
    if not column.is_compared:
        return lambda _: None
    values: dict[Any, list[float]] = {}
    for row in rows:
        if row[column.name] is not None:
            values.setdefault(_place(row), []).append(float(row[column.name]))

    def of(row: Row) -> Comparison | None:
        value, others = row[column.name], values.get(_place(row), [])
        if value is None or len(others) < 2 or max(others) <= 0:
            return None
        return Comparison(float(value) / max(others), float(value) <= _NEAR * min(others))

    return of


def _place(row: Row) -> tuple[str, ...]:
    return tuple(str(row.get(name)) for name in _PLACE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's header: its address sorts by the column; ``direction`` is that of the present order, for
    ``aria-sort``.
    """

    label: str
    is_number: bool
    address: str
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Pages:
    """The place of a table's page among all: numbers from 1 of its first and last row, and neighboring pages'
    addresses, empty where there is none.
    """

    first: int
    last: int
    rows: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of a table's other arrangements; ``base`` has the page's other parameters."""

    figure: str
    base: str

    def of(self, arrangement: Arrangement) -> str:
        """The address of an arrangement, at the table."""
        return f"{self.base}&{ARRANGED}={quote(arrangement.text(self.figure))}#table-{self.figure}"


def headings(columns: Sequence[Column], arrangement: Arrangement, addresses: Addresses) -> list[Heading]:
    """The headers of shown columns."""
    direction = "descending" if arrangement.is_descending else "ascending"
    return [
        Heading(
            column.label,
            column.is_number,
            addresses.of(arrangement.by(column.name)),
            direction if arrangement.column == column.name else "",
        )
        for column in columns
    ]


def pages(count: int, arrangement: Arrangement, addresses: Addresses) -> Pages:
    """The arrangement's page of ``count`` rows; the last page for one beyond it."""
    most = max(1, -(-count // ROWS))
    number = min(arrangement.page, most)

    def address(page: int) -> str:
        return addresses.of(replace(arrangement, page=page)) if 1 <= page <= most else ""

    first = (number - 1) * ROWS
    return Pages(first + 1, min(first + ROWS, count), count, address(number - 1), address(number + 1))


def told(columns: Sequence[Column], row: Row, nothing: Sequence[str]) -> list[tuple[str, str]]:
    """Labels and texts of columns with a text, of which very long ones are cut."""
    texts = ((column.label, column.cell(row)) for column in columns)
    return [(label, Cell(text).cut(_MAX_CHARACTERS).text) for label, text in texts if text not in nothing]


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its cells, and the labels and texts that open."""

    cells: Sequence[Cell]
    opened: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PageTable:
    """A page of a table. ``same`` has the values that all rows share, ``legend`` explains marks. ``is_arranged``: the
    reader chose the order or the page.
    """

    name: str
    heads: Sequence[Heading]
    lines: Sequence[Line]
    pages: Pages
    same: str
    legend: str
    is_arranged: bool


def of(item: Filled, given: Mapping[str, Arrangement], base: str) -> PageTable:
    """The table of a figure, as the address arranges it; ``base`` is the page's address with other parameters."""
    name, columns = item.figure.name, columns_of(item.columns, item.rows)
    arrangement, addresses = given.get(name, Arrangement()), Addresses(name, base)
    rows = arranged(marked(item.rows), columns.shown, arrangement)
    part = pages(len(rows), arrangement, addresses)
    compared = [comparisons(rows, column) for column in columns.shown]
    lines = [_line(item, columns, row, compared) for row in rows[part.first - 1 : part.last]]
    texts = [text for line in lines for text in _texts(line)]
    same = "; ".join(f"{label} {text}" for label, text in told(columns.shared, rows[0], NOTHING))
    return PageTable(
        name,
        headings(columns.shown, arrangement, addresses),
        lines,
        part,
        f"All rows: {same}." if same else "",
        "; ".join(legend(rows, texts)),
        name in given,
    )


def grid_of(item: Filled, given: Mapping[str, Arrangement], base: str) -> tuple[Table, Pages]:
    """A page of a figure's grid, and its place. Columns of further variants are left out, with a note."""
    name, table = f"{item.figure.name}.grid", item.grid
    part = pages(len(table.rows), given.get(name, Arrangement()), Addresses(name, base))
    end = table.places + MAX_COLUMNS - 1
    others = ", ".join(label for label, _ in table.head[end:])
    note = f"The table below also has {others}." if others else ""
    rows = [row[:end] for row in table.rows[part.first - 1 : part.last]]
    same = " ".join(filter(None, (table.same, note)))
    return replace(table, head=table.head[:end], rows=rows, same=same), part


def _line(
    item: Filled, columns: Columns, row: Row, compared: Sequence[Callable[[Row], Comparison | None]]
) -> Line:
    cells = []
    for column, compare in zip(columns.shown, compared, strict=True):
        cell, of_case = cell_of(column, row), compare(row)
        cells.append(cell if of_case is None else replace(cell, share=of_case.share, is_best=of_case.is_best))
    cells[0] = replace(cells[0], address=item.case_address(row))
    return Line(cells, told(columns.opened, row, NOTHING))


def _texts(line: Line) -> list[str]:
    return [*(cell.text for cell in line.cells), *(text for _, text in line.opened)]
