"""Charts of noise, depth, memory and bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt

from ciphermark_present.answer import Row
from ciphermark_present.charts import places, style
from ciphermark_present.charts.style import Chart

_MB = 10**6
_MOST_TEXTS = 16  # above the bars of one small chart: more of them would overlap


def noise(rows: Sequence[Row]) -> Chart | None:
    """Bits left of a full vector against the number of operations: noise budget (bfv, bgv) or precision (ckks).

    One small chart per operation and ring. Counts are powers of 2, so that a place for each makes a logarithmic axis
    that has a 0. Libraries often agree to the bit: then marks and lines lie upon each other, the first variant's the
    largest and widest, so that none is hidden and none is moved to where nothing was counted.
    """
    if not rows:
        return None
    chosen = places.with_rings(places.fullest(rows))
    known = sorted(
        ({**row, "place": f"{row['operation']}, N = {row['ring']}"} for row in chosen),
        key=lambda row: str(row["variant"]),
    )
    names = style.variants_of(known)
    columns = ("variant", "place", "repetitions", "bits")
    order = list(dict.fromkeys(f"{row['operation']}, N = {row['ring']}" for row in chosen))
    base = alt.Chart().encode(
        x=alt.X("repetitions:O", title="Operations applied", axis=style.counts_axis()),
        y=alt.Y("bits:Q", title="Bits left"),
        color=style.colour(names),
    )
    line = base.mark_line().encode(strokeWidth=style.nested_widths(names, 6, 1))
    points = base.mark_point(filled=False, strokeWidth=1.8, opacity=1).encode(
        shape=style.shape(names),
        size=alt.Size("variant:O", title=style.VARIANT, scale=style.nested(names, 160, 25)),
        tooltip=style.tips("variant:N", "place:N", "repetitions:Q", "bits:Q"),
    )
    return style.dressed(
        alt.layer(line, points, data=style.data(known, *columns))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("place:N", title=None, sort=order), columns=2)
        .resolve_scale(x="independent")
        .resolve_axis(y="independent")
    )


def bits_left(rows: Sequence[Row]) -> Chart | None:
    """Bits left of one ciphertext's vector after one operation, by ring and variant."""
    known = [{**row, "text": f"{row['bits']:.0f}"} for row in places.with_rings(places.fullest(rows))]
    return _grouped_bars(known, "bits", "Bits left", alt.Axis(tickCount=6))


def depth(rows: Sequence[Row]) -> Chart | None:
    """The most operations in a row that still decrypt right, by ring and variant; ≥ where the search met its cap."""
    known = [
        {**row, "text": f"{'≥ ' if row['is_capped'] else ''}{row['depth']:,}"}
        for row in places.with_rings(places.fullest([row for row in rows if row["depth"] is not None]))
    ]
    return _grouped_bars(known, "depth", "Operations that decrypt right", style.whole_axis())


def peak_memory(rows: Sequence[Row]) -> Chart | None:
    """Peak memory of one ciphertext's vector by N and variant, in MB."""
    known = [{**row, "peak": row["peak_bytes"] / _MB} for row in places.with_rings(places.fullest(rows))]
    return _grouped_bars(
        [{**row, "text": f"{row['peak']:,.0f}"} for row in known],
        "peak",
        "Peak memory, MB",
        alt.Axis(tickCount=6),
    )


def object_sizes(rows: Sequence[Row]) -> Chart | None:
    """Serialized sizes by object and variant, in bytes, of one ciphertext's vector, one small chart per ring."""
    if not rows:
        return None
    labelled = [
        {
            **row,
            "what": f"{row['object'].replace('_', ' ')}, {row['compression']}",
            "place": f"N = {row['ring']}",
        }
        for row in places.with_rings(
            [{**row, "operation": row["compression"]} for row in places.fullest(rows)]
        )
    ]
    names = style.variants_of(rows)
    order = [f"N = {ring}" for ring in places.ring_order(labelled)]
    return style.dressed(
        alt.Chart(style.data(labelled, "variant", "what", "place", "bytes"))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X(
                "bytes:Q",
                title=None,
                scale=style.log_scale(),
                axis=style.bytes_axis(row["bytes"] for row in rows),
            ),
            y=alt.Y("what:N", title=None, axis=style.bands()),
            yOffset=alt.YOffset("variant:N", sort=names),
            color=style.colour(names),
            shape=style.shape(names),
            tooltip=style.tips("variant:N", "what:N", "place:N", alt.Tooltip("bytes:Q", format=",")),
        )
        .properties(width=style.WIDTH, height=alt.Step(12))
        .facet(facet=alt.Facet("place:N", title=None, sort=order), columns=2)
        .resolve_axis(x="independent")
    )


def _grouped_bars(rows: Sequence[dict[str, Any]], value: str, title: str, axis: alt.Axis) -> Chart | None:
    """A bar per variant at every ring, its ``text`` above where there is room, one small chart per operation."""
    if not rows:
        return None
    names, rings = style.variants_of(rows), places.ring_order(rows)
    base = alt.Chart().encode(
        x=alt.X("ring:O", title="N", sort=rings, axis=style.places_axis(rings)),
        xOffset=alt.XOffset("variant:N", sort=names, scale=alt.Scale(paddingInner=0.15)),
        y=alt.Y(f"{value}:Q", title=title, stack=None, axis=axis),
    )
    bars = base.mark_bar().encode(
        color=style.colour(names),
        tooltip=style.tips("variant:N", "operation:N", "ring:O", alt.Tooltip("text:N", title=title)),
    )
    texts = base.mark_text(baseline="bottom", dy=-2, fontSize=10).encode(text=alt.Text("text:N"))
    columns = ("variant", "operation", "ring", value, "text")
    fullest = Counter(row["operation"] for row in rows).most_common(1)[0][1]
    layers = [bars, texts] if fullest <= _MOST_TEXTS else [bars]
    return style.dressed(
        alt.layer(*layers, data=style.data(rows, *columns))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("operation:N", title=None), columns=2)
        .resolve_scale(y="independent")
        .resolve_axis(x="independent")
    )
