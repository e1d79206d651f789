"""Charts of inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ciphermark_present import formats, parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, stacked, style
from ciphermark_present.charts.style import Chart

# In the order of a pass. What else the parties do is the rest of their sums.
_PARTS = {
    "encrypt_s": "client: pack and encrypt",
    "infer_s": "server: the network",
    "serialize_s": "both: write and read",
    "decrypt_s": "client: decrypt",
    "rest_s": "the rest of both",
}


def against_throughput(rows: Sequence[Row]) -> Chart | None:
    """Latency of a pass against images a second: a mark for each variant and number of images, one small chart for each
    workload, scheme, level and number of threads, whose times are not to be compared.
    """
    known = _named(rows)
    if not known:
        return None
    names = style.variants_of(known)
    lines_of = parameters.apart(known, lambda row: (row["what"], row["variant"], row["images"]))
    known = [{**row, "line": line} for row, line in zip(known, lines_of, strict=True)]
    columns = ("variant", "what", "apart", "line", "infer_s", "images_per_s", "images")
    marks = alt.Chart().encode(
        x=alt.X("infer_s:Q", title="Latency", scale=style.log_scale(), axis=style.seconds_axis()),
        y=alt.Y("images_per_s:Q", title="Images/s", scale=style.log_scale()),
        color=style.colour(names),
        tooltip=style.tips(
            "variant:N",
            "apart:N",
            alt.Tooltip("infer_s:Q", format=".3s"),
            alt.Tooltip("images_per_s:Q", format=".3s"),
            "images:Q",
        ),
    )
    lines = marks.mark_line(strokeWidth=1.5).encode(order="images:Q", detail="line:N")
    points = marks.mark_point(filled=True, size=60, opacity=1).encode(
        shape=style.shape(names), detail="apart:N"
    )
    return style.dressed(
        alt.layer(lines, points, data=style.data(known, *columns))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
    )


def parts(rows: Sequence[Row]) -> Chart | None:
    """What both parties do in a pass: a bar for each variant, one small chart for each workload, scheme, level and
    number of threads.
    """
    known = _named(rows)
    split = [
        {
            **row,
            "part": told,
            "seconds": seconds,
            "place": place,
            "bar": stacked.named(row["variant"], row["apart"]),
        }
        for row in known
        for place, (told, seconds) in enumerate(_split(row))
    ]
    if not split:
        return None
    return stacked.bars(split, [*_PARTS.values()], "Part")


def _split(row: Row) -> list[tuple[str, float]]:
    told = [row[name] or 0.0 for name in _PARTS if name in row]
    rest = max(0.0, (row["client_s"] or 0.0) + (row["server_s"] or 0.0) - sum(told))
    return list(zip(_PARTS.values(), (*told, rest), strict=True))


def _named(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows that have a time, with the small chart that they are in (``what``), and what tells a chart's apart."""
    timed = [{**row, "what": _chart(row)} for row in rows if row["infer_s"]]
    labels = parameters.apart(timed, lambda row: row["what"])
    return [{**row, "apart": label} for row, label in zip(timed, labels, strict=True)]


def _chart(row: Row) -> str:
    threads = f"{row['threads']} threads" if row["threads"] > 1 else ""
    return places.joined(row["operation"], row["scheme"], formats.level(row["security_2018"]), threads)
