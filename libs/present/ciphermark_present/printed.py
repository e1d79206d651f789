"""Tables where there is little room, as in a terminal or a paper: heads, texts, footnotes for long texts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ciphermark_core.security import OLDEST, Table
from ciphermark_present import formats
from ciphermark_present.figure import Column, Rows
from ciphermark_present.links import USUAL
from ciphermark_present.query import Row

Item = TypeVar("Item")
_NOTED = 15  # characters; a shorter text takes hardly more room than a footnote's mark


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column. ``is_prose``: its texts may take several lines; ``min_width`` is the minimum width of
    these.

    ``drop``: a table that is too wide first loses the columns with the largest number, and those with 0 last. Columns
    without which a row has no meaning have 0.
    """

    text: str
    is_number: bool = False
    is_prose: bool = False
    min_width: int = 0
    drop: int = 0


@dataclass(frozen=True, slots=True)
class Printed:
    """One table: its title, further properties of all its rows, the heads of its columns, and their texts.

    The first ``keys`` columns name a row. ``explained`` is an explanation after the table. ``hidden_rows`` is the
    number of further rows that are left out. ``legend`` has the meanings of the marks in it. ``name`` is its name among
    the tables of a run: that of its figure, with a number where the figure has several.
    """

    title: str
    about: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1
    explained: str = ""
    hidden_rows: int = 0
    legend: tuple[str, ...] = ()
    name: str = ""


Cells = tuple[Head, Callable[[Row], str]]  # a column of a printed table


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of the server's host, in any currency: for an hour of a core, and for a GB (10^9 bytes) of outgoing
    data. The defaults are dollars, as assumed by Ali et al., "Communication–computation trade-offs in PIR", USENIX
    Security 2021.
    """

    cpu_hour: float = 0.0195
    gb: float = 0.09


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reader's choices for a run: a phase, ratios across levels, every interval and parameter, the notes; the cost of
    computation and bytes; the ``titles`` of workloads by name; the ``table`` of security levels; all tables, however
    many there are; and the ``bandwidth`` between both parties. ``name`` is that of the only wanted table or figure.
    ``baseline`` is the variant whose time others are multiples of, by default the fastest. ``is_for_paper``: cells have
    intervals.
    """

    phase: str = "evaluate"
    across_security_levels: bool = False
    is_detailed: bool = False
    has_notes: bool = False
    prices: Prices = field(default_factory=Prices)
    titles: Mapping[str, str] = field(default_factory=dict)
    table: Table = OLDEST
    is_whole: bool = False
    name: str = ""
    baseline: str = ""
    is_for_paper: bool = False
    bandwidth: str = USUAL

    def titled(self, workload: str) -> str:
        """A workload with its title; a run of another version may have had other workloads."""
        return f"{workload}: {self.titles[workload]}" if workload in self.titles else workload


@dataclass(frozen=True, slots=True)
class Pivot:
    """A table with a column for each variant: rows with the same ``line`` are one line, and the first of them fills the
    other columns. ``cell`` writes a row, given the rows of its line. ``variants`` orders the columns, and ``marks``
    follow their names. A terminal without room loses the last columns first, but those with a row that ``is_needed``
    last: multiples of a time mean nothing without the time.
    """

    line: Callable[[Row], Any]
    cell: Callable[[Row, Rows], str]
    variants: Callable[[Rows], Sequence[str]] = lambda rows: sorted({row["variant"] for row in rows})
    marks: Callable[[Rows], Mapping[str, str]] = lambda rows: {}
    is_needed: Callable[[Row], bool] = lambda row: False


def of(column: Column, drop: int = 0) -> Cells:
    """A figure's column for little room."""
    return Head(head(column), column.is_number, column.is_prose, drop=drop), column.brief_cell


def head(column: Column) -> str:
    """The head of a column for little room: its label begins with a small letter unless it is a name."""
    if column.short:
        return column.short
    is_word = column.label[1:2].islower()
    return column.label[:1].lower() + column.label[1:] if is_word else column.label


def printed(title: str, about: str, columns: Iterable[Cells], rows: Rows, once: int = 0) -> Printed:
    """A table of rows, whose first ``once`` columns are left out where they equal those of the row before; these and
    the column after them name a row.
    """
    columns = tuple(columns)
    texts = [tuple(write(row) for _, write in columns) for row in rows]
    return Printed(title, about, tuple(head for head, _ in columns), told_once(texts, once), once + 1)


def pivoted(  # noqa: PLR0913, PLR0917 - what a table and its columns are made of
    title: str,
    about: str,
    columns: Sequence[Cells],
    rows: Rows,
    pivot: Pivot,
    once: int,
    nothing: str = formats.NOTHING,
) -> Printed:
    """A table with a column for each variant; ``nothing`` is the cell of a variant that a line lacks."""
    variants, marks = pivot.variants(rows), pivot.marks(rows)
    texts = []
    for line in grouped(rows, pivot.line):
        cells = {row["variant"]: pivot.cell(row, line) for row in line}
        own = (write({**line[0], "line": line}) for _, write in columns)
        texts.append((*own, *(cells.get(variant, nothing) for variant in variants)))
    needed = {row["variant"] for row in rows if pivot.is_needed(row)}
    drops = {name: 0 if name in needed else place for place, name in enumerate(variants)}
    variant_heads = (Head(name + marks.get(name, ""), True, drop=drop) for name, drop in drops.items())
    heads = (*(head for head, _ in columns), *variant_heads)
    return Printed(title, about, heads, told_once(texts, once), len(columns))


def told_once(texts: Sequence[tuple[str, ...]], once: int) -> tuple[tuple[str, ...], ...]:
    """The rows, without their first ``once`` texts where all of these equal those of the row before."""
    return tuple(
        (*("",) * once, *text[once:]) if place and text[:once] == texts[place - 1][:once] else text
        for place, text in enumerate(texts)
    )


def present(columns: Iterable[Cells], rows: Rows, nothing: tuple[str, ...] = ("",)) -> list[Cells]:
    """The columns with a text in any row."""
    return [(head, write) for head, write in columns if any(write(row) not in nothing for row in rows)]


def grouped(rows: Iterable[Item], key: Callable[[Item], Any]) -> list[list[Item]]:
    """The rows with a common key, in the order in which keys first occur."""
    groups: dict[Any, list[Item]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


def absent_last(*values: Any, first: bool = False) -> tuple[Any, ...]:
    """A key to sort by values that may be ``None``; those come last, or ``first``."""
    return tuple(((value is None) != first, 0 if value is None else value) for value in values)


def with_footnotes(table: Printed) -> tuple[Printed, tuple[str, ...]]:
    """The table with marks for the long texts in its columns of prose, except those that name rows, and the texts of
    the marks.
    """
    marks: dict[str, str] = {}
    prose = [place for place, head in enumerate(table.heads) if head.is_prose and place >= table.keys]
    rows = []
    for row in table.rows:
        cells = list(row)
        for place in prose:
            if len(row[place]) >= _NOTED:
                cells[place] = marks.setdefault(row[place], f"[{len(marks) + 1}]")
        rows.append(tuple(cells))
    heads = tuple(
        Head(head.text, head.is_number) if place in prose else head for place, head in enumerate(table.heads)
    )
    return replace(table, heads=heads, rows=tuple(rows)), tuple(
        f"{mark} {text}" for text, mark in marks.items()
    )
