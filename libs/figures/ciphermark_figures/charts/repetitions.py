"""The chart of operations in a row."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_figures import parameters
from ciphermark_figures.answer import Row
from ciphermark_figures.charts import places, style
from ciphermark_figures.charts.style import Chart


def against_count(rows: Sequence[Row]) -> Chart | None:
    """Total time of so many operations on a full vector, one small chart per scheme and operation."""
    timed = places.fullest([row for row in rows if row["median"] is not None])
    labels = parameters.apart(
        timed, lambda row: (row["label"], row["scheme"], row["repetitions"], _choice(row))
    )
    known = [
        {
            **row,
            "what": places.joined(row["label"], row["scheme"], label),
            "choice": _choice(row),
        }
        for row, label in zip(timed, labels, strict=True)
    ]
    if not known:
        return None
    names = style.variants_of(known)
    columns = ("variant", "what", "choice", "repetitions", "median", "ring_dimension")
    return style.dressed(
        alt.Chart(style.data(known, *columns))
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=40), strokeWidth=1.5)
        .encode(
            x=alt.X("repetitions:Q", title="Operations in a row", axis=style.whole_axis()),
            y=alt.Y("median:Q", title=None, scale=style.log_scale(), axis=style.seconds_axis()),
            color=style.colour(names),
            shape=style.shape(names),
            strokeDash=alt.StrokeDash("choice:N", title="Ring dimension"),
            tooltip=style.tips(
                "variant:N", "repetitions:Q", alt.Tooltip("median:Q", format=".3s"), "ring_dimension:O"
            ),
        )
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )


def _choice(row: Row) -> str:
    return "smallest secure N" if row["ring_dimension_is_minimum"] else f"N = {row['ring_dimension']}"
