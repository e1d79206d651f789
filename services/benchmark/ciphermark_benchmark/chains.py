"""The table of chains: how long n operations in a row take, each library at a ring that is secure for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ciphermark_benchmark import table_headings
from ciphermark_benchmark.formats import digits, interval, quantity, time_with_interval
from ciphermark_core.statistics import Estimate, ratio_of
from ciphermark_db.gateway import Database
from ciphermark_db.reports import report

Row = Mapping[str, Any]

UNPAIRED = "not in turns"
_PLACE = ("scheme", "operation", "data_pattern", "ciphertexts", "threads")


@dataclass(frozen=True, slots=True)
class Against:
    """A chain's time as a multiple of the fastest one's; ``ratio`` is ``None`` where it has no time."""

    fastest: Row
    ratio: Estimate | None
    is_paired: bool


def show(console: Console, database: Database, run_id: str, any_security: bool) -> bool:
    """Print the chains of a run, one table per scheme, operation, vector and security level; False without any."""
    rows = report(database, "chains", run_id=run_id, any_security=any_security)
    for _, group in groupby(rows, key=lambda row: _table_key(row, any_security)):
        table = list(group)
        first = table[0]
        title = f"chain of {first['operation']} · {first['scheme']} · security {table_headings.levels(table)}"
        console.print(f"\n[bold]{title}[/bold]", soft_wrap=True)
        console.print(f"total time of n operations in a row, {table_headings.vector(table)}")
        console.print(_table(table))
    return bool(rows)


def contests(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of a table, in groups whose times are compared with each other. Pure.

    One group per number of operations. Where the suite gave some variant several ring dimensions for it, the ring
    dimension is what it varies: then each that was given has a group of its own, and so have the smallest ones.
    """
    found: dict[tuple[Any, ...], list[Row]] = {}
    for repetitions, group in groupby(rows, key=lambda row: row["repetitions"]):
        same = list(group)
        given = [(row["variant"], row["ring_dimension"]) for row in same if not row["is_least"]]
        is_varied = len({variant for variant, _ in given}) < len(set(given))
        for row in same:
            ring = row["ring_dimension"] if is_varied and not row["is_least"] else None
            found.setdefault((repetitions, ring), []).append(row)
    return [_fastest_first(group) for _, group in sorted(found.items(), key=_order)]


def against_fastest(group: Sequence[Row]) -> list[Against]:
    """Every row of a group against its first. Pure.

    The ratio is the database's, pair by pair, where it compared the two; otherwise it has the conservative interval
    of medians that were not taken in turns.
    """
    fastest = group[0]
    return [_against(row, fastest) for row in group]


def _against(row: Row, fastest: Row) -> Against:
    if row["median"] is None:
        return Against(fastest, None, False)
    is_known = (
        row["comparison_key"] == fastest["comparison_key"] and row["fastest_variant"] == fastest["variant"]
    )
    if is_known and row["is_paired"]:
        known = Estimate(row["n"], row["ratio"], row["ratio_low"], row["ratio_high"])
        return Against(fastest, known, True)
    return Against(fastest, ratio_of(_estimate(row), _estimate(fastest)), False)


def _estimate(row: Row) -> Estimate:
    return Estimate(row["n"], row["median"], row["ci_low"], row["ci_high"])


def _fastest_first(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["median"] is None, row["median"] or 0.0, row["variant"]))


def _order(item: tuple[tuple[Any, ...], list[Row]]) -> tuple[int, int]:
    (repetitions, ring), _ = item
    return repetitions, ring or 0


def _table_key(row: Row, any_security: bool) -> tuple[Any, ...]:
    return (*(row[name] for name in _PLACE), None if any_security else row["security_2018"])


def _table(rows: Sequence[Row]) -> Table:
    levels = [trait for trait in table_headings.LEVELS if not table_headings.is_shared(trait, rows)]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0) if levels else (0, 1))
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("variant", no_wrap=True)
    for name in ("N", "", "log QP", *(trait.column for trait in levels), "time", "95 % interval"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for name in ("× fastest", "95 % interval", "peak", "left"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    last = None
    for group in contests(rows):
        for against, row in zip(against_fastest(group), group, strict=True):
            count = str(row["repetitions"])
            origin = "smallest" if row["is_least"] else "given"
            cells = [
                escape(row["variant"]),
                str(row["ring_dimension"]),
                origin,
                table_headings.CHAIN.cell(row),
            ]
            cells += [trait.cell(row) for trait in levels]
            table.add_row(count if count != last else "", *cells, *_figures(row, against))
            last = count
    return table


def _figures(row: Row, against: Against) -> tuple[str, ...]:
    peak = quantity(row["peak_bytes"], "bytes")
    left = quantity(row["bits_left"], "bits")
    if against.ratio is None:
        return row["status"], "", "", "", peak, left, ""
    median, own = time_with_interval(row["median"], row["ci_low"], row["ci_high"])
    if row is against.fastest:
        return median, escape(own), "1", "", peak, left, ""
    ratio = against.ratio
    return (
        median,
        escape(own),
        digits(ratio.median),
        escape(interval(ratio.low, ratio.high)),
        peak,
        left,
        _remark(row, against),
    )


def _remark(row: Row, against: Against) -> str:
    """Parameters stand in the row; only unequal security has to be said, and that pairs are missing."""
    told = [] if against.is_paired else [UNPAIRED]
    if row["security_2018"] != against.fastest["security_2018"]:
        told.append("unequal security")
    return f"[yellow]{', '.join(told)}[/yellow]" if told else ""
