"""Two runs, case by case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ciphermark_core.statistics import Estimate, ratio_of, verdict
from ciphermark_db.gateway import Database, Table
from ciphermark_db.reports import report

_PLACE = (
    "variant",
    "scheme",
    "ring_dimension",
    "experiment",
    "operation",
    "phase",
    "size",
    "data_pattern",
    "repetitions",
    "metric",
    "unit",
)
COLUMNS = (*_PLACE, "a_median", "b_median", "ratio", "ratio_low", "ratio_high", "verdict")


def compared(database: Database, run_a: str, run_b: str) -> Table:
    """One row per case, phase and metric of either run; ``ratio`` is a/b, so more than 1 says that b is faster."""
    rows = report(database, "two_runs", run_a=run_a, run_b=run_b)
    return Table(COLUMNS, [(*(row[name] for name in _PLACE), *judged(row)) for row in rows])


def judged(
    row: Mapping[str, Any],
) -> tuple[float | None, float | None, float | None, float | None, float | None, str]:
    """Medians, ratio, interval and verdict of one row of the query ``two_runs``. Pure."""
    a, b = row["a_median"], row["b_median"]
    reason = _reason_against(row)
    if reason is not None:
        return a, b, None, None, None, f"not comparable: {reason}"
    if row["metric"] != "time":
        return a, b, a / b if b else None, None, None, "unchanged" if a == b else "changed"
    ratio = ratio_of(
        Estimate(row["a_n"], a, row["a_low"], row["a_high"]),
        Estimate(row["b_n"], b, row["b_low"], row["b_high"]),
    )
    return a, b, ratio.median, ratio.low, ratio.high, verdict(ratio)


def _reason_against(row: Mapping[str, Any]) -> str | None:
    for name in ("a", "b"):
        if row[f"{name}_status"] is None:
            return f"run {name} has no such case or metric"
    for name in ("a", "b"):
        if row[f"{name}_median"] is None:
            return f"run {name} is {row[f'{name}_status']}"
    if row["a_security"] != row["b_security"]:
        return f"security {row['a_security']} against {row['b_security']} bits (2018)"
    if abs(row["a_log_qp"] - row["b_log_qp"]) > 1:
        return f"log2(QP) {row['a_log_qp']:.1f} against {row['b_log_qp']:.1f}"
    return None
