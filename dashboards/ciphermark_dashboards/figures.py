"""Figures: a query, a chart of its rows, and the table behind it. Everything a page shows is one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from ciphermark_dashboards import formats
from ciphermark_dashboards.store import Answer, Row

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart
Draw = Callable[[Sequence[Row]], Chart | None]
Derive = Callable[[Answer, Row], Answer]
Combine = Callable[[Sequence[Answer], Row], Answer]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table: where its value is, how it is headed, and how it is written.

    ``unit`` names the column with the unit of the value, where that differs from row to row. ``is_prose``: its texts
    are sentences, which may take several lines.
    """

    name: str
    label: str
    write: Callable[[Any], str] = lambda value: "" if value is None else str(value)
    is_number: bool = False
    unit: str = ""
    is_prose: bool = False

    def cell(self, row: Row) -> str:
        """The text of a row's cell."""
        value = row[self.name]
        return formats.quantity(value, row[self.unit]) if self.unit else self.write(value)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a column per variant: ``place`` names the columns that rows have in common, ``cell`` writes one."""

    place: tuple[Column, ...]
    cell: Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. ``block`` names its query; ``draw`` gives nothing where the rows have nothing to draw.

    ``derive`` makes of the answer, and the parameters it was asked with, what is shown and downloaded; ``combine``
    makes it of an answer for each run, from a query about one run that is asked for all of them at once. ``lead`` tells
    how to read it, ``empty`` what it means when there is no row. ``is_table_open``: the table says more than the chart.
    """

    name: str
    title: str
    lead: str
    block: str
    columns: tuple[Column, ...]
    draw: Draw | None = None
    derive: Derive | None = None
    combine: Combine | None = None
    grid: Grid | None = None
    empty: str = "This run has nothing of the kind under these filters."
    is_table_open: bool = False
