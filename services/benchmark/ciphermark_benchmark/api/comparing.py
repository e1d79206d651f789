"""Two runs compared as wholes: what goes on with a run on another host is part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ciphermark_analysis.comparison import COLUMNS, paired, settled
from ciphermark_analysis.two_runs import judgements
from ciphermark_benchmark.figure_rows import rows
from ciphermark_db.database import Database, Table
from ciphermark_present.catalogue.comparing import TWO_RUNS

Row = Mapping[str, Any]

_PARTS = ("a_run_id", "b_run_id")
# With the part, this tells the figures of the query apart.
_PLACE = ("comparison_key", "variant", "phase", "metric", "repetitions")


@dataclass(frozen=True, slots=True)
class Pair:
    """A part of run a, a part of run b, and their figures side by side."""

    a: str
    b: str
    rows: Sequence[Row]


def compared(database: Database, parts_a: Sequence[str], parts_b: Sequence[str]) -> Table:
    """One row per case, phase and metric of either run, with the parts that measured it; at least one part each.

    No figure mixes hosts: a case that several parts of a run measured, in processes of their own, has a row for each.
    """
    figures = {part: rows(database, TWO_RUNS, part) for part in {*parts_a, *parts_b}}
    pairs = [Pair(a, b, paired(figures[a], figures[b])) for a, b in product(parts_a, parts_b)]
    known = settled(whole(pairs))
    judged = [
        (*judgement, *(row[part] for part in _PARTS))
        for row, judgement in zip(known, judgements(known, any_security=False), strict=True)
    ]
    return Table((*COLUMNS, *_PARTS), judged)


def whole(pairs: Sequence[Pair]) -> list[Row]:
    """The rows of two runs, from those of all pairs of their parts; ``a_run_id`` and ``b_run_id`` name the parts.

    What a part of one run has is missing in the other where no part of that has it: then the other's part is ``None``.
    Pure.
    """
    named = [_named(pair, row) for pair in pairs for row in pair.rows]
    both = [row for row in named if None not in _parts(row)]
    met = {(part, _place(row)) for row in both for part in _parts(row)}
    alone = {
        (_parts(row), _place(row), row["a_status"], row["b_status"]): row
        for row in named
        if None in _parts(row) and not met & {(part, _place(row)) for part in _parts(row)}
    }
    return both + list(alone.values())


def _named(pair: Pair, row: Row) -> Row:
    a = None if row["a_status"] is None else pair.a
    b = None if row["b_status"] is None else pair.b
    return {**row, "a_run_id": a, "b_run_id": b}


def _parts(row: Row) -> tuple[str | None, ...]:
    return tuple(row[part] for part in _PARTS)


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _PLACE)
