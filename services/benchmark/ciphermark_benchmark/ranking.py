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
from ciphermark_core.words import Outcome, Run
from ciphermark_db.gateway import Database
from ciphermark_db.reports import report
from ciphermark_measure.operands import contract_operation

Row = Mapping[str, Any]

_TIMED = ("arithmetic", "rotation")
_FACTORS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
_DEPTH_MEANINGS = {
    "depth": "the most repetitions that still decrypt right",
    "noise": "noise budget (bfv, bgv) or precision (ckks), fresh and at the last count of 1, 2, 4, 8, … looked at",
}
_SMALL_PRIME_BITS = 30
_SMALL_PRIME_RING = 8192


def show(console: Console, database: Database, run_id: str, phase: str = "operation") -> None:
    """Print the ranked variants of every case of a run, one table per parameter set and vector, and its depths."""
    rows = report(database, "ranking", run_id=run_id, phase=phase)
    for heading, group in groupby(rows, key=lambda row: _heading(row, phase)):
        console.print(f"\n[bold]{heading[0]}[/bold]\n{heading[1]}", soft_wrap=True)
        console.print(_latency_table(list(group)))
    depths = report(database, "depths", run_id=run_id)
    for kind, group in groupby(depths, key=itemgetter("experiment")):
        console.print(f"\n[bold]{kind}[/bold]\n{_DEPTH_MEANINGS[kind]}", soft_wrap=True)
        console.print(_depth_table(list(group)))
    if not rows and not depths:
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
    """What spoils the figures of a run: host, builds, chains."""
    found = list(run.host.warnings)
    libraries = {outcome.library.variant: outcome.library for outcome in outcomes if outcome.library}
    found += [
        f"{name} is a debug build: its times mean nothing"
        for name, item in libraries.items()
        if item.is_debug
    ]
    if any(outcome.facts.get("is_pinned") == 0 for outcome in outcomes):
        found.append("workers could not be pinned to a CPU: times include what moving between CPUs costs")
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
        (variant, operation): registry.declaration(variant).notes.get(contract_operation(operation))
        for variant, operation in sorted(measured)
    }
    return [f"{variant}, {operation}: {note}" for (variant, operation), note in told.items() if note]


def _has_small_primes(outcome: Outcome) -> bool:
    found = outcome.parameters
    if found is None or found.scale is None or found.ring_dimension < _SMALL_PRIME_RING:
        return False
    return min(found.modulus_bits) < _SMALL_PRIME_BITS


def _heading(row: Row, phase: str) -> tuple[str, str]:
    chain = ", ".join(map(str, row["modulus_bits"]))
    parameters = (
        f"{row['scheme']} · N = {row['ring_dimension']} · log2(QP) = {row['log_qp']:.0f} ({chain}) · "
        f"security {_level(row['security_2018'])} (2018), {_level(row['security_2024'])} (2024)"
    )
    vector = "1 ciphertext" if row["ciphertexts"] == 1 else f"{row['ciphertexts']} ciphertexts"
    threads = "" if row["threads"] == 1 else f", {row['threads']} threads"
    return (
        parameters,
        f"time of phase {phase}, {row['data_pattern']} data, {row['size']} values in {vector}{threads}",
    )


def _level(bits: int) -> str:
    return f"{bits} bits" if bits else "under 128 bits"


def _latency_table(rows: list[Row]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("operation", "variant"):
        table.add_column(name, no_wrap=True)
    for name in ("median", "95 % interval", "× fastest", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("HEXL speed-up", no_wrap=True)
    last = None
    for row in rows:
        table.add_row(row["operation"] if row["operation"] != last else "", *_figures(row))
        last = row["operation"]
    return table


def _figures(row: Row) -> tuple[str, ...]:
    mark = "" if row["is_equal"] else " [yellow](other parameters)[/yellow]"
    is_first = row["rank"] == 1
    number, unit = duration(row["median"])
    factor = _FACTORS[unit]
    return (
        escape(row["variant"]),
        f"{number} {unit}",
        _interval(row["ci_low"], row["ci_high"], factor),
        "1" if is_first else f"{_digits(row['ratio'])}{mark}",
        "" if is_first else _interval(row["ratio_low"], row["ratio_high"]),
        _hexl(row),
    )


def _hexl(row: Row) -> str:
    if row["hexl_ratio"] is None:
        return ""
    verdict = "" if row["hexl_verdict"] == "faster" else f"  {row['hexl_verdict']}"
    return f"{_digits(row['hexl_ratio'])} {_interval(row['hexl_low'], row['hexl_high'])}{verdict}"


def _interval(low: float | None, high: float | None, factor: float = 1.0) -> str:
    if low is None or high is None:
        return "too few samples"
    return escape(f"[{_digits(low * factor)}, {_digits(high * factor)}]")


def duration(seconds: float) -> tuple[str, str]:
    """A time as a number with three significant digits and the unit that fits it."""
    unit = next((unit for unit, factor in _FACTORS.items() if seconds * factor >= 1), "ns")
    return _digits(seconds * _FACTORS[unit]), unit


def _digits(value: float | None) -> str:
    """Three significant digits, never an exponent; nothing for a ratio that could not be formed."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _depth_table(rows: list[Row]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("parameters", "operation", "data", "variant"):
        table.add_column(name, no_wrap=True)
    for name in ("operations", "fresh", "last"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        chain = ", ".join(map(str, row["modulus_bits"]))
        place = (
            f"{row['scheme']} {row['ring_dimension']} ({chain})",
            row["operation"],
            row["data_pattern"],
            row["variant"],
        )
        count = f"{row['operations']:.0f}{' (cap)' if row['is_capped'] else ''}"
        table.add_row(*place, count, _bits(row["fresh_bits"]), _bits(row["last_bits"]))
    return table


def _bits(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} bits"
