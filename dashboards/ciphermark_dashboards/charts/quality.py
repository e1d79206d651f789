"""Charts of noise, depth, memory and bytes."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_dashboards.charts import style
from ciphermark_dashboards.figures import Chart
from ciphermark_dashboards.store import Row


def noise(rows: Sequence[Row]) -> Chart | None:
    """Bits left against the number of operations: noise budget (bfv, bgv) or precision (ckks)."""
    if not rows:
        return None
    names = style.variants_of(rows)
    columns = ("variant", "operation", "ring_dimension", "repetitions", "bits")
    return (
        alt.Chart(style.data(rows, *columns))
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=40), strokeWidth=1.5)
        .encode(
            x=alt.X("repetitions:Q", title="Operations applied", scale=alt.Scale(type="symlog")),
            y=alt.Y("bits:Q", title="Bits left"),
            color=style.colour(names),
            shape=style.shape(names),
            strokeDash=alt.StrokeDash("ring_dimension:O", title="N"),
            tooltip=["variant:N", "operation:N", "ring_dimension:O", "repetitions:Q", "bits:Q"],
        )
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("operation:N", title=None), columns=2)
        .resolve_scale(x="independent")
    )


def depth(rows: Sequence[Row]) -> Chart | None:
    """The most operations in a row that still decrypt right, by N and variant."""
    return _grouped_bars(rows, "depth", "Operations that decrypt right", alt.Scale(type="symlog"))


def peak_memory(rows: Sequence[Row]) -> Chart | None:
    """Peak memory by N and variant, in bytes."""
    return _grouped_bars(rows, "peak_bytes", "Peak memory, bytes", alt.Scale())


def object_sizes(rows: Sequence[Row]) -> Chart | None:
    """Serialized sizes by object and variant, in bytes."""
    if not rows:
        return None
    labelled = [{**row, "what": f"{row['object']}, {row['compression']}"} for row in rows]
    names = style.variants_of(rows)
    return (
        alt.Chart(style.data(labelled, "variant", "what", "ring_dimension", "bytes"))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X(
                "bytes:Q", title="Bytes", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", tickCount=6)
            ),
            y=alt.Y("what:N", title=None),
            yOffset=alt.YOffset("variant:N", sort=names),
            color=style.colour(names),
            shape=style.shape(names),
            tooltip=["variant:N", "what:N", "ring_dimension:O", "bytes:Q"],
        )
        .properties(width=style.WIDTH, height=alt.Step(10))
        .facet(facet=alt.Facet("ring_dimension:O", title="N"), columns=2)
    )


def _grouped_bars(rows: Sequence[Row], value: str, title: str, scale: alt.Scale) -> Chart | None:
    known = [row for row in rows if row[value] is not None]
    if not known:
        return None
    names = style.variants_of(known)
    tooltip = ["variant:N", "operation:N", "ring_dimension:O", f"{value}:Q"]
    return (
        alt.Chart(style.data(known, "variant", "operation", "ring_dimension", value))
        .mark_bar()
        .encode(
            x=alt.X("ring_dimension:O", title="N", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("variant:N"),
            y=alt.Y(
                f"{value}:Q", title=title, scale=scale, stack=None, axis=alt.Axis(format="~s", tickCount=6)
            ),
            color=style.colour(names),
            tooltip=tooltip,
        )
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("operation:N", title=None), columns=2)
        .resolve_scale(y="independent")
    )
