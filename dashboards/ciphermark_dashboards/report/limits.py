"""How much of a run's tables and texts a report takes, so that it stays a file one can send. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_dashboards.rendering import Filled
from ciphermark_present.query import Row

LARGEST_BYTES = 5_000_000
_NOTHING = ("", "–")


@dataclass(frozen=True, slots=True)
class Limits:
    """``rows`` of a table, ``characters`` of a text; ``cell_characters`` of one in a figure's table."""

    rows: int
    characters: int
    cell_characters: int
    is_drawn: bool = True
    note: str = ""


STEPS = (
    Limits(200, 2_000, 300),
    Limits(40, 300, 100, note="Tables and texts are shorter than usual, so that this file stays below 5 MB."),
    Limits(
        10,
        100,
        60,
        is_drawn=False,
        note="Tables and texts are shorter than usual, and charts are left out, so that this file stays below 5 MB.",
    ),
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table for paper: column labels with whether they head numbers, rows, how many more there are.

    ``same`` says what all rows share, in columns that are left out.
    """

    head: list[tuple[str, bool]]
    rows: list[list[str]]
    left_out: int
    same: str = ""


def cut(text: str, most: int, length: int = 0) -> str:
    """The beginning of a text, and how long it is; ``length`` is of the whole, where ``text`` is cut already."""
    length = length or len(text)
    return text if length <= most else f"{text[:most]}… (the first {most:,} of {length:,} characters)"


def grid(item: Filled, limits: Limits) -> Table:
    """A figure's rows with a column per variant."""
    head = [(column.label, column.is_number) for column in item.place]
    head += [(name, True) for name in item.variants]
    rows = [place + [cell.text for cell in cells] for place, cells in item.grid[: limits.rows]]
    return _told_once(Table(head, rows, len(item.grid) - len(rows)), len(item.place))


def one_by_one(item: Filled, limits: Limits, left_out: str = "") -> Table:
    """A figure's rows as they are, but for a column that is ``left_out``."""
    columns = [column for column in item.columns if column.name != left_out]
    rows = [
        [cut(column.cell(row), limits.cell_characters) for column in columns]
        for row in item.rows[: limits.rows]
    ]
    return Table([(column.label, column.is_number) for column in columns], rows, len(item.rows) - len(rows))


def narrow(item: Filled, limits: Limits) -> Table:
    """The grid where the figure has one, its rows otherwise; less the reasons, which a list of their own has."""
    if item.figure.grid:
        return grid(item, limits)
    return _told_once(one_by_one(item, limits, left_out="error"), len(item.columns))


def _told_once(table: Table, columns: int) -> Table:
    """A table less those of its first columns that say the same, or nothing, in every row: paper is narrow."""
    if len(table.rows) < 2 or table.left_out:
        return table
    texts = list(zip(*table.rows, strict=True))
    same = {index for index, found in enumerate(texts[:columns]) if len(set(found)) == 1}
    told = [
        f"{table.head[index][0]} {texts[index][0]}"
        for index in sorted(same)
        if texts[index][0] not in _NOTHING
    ]
    return Table(
        [column for index, column in enumerate(table.head) if index not in same],
        [[text for index, text in enumerate(row) if index not in same] for row in table.rows],
        table.left_out,
        f"All with: {'; '.join(told)}." if told else "",
    )


def failures(rows: Sequence[Row], limits: Limits) -> Table:
    """What was not measured, and why; ``rows`` are those of the block ``failures``."""
    head = [("Variant", False), ("Outcome", False), ("Scheme", False), ("N", True), ("Operation", False)]
    head += [("Trials", True), ("Reason", False)]
    told = [
        [str(row[name]) for name in ("variant", "status", "scheme", "ring_dimension", "operation", "trials")]
        + [cut(row["error"] or "–", limits.characters, row["error_characters"])]
        for row in rows[: limits.rows]
    ]
    return Table(head, told, rows[0]["kinds"] - len(told) if rows else 0)
