"""Charts of times: against N, against the size of the vector, of same against random data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ciphermark_present import parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, style
from ciphermark_present.charts.style import Chart

_COLUMNS = ("variant", "division", "label", "ring", "size", "median", "ci_low", "ci_high", "from", "to")


def latency_against_n(rows: Sequence[Row]) -> Chart | None:
    """Median time against N, both logarithmic, one small chart per operation."""
    chosen = places.with_rings(places.fullest(rows))
    rings = places.ring_order(chosen)
    return _against(chosen, alt.X("ring:O", title="N", sort=rings, axis=style.places_axis(rings)))


def latency_against_size(rows: Sequence[Row]) -> Chart | None:
    """Median time against the number of elements, at one N."""
    title = f"Elements, at N = {rows[0]['ring_dimension']}" if rows else ""
    labels = parameters.apart(rows, lambda row: (row["label"], row["size"]))
    known = [
        {**row, "label": places.joined(row["label"], label)}
        for row, label in zip(places.with_rings(rows), labels, strict=True)
    ]
    return _against(known, alt.X("size:O", title=title, axis=style.counts_axis()))


def by_data(rows: Sequence[Row]) -> Chart | None:
    """Time of random data divided by that of equal ones, with its interval, one small chart per N; 1 is a line."""
    if not rows:
        return None
    chosen = [{**row, "place": f"N = {row['ring']}"} for row in places.with_rings(places.fullest(rows))]
    names = style.variants_of(chosen)
    base = alt.Chart().encode(
        y=alt.Y("operation:N", title=None, axis=style.bands()),
        yOffset=alt.YOffset("variant:N", sort=names),
        color=style.colour(names),
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        x=alt.X("ratio:Q", title="Random / same", scale=style.log_scale(), axis=alt.Axis(tickCount=5)),
        shape=style.shape(names),
        tooltip=style.tips("variant:N", "operation:N", alt.Tooltip("ratio:Q", format=".3~g"), "verdict:N"),
    )
    whiskers = base.mark_rule().encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"))
    one = style.one()
    columns = ("variant", "operation", "place", "ratio", "from", "to", "verdict")
    return style.dressed(
        alt.layer(one, whiskers, points, data=style.data(style.with_ends(chosen, "ratio"), *columns))
        .properties(width=style.WIDTH, height=alt.Step(9))
        .facet(facet=_by_n(chosen), columns=2)
        .resolve_axis(x="independent")
    )


def _by_n(rows: Sequence[Row]) -> alt.Facet:
    order = list(
        dict.fromkeys(row["place"] for row in sorted(rows, key=lambda row: int(row["ring_dimension"])))
    )
    return alt.Facet("place:N", title=None, sort=order)


def _against(rows: Sequence[dict[str, Any]], x: alt.X) -> Chart | None:
    if not rows:
        return None
    names = style.variants_of(rows)
    known = [
        {**row, "division": row.get("division")} for row in sorted(rows, key=lambda row: str(row["variant"]))
    ]
    base = alt.Chart().encode(x=x, color=style.colour(names))
    median = alt.Y("median:Q", title=None, scale=style.log_scale(), axis=style.seconds_axis())
    # A line joins one division's: the other one's have other keys.
    line = base.mark_line(strokeWidth=1.5).encode(
        y=median, detail=[alt.Detail("variant:N"), alt.Detail("division:N")]
    )
    points = base.mark_point(filled=False, strokeWidth=1.8, opacity=1).encode(
        y=median,
        shape=style.shape(names),
        size=alt.Size("variant:O", title=style.VARIANT, scale=style.nested(names, 130, 30)),
        tooltip=style.tips(
            alt.Tooltip("variant:N", title="Variant"),
            alt.Tooltip("label:N", title="Operation"),
            alt.Tooltip("median:Q", title="Median, s", format=".3s"),
            alt.Tooltip("ci_low:Q", title="95 % from", format=".3s"),
            alt.Tooltip("ci_high:Q", title="to", format=".3s"),
        ),
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("from:Q"), y2=alt.Y2("to:Q"))
    return style.dressed(
        alt.layer(line, whiskers, points, data=style.data(style.with_ends(known, "median"), *_COLUMNS))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("label:N", title=None), columns=2)
        .resolve_scale(y="independent")
        .resolve_axis(x="independent")
    )
