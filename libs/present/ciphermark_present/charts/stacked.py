"""Bars of parts that add up, one for each case."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_present.answer import Row
from ciphermark_present.charts import style
from ciphermark_present.charts.style import Chart

COLOURS = ("#0B84A5", "#F6C85F", "#9DD866", "#6F4E7C", "#B0B0B0", "#CA472F", "#FFA056", "#8DDDD0", "#7A4B2A")

_SPLIT = "split(datum.label, '\\n')"
_WIDTH, _STEP = (
    260,
    30,
)  # two beside each other, with their names, are as wide as a page; a name has two lines


def named(variant: str, apart: str) -> str:
    """The ``bar`` of a case: its variant, and below it the parameters that tell it apart."""
    return "\n".join(filter(None, (variant, apart)))


def bars(rows: Sequence[Row], parts: Sequence[str], title: str) -> Chart:
    """A ``bar`` for each case, of each ``part`` in order of ``place``, so many ``seconds`` long; a small chart for each
    ``what``, whose lines head it. ``parts`` are all names of parts, in the order of the legend, whose title
    is ``title``.
    """
    return style.dressed(
        alt.Chart(style.data(rows, "bar", "what", "part", "place", "seconds"))
        .mark_bar()
        .encode(
            x=alt.X("seconds:Q", title=None, stack="zero", axis=style.seconds_axis()),
            y=alt.Y("bar:N", title=None, axis=style.bands(labelExpr=_SPLIT)),
            color=alt.Color(
                "part:N",
                title=title,
                scale=alt.Scale(
                    domain=[*parts],
                    range=[COLOURS[place % len(COLOURS)] for place in range(len(parts))],
                ),
                sort=[*parts],
            ),
            order=alt.Order("place:Q"),
            tooltip=style.tips("bar:N", "part:N", alt.Tooltip("seconds:Q", format=".3s")),
        )
        .properties(width=_WIDTH, height=alt.Step(_STEP))
        .facet(facet=alt.Facet("what:N", title=None, header=alt.Header(labelExpr=_SPLIT)), columns=2)
        .resolve_scale(x="independent", y="independent")
    )
