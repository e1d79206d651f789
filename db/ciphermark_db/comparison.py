"""Two runs, case by case, at one security level or, where asked, at any. Judging is pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ciphermark_core.statistics import Estimate, ratio_of, verdict

Row = Mapping[str, Any]

PLACE = (
    "variant",
    "scheme",
    "ring_dimension",
    "experiment",
    "operation",
    "phase",
    "size",
    "data_pattern",
    "data_set",
    "threads",
    "repetitions",
    "metric",
    "unit",
)
LEVELS = ("a_security_2018", "a_security_2024", "b_security_2018", "b_security_2024")
_MEDIANS = ("a_median", "b_median")
COLUMNS = (*PLACE, *LEVELS, *_MEDIANS, "ratio", "ratio_low", "ratio_high", "verdict", "remark")

_SAME_LOG_QP = 1.0  # bits: libraries that are asked for one chain differ by less


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the figures of two runs say about one case and metric.

    ``ratio`` is a/b, so more than 1 says that b is faster; ``remark`` tells how their parameters differ.
    """

    ratio: float | None
    low: float | None
    high: float | None
    verdict: str
    remark: str = ""


def judged(row: Row, any_security: bool = False) -> Judgement:
    """The judgement of one row of the query ``two_runs``. Pure."""
    reason = _reason_against(row, any_security)
    if reason is not None:
        return Judgement(None, None, None, f"not comparable: {reason}")
    a, b = row["a_median"], row["b_median"]
    remark = differences(_side(row, "a"), _side(row, "b"))
    if row["metric"] != "time":
        return Judgement(a / b if b else None, None, None, "unchanged" if a == b else "changed", remark)
    ratio = ratio_of(
        Estimate(row["a_n"], a, row["a_low"], row["a_high"]),
        Estimate(row["b_n"], b, row["b_low"], row["b_high"]),
    )
    return Judgement(ratio.median, ratio.low, ratio.high, verdict(ratio), remark)


def with_judgement(row: Row, any_security: bool = False) -> tuple[Any, ...]:
    """A row of the query ``two_runs`` with its judgement: values of :data:`COLUMNS`. Pure."""
    found = judged(row, any_security)
    figures = (found.ratio, found.low, found.high, found.verdict, found.remark)
    return (*(row[name] for name in (*PLACE, *LEVELS, *_MEDIANS)), *figures)


def differences(row: Row, other: Row) -> str:
    """How the parameters of a row are other than those it is compared with; empty where they are the same.

    Both have ``ring_dimension``, ``log_qp`` and ``security_2018``. Pure.
    """
    found = []
    if row["security_2018"] != other["security_2018"]:
        levels = f"{short_level(row['security_2018'])} against {short_level(other['security_2018'])}"
        found.append(f"security {levels} bits (2018)")
    if row["ring_dimension"] != other["ring_dimension"]:
        found.append(f"N {row['ring_dimension']} against {other['ring_dimension']}")
    if abs(row["log_qp"] - other["log_qp"]) > _SAME_LOG_QP:
        found.append(f"log QP {row['log_qp']:.0f} against {other['log_qp']:.0f}")
    return ", ".join(found)


def short_level(bits: int) -> str:
    """A security level as a column has it; 0 stands for less than the lowest."""
    return str(bits) if bits else "<128"


def _reason_against(row: Row, any_security: bool) -> str | None:
    for name in ("a", "b"):
        if row[f"{name}_status"] is None:
            return f"run {name} has no such case or metric"
    for name in ("a", "b"):
        if row[f"{name}_median"] is None:
            return f"run {name} is {row[f'{name}_status']}"
    a, b = row["a_security_2018"], row["b_security_2018"]
    if a != b and not any_security:
        return f"security {_level(a)} against {_level(b)} (2018)"
    return None


def _level(bits: int | None) -> str:
    if bits is None:
        return "unknown"
    return f"{bits} bits" if bits else "under 128 bits"


def _side(row: Row, name: str) -> Row:
    return {trait: row[f"{name}_{trait}"] for trait in ("ring_dimension", "log_qp", "security_2018")}
