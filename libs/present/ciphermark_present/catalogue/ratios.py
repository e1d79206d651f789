"""Charts of ratios: of the means of the leaderboard, of builds with and without HEXL, of random and constant data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ciphermark_present import charting, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.charting import MIN_CASES, Chart, alt
from ciphermark_present.query import Row

_ROW_PX = 16  # of a mark
_CASES = "#matrix"  # where pages list the cases of a mean
_COLUMNS = (
    "variant",
    "operation",
    "row",
    "place",
    "ratio",
    "from",
    "to",
    "at",
    "text",
    "interval",
    "verdict",
)


def draw_by_data(rows: Sequence[Row]) -> Chart | None:
    """Time of random data divided by that of constant data, with its interval, one small chart per N. The two are not
    interleaved.
    """
    cases = [{**row, "is_hollow": True} for row in charting.fullest(rows)] if rows else []
    return _ratios_by_ring(cases)


def draw_speedup(rows: Sequence[Row]) -> Chart | None:
    """Paired speedup with its interval, by operation, one small chart per N."""
    cases = [{**row, "variant": row["variant_on"]} for row in charting.fullest(rows)] if rows else []
    return _ratios_by_ring(cases)


def _ratios_by_ring(cases: Sequence[Row]) -> Chart | None:
    """Ratios by operation and variant, one small chart per N, or rows of one chart where most have fewer than three."""
    if not cases:
        return None
    placed = [{**row, "place": f"N = {row['ring']}"} for row in charting.with_rings(cases)]
    order = [f"N = {ring}" for ring in charting.ring_order(placed)]
    drawn, notes = charting.enough(placed, "place", order)
    is_sparse = 2 * len(drawn) < len(placed)
    if is_sparse:
        drawn, notes = placed, []
        drawn.sort(key=lambda row: order.index(row["place"]))
    ratios = [
        {**row, "row": charting.joined(row["operation"], row["place"] * is_sparse)}
        for row in charting.with_ratio(drawn)
    ]
    names = charting.variants_of(ratios)
    rows = list(dict.fromkeys(row["row"] for row in ratios))
    base = alt.Chart().encode(
        y=alt.Y("row:N", title=None, axis=charting.bands(), sort=rows if is_sparse else "ascending")
    )
    if len(names) > 1:
        base = base.encode(yOffset=alt.YOffset("variant:N", sort=names))
    tips = charting.tips("variant:N", "operation:N", "place:N", *charting.ratio_tips(), "verdict:N")
    x = charting.ratio_x("ratio", None, charting.ends_of(ratios))
    look: dict[str, Any] = {
        "color": charting.colour(names, has_legend=len(names) > 1),
        "shape": charting.shape(names, has_legend=len(names) > 1),
        "tooltip": tips,
    }
    chart = alt.layer(*charting.ratio_layers(base, x, **look), data=charting.data(ratios, *_COLUMNS))
    if is_sparse:
        return chart.properties(width="container", height=charting.height_of(len(rows), _ROW_PX * len(names)))
    shown = {row["place"] for row in drawn}
    charts = charting.small_charts(
        chart,
        "place",
        [each for each in order if each in shown],
        height=alt.Step(_ROW_PX if len(names) > 1 else 24),
        axes=("x",),
    )
    return charts.properties(**charting.noted(notes))


_LEADERBOARD = (
    *("variant", "label", "mean_ratio", "case_ratio", "from", "to", "at", "text", "interval"),
    "common_cases",
)


def draw_leaderboard(rows: Sequence[Row]) -> Chart | None:
    """A dot per variant: its time as a multiple of the fastest time, over the common cases of all variants. With fewer
    than six cases, each case has a small mark, and the mean has no interval. Marks lead to the cases below.
    """
    marks = columns.acceleration_marks(rows)
    ranked = _ranked_marks(rows, marks)
    if not ranked:
        return None
    none = {"mean_ratio": None, "text": "", "is_hollow": False}
    cases = [
        {**row, **none, "from": ratio, "to": ratio, "case_ratio": ratio}
        for row in ranked
        if row["common_cases"] < MIN_CASES
        for ratio in row["case_ratios"]
    ]
    names = charting.variants_of(ranked)
    # An explicit list: Vega-Lite does not keep the order of layers sorted by a field.
    order = [row["label"] for row in ranked]
    base = alt.Chart().encode(y=alt.Y("label:N", title=None, sort=order, axis=charting.bands()))
    ends = charting.ends_of(ranked, "mean_ratio") + [row["case_ratio"] for row in cases]
    x = charting.ratio_x("mean_ratio", None, ends)
    look: dict[str, Any] = {
        "color": charting.colour(names, has_legend=False),
        "shape": charting.shape(names, has_legend=False),
    }
    tips = [
        alt.Tooltip("label:N", title="Variant"),
        *charting.ratio_tips(),
        alt.Tooltip("common_cases:Q", title="Cases"),
    ]
    single = base.mark_point(filled=True, size=18, opacity=0.65).encode(x=alt.X("case_ratio:Q"), **look)
    data = charting.data([{**row, "case_ratio": None} for row in ranked] + cases, *_LEADERBOARD)
    layers = charting.ratio_layers(base, x, **look, tooltip=tips)
    return alt.layer(*layers, *[single] * bool(cases), data=data).properties(
        width="container",
        height=30 * len(ranked),
        **charting.noted([". ".join(_about(ranked, bool(cases), any(marks.values())))]),
    )


def _ranked_marks(rows: Sequence[Row], marks: Mapping[str, str]) -> list[Row]:
    """The rows of variants that have a mean, with the positions of their marks."""
    labeled = [
        {**row, "label": row["label"] + marks[row["variant"]], theme.ADDRESS: _CASES}
        for row in rows
        if row["mean_ratio"] is not None
    ]
    return [
        {**row, "at": max(row["at"], *row["case_ratios"])} if row["common_cases"] < MIN_CASES else row
        for row in charting.with_ratio(labeled, "mean_ratio")
    ]


def _about(ranked: Sequence[Row], has_cases: bool, has_marks: bool) -> list[str]:
    """The cases of the means, and the meanings of marks."""
    counts = dict.fromkeys((row["common_cases"], row["tuning"], row["is_composite"]) for row in ranked)
    common = [
        charting.joined(f"{count} common cases", f"{tuning} tuning", "composite" * is_composite)
        for count, tuning, is_composite in counts
    ]
    return [
        f"Means of {' and of '.join(common)}",
        *["Small marks: single cases"] * has_cases,
        *["Hollow: other parameters than the fastest variant, or not interleaved with it"]
        * any(row["is_hollow"] for row in ranked),
        *[columns.UNACCELERATED] * has_marks,
    ]
