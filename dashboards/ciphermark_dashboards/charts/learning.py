"""Charts of learning on encrypted data, and of chains of operations."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_dashboards.charts import style
from ciphermark_dashboards.figures import Chart
from ciphermark_dashboards.store import Row

_PHASES = {"prepare_s": "prepare", "train_s": "train", "infer_s": "infer"}


def phases(rows: Sequence[Row]) -> Chart | None:
    """Wall time of each phase by workload and variant, logarithmic; published figures as crosses of their own."""
    times = [
        {**row, "phase": phase, "seconds": row[column], "workload": f"{row['operation']}, {row['scheme']}"}
        for row in rows
        for column, phase in _PHASES.items()
        if row[column] is not None
    ]
    if not times:
        return None
    names = style.variants_of(times)
    return (
        alt.Chart(style.data(times, "variant", "workload", "phase", "seconds"))
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=alt.X(
                "seconds:Q",
                title="Time, s",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~s", tickCount=6),
            ),
            y=alt.Y("workload:N", title=None),
            yOffset=alt.YOffset("variant:N", sort=names),
            color=style.colour(names),
            shape=style.shape(names),
            tooltip=["variant:N", "workload:N", "phase:N", alt.Tooltip("seconds:Q", format=".3s")],
        )
        .properties(width=240, height=alt.Step(9))
        .facet(facet=alt.Facet("phase:N", title=None, sort=list(_PHASES.values())), columns=3)
        .resolve_scale(x="independent")
    )


def chains(rows: Sequence[Row]) -> Chart | None:
    """Total time of a chain against its length, one small chart per scheme and operation."""
    known = [
        {
            **row,
            "what": f"{row['operation']}, {row['scheme']}",
            "choice": "smallest secure N" if row["is_least"] else f"N = {row['ring_dimension']}",
        }
        for row in rows
        if row["median"] is not None
    ]
    if not known:
        return None
    names = style.variants_of(known)
    columns = ("variant", "what", "choice", "repetitions", "median", "ring_dimension")
    return (
        alt.Chart(style.data(known, *columns))
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=40), strokeWidth=1.5)
        .encode(
            x=alt.X("repetitions:Q", title="Operations in a row", axis=alt.Axis(format="d", tickMinStep=1)),
            y=alt.Y(
                "median:Q",
                title="Total time, s",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~s", tickCount=6),
            ),
            color=style.colour(names),
            shape=style.shape(names),
            strokeDash=alt.StrokeDash("choice:N", title="Ring dimension"),
            tooltip=["variant:N", "repetitions:Q", alt.Tooltip("median:Q", format=".3s"), "ring_dimension:O"],
        )
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )
