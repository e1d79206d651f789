"""The chart of layers."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_figures import formats, parameters
from ciphermark_figures.answer import Row
from ciphermark_figures.charts import places, stacked
from ciphermark_figures.charts.style import Chart


def by_variant(rows: Sequence[Row]) -> Chart | None:
    """Times of layers one upon the other: a bar for each variant, one small chart for each workload with its options,
    scheme, level and number of threads.
    """
    timed = [{**row, "what": _chart(row)} for row in rows if row["layer_time"]]
    if not timed:
        return None
    apart = parameters.apart(timed, lambda row: (row["what"], row["variant"]))
    split = [
        {
            **row,
            "bar": places.joined(row["variant"], label),
            "part": row["layer"],
            "place": row["position"],
            "seconds": row["layer_time"],
        }
        for row, label in zip(timed, apart, strict=True)
    ]
    names = dict.fromkeys(row["layer"] for row in sorted(timed, key=lambda row: row["position"]))
    return stacked.bars(split, [*names], "Layer")


def _chart(row: Row) -> str:
    threads = f"{row['threads']} threads" if row["threads"] > 1 else ""
    level = formats.level(row["security_2018"])
    return places.joined(row["operation"], row["options"] or "", row["scheme"], level, threads)
