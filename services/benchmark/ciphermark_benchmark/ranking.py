"""The ranked table that a run ends with, and what a reader must know beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ciphermark_adapters import registry
from ciphermark_benchmark import chains, table_headings
from ciphermark_benchmark.formats import digits, interval, time_with_interval
from ciphermark_benchmark.learning import table as learning
from ciphermark_core.host import thread_warning
from ciphermark_core.model import Outcome, Run
from ciphermark_db.comparison import differences
from ciphermark_db.gateway import Database
from ciphermark_db.reports import report

Row = Mapping[str, Any]

MIXED = (
    "security levels are mixed, as --any-security asks: a ratio between unequal levels compares unlike things, "
    "and its row says so"
)
_TIMED = ("arithmetic", "rotation")
_DEPTH_MEANINGS = {
    "depth": "the most repetitions that still decrypt right",
    "noise": "noise budget (bfv, bgv) or precision (ckks), fresh and at the last count of 1, 2, 4, 8, … looked at",
}
_SMALL_PRIME_BITS = 30
_SMALL_PRIME_RING = 8192


def show(
    console: Console,
    database: Database,
    run_id: str,
    phase: str = "operation",
    any_security: bool = False,
) -> None:
    """Print the ranked variants of every case of a run, its chains and depths.

    A table has cases that were asked for with the same parameters, vector and threads, of one security level by the
    2018 table; with ``any_security`` of all levels.
    """
    if any_security:
        console.print(f"[yellow]{MIXED}[/yellow]", soft_wrap=True)
    rows = report(database, "ranking", run_id=run_id, phase=phase, any_security=any_security)
    for _, group in groupby(rows, key=lambda row: _table_key(row, any_security)):
        table = list(group)
        console.print(f"\n[bold]{table_headings.heading(table)}[/bold]", soft_wrap=True)
        console.print(f"time of phase {phase}, {table_headings.vector(table)}", soft_wrap=True)
        console.print(_latency_table(table))
    found = phase == "operation" and chains.show(console, database, run_id, any_security)
    found = learning.show(console, database, run_id, any_security) or found
    depths = report(database, "depths", run_id=run_id)
    for kind, group in groupby(depths, key=itemgetter("experiment")):
        console.print(f"\n[bold]{kind}[/bold]\n{_DEPTH_MEANINGS[kind]}", soft_wrap=True)
        console.print(_depth_table(list(group)))
    if not (rows or found or depths):
        console.print(
            f"Nothing to rank in phase {phase}: no library has a trial of this run in it that was ok."
        )
    console.print()


def reasons(outcomes: Iterable[Outcome]) -> list[tuple[str, int]]:
    """Every reason for an outcome other than ok, with how often it was given, most frequent first."""
    told = Counter(
        f"{outcome.status}: {outcome.trial.case.variant}, {outcome.trial.case.operation}: {outcome.error}"
        for outcome in outcomes
        if outcome.status != "ok"
    )
    return told.most_common(12)


def caveats(run: Run, outcomes: Sequence[Outcome]) -> list[str]:
    """What spoils the figures of a run: host, threads, builds, chains."""
    found = list(run.host.warnings)
    crowding = thread_warning({outcome.trial.case.threads for outcome in outcomes}, run.host.cores)
    if crowding is not None:
        found.append(crowding)
    libraries = {outcome.library.variant: outcome.library for outcome in outcomes if outcome.library}
    found += [
        f"{name} is a debug build: its times mean nothing"
        for name, item in libraries.items()
        if item.is_debug
    ]
    if any(outcome.facts.get("is_pinned") == 0 for outcome in outcomes):
        found.append("workers could not be pinned to a CPU: times include what moving between CPUs costs")
    if any(outcome.facts.get("is_elsewhere") for outcome in outcomes):
        found.append(
            "the client or the server service is on another machine than the worker: figures are recorded as the "
            "worker's host's, and are not that machine's"
        )
    if any(_has_small_primes(outcome) for outcome in outcomes):
        found.append(
            f"ckks chains with primes under {_SMALL_PRIME_BITS} bits were allowed: values drift from level to level"
        )
    return found


def notes(outcomes: Iterable[Outcome]) -> list[str]:
    """What the measured operations include beyond the bare primitive, as the adapters declare it."""
    timed = [o.trial.case for o in outcomes if o.status == "ok" and o.trial.case.experiment in _TIMED]
    measured = {(case.variant, case.operation) for case in timed}
    told = {
        (variant, operation): registry.declaration(variant).notes.get(operation.partition("(")[0])
        for variant, operation in sorted(measured)
    }
    return [f"{variant}, {operation}: {note}" for (variant, operation), note in told.items() if note]


def _has_small_primes(outcome: Outcome) -> bool:
    found = outcome.parameters
    if found is None or found.scale is None or found.ring_dimension < _SMALL_PRIME_RING:
        return False
    return min(found.modulus_bits) < _SMALL_PRIME_BITS


def _table_key(row: Row, any_security: bool) -> tuple[Any, ...]:
    """What was asked for, and the level that came of it: libraries may choose other primes."""
    asked = ("scheme", "asked_ring_dimension", "asked_modulus_bits", "depth")
    rest = ("size", "data_pattern", "data_set", "threads")
    return (*(row[name] for name in (*asked, *rest)), None if any_security else row["security_2018"])


def _latency_table(rows: Sequence[Row]) -> Table:
    own = table_headings.columns(rows)
    remarks = {"HEXL speed-up": _hexl, "parameters": _remark}
    shown = {name: told for name, told in remarks.items() if any(map(told, rows))}
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0) if "parameters" in shown else (0, 1))
    for name in ("operation", "variant"):
        table.add_column(name, no_wrap=True)
    for name in (*(trait.column for trait in own), "median", "95 % interval", "× fastest", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in shown:
        table.add_column(name)
    last = None
    for row in rows:
        cells = [trait.cell(row) for trait in own]
        cells = [escape(row["variant"]), *cells, *_figures(row), *(told(row) for told in shown.values())]
        table.add_row(_name(row) if _name(row) != last else "", *cells)
        last = _name(row)
    return table


def _name(row: Row) -> str:
    """The operation; or the operation and the count that it was applied."""
    count = row["repetitions"]
    return str(row["operation"]) if count is None else f"{row['operation']} × {count}"


def _figures(row: Row) -> tuple[str, ...]:
    median, own = time_with_interval(row["median"], row["ci_low"], row["ci_high"])
    if row["rank"] == 1:
        return median, escape(own), "1", ""
    return median, escape(own), digits(row["ratio"]), escape(interval(row["ratio_low"], row["ratio_high"]))


def _hexl(row: Row) -> str:
    if row["hexl_ratio"] is None:
        return ""
    verdict = "" if row["hexl_verdict"] == "faster" else f"  {row['hexl_verdict']}"
    return f"{digits(row['hexl_ratio'])} {escape(interval(row['hexl_low'], row['hexl_high']))}{verdict}"


def _remark(row: Row) -> str:
    """How the row is unlike the fastest one beyond the variant, and whether they did not take turns."""
    fastest = {name: row[f"fastest_{name}"] for name in ("ring_dimension", "log_qp", "security_2018")}
    told = [differences(row, fastest), "" if row["is_paired"] else chains.UNPAIRED]
    return "[yellow]" + ", ".join(filter(None, told)) + "[/yellow]" if any(told) else ""


def _depth_table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("parameters", "operation", "data", "variant"):
        table.add_column(name)
    for name in ("2018", "2024", "operations", "fresh", "last"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        chain = ", ".join(map(str, row["modulus_bits"]))
        place = (
            f"{row['scheme']} {row['ring_dimension']} ({chain})",
            row["operation"],
            row["data_pattern"],
            row["variant"],
            *(trait.cell(row) for trait in table_headings.LEVELS),
        )
        count = f"{row['operations']:.0f}{' (cap)' if row['is_capped'] else ''}"
        table.add_row(*place, count, _bits(row["fresh_bits"]), _bits(row["last_bits"]))
    return table


def _bits(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} bits"
