"""Charts of ratios: HEXL's speed-up, the leaderboard, two runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt

from ciphermark_present import parameters
from ciphermark_present.answer import Row
from ciphermark_present.charts import places, style
from ciphermark_present.charts.style import Chart

_VERDICTS = ("faster", "no difference", "slower", "too few samples")
_VERDICT_COLOURS = ("#5B5BD6", "#767676", "#C2255C", "#8E8E8E")  # none of them is a variant's
_MOST_CASES = 40
_VERDICT_SHAPES = ("triangle-up", "circle", "triangle-down", "stroke")


def leaderboard(rows: Sequence[Row]) -> Chart | None:
    """A bar per variant: how many times the time of the fastest it takes, over the cases that all have."""
    ranked = [row for row in rows if row["mean_ratio"] is not None]
    if not ranked:
        return None
    names = style.variants_of(ranked)
    counts = dict.fromkeys((row["common_cases"], row["division"], row["is_composed"]) for row in ranked)
    common = [
        places.joined(f"{count} common cases", f"division {division}", "composed" * is_composed)
        for count, division, is_composed in counts
    ]
    title = ["Time / fastest time", f"geometric mean of {' and of '.join(common)}"]
    base = alt.Chart(style.data(ranked, "variant", "label", "mean_ratio", "common_cases")).encode(
        x=alt.X("mean_ratio:Q", title=title, axis=alt.Axis(tickCount=8)),
        # An explicit list: layers that are sorted by a field lose their order in Vega-Lite.
        y=alt.Y("label:N", title=None, sort=[row["label"] for row in ranked]),
    )
    bars = base.mark_bar(height={"band": 0.7}).encode(
        color=style.colour(names).legend(None),
        tooltip=[
            alt.Tooltip("label:N", title="Variant"),
            alt.Tooltip("mean_ratio:Q", title="× fastest", format=".3~g"),
            alt.Tooltip("common_cases:Q", title="Cases"),
        ],
    )
    labels = base.mark_text(align="left", dx=4).encode(text=alt.Text("mean_ratio:Q", format=".3~g"))
    return (bars + labels).properties(width="container", height=28 * len(ranked))


def speedup(rows: Sequence[Row]) -> Chart | None:
    """Paired speed-up with its interval, by operation, one small chart per ring; 1 is a line."""
    if not rows:
        return None
    known = [
        {**row, "place": f"N = {row['ring']}"}
        for row in places.with_rings([{**row, "variant": row["variant_on"]} for row in places.fullest(rows)])
    ]
    base = alt.Chart().encode(y=alt.Y("operation:N", title=None))
    look = _look("HEXL is", "verdict:N")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X(
            "ratio:Q",
            title="Time without / time with HEXL",
            scale=style.log_scale(),
            axis=alt.Axis(tickCount=5),
        ),
        tooltip=style.tips("operation:N", "place:N", alt.Tooltip("ratio:Q", format=".3~g"), "verdict:N"),
        **look,
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("from:Q"), x2=alt.X2("to:Q"), color=look["color"]
    )
    one = style.one()
    columns = ("operation", "place", "ratio", "from", "to", "verdict")
    order = [f"N = {ring}" for ring in places.ring_order(known)]
    return style.dressed(
        alt.layer(one, whiskers, points, data=style.data(style.with_ends(known, "ratio"), *columns))
        .properties(width=style.WIDTH, height=alt.Step(24))
        .facet(facet=alt.Facet("place:N", title=None, sort=order), columns=2)
        .resolve_axis(x="independent")
    )


def two_runs(rows: Sequence[Row]) -> Chart | None:
    """Ratio a/b of the cases that differ most, with its interval: above 1, run b is faster."""
    judged = [row for row in rows if row["ratio"] and row["metric"] == "time" and row["phase"] == "operation"]
    if not judged:
        return None
    labels = parameters.apart(judged, lambda row: (_case(row), row["ring_dimension"]))
    labelled = [
        {**row, "case": places.joined(_case(row), label), "kind": row["verdict"].partition(":")[0]}
        for row, label in zip(judged, labels, strict=True)
    ]
    labelled = sorted(labelled, key=lambda row: -abs(math.log(row["ratio"])))[:_MOST_CASES]
    columns = ("case", "ratio", "ratio_low", "ratio_high", "kind")
    scale = style.log_scale()
    base = alt.Chart().encode(y=alt.Y("case:N", title=None, sort=[row["case"] for row in labelled]))
    look = _look("b is", "kind:N")
    whiskers = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("ratio_low:Q", scale=scale, title="Time in a / time in b"),
        x2=alt.X2("ratio_high:Q"),
        color=look["color"],
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("ratio:Q", scale=scale), tooltip=style.tips(*(f"{name}:N" for name in columns)), **look
    )
    one = style.one()
    return style.dressed(
        alt.layer(one, whiskers, points, data=style.data(labelled, *columns)).properties(
            width="container", height=18 * len(labelled)
        )
    )


def _look(title: str, field: str) -> dict[str, alt.Color | alt.Shape]:
    """Colour and shape of a verdict, in one legend."""
    return {
        "color": alt.Color(field, title=title, scale=alt.Scale(domain=_VERDICTS, range=_VERDICT_COLOURS)),
        "shape": alt.Shape(field, title=title, scale=alt.Scale(domain=_VERDICTS, range=_VERDICT_SHAPES)),
    }


def _case(row: Row) -> str:
    times = "" if row["repetitions"] is None else f" × {row['repetitions']}"
    place = f"{row['operation']}{times}, {row['scheme']} {row['ring_dimension']}"
    return f"{row['variant']}: {place}, {row['size']} {row['data_pattern']}"
