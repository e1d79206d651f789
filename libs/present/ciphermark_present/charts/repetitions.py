"""The chart of operations in a row."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_present import parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, style
from ciphermark_present.charts.style import Chart


def against_count(rows: Sequence[Row]) -> Chart | None:
    """Total time of so many operations on a full vector, one small chart per scheme, operation and division."""
    timed = [row for row in rows if row["median"] is not None]
    if not timed:
        return None
    timed = [
        row
        for label in dict.fromkeys(row["label"] for row in timed)
        for row in places.fullest([row for row in timed if row["label"] == label])
    ]
    known = _named(timed)
    names = style.variants_of(known)
    columns = ("variant", "what", "choice", "repetitions", "median", "ring_dimension")
    timings = alt.Chart().encode(
        x=alt.X("repetitions:Q", title="Operations in a row", axis=style.whole_axis()),
        y=alt.Y("median:Q", title=None, scale=style.log_scale(), axis=style.seconds_axis()),
        color=style.colour(names),
        tooltip=style.tips(
            "variant:N", "repetitions:Q", alt.Tooltip("median:Q", format=".3s"), "ring_dimension:O"
        ),
    )
    lines = timings.mark_line(strokeWidth=1.5).encode(
        strokeDash=alt.StrokeDash("choice:N", title="Ring dimension")
    )
    points = timings.mark_point(filled=True, size=40, opacity=1).encode(shape=style.shape(names))
    return style.dressed(
        alt.layer(lines, points, data=style.data(known, *columns))
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("what:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )


def _named(rows: Sequence[Row]) -> list[Row]:
    """The rows with the chart that each stands in (``what``), and how its ring was chosen (``choice``)."""
    choose = _by_ring if _is_ring_varied(rows) else _by_rule
    labels = parameters.apart(rows, lambda row: (*_place(row), row["repetitions"], choose(row)))
    is_divided = len({row["division"] for row in rows}) > 1
    return [
        {
            **row,
            "what": places.joined(
                row["label"], row["scheme"], f"division {row['division']}" if is_divided else "", label
            ),
            "choice": choose(row),
        }
        for row, label in zip(rows, labels, strict=True)
    ]


def _place(row: Row) -> tuple[str, str, str]:
    return row["label"], row["scheme"], row["division"]


def _is_ring_varied(rows: Sequence[Row]) -> bool:
    """Whether the suite gave some variant several ring dimensions for one and the same number of operations."""
    given = {
        (*_place(row), row["repetitions"], row["variant"], row["ring_dimension"])
        for row in rows
        if not row["ring_dimension_is_minimum"]
    }
    return len({place[:-1] for place in given}) < len(given)


def _by_ring(row: Row) -> str:
    return "smallest secure N" if row["ring_dimension_is_minimum"] else f"N = {row['ring_dimension']}"


def _by_rule(row: Row) -> str:
    return "smallest secure N" if row["ring_dimension_is_minimum"] else "given N"
