"""Figures: a view, the columns and texts of its table, a chart, sentences. Terminal, pages and reports show these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciphermark_core import descriptor
from ciphermark_present import formats
from ciphermark_present.query import Answer, Row, is_disturbed
from ciphermark_present.subject import OPERATION, Subject

if TYPE_CHECKING:  # a command line that draws no chart does not load Altair
    from ciphermark_present.charting import Chart
    from ciphermark_present.printed import Cells, Pivot, Printed, Wanted

FILTERS = tuple(
    dimension.name for dimension in descriptor.filters()
)  # columns of cases that readers choose by
OPENED = 10  # the ``detail`` of a column that no table of a page shows
Rows = Sequence[Row]
Derive = Callable[[Answer, Row], Answer]
Draw = Callable[[Sequence[Row]], "Chart | None"]
Combine = Callable[[Sequence[Answer], Row], Answer]
Tell = Callable[[Sequence[Row], Row], Iterator[str]]
Find = Callable[[Sequence[Row]], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its value's name, its heading, and its format.

    ``unit`` names the column with the unit of the value, where that differs between rows. ``is_prose``: its texts are
    sentences, which may take several lines. Where there is little room, as in a terminal, ``short`` is the heading and
    ``brief`` the format. ``heading`` states a value that all rows share, once above the table. ``mark`` returns the
    mark after a value, for rows that are ``columns.marked``. ``is_warning``: whether pages show a value in amber.
    ``text`` writes the cell from the whole row, as for an interval.

    On a page, a table has a limited number of columns; the others open with their row. ``detail`` orders them: 0 for a
    column that stays, larger numbers for those that go first, :data:`OPENED` for one that always goes.
    ``is_compared``: the values of a case are compared by bars, and the smallest is emphasized.
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
    is_warning: Callable[[Any], bool] = lambda value: False
    text: Callable[[Row], str] | None = None
    detail: int = 0
    is_compared: bool = False

    def cell(self, row: Row) -> str:
        """The text of a row's cell."""
        if self.text is not None:
            return self.text(row)
        value = row[self.name]
        text = formats.quantity(value, row[self.unit]) if self.unit else self.write(value)
        return text if value is None else self._disturbance(row) + text + self.mark(row)

    def brief_cell(self, row: Row) -> str:
        """The text of a row's cell where there is little room."""
        if self.text is not None:
            return self.text(row)
        value, write = row[self.name], self.brief or self.write
        text = formats.brief_quantity(value, row[self.unit] or "") if self.unit else write(value)
        return text if value is None else self._disturbance(row) + text + self.mark(row)

    def _disturbance(self, row: Row) -> str:
        return formats.DISTURBED if is_disturbed(row, self.name) else ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a column per variant: ``place`` names the columns that identify a row, ``cell`` writes one cell."""

    place: tuple[Column, ...]
    cell: Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a figure where there is little room, as in a terminal or a paper. By default it follows the figure.

    ``title`` precedes the values that all rows of a table share, unless it is a function that makes the whole heading.
    ``about`` states further properties of all rows. ``columns`` are by default the figure's, without those in the
    heading. Rows have the figure's order, unless ``order`` sorts those of a table.

    ``rows`` makes the printed rows from those of the figure and of ``others``; by default, they are the figure's rows
    with resolved parameters. Rows with equal columns ``table`` form one table. With ``is_by_level``, a table has one
    security level, by the security table that the reader wants. It has all levels where the reader wants that; with
    ``is_recommended_mixed``, also for recommended tuning, where requested levels are compared. The heading
    distinguishes cases that differ in more than ``varied``. The first ``once`` columns are left out where they equal
    those of the row before. ``shown`` selects the rows that a table prints; ``more`` makes further tables from all of
    them. ``noted`` is the text below each table, ``explained`` the one below the last table.

    ``place`` orders the printed figures of a run. ``is_main``: the figure belongs to the timed phase. ``needs_details``
    is ``False`` for a layout of the summary only, ``True`` for one of the detailed output only.
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

    ``view`` names the view that it reads. ``narrowed_by`` are the columns by which readers choose rows, by default
    those of all filters; ``may_lack`` are those of them in which a row may have no value. ``where`` has the values that
    all its rows have; ``order`` is that of its rows. ``read`` are the columns that it reads, by default all: with very
    many rows, the others cost more than the query. ``derive`` makes the shown and downloaded rows from the answer and
    the parameters of the query. ``combine`` makes them from one answer for each run; its query about one run is
    executed for each of them.

    ``chart`` draws it, and returns ``None`` where there is nothing to draw; ``tell`` puts it into sentences.
    ``finding`` is the result in one short sentence, the heading on pages; empty where the rows have none.
    ``printed`` has its layouts where there is little room; without one, the figure is not printed. ``page`` is the path
    of a page to show it on, after the figures that the page names. ``lead`` states what it shows, ``reading`` explains
    how to read it; pages and reports have the latter at their end. ``empty`` is the text for a figure without rows.
    ``is_table_open``: the table is more informative than the chart. ``on_page`` is an addition for pages, where readers
    can follow links and choose. ``noted_by`` has the kind of subject of the notes below the figure (see
    ``Note.about``), and the column with these subjects. ``covers_levels``: without a choice, its rows have every level
    and residency of operands.
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
    finding: Find = lambda rows: ""
    derive: Derive | None = None
    combine: Combine | None = None
    grid: Grid | None = None
    empty: str = "This run has nothing of the kind under these filters."
    is_table_open: bool = False
    reading: str = ""
    on_page: str = ""
    noted_by: tuple[str, str] = ("", "")
    covers_levels: bool = False

    @property
    def has_fresh_operands(self) -> bool:
        """Whether its rows have fresh or cached operands at the top level, unless a reader chooses others."""
        is_of_operations = self.subject is not None and self.subject.covers(OPERATION.experiments[0])
        return is_of_operations and "level" in self.narrowed_by and not self.covers_levels

    def draw(self, rows: Sequence[Row]) -> Chart | None:
        """The chart of rows; ``None`` where there is nothing to draw."""
        return self.chart(rows) if self.chart else None
