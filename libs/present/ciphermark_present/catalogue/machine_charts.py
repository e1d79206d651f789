"""Charts of accelerators: published against predicted times, sweeps of a machine's values, and the roofline. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ciphermark_present import charting, theme
from ciphermark_present.charting import Chart, alt
from ciphermark_present.query import Row

_WITHIN = 2.0  # a factor, of the lines around equality
_MAIN = 80
_WIDTH = 2 * charting.WIDTH


def compared(rows: Sequence[Row]) -> Chart:
    """Predicted against published times; the lines are equality, and a factor of 2 to either side."""
    values = []
    for row in rows:
        if "predicted_ms" in row:
            published_s, label = row["published_ms"] / 1e3, row["program"]
            if row["security"] != _MAIN:
                label += f", {row['security']} bits"
            lines = {"twice_s": _WITHIN * published_s, "half_s": published_s / _WITHIN}
            values.append(
                {
                    "label": label,
                    "published_s": published_s,
                    "predicted_s": row["predicted_ms"] / 1e3,
                    **lines,
                }
            )
    ends = [value for row in values for value in (row["half_s"], row["twice_s"])]
    base = alt.Chart().encode(x=alt.X("published_s:Q", title="published", **charting.seconds(ends)))
    axis: dict[str, Any] = {"title": "predicted", **charting.seconds(ends)}
    layers = [
        base.mark_line(opacity=0.4).encode(y=alt.Y(f"{name}:Q", **axis))
        for name in ("half_s", "published_s", "twice_s")
    ]
    points = base.mark_point(filled=True, size=60).encode(y=alt.Y("predicted_s:Q", **axis))
    return _one_panel(values, "80 bits of security, if not stated", [*layers, points, _texts(points)])


def _one_panel(values: Sequence[Row], title: str, layers: Sequence[alt.Chart]) -> Chart:
    """A chart that pages fit to their width."""
    data = alt.Data(values=tuple({**row, "panel": title} for row in values))
    return charting.small_charts(
        alt.layer(*layers, data=data), "panel", columns=1, width=_WIDTH, height=2 * charting.HEIGHT
    )


def _texts(points: alt.Chart) -> alt.Chart:
    texts: alt.Chart = points.mark_text(align="left", dx=8, style=theme.TEXT).encode(text=alt.Text("label:N"))
    return texts


def sweeps(rows: Sequence[Row]) -> Chart:
    """Time against one value of the machine, as a multiple of its own or as a number of digits."""
    last = {(row["program"], row["varied"]): row["value"] for row in rows}
    values = tuple(
        {**row, "label": row["program"] if last[row["program"], row["varied"]] == row["value"] else ""}
        for row in rows
    )
    base = alt.Chart().encode(
        x=alt.X("value:Q", title=None),
        y=alt.Y("time_s:Q", title="time", **charting.seconds([row["time_s"] for row in rows])),
        detail="program:N",
    )
    texts = base.mark_text(align="right", dy=-9, style=theme.TEXT).encode(text=alt.Text("label:N"))
    lines = alt.layer(base.mark_line(), base.mark_point(filled=True), texts, data=alt.Data(values=values))
    return charting.small_charts(lines, "varied", scales=("x",))


def roofline(rows: Sequence[Row]) -> Chart:
    """The share of time in which units compute, against the balance of computing and memory time. The roof is 1 where
    computing takes longer, and the balance where memory does.
    """
    values: list[Row] = [{"balance": at, "roof": min(1.0, at)} for at in (0.1, 1.0, 10.0)]
    for row in rows:
        if row["security"] == _MAIN and "compute_ms" in row:
            balance = row["compute_ms"] / row["memory_ms"]
            share = row["compute_ms"] / row["predicted_ms"]
            values.append(
                {"label": row["program"], "balance": balance, "roof": min(1.0, balance), "share": share}
            )
    axis: dict[str, Any] = {
        "title": "computing, share of the time",
        "scale": alt.Scale(type="log", domain=[0.1, 1.1]),
    }
    base = alt.Chart().encode(
        x=alt.X("balance:Q", title="computing time by memory time", scale=alt.Scale(type="log"))
    )
    points = base.mark_point(filled=True, size=60).encode(y=alt.Y("share:Q", **axis))
    roof = base.mark_line(opacity=0.4).encode(y=alt.Y("roof:Q", **axis))
    return _one_panel(values, "80 bits of security", [roof, points, _texts(points)])
