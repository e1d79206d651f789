"""Charts of times: against N, against the size of the vector."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_dashboards.charts import style
from ciphermark_dashboards.figures import Chart
from ciphermark_dashboards.store import Row

_COLUMNS = ("variant", "operation", "ring_dimension", "size", "median", "ci_low", "ci_high", "comparison_key")


def latency_against_n(rows: Sequence[Row]) -> Chart | None:
    """Median time against N, both logarithmic, one small chart per operation."""
    full = [row for row in rows if row["size"] == _one_size(rows, row["ring_dimension"])]
    return _against(full, "ring_dimension:O", "N")


def latency_against_size(rows: Sequence[Row]) -> Chart | None:
    """Median time against the number of elements, at the largest N."""
    if not rows:
        return None
    largest = max(row["ring_dimension"] for row in rows)
    chosen = [row for row in rows if row["ring_dimension"] == largest]
    if len({row["size"] for row in chosen}) < 2:
        return None
    return _against(chosen, "size:O", f"Elements, at N = {largest}")


def _one_size(rows: Sequence[Row], ring_dimension: int) -> int:
    """The largest size that fits one ciphertext, else the smallest there is."""
    here = [row for row in rows if row["ring_dimension"] == ring_dimension]
    fitting: list[int] = [row["size"] for row in here if row["ciphertexts"] == 1]
    return max(fitting) if fitting else min(int(row["size"]) for row in here)


def _against(rows: Sequence[Row], x: str, title: str) -> Chart | None:
    if not rows:
        return None
    names = style.variants_of(rows)
    base = alt.Chart().encode(
        x=alt.X(x, title=title, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("variant:N", sort=names),  # side by side: equal times would hide each other
        color=style.colour(names),
    )
    median = alt.Y(
        "median:Q", title="Median time, s", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s")
    )
    line = base.mark_line(strokeWidth=1.5).encode(y=median)
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        y=median,
        shape=style.shape(names),
        tooltip=[
            alt.Tooltip("variant:N", title="Variant"),
            alt.Tooltip("operation:N", title="Operation"),
            alt.Tooltip("median:Q", title="Median, s", format=".3s"),
            alt.Tooltip("ci_low:Q", title="95 % from", format=".3s"),
            alt.Tooltip("ci_high:Q", title="to", format=".3s"),
        ],
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("ci_low:Q"), y2="ci_high:Q")
    return (
        alt.layer(line, whiskers, points, data=style.data(rows, *_COLUMNS))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("operation:N", title=None), columns=2)
        .resolve_scale(y="independent")
    )
