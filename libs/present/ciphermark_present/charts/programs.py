"""The chart of what programs consist of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from ciphermark_present.answer import Row
from ciphermark_present.charts import style
from ciphermark_present.charts.style import Chart

_MOST_PROGRAMS = 24
_MOST_LEVELS = 16  # beside each other: more of them leave no room for numbers
_SHOWN_DIGITS = 6  # of a digest, in a heading
_SHADES = 9  # from light to dark; on the darker half white is easier to read


def counts(rows: Sequence[Row]) -> Chart | None:
    """How often each operation occurs at each level, the highest first; a small chart for each program."""
    variants: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        variants.setdefault((_place(row), row["program"]), {})[row["variant"]] = None
    if not rows:
        return None
    shown = dict(list(variants.items())[:_MOST_PROGRAMS])
    cells = {
        (_place(row), row["program"], row["counted"], row["level"]): {
            **row,
            "place": f"{_place(row)}\n{', '.join(shown[_place(row), row['program']])}",
        }
        for row in rows
        if (_place(row), row["program"]) in shown
    }
    title = f"{_MOST_PROGRAMS} of {len(variants)} programs are drawn; filters show others"
    chart = _drawn(list(cells.values()))
    return chart.properties(title=title) if len(variants) > len(shown) else chart


def _place(row: Row) -> str:
    """What a small chart is about, in lines; who executed it is added."""
    given = row["options"] or f"{row['size']:,}"
    digest = row["program"][:_SHOWN_DIGITS]
    return f"{row['operation']}, {row['stage']}\n{given}, {row['scheme']} · {digest}"


def _drawn(rows: Sequence[dict[str, Any]]) -> alt.FacetChart:
    darkest = math.log(max(10, *(row["n"] for row in rows)))
    for row in rows:
        row["shade"] = round((_SHADES - 1) * math.log(row["n"]) / darkest)
    base = alt.Chart().encode(
        x=alt.X("level:O", title="Level", scale=alt.Scale(reverse=True), axis=alt.Axis(labelAngle=0)),
        y=alt.Y("counted:N", title=None),
        tooltip=style.tips("place:N", "counted:N", "level:O", alt.Tooltip("n:Q", format=",")),
    )
    # Shades, not numbers: of numbers the layers would be filtered apart, and no longer share their axes.
    scale = alt.Scale(scheme="blues", domain=list(range(_SHADES)))
    squares = base.mark_rect().encode(color=alt.Color("shade:O", scale=scale, legend=None))
    is_light = f"datum.shade < {_SHADES // 2}"
    numbers = base.mark_text(fontSize=10).encode(
        text=alt.Text("n:N"), color=alt.condition(is_light, alt.value("#000000"), alt.value("#ffffff"))
    )
    layers = [squares, numbers] if len({row["level"] for row in rows}) <= _MOST_LEVELS else [squares]
    header = alt.Header(labelExpr="split(datum.value, '\\n')")
    order = list(dict.fromkeys(row["place"] for row in rows))
    return style.dressed(
        alt.layer(*layers, data=style.data(rows, "place", "counted", "level", "n", "shade"))
        .properties(width=style.WIDTH, height=alt.Step(20))
        .facet(facet=alt.Facet("place:N", title=None, sort=order, header=header), columns=2)
        .resolve_scale(x="independent")
    )
