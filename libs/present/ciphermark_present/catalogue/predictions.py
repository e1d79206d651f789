"""The page of the model's track record: predicted next to measured times, errors by workload and by operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_analysis.scores import residuals, score
from ciphermark_present import charting, formats, page, parameters, sentences, subject, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    BUILD,
    OPTIONS,
    SCHEME,
    SECURITY_2018,
    SECURITY_2024,
    THREADS,
    VARIANT,
    WORKLOAD,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.page import Page
from ciphermark_present.printed import grouped
from ciphermark_present.query import Answer, Row, is_disturbed

_SCORED = {"metric": "time", "step": "evaluate"}
_HEIGHT = 420  # pixels of the plot of predicted against measured times
_CLOSE = 3.0  # percent
_FIELDS = (
    *("variant", "operation", "options", "ring_dimension", "threads", "median", "predicted"),
    *("predicted_low", "predicted_high", "error"),
)
_ADDED_RESIDUALS = ("predicted_share", "weighted_error", "results")
_ADDED_RUNS = ("results", "partial", "mape", "worst", "bias", "coverage")


def signed(error: float | None) -> str:
    """An error in percent with its sign."""
    return formats.NOTHING if error is None else f"{100 * error:+.1f}%".replace("-", "−")


def scored(rows: Sequence[Row]) -> list[Row]:
    """The complete predictions of undisturbed results."""
    return [row for row in rows if not row["uncovered"] and not is_disturbed(row, "median")]


def find_score(rows: Sequence[Row]) -> str:
    """The mean absolute error, the worst error and the coverage of intervals."""
    own = scored(rows)
    total = score([row["prediction_error"] for row in own])
    if total is None:
        return ""
    worst = max(own, key=lambda row: abs(row["prediction_error"]))
    return (
        f"Predicted times are off by {100 * total.mape:.1f}% on average, at most {signed(total.worst)} "
        f"({worst['operation']}, {worst['variant']})"
    )


def tell_score(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The score of each variant, and the number of partial predictions."""
    for rows in sentences.by(scored(every), "variant"):
        total = score([row["prediction_error"] for row in rows])
        assert total is not None
        within = sum(row["is_within_prediction"] for row in rows)
        yield (
            f"{rows[0]['variant']}: mean error {100 * total.mape:.1f}%, worst {signed(total.worst)}; {within} of "
            f"{total.rows} times are within the 80% interval."
        )
    partial = sum(bool(row["uncovered"]) for row in every)
    if partial:
        yield f"{partial} predictions are partial: the cost table lacks operations. They do not count."


def draw_predicted(rows: Sequence[Row]) -> Chart | None:
    """Predicted against measured times, both logarithmic, with the 80% interval: a mark for each time. Marks on the
    line are exact.
    """
    own = [row for row in scored(rows) if row["median"] > 0 and row["predicted_low"] > 0]
    if not own:
        return None
    ends = [float(row[name]) for row in own for name in ("median", "predicted_low", "predicted_high")]
    axis = charting.seconds(ends)
    names = charting.variants_of(own)
    x = alt.X("median:Q", title="Measured", **axis)
    place = alt.Chart().encode(x=x, y=alt.Y("predicted:Q", title="Predicted", **axis))
    coloured = place.encode(color=charting.colour(names))
    exact = alt.Data(values=[{"median": end, "predicted": end} for end in (min(ends), max(ends))])
    interval = {"y": alt.Y("predicted_low:Q"), "y2": alt.Y2("predicted_high:Q")}
    layers = [
        alt.Chart(exact).mark_line(style=theme.UNITY, strokeWidth=1).encode(x=x, y=alt.Y("predicted:Q")),
        coloured.mark_rule(strokeWidth=2, opacity=0.6).encode(**interval),
        coloured.mark_point(filled=True, size=60, opacity=1).encode(
            shape=charting.shape(names), tooltip=_tips()
        ),
    ]
    marks = [{**row, "error": signed(row["prediction_error"])} for row in own]
    written = {"median": formats.seconds, "predicted": formats.seconds}
    return alt.layer(*layers, data=charting.data(marks, *_FIELDS, **written)).properties(
        width="container", height=_HEIGHT
    )


def _tips() -> list[alt.Tooltip]:
    return charting.tips(
        "operation:N",
        "options:N",
        "variant:N",
        "ring_dimension:O",
        "threads:O",
        charting.text_tip("median", "Measured"),
        charting.text_tip("predicted", "Predicted"),
        alt.Tooltip("error:N", title="Error"),
    )


def draw_errors(rows: Sequence[Row]) -> Chart | None:
    """Signed errors in percent: a row for each workload with its options, a mark for each time. The band is ±3%."""
    marks = _errors(rows)
    if not marks:
        return None
    names = charting.variants_of(marks)
    order = sorted({row["workload"] for row in marks})
    reach = 1.1 * max(_CLOSE, *(abs(row["percent"]) for row in marks))
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    x = alt.X("percent:Q", title="Error of the prediction, %", scale=scale)
    base = alt.Chart().encode(
        x=x, y=alt.Y("workload:N", title=None, sort=order, axis=charting.bands(labelLimit=320))
    )
    band = alt.Chart(alt.Data(values=[{"low": -_CLOSE, "high": _CLOSE}]))
    zero = alt.Chart(alt.Data(values=[{"percent": 0}]))
    tips = charting.tips(
        "workload:N", "variant:N", "apart:N", "threads:O", alt.Tooltip("error:N", title="Error")
    )
    layers = [
        band.mark_rect(style=theme.BAND).encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q")),
        zero.mark_rule(style=theme.UNITY, strokeWidth=1).encode(x="percent:Q"),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            color=charting.colour(names), shape=charting.shape(names), tooltip=tips
        ),
    ]
    data = charting.data(marks, "variant", "workload", "apart", "threads", "percent", "error")
    height = charting.height_of(len(order), 24)
    return alt.layer(*layers, data=data).properties(width="container", height=height)


def _errors(rows: Sequence[Row]) -> list[Row]:
    """The errors that count, each with its workload and what distinguishes it there."""
    own = scored(rows)
    labels = parameters.apart(own, lambda row: (_named(row), row["variant"]))
    return [
        {
            **row,
            "workload": _named(row),
            "apart": label,
            "percent": round(100 * row["prediction_error"], 3),
            "error": signed(row["prediction_error"]),
        }
        for row, label in zip(own, labels, strict=True)
    ]


def _named(row: Row) -> str:
    """The workload with its options and N."""
    return charting.joined(row["operation"], row["options"] or "", f"N = {row['ring_dimension']}")


def with_residuals(answer: Answer, _: Row) -> Answer:
    """A row for each variant and operation of programs, the largest share of predicted time first."""
    names = ("run_id", "variant", "part", *_ADDED_RESIDUALS)
    rows = []
    for own in grouped(answer.mappings, lambda row: row["variant"]):
        parts = ((row["part"], float(row["predicted_s"]), float(row["prediction_error"])) for row in own)
        rows += [
            (own[0]["run_id"], own[0]["variant"], each.operation, each.share, each.error, each.results)
            for each in residuals(parts)
        ]
    return Answer(names, rows)


def with_scores(answer: Answer, _: Row) -> Answer:
    """A row for each run and variant with the score of its complete predictions."""
    names = ("run_id", "suite", "label", "started_at", "software_version", "variant", *_ADDED_RUNS)
    rows = []
    for own in grouped(answer.mappings, lambda row: (row["run_id"], row["variant"])):
        whole = [row for row in own if not row["is_void"] and row["prediction_error"] is not None]
        total = score([float(row["prediction_error"]) for row in whole])
        if total is None:
            values: tuple[Any, ...] = (0, len(own), None, None, None, None)
        else:
            coverage = sum(row["is_within_prediction"] for row in whole) / len(whole)
            values = (total.rows, len(own) - len(whole), total.mape, total.worst, total.bias, coverage)
        rows.append((*(own[0][name] for name in names[: -len(_ADDED_RUNS)]), *values))
    return Answer(names, rows)


def _error(name: str, label: str) -> Column:
    return Column(name, label, signed, is_number=True)


_PREDICTED = columns.seconds("predicted", "Predicted")
_INTERVAL = replace(
    columns.interval(
        lambda row, low, high: formats.interval_of(row["predicted"], low, high),
        "predicted_low",
        "predicted_high",
    ),
    label="80% interval",
)
_COLUMNS = (
    WORKLOAD,
    replace(OPTIONS, detail=4),
    SCHEME,
    N,
    BUILD,
    _PREDICTED,
    _INTERVAL,
    columns.seconds("median", "Measured"),
    _error("prediction_error", "Error"),
    *columns.opened(
        THREADS,
        Column("stage", "Stage"),
        Column("uncovered", "Not covered", lambda names: ", ".join(names or ())),
        columns.count("n", "Samples"),
        SECURITY_2018,
        SECURITY_2024,
        Column("cost_table", "Cost table", lambda digest: (digest or "")[:12]),
    ),
)
_EMPTY = (
    "This run has no predictions: there was no cost table of its host. The suite primitives measures one."
)
PREDICTED = Figure(
    name="predictions",
    title="Predicted against measured",
    lead="Predicted against measured time of the server's program. Marks on the line are exact.",
    reading=(
        "Predictions come from a cost table, measured in other runs on this host. Vertical lines are 80% intervals of "
        "predictions. Partial predictions, which lack costs of operations, are in the table only, as are results with "
        "disturbed samples only."
    ),
    view="track_record",
    subject=subject.WORKLOAD,
    where=_SCORED,
    order="operation, options, scheme, ring_dimension, threads, variant, stage",
    tell=tell_score,
    finding=find_score,
    chart=draw_predicted,
    printed=(),
    columns=_COLUMNS,
    empty=_EMPTY,
)
ERRORS = replace(
    PREDICTED,
    name="prediction-errors",
    title="Errors by workload",
    lead="Predicted divided by measured time, less one. The band is ±3%.",
    reading="Above zero, the prediction is too slow. Each mark is one program with its parameters and threads.",
    tell=None,
    finding=lambda rows: "",
    chart=draw_errors,
)
RESIDUALS = Figure(
    name="residuals",
    title="Errors by operation",
    lead="Mean error of predictions, weighted by the predicted time of each operation.",
    reading=(
        "An operation whose weighted error is far from zero dominates programs that the model predicts badly. The "
        "share is that of all predicted times of the variant."
    ),
    view="residuals",
    subject=subject.WORKLOAD,
    order="variant, part",
    derive=with_residuals,
    printed=(),
    columns=(
        VARIANT,
        Column("part", "Operation"),
        columns.share("predicted_share", "Share of predicted time"),
        _error("weighted_error", "Weighted error"),
        columns.count("results", "Predictions"),
    ),
    empty=_EMPTY,
    is_table_open=True,
)
TRACK_RECORD = Figure(
    name="track-record",
    title="Track record",
    lead="Scores of every run on this host that has predictions.",
    reading=(
        "Mean error: mean of absolute errors. Within interval: share of measured medians inside the 80% interval of "
        "the prediction; 80% is ideal."
    ),
    view="predicted_runs",
    narrowed_by=(),
    derive=with_scores,
    printed=(),
    columns=(
        Column("started_at", "Run", formats.moment),
        Column("suite", "Suite"),
        VARIANT,
        columns.count("results", "Predictions"),
        columns.share("mape", "Mean error"),
        _error("worst", "Worst error"),
        _error("bias", "Mean signed error"),
        columns.share("coverage", "Within interval"),
        *columns.opened(columns.count("partial", "Partial or void"), Column("label", "Label", formats.text)),
    ),
    empty=_EMPTY,
    is_table_open=True,
)
PAGE = Page(
    "/prediction",
    "Prediction",
    "The model's track record: predicted next to measured times of workloads.",
    (page.WORKLOAD, page.VARIANT),
    (PREDICTED, ERRORS, RESIDUALS, TRACK_RECORD),
    question="How well are times predicted to {operation}?",
    suite="micro",
    place=97,
)
