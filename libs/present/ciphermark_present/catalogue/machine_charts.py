"""Charts of accelerators: published against predicted times, sweeps of a machine's values, and the roofline. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ciphermark_present import charting, formats, labels, plots, theme
from ciphermark_present.charting import Chart, alt
from ciphermark_present.plots import Measure
from ciphermark_present.printed import grouped
from ciphermark_present.query import Row

_WITHIN = 2.0  # a factor, of the lines around equality
_MAIN = 80
_SIZE = 1200.0, 2.0 * charting.HEIGHT  # of a chart by itself; pages fit its width
_LOWEST, _BALANCED, _HIGHEST = 0.1, 1.0, 10.0  # of the roofline: the share at least, and ends of its axis
_VARIED = {  # titles of sweeps
    **{name: f"{name}, multiple of its own" for name in ("bandwidth", "lanes", "register file")},
    "digits": "digits of key switching",
}


def compared(rows: Sequence[Row]) -> Chart:
    """Predicted against published times; the lines are equality, and a factor of 2 to either side."""
    values = []
    for row in rows:
        if "predicted_ms" in row:
            published_s, predicted_s, name = (
                row["published_ms"] / 1e3,
                row["predicted_ms"] / 1e3,
                row["program"],
            )
            if row["security"] != _MAIN:
                name += f", {row['security']} bits"
            values.append(
                {
                    "name": name,
                    "published_s": published_s,
                    "published": formats.seconds(published_s),
                    "predicted_s": predicted_s,
                    "predicted": formats.seconds(predicted_s),
                    "twice_s": _WITHIN * published_s,
                    "half_s": published_s / _WITHIN,
                }
            )
    axis = charting.seconds(row[end] for row in values for end in ("half_s", "twice_s"))
    x, y = Measure("published_s", "published", axis), Measure("predicted_s", "predicted", axis)
    tips, lines = ("published", "predicted"), ("half_s", "published_s", "twice_s")
    return _one_panel(values, "80 bits of security, if not stated", x, y, tips=tips, lines=lines)


def roofline(rows: Sequence[Row]) -> Chart:
    """The share of time in which units compute, against the balance of computing and memory time. The roof is 1 where
    computing takes longer, and the balance where memory does.
    """
    values: list[Row] = []
    for row in rows:
        if row["security"] == _MAIN and "compute_ms" in row:
            balance = row["compute_ms"] / row["memory_ms"]
            share = row["compute_ms"] / row["predicted_ms"]
            shown = {"computing": formats.percent(share), "computing by memory": formats.ratio(balance)}
            values.append(
                {
                    "name": row["program"],
                    "balance": balance,
                    "share": share,
                    "roof": min(1.0, balance),
                    **shown,
                }
            )
    roof: list[Row] = [
        {"name": "", "balance": at, "share": None, "roof": min(1.0, at)}
        for at in (_LOWEST, _BALANCED, _HIGHEST)
    ]
    balances = charting.plain([_LOWEST, _HIGHEST, *(row["balance"] for row in values)])
    shares = charting.plain([_LOWEST, 1.0, *(row["share"] for row in values)])
    x = Measure("balance", "computing time by memory time", balances)
    y = Measure("share", "computing, share of the time", shares)
    tips = ("computing", "computing by memory")
    return _one_panel(values, "80 bits of security", x, y, tips=tips, lines=["roof"], ends=roof)


def _one_panel(  # noqa: PLR0913 - marks, their axes, and lines behind them
    marks: Sequence[Row],
    title: str,
    x: Measure,
    y: Measure,
    *,
    tips: Sequence[str],
    lines: Sequence[str],
    ends: Sequence[Row] = (),
) -> Chart:
    """A chart that pages fit to their width: named marks, and lines through the columns ``lines`` behind them."""
    named = plots.labelled([{**row, "panel": title} for row in marks], x, y, "name", size=_SIZE)
    data = alt.Data(values=(*named, *({**row, "panel": title} for row in ends)))
    base = alt.Chart().encode(x=alt.X(f"{x.column}:Q", title=x.title, **x.axis))
    behind = [
        base.mark_line(opacity=0.4).encode(y=alt.Y(f"{name}:Q", title=y.title, **y.axis)) for name in lines
    ]
    place = base.transform_filter("datum.name").encode(y=alt.Y(f"{y.column}:Q", title=y.title, **y.axis))
    shown = [alt.Tooltip(f"{name}:N", title=name.capitalize()) for name in ("name", *tips)]
    points = place.mark_point(filled=True, size=60, opacity=1).encode(tooltip=shown)
    layers = alt.layer(*behind, points, plots.label_layer(place), data=data)
    return charting.small_charts(layers, "panel", columns=1, width=int(_SIZE[0]), height=int(_SIZE[1]))


def sweeps(rows: Sequence[Row]) -> Chart:
    """Time against one value of the machine, as a multiple of its own or as a number of digits. Lines end with the
    names of their programs.
    """
    axis = charting.seconds(row["time_s"] for row in rows)
    values: list[dict[str, Any]] = []
    for swept in grouped(rows, lambda row: row["varied"]):
        last = {row["program"]: row for row in sorted(swept, key=lambda row: float(row["value"]))}
        heights = [charting.from_top(row["time_s"], axis) for row in last.values()]
        moved = labels.spread(heights, labels.LINE / 2, charting.HEIGHT - labels.LINE / 2)
        dy = {name: round(to - at, 1) for name, at, to in zip(last, heights, moved, strict=True)}
        for row in swept:
            is_last = last[row["program"]] is row
            values.append(
                {
                    **row,
                    "panel": _VARIED[row["varied"]],
                    "time": formats.seconds(row["time_s"]),
                    "label": row["program"] if is_last else "",
                    "dy": dy[row["program"]] if is_last else 0.0,
                }
            )
    base = alt.Chart().encode(
        x=alt.X("value:Q", title=None, axis=charting.whole_axis()),
        y=alt.Y("time_s:Q", title="time", **axis),
        detail="program:N",
    )
    shown = [alt.Tooltip(f"{name}:N", title=name.capitalize()) for name in ("program", "value", "time")]
    points = base.mark_point(filled=True, opacity=1).encode(tooltip=shown)
    texts = base.mark_text(align="left", dx=8, dy=alt.ExprRef(expr="datum.dy"), style=theme.TEXT)
    layers = (base.mark_line(), points, texts.encode(text=alt.Text("label:N")))
    return charting.small_charts(
        alt.layer(*layers, data=alt.Data(values=tuple(values))),
        "panel",
        list(dict.fromkeys(row["panel"] for row in values)),
        scales=("x",),
        axes=("x",),
    )
