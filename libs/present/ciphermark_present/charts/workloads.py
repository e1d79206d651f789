"""The chart of workloads of any family."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from ciphermark_present import parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, style
from ciphermark_present.charts.style import Chart
from ciphermark_present.formats import level


def stages(rows: Sequence[Row]) -> Chart | None:
    """Wall time of each whole stage by workload and variant, logarithmic, one small chart per stage.

    Options, sizes, schemes, security levels, threads and parameters of one workload stand apart: their times are not
    to be compared.
    """
    known = [row for row in rows if row["metric"] == "time" and not row["part"] and row["median"] > 0]
    if not known:
        return None
    labels = parameters.apart(known, lambda row: (row["stage"], _named(row)))
    times = [
        {**row, "workload": places.joined(_named(row), label)}
        for row, label in zip(known, labels, strict=True)
    ]
    names = style.variants_of(times)
    axis = style.seconds_axis(row["median"] for row in times)
    order = list(dict.fromkeys(row["stage"] for row in times))
    return style.dressed(
        alt.Chart(style.data(times, "variant", "workload", "stage", "median"))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("median:Q", title=None, scale=style.log_scale(), axis=axis),
            y=alt.Y("workload:N", title=None, axis=style.bands()),
            yOffset=alt.YOffset("variant:N", sort=names),
            color=style.colour(names),
            shape=style.shape(names),
            tooltip=style.tips("variant:N", "workload:N", "stage:N", alt.Tooltip("median:Q", format=".3s")),
        )
        .properties(width=240, height=alt.Step(9))
        .facet(facet=alt.Facet("stage:N", title=None, sort=order), columns=3)
        .resolve_axis(x="independent")
    )


def _named(row: Row) -> str:
    options = row["options"] or f"{row['size']:,}"
    place = f"{row['operation']}, {options}, {row['scheme']}, {level(row['security_2018'])}"
    return f"{place}, {row['threads']} threads" if row["threads"] > 1 else place
