"""The figures of two runs side by side, case by case. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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
    "comparison_key",
    "division",
    "modulus_bits",
    "plain_modulus",
    "scale",
    "security_bits",
    "chain_depth",
    "ring_dimension_is_minimum",
    "dimensions",
)
# How figures of a metric are judged.
JUDGED = ("direction", "floor", "floor_kind")
# What each run has of its own; its names begin with ``a_`` or ``b_``.
OWN = (
    "n",
    "median",
    "low",
    "high",
    "status",
    "error",
    "ring_dimension",
    "log_qp",
    "security_2018",
    "security_2024",
    "security_compared",
    "key_switching",
    "digits",
    "parameter_set_id",
    "is_composed",
    "anchor_s",
    "quiet_share",
    "slow_down",
)
_SAME_FIGURE = ("case_key", "phase", "metric", "repetitions")
_ORDER = (
    "size",
    "data_pattern",
    "threads",
    "experiment",
    "operation",
    "repetitions",
    "phase",
    "metric",
    "variant",
)


def paired(a: Iterable[Row], b: Iterable[Row]) -> list[Row]:
    """Every row of the query ``run_figures`` of two runs, with the other run's row of the same figure where it has one.

    A run that has none has ``None`` for all of its own. Rows come by scheme, ring dimension and falling level.
    """
    left: dict[Any, list[Row]] = {}
    for row in a:
        left.setdefault(_figure(row), []).append(row)
    found, met = [], set()
    for row in b:
        key = _figure(row)
        met.add(key)
        found += [_beside(other, row) for other in left.get(key, [None])]
    found += [_beside(row, None) for key, rows in left.items() if key not in met for row in rows]
    return sorted(found, key=_place)


def _figure(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _SAME_FIGURE)


def _beside(a: Row | None, b: Row | None) -> Row:
    known = a or b
    assert known is not None
    place = {name: known[name] for name in (*PLACE, *JUDGED)}
    own = {f"{side}_{name}": row[name] if row else None for side, row in (("a", a), ("b", b)) for name in OWN}
    return place | own


def _place(row: Row) -> tuple[Any, ...]:
    level = row["b_security_2018"] if row["a_security_2018"] is None else row["a_security_2018"]
    return (
        row["scheme"],
        row["ring_dimension"],
        (level is None, -(level or 0)),
        *((row[name] is None, 0 if row[name] is None else row[name]) for name in _ORDER),
    )
