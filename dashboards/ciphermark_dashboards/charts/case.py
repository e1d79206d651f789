"""The chart of one case: every sample, in the order it was taken."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_dashboards.charts import style
from ciphermark_dashboards.figures import Chart
from ciphermark_dashboards.store import Row


def samples(rows: Sequence[Row]) -> Chart | None:
    """Each sample's time against its place in the trial, one small chart per phase."""
    if not rows:
        return None
    names = style.variants_of(rows)
    columns = ("variant", "phase", "process", "ordinal", "value", "loops", "is_warmup")
    return (
        alt.Chart(style.data(rows, *columns))
        .mark_point(filled=True, size=45)
        .encode(
            x=alt.X("ordinal:Q", title="Sample"),
            y=alt.Y("value:Q", title="Time, s", scale=alt.Scale(zero=False), axis=alt.Axis(format="~s")),
            color=style.colour(names),
            shape=style.shape(names),
            opacity=alt.condition("datum.is_warmup", alt.value(0.35), alt.value(1)),
            tooltip=["variant:N", "process:O", "ordinal:Q", alt.Tooltip("value:Q", format=".4s"), "loops:Q"],
        )
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("phase:N", title=None), columns=2)
        .resolve_scale(y="independent")
    )
