"""Parts of a time as shares of the whole, in a bar: greys, and one accent for the part that takes most. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_present import charting, formats, labels, theme
from ciphermark_present.charting import Chart, alt
from ciphermark_present.query import Row

_WIDTH = 480  # two charts are as wide as a page
_LABELLED_PX = 380  # the width by which a label fits its part
_BAR_PX, _ROW_PX = 20, 32
_COLUMNS = ("variant", "bar", "panel", "part", "seconds", "start", "end", "middle", "ink", "label", "whole")


def bar_name(variant: str, apart: str) -> str:
    """The ``bar`` of a case: its variant, and the parameters that distinguish the case."""
    return charting.joined(variant, apart)


def bars(rows: Sequence[Row]) -> Chart | None:
    """A ``bar`` for each case, of its parts in the order of ``place``: each ``part`` takes ``seconds``. The whole time
    is at the bar's end. There is a small chart for each ``panel``, whose lines are its heading.
    """
    drawn, notes = charting.enough(rows, "panel", least=1)
    if not drawn:
        return None
    parts = list(_shares(drawn))
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    base = alt.Chart().encode(y=alt.Y("bar:N", title=None, axis=alt.Axis(domain=False, ticks=False)))
    pieces = base.mark_bar(size=_BAR_PX).encode(
        x=alt.X("start:Q", title=None, axis=axis, scale=scale),
        x2=alt.X2("end:Q"),
        detail="part:N",
        color=alt.Color("ink:N", legend=None, scale=alt.Scale(domain=_INKS, range=_INKS)),
        tooltip=charting.tips(
            "bar:N", "part:N", charting.text_tip("seconds", "Time"), alt.Tooltip("share:N", title="Share")
        ),
    )
    is_accent = f"datum.ink === '{theme.ACCENT}'"
    texts = base.encode(
        x=alt.X("middle:Q"),
        text=alt.Text("label:N"),
        color=alt.condition(is_accent, alt.value(theme.ON_ACCENT), alt.value(theme.ON_GREY)),
    )
    wholes = base.mark_text(align="left", dx=6, style=theme.TEXT).encode(
        x=alt.XDatum(1), text=alt.Text("whole:N")
    )
    layers = [pieces, texts.mark_text(style=theme.TEXT), wholes]
    data = charting.data(parts, *_COLUMNS, "share", seconds=formats.seconds)
    chart = charting.small_charts(
        alt.layer(*layers, data=data),
        "panel",
        list(dict.fromkeys(row["panel"] for row in drawn)),
        width=_WIDTH,
        height=alt.Step(_ROW_PX),
        axes=("x",),
        header=alt.Header(labelExpr="split(datum.value, '\\n')"),
    )
    return chart.properties(**charting.noted(notes))


_INKS = [theme.ACCENT, *theme.GREYS]


def shares(rows: Sequence[Row]) -> dict[str, float]:
    """The mean share of each part over all bars, the largest first."""
    bars: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        bars[row["panel"], row["bar"]].append(row)
    parts: dict[str, float] = defaultdict(float)
    for own in bars.values():
        whole = sum(row["seconds"] for row in own) or 1.0
        for row in own:
            parts[row["part"]] += row["seconds"] / whole / len(bars)
    return dict(sorted(parts.items(), key=lambda item: -item[1]))


def _shares(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows with their places in their bars, their colours, and the labels that have room."""
    largest = next(iter(shares(rows)))
    bars: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        bars[row["panel"], row["bar"]].append(row)
    for own in bars.values():
        whole, end, greys = sum(row["seconds"] for row in own), 0.0, 0
        for row in sorted(own, key=lambda row: int(row["place"])):
            start, share = end, row["seconds"] / whole if whole else 0.0
            end = start + share
            is_largest = row["part"] == largest
            greys += not is_largest
            yield {
                **row,
                "start": start,
                "end": end,
                "middle": (start + end) / 2,
                "share": f"{share:.1%}",
                "ink": theme.ACCENT if is_largest else theme.GREYS[greys % 2],
                "label": _label(row["part"], share),
                "whole": charting.thin(formats.seconds(whole)) if row is own[-1] else "",
            }


def _label(part: str, share: float) -> str:
    """The longest text that fits a part."""
    room = share * _LABELLED_PX / labels.CHARACTER - 1
    texts = (f"{part} {share:.0%}", part, f"{share:.0%}")
    return next((text for text in texts if len(text) <= room), "")
