"""Charts of ratios: HEXL's speed-up, the leaderboard, two runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from ciphermark_dashboards.charts import style
from ciphermark_dashboards.figures import Chart
from ciphermark_dashboards.store import Row

_VERDICTS = ("faster", "no difference", "slower", "too few samples")
_VERDICT_COLOURS = ("#0072B2", "#767676", "#D55E00", "#B0B0B0")
_MOST_CASES = 40
_LABEL_LIMIT = 300  # pixels
_VERDICT_SHAPES = ("triangle-up", "circle", "triangle-down", "stroke")


def leaderboard(rows: Sequence[Row]) -> Chart | None:
    """A bar per variant: how many times the time of the fastest it takes, over the cases that all have."""
    ranked = [row for row in rows if row["mean_ratio"] is not None]
    if not ranked:
        return None
    names = style.variants_of(ranked)
    base = alt.Chart(style.data(ranked, "variant", "mean_ratio", "common_cases")).encode(
        x=alt.X("mean_ratio:Q", title="Geometric mean of time / fastest time", axis=alt.Axis(tickCount=8)),
        # An explicit list: layers that are sorted by a field lose their order in Vega-Lite.
        y=alt.Y("variant:N", title=None, sort=[row["variant"] for row in ranked]),
    )
    bars = base.mark_bar(height={"band": 0.7}).encode(
        color=style.colour(names).legend(None),
        tooltip=[
            alt.Tooltip("variant:N", title="Variant"),
            alt.Tooltip("mean_ratio:Q", title="× fastest", format=".3~g"),
            alt.Tooltip("common_cases:Q", title="Cases"),
        ],
    )
    labels = base.mark_text(align="left", dx=4).encode(text=alt.Text("mean_ratio:Q", format=".3~g"))
    return (bars + labels).properties(width="container", height=28 * len(ranked))


def speedup(rows: Sequence[Row]) -> Chart | None:
    """Paired speed-up with its interval, by operation, one small chart per N; 1 is a line."""
    if not rows:
        return None
    columns = ("operation", "ring_dimension", "ratio", "ci_low", "ci_high", "verdict", "variant_on")
    base = alt.Chart().encode(y=alt.Y("operation:N", title=None))
    verdict = {
        "color": alt.Color(
            "verdict:N",
            title="HEXL is",
            scale=alt.Scale(domain=_VERDICTS, range=_VERDICT_COLOURS),
        ),
        "shape": alt.Shape(
            "verdict:N", title="HEXL is", scale=alt.Scale(domain=_VERDICTS, range=_VERDICT_SHAPES)
        ),
    }
    scale = alt.Scale(type="log")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("ratio:Q", title="Time without / time with HEXL", scale=scale),
        tooltip=["operation:N", "ring_dimension:O", alt.Tooltip("ratio:Q", format=".3~g"), "verdict:N"],
        **verdict,
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("ci_low:Q", scale=scale), x2="ci_high:Q", color=verdict["color"]
    )
    one = alt.Chart().mark_rule(strokeDash=[4, 3], color="#767676").encode(x=alt.datum(1))
    return (
        alt.layer(one, whiskers, points, data=style.data(rows, *columns))
        .properties(width=style.WIDTH, height=alt.Step(24))
        .facet(facet=alt.Facet("ring_dimension:O", title="N"), columns=2)
    )


def two_runs(rows: Sequence[Row]) -> Chart | None:
    """Ratio a/b of the cases that differ most, with its interval: above 1, run b is faster."""
    judged = [row for row in rows if row["ratio"] and row["metric"] == "time" and row["phase"] == "operation"]
    if not judged:
        return None
    farthest = sorted(judged, key=lambda row: -abs(math.log(row["ratio"])))[:_MOST_CASES]
    labelled = [{**row, "case": _case(row), "kind": row["verdict"]} for row in farthest]
    columns = ("case", "ratio", "ratio_low", "ratio_high", "kind")
    scale = alt.Scale(type="log")
    base = alt.Chart().encode(
        y=alt.Y(
            "case:N",
            title=None,
            sort=[row["case"] for row in labelled],
        )
    )
    look = {
        "color": alt.Color("kind:N", title="b is", scale=alt.Scale(domain=_VERDICTS, range=_VERDICT_COLOURS)),
        "shape": alt.Shape("kind:N", title="b is", scale=alt.Scale(domain=_VERDICTS, range=_VERDICT_SHAPES)),
    }
    whiskers = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("ratio_low:Q", scale=scale, title="Time in a / time in b"),
        x2="ratio_high:Q",
        color=look["color"],
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("ratio:Q", scale=scale), tooltip=[f"{name}:N" for name in columns], **look
    )
    one = alt.Chart().mark_rule(strokeDash=[4, 3], color="#767676").encode(x=alt.datum(1))
    return (
        alt.layer(one, whiskers, points, data=style.data(labelled, *columns))
        .properties(width="container", height=18 * len(farthest))
        .configure_axisY(labelLimit=_LABEL_LIMIT)
    )


def _case(row: Row) -> str:
    times = "" if row["repetitions"] is None else f" × {row['repetitions']}"
    place = f"{row['operation']}{times}, {row['scheme']} {row['ring_dimension']}"
    return f"{row['variant']}: {place}, {row['size']} {row['data_pattern']}"
