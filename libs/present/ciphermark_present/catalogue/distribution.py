"""The figure of the distribution of a case's samples: the undisturbed ones, and all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_present import charting, formats
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.formats import seconds
from ciphermark_present.printed import grouped
from ciphermark_present.query import Answer, Row

_COLUMNS = (
    *("variant", "phase", "samples", "undisturbed"),
    *("median_s", "high_s", "all_median_s", "all_high_s", "times_s", "all_times_s"),
)
_HIGH = 0.95  # the upper quantile
_KINDS = {"times_s": "undisturbed, corrected", "all_times_s": "all, as measured"}
_FIELDS = ("variant", "phase", "kind", "line", "time_s", "share")
_MOST = 400  # steps of a line


def with_quantiles(answer: Answer, _: Row) -> Answer:
    """A row for each variant and whole phase: corrected times of the undisturbed samples, and times of all samples as
    measured, both without warm-ups, with their medians and 95% quantiles.
    """
    from ciphermark_analysis.correction import divided  # loads numpy
    from ciphermark_analysis.distribution import quantile

    rows = []
    samples = [row for row in answer.mappings if not row["is_warmup"] and "." not in row["phase"]]
    for own in grouped(samples, lambda row: (row["variant"], row["phase"])):
        undisturbed = sorted(divided(row["value"], row["slowdown"]) for row in own if not row["is_disturbed"])
        every = sorted(row["value"] for row in own)
        ends = (None, None) if not undisturbed else (quantile(undisturbed, 0.5), quantile(undisturbed, _HIGH))
        place = (own[0]["variant"], own[0]["phase"], len(every), len(undisturbed))
        rows.append((*place, *ends, quantile(every, 0.5), quantile(every, _HIGH), undisturbed, every))
    return Answer(_COLUMNS, rows)


def finding(rows: Sequence[Row]) -> str:
    """The variant and phase in which all samples differ most from the undisturbed ones, by the 95% quantile."""
    timed = [row for row in rows if row["high_s"]]
    if not timed:
        return ""
    worst = max(timed, key=_ratio)
    if _ratio(worst) <= SIGNIFICANCE_THRESHOLD:
        return "Undisturbed samples and all samples take equally long"
    return (
        f"{worst['variant']}, {worst['phase']}: 95% of the undisturbed samples take at most "
        f"{seconds(worst['high_s'])}; of all samples, {seconds(worst['all_high_s'])}"
    )


def _ratio(row: Row) -> float:
    return float(row["all_high_s"] / row["high_s"])


def draw_distribution(rows: Sequence[Row]) -> Chart | None:
    """The share of samples up to each time: undisturbed samples solid, all samples dashed, one small chart for each
    phase.
    """
    steps = [step for row in rows for step in _steps(row)]
    phases = [
        phase
        for phase in dict.fromkeys(row["phase"] for row in rows)
        if _largest(rows, phase) >= charting.MIN_MARKS
    ]
    drawn = [step for step in steps if step["phase"] in phases]
    if not drawn:
        return None
    times = {phase: [step["time_s"] for step in drawn if step["phase"] == phase] for phase in phases}
    is_log = any(max(own) >= charting.DECADE * min(own) > 0 for own in times.values())
    chart = (
        alt.Chart(charting.data(drawn, *_FIELDS, time_s=formats.seconds, share=formats.share))
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X(
                "time_s:Q",
                title=None,
                # A logarithmic scale with a word on zero is a warning in the browser.
                scale=alt.Scale(type="log", nice=False) if is_log else alt.Scale(zero=False, nice=False),
                axis=alt.Axis(labelExpr=charting.IN_SECONDS, tickCount=4, labelOverlap="parity"),
            ),
            y=alt.Y("share:Q", title="Share of samples", axis=alt.Axis(format=".0%", tickCount=5)),
            color=charting.colour(charting.variants_of(drawn)),
            detail="line:N",
            strokeDash=alt.StrokeDash(
                "kind:N",
                title="Samples",
                scale=alt.Scale(domain=[*_KINDS.values()], range=[[1, 0], [4, 3]]),
                legend=alt.Legend(),
            ),
            tooltip=_tips(),
        )
    )
    return charting.small_charts(chart, "phase", phases, scales=("x",), axes=("x",))


def _tips() -> list[alt.Tooltip]:
    return charting.tips(
        "variant:N", "kind:N", charting.text_tip("time_s", "Time"), charting.text_tip("share", "Share")
    )


def _largest(rows: Sequence[Row], phase: str) -> int:
    return max(row["samples"] for row in rows if row["phase"] == phase)


def _steps(row: Row) -> Iterator[dict[str, Any]]:
    """The steps of both distributions of a row, from no sample on; of very many, every n-th."""
    from ciphermark_analysis import distribution

    for column, kind in _KINDS.items():
        found = distribution.steps(row[column])
        every = -(-len(found) // _MOST)
        for time_s, share in [(found[0][0], 0.0), *found[::-1][::every][::-1]] if found else ():
            yield {
                "variant": row["variant"],
                "phase": row["phase"],
                "kind": kind,
                "line": f"{row['variant']} {kind}",
                "time_s": time_s,
                "share": share,
            }


CASE_DISTRIBUTION = Figure(
    name="case-distribution",
    title="Distribution of samples",
    lead="Share of samples up to each time: undisturbed samples, corrected, next to all samples as measured.",
    reading=(
        "Results are made of the solid lines: undisturbed samples, divided by their slowdown. The dashed lines include "
        "samples during which other processes had the core. Far apart, they show a noisy host. Warm-ups are excluded."
    ),
    view="case_samples",
    derive=with_quantiles,
    finding=finding,
    chart=draw_distribution,
    printed=(),
    columns=(
        VARIANT,
        Column("phase", "Phase"),
        columns.count("samples", "Samples"),
        columns.count("undisturbed", "Undisturbed"),
        columns.seconds("median_s", "Median"),
        columns.seconds("high_s", "95% up to"),
        columns.seconds("all_median_s", "Median of all"),
        columns.seconds("all_high_s", "95% of all up to"),
    ),
    empty="This case has no time samples.",
)
