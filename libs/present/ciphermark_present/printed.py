"""Figures as tables where there is little room, as in a terminal or a paper: what all rows share stands in the heading.

A :class:`Listing` declares how: which rows are one table, in which order, under which heading, and their columns;
with a :class:`Pivot`, one column for each variant. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ciphermark_present import formats, parameters
from ciphermark_present.figure import Column, Figure
from ciphermark_present.query import Row

Item = TypeVar("Item")
Rows = Sequence[Row]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column. ``is_prose``: its texts may take several lines; ``least_width`` is that of such texts.

    ``drop``: where a table is too wide, columns of the largest number are left out first, and those of 0 last.
    """

    text: str
    is_number: bool = False
    is_prose: bool = False
    least_width: int = 0
    drop: int = 0


@dataclass(frozen=True, slots=True)
class Printed:
    """One table: its title, what else is said of all its rows, the heads of its columns, and their texts.

    The first ``keys`` columns name a row. What its words mean is ``explained`` after it.
    """

    title: str
    about: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1
    explained: str = ""


Cells = tuple[Head, Callable[[Row], str]]  # a column of a printed table


@dataclass(frozen=True, slots=True)
class Prices:
    """What the server's host charges, in any currency: for an hour of a core, and for a GB (10^9 bytes) that leaves.
    The defaults are dollars, as assumed by Ali et al., "Communication–computation trade-offs in PIR", USENIX Security
    2021.
    """

    cpu_hour: float = 0.0195
    gb: float = 0.09


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reader wants of a run: a phase, ratios across levels, every interval and parameter, the notes; what
    computation and bytes cost; and the ``titles`` of workloads by name.
    """

    phase: str = "operation"
    any_security: bool = False
    is_detailed: bool = False
    has_notes: bool = False
    prices: Prices = field(default_factory=Prices)
    titles: Mapping[str, str] = field(default_factory=dict)

    def titled(self, workload: str) -> str:
        """A workload with its title; a run of another version may have had others."""
        return f"{workload}: {self.titles[workload]}" if workload in self.titles else workload


@dataclass(frozen=True, slots=True)
class Pivot:
    """A table with a column for each variant: rows that have ``line`` in common are one line, whose first row fills the
    columns of the listing; ``cell`` writes a row beside those of its line, ``variants`` orders the columns.
    """

    line: Callable[[Row], Any]
    cell: Callable[[Row, Rows], str]
    variants: Callable[[Rows], Sequence[str]] = lambda rows: sorted({row["variant"] for row in rows})


@dataclass(frozen=True, slots=True)
class Listing:
    """How the rows of ``figures`` are printed.

    ``rows`` makes of their answers the rows that are printed. Those that have the columns ``table`` in common are one
    table; with ``is_by_level`` only those of one security level by the 2018 table: of all levels where a reader wants
    that, and, with ``is_best_mixed``, in the division best, where what was asked for is compared. Cases that differ in
    more than ``varied`` are told apart in the heading; ``order`` sorts the rows of a table. The first ``once`` columns
    are left out where they are as in the row before. ``shown`` are those rows of a table that it prints; ``more`` makes
    further tables of all of them. ``noted`` is said below each table, ``explained`` below the last one.

    ``place`` orders listings, ``is_main``: it belongs to the phase that is timed, ``needs_details`` is ``False`` for a
    reader in a hurry alone, ``True`` for one who looks closely alone.
    """

    figures: tuple[Figure, ...]
    title: Callable[[Rows, Wanted], str]
    columns: Callable[[Rows, Wanted], Iterable[Cells]]
    rows: Callable[[Sequence[Rows], Wanted], Rows] = lambda answers, _: answers[0]
    about: Callable[[Rows, Wanted], str] = lambda rows, _: ""
    table: tuple[str, ...] = ("scheme",)
    is_by_level: bool = True
    is_best_mixed: bool = False
    varied: Callable[[Row], Any] | None = None
    order: Callable[[Row], Any] = lambda row: ()
    once: Callable[[Rows], int] = lambda rows: 1
    pivot: Pivot | None = None
    shown: Callable[[Rows], Rows] = lambda rows: rows
    more: Callable[[Rows, Wanted], Iterable[Printed]] = lambda rows, _: ()
    noted: Callable[[Rows], str] = lambda rows: ""
    explained: Callable[[Wanted], str] = lambda _: ""
    place: int = 50
    is_main: bool = False
    needs_details: bool | None = None

    def groups(self, answers: Sequence[Rows], wanted: Wanted) -> list[list[Row]]:
        """The rows of each table."""
        rows = self.rows(answers, wanted)
        if self.varied is not None:
            varied = self.varied
            rows = parameters.with_apart(rows, lambda row: (self._table(row, wanted), varied(row)))
        rows = sorted(rows, key=lambda row: (self._table(row, wanted), row.get("apart", ""), self.order(row)))
        return grouped(rows, lambda row: (self._table(row, wanted), row.get("apart", "")))

    def tables(self, answers: Sequence[Rows], wanted: Wanted) -> list[Printed]:
        """The tables; ``answers`` are the rows of :attr:`figures`."""
        found: list[Printed] = []
        for same in self.groups(answers, wanted):
            title, about = self.title(same, wanted), self.about(same, wanted)
            columns = list(self.columns(same, wanted))
            if self.pivot is None:
                table = printed(title, about, columns, self.shown(same), self.once(same))
            else:
                table = pivoted(title, about, columns, same, self.pivot, self.once(same))
            found += [replace(table, explained=self.noted(same)), *self.more(same, wanted)]
        if found and (explained := self.explained(wanted)):
            found[-1] = replace(found[-1], explained=explained)
        return found

    def _table(self, row: Row, wanted: Wanted) -> tuple[Any, ...]:
        place = absent_last(*(_sortable(row[name]) for name in self.table), first=True)
        level = level_of(row, wanted, self.is_best_mixed) if self.is_by_level else None
        return (*place, *absent_last(None if level is None else -level))


def level_of(row: Row, wanted: Wanted, is_best_mixed: bool) -> int | None:
    """The security level within which a row is compared; nothing where levels are mixed."""
    is_mixed = wanted.any_security or (is_best_mixed and row["division"] == "best")
    return None if is_mixed else row["security_2018"]


def _sortable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def of(column: Column, drop: int = 0) -> Cells:
    """A figure's column where there is little room."""
    return Head(head(column), column.is_number, column.is_prose, drop=drop), column.brief_cell


def head(column: Column) -> str:
    """What heads a column where there is little room: its label begins with a small letter unless it is a name."""
    if column.short:
        return column.short
    is_word = column.label[1:2].islower()
    return column.label[:1].lower() + column.label[1:] if is_word else column.label


def printed(title: str, about: str, columns: Iterable[Cells], rows: Rows, once: int = 0) -> Printed:
    """A table of rows, whose first ``once`` columns are left out where they are as in the row before; these and the
    column after them name a row.
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
    """A table with a column for each variant; ``nothing`` stands where a line has none of a variant."""
    variants = pivot.variants(rows)
    texts = []
    for line in grouped(rows, pivot.line):
        cells = {row["variant"]: pivot.cell(row, line) for row in line}
        own = (write({**line[0], "line": line}) for _, write in columns)
        texts.append((*own, *(cells.get(variant, nothing) for variant in variants)))
    heads = (*(head for head, _ in columns), *(Head(variant, True) for variant in variants))
    return Printed(title, about, heads, told_once(texts, once), len(columns))


def told_once(texts: Sequence[tuple[str, ...]], once: int) -> tuple[tuple[str, ...], ...]:
    """The rows, less those of their first ``once`` texts that all are as in the row before."""
    return tuple(
        (*("",) * once, *text[once:]) if place and text[:once] == texts[place - 1][:once] else text
        for place, text in enumerate(texts)
    )


def present(columns: Iterable[Cells], rows: Rows, nothing: tuple[str, ...] = ("",)) -> list[Cells]:
    """The columns that say something in some row."""
    return [(head, write) for head, write in columns if any(write(row) not in nothing for row in rows)]


def grouped(rows: Iterable[Item], key: Callable[[Item], Any]) -> list[list[Item]]:
    """The rows that have a key in common, in the order in which keys come first."""
    groups: dict[Any, list[Item]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


def absent_last(*values: Any, first: bool = False) -> tuple[Any, ...]:
    """A key to sort by values that may be ``None``; those come last, or ``first``."""
    return tuple(((value is None) != first, 0 if value is None else value) for value in values)


def with_footnotes(table: Printed) -> tuple[Printed, tuple[str, ...]]:
    """The table with marks for what its columns of prose say, but for those that name rows, and what the marks mean."""
    marks: dict[str, str] = {}
    prose = [place for place, head in enumerate(table.heads) if head.is_prose and place >= table.keys]
    rows = []
    for row in table.rows:
        cells = list(row)
        for place in prose:
            if row[place]:
                cells[place] = marks.setdefault(row[place], f"[{len(marks) + 1}]")
        rows.append(tuple(cells))
    heads = tuple(
        Head(head.text, head.is_number) if place in prose else head for place, head in enumerate(table.heads)
    )
    noted = Printed(table.title, table.about, heads, tuple(rows), table.keys, table.explained)
    return noted, tuple(f"{mark} {text}" for text, mark in marks.items())
