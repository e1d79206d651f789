"""Figures: a view, the columns and words of its table, a chart, sentences. Terminal, pages and reports show these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciphermark_present import formats
from ciphermark_present.query import Answer, Row
from ciphermark_present.subject import Subject

if TYPE_CHECKING:  # a command line that draws nothing does not wait for Altair
    from ciphermark_present.charting import Chart

Derive = Callable[[Answer, Row], Answer]
Draw = Callable[[Sequence[Row]], "Chart | None"]
Combine = Callable[[Sequence[Answer], Row], Answer]
Tell = Callable[[Sequence[Row], Row], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: where its value is, how it is headed, and how it is written.

    ``unit`` names the column with the unit of the value, where that differs from row to row. ``is_prose``: its texts
    are sentences, which may take several lines. Where there is little room, as in a terminal, ``short`` heads it
    and ``brief`` writes it; ``heading`` tells it once, above a table all of whose rows have the same.
    """

    name: str
    label: str
    write: Callable[[Any], str] = lambda value: "" if value is None else str(value)
    is_number: bool = False
    unit: str = ""
    is_prose: bool = False
    short: str = ""
    brief: Callable[[Any], str] | None = None
    heading: Callable[[Row], str] | None = None

    def cell(self, row: Row) -> str:
        """The text of a row's cell."""
        value = row[self.name]
        return formats.quantity(value, row[self.unit]) if self.unit else self.write(value)

    def brief_cell(self, row: Row) -> str:
        """The text of a row's cell where there is little room."""
        value = row[self.name]
        if self.unit:
            return formats.brief_quantity(value, row[self.unit] or "")
        return (self.brief or self.write)(value)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a column per variant: ``place`` names the columns that rows have in common, ``cell`` writes one."""

    place: tuple[Column, ...]
    cell: Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    ``view`` names what it reads; ``narrowed_by`` are the columns by which readers choose rows, ``may_lack`` those of
    them that a row need not have a value in; ``where`` is what all its rows have; ``order`` is that of its rows.
    ``read`` are the columns that it takes, by default all: of very many rows the others cost more than the query.
    ``derive`` makes of the answer, and the parameters it was asked with, what is shown and downloaded; ``combine``
    makes it of an answer for each run, from a query about one run that is asked for all of them at once.

    ``chart`` draws it, and gives nothing where the rows have nothing to draw; ``tell`` puts it into
    sentences. ``page`` is the path of a page that it asks to
    be shown on, after the figures that the page names. ``lead`` tells how to read it, ``empty`` what it means when
    there is no row. ``is_table_open``: the table says more than the chart. ``on_page`` is what a page adds to the lead,
    where one can follow links and choose. ``noted_by``: what notes on libraries have to be about to stand below it (see
    ``Note.about``), and the column that has it.
    """

    name: str
    title: str
    lead: str
    view: str
    columns: tuple[Column, ...]
    subject: Subject | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    narrowed_by: tuple[str, ...] = ()
    may_lack: tuple[str, ...] = ()
    order: str = ""
    read: tuple[str, ...] = ("*",)
    chart: Draw | None = None
    page: str = ""
    tell: Tell | None = None
    derive: Derive | None = None
    combine: Combine | None = None
    grid: Grid | None = None
    empty: str = "This run has nothing of the kind under these filters."
    is_table_open: bool = False
    on_page: str = ""
    noted_by: tuple[str, str] = ("", "")

    def draw(self, rows: Sequence[Row]) -> Chart | None:
        """The chart of rows; nothing where there is nothing to draw."""
        return self.chart(rows) if self.chart else None
