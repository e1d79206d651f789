"""Figures as tables for little room, by their layouts: headings state the values that all rows share. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ciphermark_core.security import OLDEST
from ciphermark_present import headings, parameters, printed
from ciphermark_present.catalogue.columns import CHAIN, PARAMETERS, SCHEME, legend, marked, with_differing
from ciphermark_present.figure import Figure, Layout, Rows
from ciphermark_present.formats import NOTHING
from ciphermark_present.links import BANDWIDTH
from ciphermark_present.printed import Cells, Printed, Wanted, absent_last, grouped, of, pivoted, present
from ciphermark_present.query import Answer, Row

_TOLD = (*headings.PARAMETERS, *headings.LEVELS)  # in the heading, where rows share them


def tables(figure: Figure, layout: Layout, answers: Sequence[Rows], wanted: Wanted) -> list[Printed]:
    """The tables of a figure; ``answers`` are its rows, and those of the layout's others. A mark is explained with the
    first table that contains it; in a paper, with every table.
    """
    printed_tables: list[Printed] = []
    explained_marks: set[str] = set()
    for same in map(marked, groups(figure, layout, answers, wanted)):
        title, about = _title(figure, layout, same, wanted), layout.about(same, wanted)
        columns = list(layout.columns(same, wanted) if layout.columns else _columns(figure, same))
        if layout.pivot is None:
            table = printed.printed(title, about, columns, layout.shown(same), layout.once(same))
        else:
            table = pivoted(title, about, columns, same, layout.pivot, layout.once(same))
        own = [replace(table, explained=layout.noted(same)), *layout.more(same, wanted)]
        for each in own:
            meanings = tuple(
                meaning
                for meaning in _legend(each, same)
                if wanted.is_for_paper or meaning not in explained_marks
            )
            explained_marks |= {*meanings}
            printed_tables.append(replace(each, legend=(*each.legend, *meanings)))
    if printed_tables and (explained := layout.explained(wanted)):
        printed_tables[-1] = replace(printed_tables[-1], explained=explained)
    return printed_tables


def _legend(table: Printed, rows: Rows) -> list[str]:
    """The meanings of the table's marks."""
    return legend(rows, [head.text for head in table.heads] + [text for row in table.rows for text in row])


def groups(figure: Figure, layout: Layout, answers: Sequence[Rows], wanted: Wanted) -> list[list[Row]]:
    """The rows of each table."""

    def table(row: Row) -> tuple[Any, ...]:
        place = absent_last(*(_sortable(name, row[name]) for name in layout.table), first=True)
        level = level_of(row, wanted, layout.is_recommended_mixed) if layout.is_by_level else None
        return (*place, *absent_last(None if level is None else -level))

    def from_top(row: Row) -> int:
        """Cases at the top level come first."""
        return 0 if layout.varied is None else -(row.get("level") or 0)

    rows = layout.rows(answers, wanted) if layout.rows else _rows(figure, answers[0], wanted)
    if layout.varied is not None:
        varied = layout.varied
        rows = parameters.with_apart(rows, lambda row: (table(row), varied(row)))
    rows = sorted(rows, key=lambda row: (table(row), from_top(row), row.get("apart", ""), layout.order(row)))
    return grouped(rows, lambda row: (table(row), row.get("apart", "")))


def level_of(row: Row, wanted: Wanted, is_recommended_mixed: bool) -> int | None:
    """The security level within which a row is compared, by the wanted table; ``None`` where levels are mixed. A level
    requested by the older table is not a level of the newer one.
    """
    is_asked = (
        is_recommended_mixed
        and row["tuning"] == "recommended"
        and row.get("security_table", OLDEST) >= wanted.table
    )
    return None if is_asked or wanted.across_security_levels else row[f"security_{wanted.table}"]


def _sortable(name: str, value: Any) -> Any:
    """A key to sort the values of a column: constant data come after random data."""
    if name == "data_pattern":
        return value == "constant", value
    return tuple(value) if isinstance(value, list) else value


def _rows(figure: Figure, rows: Rows, wanted: Wanted) -> Rows:
    """The rows with resolved parameters, as the figure shows them."""
    if figure.derive is not None and rows:
        answer = Answer(tuple(rows[0]), [tuple(row.values()) for row in rows])
        rows = figure.derive(answer, {BANDWIDTH: wanted.bandwidth}).mappings
    return [row for row in rows if row["log_qp"] is not None]


def _title(figure: Figure, layout: Layout, rows: Rows, wanted: Wanted) -> str:
    title = figure.title if layout.title is None else layout.title
    return (
        title(rows, wanted) if callable(title) else ". ".join(filter(None, (title, headings.heading(rows))))
    )


def _columns(figure: Figure, rows: Rows) -> list[Cells]:
    """The columns of the figure's table with any text, without those in the heading. A narrow table may drop the
    measured ones.
    """
    names = {column.name for column in (SCHEME, CHAIN, *_TOLD)}
    own = [column for column in figure.columns if column.name not in names]
    parameter_columns = (*_TOLD, *(column for column in PARAMETERS if column.name not in names))
    columns = with_differing(own, rows, parameter_columns)
    drops = {column.name: drop for drop, column in enumerate(own) if column.is_number}
    return present((of(column, drops.get(column.name, 0)) for column in columns), rows, ("", NOTHING))
