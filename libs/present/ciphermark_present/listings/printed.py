"""A table as a terminal prints it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ciphermark_present.figure import Column
from ciphermark_present.query import Row

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column. ``is_prose``: its texts may take several lines; ``is_remark``: they are to be noticed."""

    text: str
    is_number: bool = False
    is_prose: bool = False
    is_remark: bool = False
    least_width: int = 0


@dataclass(frozen=True, slots=True)
class Printed:
    """One table: its title, what else is said of all its rows, the heads of its columns, and their texts.

    The first ``keys`` columns name a row: they stand again where the others go on below. What
    its words mean is ``explained`` after it.
    """

    title: str
    about: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1
    explained: str = ""


Cells = tuple[Head, Callable[[Row], str]]  # a column of a printed table


def of(column: Column) -> Cells:
    """A figure's column where there is little room."""
    return Head(head(column), column.is_number, column.is_prose), column.brief_cell


def head(column: Column) -> str:
    """What heads a column where there is little room: its label begins with a small letter unless it is a name."""
    if column.short:
        return column.short
    is_word = column.label[1:2].islower()
    return column.label[:1].lower() + column.label[1:] if is_word else column.label


def printed(title: str, about: str, columns: Iterable[Cells], rows: Sequence[Row], once: int = 0) -> Printed:
    """A table of rows, whose first ``once`` columns are left out where they are as in the row before; these and the
    column after them name a row.
    """
    columns = tuple(columns)
    texts = [tuple(write(row) for _, write in columns) for row in rows]
    return Printed(title, about, tuple(found for found, _ in columns), told_once(texts, once), once + 1)


def told_once(texts: Sequence[tuple[str, ...]], once: int) -> tuple[tuple[str, ...], ...]:
    """The rows, less those of their first ``once`` texts that all are as in the row before."""
    found = []
    for place, text in enumerate(texts):
        is_same = place > 0 and text[:once] == texts[place - 1][:once]
        found.append((*("",) * once, *text[once:]) if is_same else text)
    return tuple(found)


def present(columns: Iterable[Cells], rows: Sequence[Row], nothing: tuple[str, ...] = ("",)) -> list[Cells]:
    """The columns that say something in some row."""
    return [(found, write) for found, write in columns if any(write(row) not in nothing for row in rows)]


def grouped(rows: Iterable[Item], key: Callable[[Item], Any]) -> list[list[Item]]:
    """The rows that have a key in common, in the order in which keys come first."""
    found: dict[Any, list[Item]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return list(found.values())


def absent_last(*values: Any, first: bool = False) -> tuple[Any, ...]:
    """A key to sort by values that may be ``None``; those come last, or ``first``."""
    return tuple(((value is None) != first, 0 if value is None else value) for value in values)
