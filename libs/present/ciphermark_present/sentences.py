"""Parts that sentences of several figures share. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, TypeVar

from ciphermark_core.security import COMPARED_BY, LEVEL_BY, OLDEST, Table
from ciphermark_present.formats import level
from ciphermark_present.query import TABLE, Row, is_disturbed

R = TypeVar("R", bound=Row)


def extent(rows: Sequence[Row], column: str, write: Callable[[Any], str]) -> str:
    """The minimum and the maximum with their variants, or the one value that all share when written."""
    least, greatest = min(row[column] for row in rows), max(row[column] for row in rows)
    low = [row for row in rows if write(row[column]) == write(least)]
    high = [row for row in rows if write(row[column]) == write(greatest)]
    if write(least) == write(greatest):
        return f"{write(least)} ({variants(low)})"
    return f"{write(least)} ({variants(low)}) to {write(greatest)} ({variants(high)})"


def variants(rows: Sequence[Row]) -> str:
    """The variants of rows, each once."""
    return ", ".join(sorted({str(row["variant"]) for row in rows}))


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def by(rows: Sequence[Row], *names: str) -> list[list[Row]]:
    """The rows that have equal values in some columns, sorted by these."""

    def key(row: Row) -> str:
        return repr([row[name] for name in names])

    return [list(group) for _, group in groupby(sorted(rows, key=key), key=key)]


def undisturbed(rows: Sequence[R], column: str) -> list[R]:
    """The rows with a time in ``column`` that has undisturbed samples: headlines name no other time."""
    return [row for row in rows if row[column] and not is_disturbed(row, column)]


def fastest(rows: Sequence[Row], names: Sequence[str], column: str) -> list[Row]:
    """The row with the shortest time in ``column`` for each combination of values of ``names``, where one has
    undisturbed samples.
    """
    least: dict[tuple[object, ...], Row] = {}
    for row in undisturbed(rows, column):
        place = tuple(row[name] for name in names)
        if place not in least or row[column] < least[place][column]:
            least[place] = row
    return list(least.values())


def encryption(row: Row, rows: Sequence[Row]) -> str:
    """The encrypting key, where it differs between rows of the case; else empty."""
    keys = {
        other.get("encryption")
        for other in rows
        if other.get("comparison_group") == row.get("comparison_group")
    }
    return f"encrypted with the {row['encryption']}" if len(keys - {None}) > 1 else ""


def threads(row: Row) -> str:
    """The number of threads, where it is not one."""
    return f"{row['threads']} threads" if row["threads"] > 1 else ""


def place(parameters: Row) -> str:
    """The scheme and the level that a figure is about."""
    return f"{parameters['scheme'].upper()} at {at_level(parameters)}"


def with_level(row: Row, table: Table) -> Row:
    """A row with its level by a table as ``security_shown``, and the ``table_shown``; unchanged without levels."""
    level_column = LEVEL_BY[table]
    if level_column not in row:
        return row
    return {**row, "security_shown": row[level_column], "table_shown": table}


def shown_level(row: Row) -> int | None:
    """The level of a row by the shown table."""
    bits: int | None = row.get("security_shown", row["security_2018"])
    return bits


def stated_level(row: Row) -> str:
    """The same in words; empty for parameters that no table rates, such as sparse secrets."""
    return "" if shown_level(row) is None else level(shown_level(row))


def level_and_table(row: Row) -> str:
    """The same with its table."""
    return f"{stated_level(row) or 'no rated level'} ({row.get('table_shown', OLDEST)})"


def at_level(parameters: Row) -> str:
    """The level that cases are compared at, with its table."""
    table = parameters.get(TABLE, OLDEST)
    return f"{level(parameters[COMPARED_BY[table]])} ({table})"
