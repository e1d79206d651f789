"""A table in lines of a width, without loss: what does not fit goes on below, or stands in footnotes. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from string import ascii_lowercase

from ciphermark_present.listings.printed import Head, Printed

MOST_LINES = 5  # of a cell
_GAPS = (2, 1)  # between columns; the smaller one where that makes them fit
_LEAST_PROSE = 16


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: its head, its texts, and how wide it is."""

    head: Head
    texts: tuple[str, ...]
    width: int

    @property
    def needed(self) -> int:
        """The width in which no text takes two lines; of the head, no word."""
        words = [len(word) for word in self.head.text.split()]
        return max([*words, *map(len, self.texts), 1])

    def lines(self, text: str) -> list[str]:
        """A text in lines of the column's width."""
        found = textwrap.wrap(text, self.width, break_long_words=False, break_on_hyphens=False) or [""]
        return [line.rjust(self.width) if self.head.is_number else line.ljust(self.width) for line in found]


def lines(table: Printed, width: int) -> Iterator[str]:
    """The table without its title, in lines of ``width`` characters at most.

    Only a name that is wider than that by itself makes a longer line. Prose takes up to :data:`MOST_LINES` lines, or
    becomes a footnote; columns that have no room even so go on below, beside those that name the row.
    """
    noted, notes = with_footnotes(table)
    whole, brief = _fitting(table, width), _fitting(noted, width)
    below = _below(table, width)
    columns, gap = (
        whole or brief or below or (_squeezed(_columns(noted), table.keys, width, _GAPS[0]), _GAPS[0])
    )
    for block in _blocks(columns, table.keys, width, gap):
        yield from _printed(block, gap)
    if whole is None and (brief is not None or below is None):
        for note in notes:
            yield from textwrap.wrap(note, width, subsequent_indent="    ", break_long_words=False)


def named(facts: Iterable[tuple[str, str]], width: int, indent: str = "") -> Iterator[str]:
    """A name and what is said of it, one below the other; a long text goes on below itself."""
    facts = list(facts)
    room = max((len(name) for name, _ in facts), default=0)
    below = " " * (len(indent) + room + max(_GAPS))
    for name, text in facts:
        first = f"{indent}{name:<{room}}{' ' * max(_GAPS)}"
        found = textwrap.wrap(
            text, width, initial_indent=first, subsequent_indent=below, break_on_hyphens=False
        )
        yield from found or [first.rstrip()]


def _fitting(table: Printed, width: int) -> tuple[list[_Column], int] | None:
    """Columns that fit into lines of a width, and the gap between them; nothing where they do not.

    Heads take several lines where columns would not fit otherwise.
    """
    for has_whole_heads, gap in product((True, False), _GAPS):
        columns = _columns(table, has_whole_heads)
        for found in (columns, _squeezed(columns, table.keys, width, gap)):
            if _total(found, gap) <= width:
                return found, gap
    return None


def _below(table: Printed, width: int) -> tuple[list[_Column], int] | None:
    """Columns that go on below, prose as wide as there is room beside what names the row; nothing where some prose
    takes too many lines even so, or itself names rows.
    """
    gap = _GAPS[0]
    columns = _columns(table)
    if any(column.head.is_prose for column in columns[: table.keys]):
        return None
    room = width - sum(column.width + gap for column in columns[: table.keys])
    found = [
        replace(column, width=min(column.width, room)) if column.head.is_prose else column
        for column in columns
    ]
    prose = [column for column in found[table.keys :] if column.head.is_prose]
    has_room = all(
        _longest_word(column) <= column.width
        and all(len(column.lines(text)) <= MOST_LINES for text in column.texts)
        for column in prose
    )
    return (found, gap) if has_room else None


def with_footnotes(table: Printed) -> tuple[Printed, tuple[str, ...]]:
    """The table with marks for what its columns of prose say, but for those that name rows, and what the marks mean."""
    marks: dict[str, str] = {}
    prose = [place for place, head in enumerate(table.heads) if head.is_prose and place >= table.keys]
    rows = []
    for row in table.rows:
        cells = list(row)
        for place in prose:
            if row[place]:
                cells[place] = marks.setdefault(row[place], _mark(len(marks)))
        rows.append(tuple(cells))
    heads = tuple(
        replace(head, is_prose=False, least_width=0) if place in prose else head
        for place, head in enumerate(table.heads)
    )
    return replace(table, heads=heads, rows=tuple(rows)), tuple(
        f"{mark} {text}" for text, mark in marks.items()
    )


def _mark(number: int) -> str:
    rest, letter = divmod(number, len(ascii_lowercase))
    return f"[{(ascii_lowercase[rest - 1] if rest else '')}{ascii_lowercase[letter]}]"


def _columns(table: Printed, has_whole_heads: bool = False) -> list[_Column]:
    found = []
    for place, head in enumerate(table.heads):
        column = _Column(head, tuple(row[place] for row in table.rows), 0)
        least = max(head.least_width, len(head.text) if has_whole_heads else 0)
        found.append(replace(column, width=max(column.needed, least)))
    return found


def _total(columns: Sequence[_Column], gap: int) -> int:
    return sum(column.width for column in columns) + gap * (len(columns) - 1)


def _squeezed(columns: Sequence[_Column], keys: int, width: int, gap: int) -> list[_Column]:
    """The columns, prose as narrow as it may be where that makes them fit; as they were where it does not."""
    prose = [column for column in columns if column.head.is_prose]
    room = width - gap * (len(columns) - 1) - sum(c.width for c in columns if not c.head.is_prose)
    kept = list(columns)
    for column in sorted(prose, key=lambda column: column.width):  # short prose leaves its room to the others
        share = min(column.width, room // max(1, len(prose)))
        narrow = replace(column, width=max(share, _longest_word(column), min(column.width, _LEAST_PROSE)))
        is_key = kept.index(column) < keys
        if is_key or all(len(narrow.lines(text)) <= MOST_LINES for text in column.texts):
            kept[kept.index(column)] = narrow
            room -= narrow.width
            prose = prose[1:]
    return kept


def _longest_word(column: _Column) -> int:
    return max((len(word) for text in (column.head.text, *column.texts) for word in text.split()), default=1)


def _blocks(columns: Sequence[_Column], keys: int, width: int, gap: int) -> Iterator[list[_Column]]:
    """The columns in as many blocks as they take, each with those that name rows."""
    named, block = list(columns[:keys]), list(columns[:keys])
    for column in columns[keys:]:
        if len(block) > keys and _total([*block, column], gap) > width:
            yield block
            block = list(named)
        block.append(column)
    yield block


def _printed(columns: Sequence[_Column], gap: int) -> Iterator[str]:
    heads = [column.lines(column.head.text) for column in columns]
    yield from _beside(
        [
            [" " * column.width] * (max(map(len, heads)) - len(head)) + head
            for column, head in zip(columns, heads, strict=True)
        ],
        columns,
        gap,
    )
    for row in zip(*(column.texts for column in columns), strict=True):
        yield from _beside(
            [column.lines(text) for column, text in zip(columns, row, strict=True)], columns, gap
        )


def _beside(cells: Sequence[Sequence[str]], columns: Sequence[_Column], gap: int) -> Iterator[str]:
    for number in range(max(map(len, cells))):
        parts = [
            cell[number] if number < len(cell) else " " * column.width
            for cell, column in zip(cells, columns, strict=True)
        ]
        yield (" " * gap).join(parts).rstrip()
