"""The chart of one case: every sample, in the order it was taken."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from ciphermark_present.answer import Row
from ciphermark_present.charts import style
from ciphermark_present.charts.style import Chart

_MOST_SAMPLES = 20_000
_COLUMNS = (
    *("variant", "phase", "process", "ordinal", "corrected", "value"),
    *("slow_down", "loops", "is_warmup", "is_disturbed"),
)


def samples(rows: Sequence[Row]) -> Chart | None:
    """Each sample's corrected time against its place in the trial, one small chart per phase.

    Of very many samples every so manieth is drawn, which the title says: a browser could not hold them all.
    """
    if not rows:
        return None
    step = math.ceil(len(rows) / _MOST_SAMPLES)
    names = style.variants_of(rows)
    chart = style.dressed(
        alt.Chart(style.data(rows[::step], *_COLUMNS))
        .mark_point(filled=True, size=45)
        .encode(
            x=alt.X("ordinal:Q", title="Sample", scale=alt.Scale(nice=False, padding=10)),
            y=alt.Y("corrected:Q", title=None, scale=alt.Scale(zero=False), axis=style.seconds_axis()),
            color=style.colour(names),
            shape=style.shape(names),
            opacity=alt.condition("datum.is_warmup || datum.is_disturbed", alt.value(0.35), alt.value(1)),
            tooltip=style.tips(
                "variant:N",
                "process:O",
                "ordinal:Q",
                alt.Tooltip("corrected:Q", format=".4s"),
                alt.Tooltip("value:Q", format=".4s", title="as it was taken"),
                alt.Tooltip("slow_down:Q", format=".3f", title="slowed"),
                "loops:Q",
                "is_disturbed:N",
            ),
        )
        .properties(width=style.WIDTH, height=style.HEIGHT)
        .facet(facet=alt.Facet("phase:N", title=None), columns=2)
        .resolve_scale(y="independent")
        .resolve_axis(x="independent")
    )
    if step == 1:
        return chart
    return chart.properties(title=f"One of {step} samples is drawn; all {len(rows):,} are in the CSV")
