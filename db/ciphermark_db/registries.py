"""Metrics, dimensions and experiments as rows, so that SQL and those who know no workload can ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import psycopg

from ciphermark_core.descriptor import DIMENSIONS, Value
from ciphermark_core.experiments import EXPERIMENTS
from ciphermark_core.metrics import METRICS, Metric
from ciphermark_db.sql import blocks


def fill(connection: psycopg.Connection[Any]) -> None:
    """Make the rows of all that is registered in this process what the registries say; others stay."""
    sql = blocks("registries")
    registered = {
        "metric": [metric(name) for name in METRICS],
        "dimension": [dimension(name, "") for name, item in DIMENSIONS.items() if item.is_of_family],
        "experiment": [asdict(row) for row in EXPERIMENTS.values()],
    }
    for table, rows in registered.items():
        known = set(connection.execute(sql[f"{table}s"]).fetchall())
        with connection.cursor() as cursor:
            cursor.executemany(
                sql[f"fill_{table}"], [row for row in rows if tuple(row.values()) not in known]
            )


def metric(name: str) -> dict[str, Any]:
    """The row of a metric; where nobody registered it in this process, what can be said of it all the same."""
    known = METRICS.get(name) or Metric(name, "", None, 1.0, name, "")
    return {
        "name": known.name,
        "unit": known.unit,
        "direction": known.direction,
        "floor": known.floor,
        "floor_kind": known.floor_kind,
        "label": known.label,
        "sentence": known.sentence,
        "adds_up": known.adds_up,
    }


def dimension(name: str, value: Value) -> dict[str, Any]:
    """The row of a dimension; where nobody registered it in this process, the kind is that of ``value``."""
    known = DIMENSIONS.get(name)
    kind, sentence = (type(value), "") if known is None else (known.kind, known.sentence)
    return {"name": name, "kind": kind.__name__, "sentence": sentence}


def metrics(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Rows by name."""
    return {name: metric(name) for name in names}


def dimensions(values: Mapping[str, Value]) -> dict[str, dict[str, Any]]:
    """Rows by name."""
    return {name: dimension(name, value) for name, value in values.items()}
