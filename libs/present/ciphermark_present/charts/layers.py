"""The chart of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ciphermark_present import formats, parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, stacked
from ciphermark_present.charts.style import Chart


def by_variant(rows: Sequence[Row]) -> Chart | None:
    """Times of layers one upon the other: a bar for each variant, one small chart for each workload with its options,
    scheme, level and number of threads.
    """
    known = [row for row in rows if row["layer_time"]]
    if not known:
        return None
    timed = [{**row, "what": what} for row, what in zip(known, _charts(known), strict=True)]
    apart = parameters.apart(timed, lambda row: row["what"])
    split = [
        {
            **row,
            "bar": stacked.named(row["variant"], label),
            "part": row["layer"],
            "place": row["position"],
            "seconds": row["layer_time"],
        }
        for row, label in zip(timed, apart, strict=True)
    ]
    names = dict.fromkeys(row["layer"] for row in sorted(timed, key=lambda row: row["position"]))
    return stacked.bars(split, [*names], "Layer")


def _charts(rows: Sequence[Row]) -> list[str]:
    """The small chart of each row: in a line below what it computes the options in which rows differ."""
    names = sorted({name for row in rows for name in row["dimensions"]})
    varied = [name for name in names if len({row["dimensions"].get(name) for row in rows}) > 1]
    return [
        "\n".join(filter(None, (_computed(row), ", ".join(_options(row["dimensions"], varied)))))
        for row in rows
    ]


def _options(dimensions: Mapping[str, Any], varied: Sequence[str]) -> list[str]:
    return [f"{name} {dimensions[name]}" for name in varied if name in dimensions]


def _computed(row: Row) -> str:
    threads = f"{row['threads']} threads" if row["threads"] > 1 else ""
    return places.joined(row["operation"], row["scheme"], formats.level(row["security_2018"]), threads)
