"""A machine's published times against its predictions: all programs and security levels, and its ablations.

Two rules stand next to the model: the model with a latency of 0, and the trivial rule, which divides the published time
of the processor by one number for all programs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import geometric_mean
from typing import Any

from ciphermark_benchmark import machine_files, on_machines
from ciphermark_benchmark.on_machines import Predictor, Row, Task
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.security import TABLES, level
from ciphermark_model.machines.machine import Digits, Machine
from ciphermark_workloads.deep import graphs

_MAIN = 80  # bits of security of the table that has all programs
_MOST_DIGITS = 4
_ELEMENTS = {200: 2}  # published per element of N = 65536, and executed with more


def whole(machine: Machine, *, has_sweeps: bool = True) -> dict[str, Any]:
    """Everything that the page of accelerators shows of a machine with published times. ``rows`` has one for each of
    them: the program, the security level, and predicted and published milliseconds; with a reason where there is no
    prediction. Raises ``UserError`` for a machine without such times.
    """
    if not machine.published_ms:
        raise UserError(f"{machine.name} has no published times: published_ms")
    rule, rows, changed, swept = _rule(machine), list[Row](), list[Row](), list[Row]()
    based = [
        other
        for name in machine_files.names()
        if (other := machine_files.machine(name)).based_on == machine.name
    ]
    for program, times in machine.published_ms.items():
        for security, published_ms in times.items():
            predictor = Predictor(on_machines.of_published(program, security), security)
            cpu_s = machine.published_cpu_s.get(program)
            row = {"program": program, "security": security, "published_ms": published_ms}
            row |= {"cpu_s": cpu_s, "rule_ms": cpu_s and rule and cpu_s * 1e3 / rule}
            try:
                rows.append({**row, **_predicted(predictor.row(machine), security)})
            except Unsupported as error:
                rows.append({**row, "reason": str(error)})
                continue
            if security == _MAIN:
                changed.extend(_ablations(machine, based, program, predictor))
                swept.extend(
                    sweep(machine, predictor, program) if has_sweeps and program in graphs.DEEP else ()
                )
    return {
        "machine": machine.name,
        "exact_bootstrap_ms": _exact_bootstrap_ms(machine),
        "rows": rows,
        "errors": summary(rows),
        "ablations": sorted(changed, key=lambda row: row["machine"]),
        "verdicts": verdicts(machine),
        "sweeps": swept,
    }


def _exact_bootstrap_ms(machine: Machine) -> float:
    """The time of a packed bootstrap whose EvalMod has the even terms of its polynomial alone."""
    graph = graphs.packed_bootstrap()
    task = Task("exact bootstrap", (graph.program,), graph.numbers, words="whole modulus")
    return float(Predictor(task, _MAIN).row(machine)["time_s"]) * 1e3


def _rule(machine: Machine) -> float | None:
    """The mean ratio of the processor's times and the machine's, which the trivial rule divides by."""
    ratios = [
        machine.published_cpu_s[program] * 1e3 / times[_MAIN]
        for program, times in machine.published_ms.items()
        if program in machine.published_cpu_s and _MAIN in times
    ]
    return geometric_mean(ratios) if ratios else None


def _predicted(row: Row, security: int) -> Row:
    elements = _ELEMENTS.get(security, 1)
    names = ("ring_dimension", "residues", "key_switches", "hints", "binding", "busy")
    times = ("hint_bytes", "plaintext_bytes", "input_bytes", "spill_bytes")
    return {
        **{name: row[name] for name in names},
        "predicted_ms": row["time_s"] * 1e3 / elements,
        "without_latency_ms": row["without_latency_s"] * 1e3 / elements,
        "compute_ms": row["compute_s"] * 1e3 / elements,
        "memory_ms": row["memory_s"] * 1e3 / elements,
        **{name: row[name] / elements for name in times},
        "energy_j": row["power_w"] and row["power_w"] * row["time_s"] / elements,
    }


def _ablations(
    machine: Machine, others: Iterable[Machine], program: str, predictor: Predictor
) -> Iterator[Row]:
    """A row for each published slowdown of machines that are based on this one: predicted and published."""
    for other in others:
        if program in other.published_slowdowns:
            slowdown = predictor.row(other)["time_s"] / predictor.row(machine)["time_s"]
            about = {"program": program, "machine": other.name}
            yield {**about, "published_slowdown": other.published_slowdowns[program], "slowdown": slowdown}


def verdicts(machine: Machine) -> list[Row]:
    """log2(QP) of the largest ciphertext of each number of digits, by published security level, and its level by both
    tables.
    """
    rows = list[Row]()
    for security in sorted(graphs.SETTINGS.keys() & machine.digits.keys()):
        ring, residues = graphs.SETTINGS[security]
        for up_to, digits in machine.digits_at(security).rows:
            if not digits:
                continue
            largest = min(up_to, residues)
            log_qp = machine.word_bits * (largest + largest / digits)
            levels = {f"security_{table}": level(table, ring, log_qp) for table in TABLES}
            point = {"ring_dimension": ring, "residues": largest, "digits": digits, "log_qp": log_qp}
            rows.append({"security": security, **point, **levels})
    return rows


_FACTORS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 4.0)
_SWEPT = {"register file": "register_file_bytes", "bandwidth": "bandwidth", "lanes": "lanes"}


def sweep(machine: Machine, predictor: Predictor, program: str) -> Iterator[Row]:
    """Times of a program where one value of the machine is multiplied by a factor, or its digits are others."""
    for name, value in _SWEPT.items():
        for factor in _FACTORS:
            other = replace(machine, **{value: factor * getattr(machine, value)})
            yield _swept(program, name, factor, predictor.row(other))
    longest = machine.digits_at(_MAIN).max_residues or 0
    for digits in range(1, _MOST_DIGITS + 1):
        other = replace(machine, digits={_MAIN: Digits(((longest, digits),))})
        yield _swept(program, "digits", float(digits), predictor.row(other))


def _swept(program: str, name: str, value: float, row: Row) -> Row:
    about = {"program": program, "varied": name, "value": value}
    return {**about, "time_s": row["time_s"], "compute_s": row["compute_s"]}


def error(rows: Iterable[Row], column: str) -> tuple[float, int, int]:
    """The geometric mean of how many times too large or small a column is for the published times, how many rows are
    within a factor of 2, and their number.
    """
    ratios = [row[column] / row["published_ms"] for row in rows if row.get(column)]
    mean = math.exp(sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios)) if ratios else math.nan
    return mean, sum(0.5 <= ratio <= 2 for ratio in ratios), len(ratios)


def summary(rows: Sequence[Row]) -> list[Row]:
    """The errors of the model and of both rules, by security level."""
    columns = {
        "predicted_ms": "model",
        "without_latency_ms": "model, latency 0",
        "rule_ms": "processor's time, divided by a number",
    }
    levels = dict.fromkeys(row["security"] for row in rows)
    return [
        {"security": security, "rule": name, "error": mean, "within_2": near, "n": n}
        for security in levels
        for column, name in columns.items()
        for mean, near, n in [error([row for row in rows if row["security"] == security], column)]
        if n and (column != "rule_ms" or security == _MAIN)
    ]


def stored() -> dict[str, Any]:
    """What :func:`whole` returned for CraterLake at the last change: it takes ten seconds."""
    results: dict[str, Any] = json.loads(
        (machine_files.FOLDER / "craterlake.json").read_text(encoding="utf-8")
    )
    return results
