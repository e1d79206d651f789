"""Figures: a view, the columns and words of its table, a chart, sentences. Terminal, pages and reports show these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciphermark_core import descriptor
from ciphermark_present import formats
from ciphermark_present.query import Answer, Row, is_disturbed
from ciphermark_present.subject import Subject

if TYPE_CHECKING:  # a command line that draws nothing does not wait for Altair
    from ciphermark_present.charting import Chart
    from ciphermark_present.printed import Cells, Pivot, Printed, Wanted

FILTERS = tuple(
    dimension.name for dimension in descriptor.filters()
)  # columns of cases that readers choose by
Rows = Sequence[Row]
Derive = Callable[[Answer, Row], Answer]
Draw = Callable[[Sequence[Row]], "Chart | None"]
Combine = Callable[[Sequence[Answer], Row], Answer]
Tell = Callable[[Sequence[Row], Row], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: where its value is, how it is headed, and how it is written.

    ``unit`` names the column with the unit of the value, where that differs from row to row. ``is_prose``: its texts
    are sentences, which may take several lines. Where there is little room, as in a terminal, ``short`` heads it
    and ``brief`` writes it; ``heading`` tells it once, above a table all of whose rows have the same. ``mark`` gives
    what stands behind a value, of rows that are ``columns.marked``.
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
    mark: Callable[[Row], str] = lambda row: ""

    def cell(self, row: Row) -> str:
        """The text of a row's cell."""
        value = row[self.name]
        text = formats.quantity(value, row[self.unit]) if self.unit else self.write(value)
        return text if value is None else self._disturbance(row) + text + self.mark(row)

    def brief_cell(self, row: Row) -> str:
        """The text of a row's cell where there is little room."""
        value, write = row[self.name], self.brief or self.write
        text = formats.brief_quantity(value, row[self.unit] or "") if self.unit else write(value)
        return text if value is None else self._disturbance(row) + text + self.mark(row)

    def _disturbance(self, row: Row) -> str:
        return formats.DISTURBED if is_disturbed(row, self.name) else ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a column per variant: ``place`` names the columns that rows have in common, ``cell`` writes one."""

    place: tuple[Column, ...]
    cell: Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a figure is printed where there is little room, as in a terminal or a paper: what it does not say is as the
    figure has it.

    ``title`` stands before what all rows of a table have in common, unless it is a function that makes the whole
    heading; ``about`` says what else is so of all rows. ``columns`` are by default the figure's, less those that the
    heading tells. Rows come in the figure's order, unless ``order`` sorts those of a table.

    ``rows`` makes the rows that are printed of those of the figure and of ``others``, by default of the figure's those
    that came to parameters. Those that have the columns ``table`` in common are one table; with ``is_by_level`` only
    those of one security level by the table that a reader wants: of all levels where a reader wants that, and, with
    ``is_recommended_mixed``, with recommended tuning, where what was asked for is compared. Cases that differ in more
    than ``varied`` are told apart in the heading. The first ``once`` columns are left out where they are as in the row
    before. ``shown`` are those rows of a table that it prints; ``more`` makes further tables of all of them. ``noted``
    is said below each table, ``explained`` below the last one.

    ``place`` orders what is printed of a run, ``is_main``: it belongs to the phase that is timed, ``needs_details`` is
    ``False`` for a reader in a hurry alone, ``True`` for one who looks closely alone.
    """

    title: str | Callable[[Rows, Wanted], str] | None = None
    columns: Callable[[Rows, Wanted], Iterable[Cells]] | None = None
    others: tuple[Figure, ...] = ()
    rows: Callable[[Sequence[Rows], Wanted], Rows] | None = None
    about: Callable[[Rows, Wanted], str] = lambda rows, _: ""
    table: tuple[str, ...] = ("scheme",)
    is_by_level: bool = True
    is_recommended_mixed: bool = False
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


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    ``view`` names what it reads; ``narrowed_by`` are the columns by which readers choose rows, by default whatever
    the filters of its page are about, ``may_lack`` those of them that a row need not have a value in; ``where`` is
    what all its rows have; ``order`` is that of its rows.
    ``read`` are the columns that it takes, by default all: of very many rows the others cost more than the query.
    ``derive`` makes of the answer, and the parameters it was asked with, what is shown and downloaded; ``combine``
    makes it of an answer for each run, from a query about one run that is asked for all of them at once.

    ``chart`` draws it, and gives nothing where the rows have nothing to draw; ``tell`` puts it into
    sentences. ``printed`` is how it is printed where there is little room; with several layouts in as many ways, and
    without one it is not. ``page`` is the path of a page that it asks to
    be shown on, after the figures that the page names. ``lead`` states what it shows, ``reading`` how to read it:
    pages and reports have the latter at their end. ``empty`` is what it means when there is no row. ``is_table_open``:
    the table says more than the chart. ``on_page`` is what a page adds, where one can follow links and choose.
    ``noted_by``: what notes on libraries have to be about to stand below it (see ``Note.about``), and the column that
    has it.
    """

    name: str
    title: str
    lead: str
    view: str
    columns: tuple[Column, ...]
    subject: Subject | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    narrowed_by: tuple[str, ...] = FILTERS
    may_lack: tuple[str, ...] = ()
    order: str = ""
    read: tuple[str, ...] = ("*",)
    chart: Draw | None = None
    printed: tuple[Layout, ...] = (Layout(),)
    page: str = ""
    tell: Tell | None = None
    derive: Derive | None = None
    combine: Combine | None = None
    grid: Grid | None = None
    empty: str = "This run has nothing of the kind under these filters."
    is_table_open: bool = False
    reading: str = ""
    on_page: str = ""
    noted_by: tuple[str, str] = ("", "")

    def draw(self, rows: Sequence[Row]) -> Chart | None:
        """The chart of rows; nothing where there is nothing to draw."""
        return self.chart(rows) if self.chart else None
