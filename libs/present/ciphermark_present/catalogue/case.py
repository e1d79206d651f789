"""Figures of one case."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ciphermark_present import charting, formats
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    BUILD,
    CHAIN,
    LOG_QP,
    REASON,
    SECURITY_2018,
    SECURITY_2024,
    STATUS,
    VARIANT,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.query import Answer, Row

_MAX_SAMPLES = 20_000
_COLUMNS = (
    *("variant", "phase", "process", "ordinal", "corrected", "value"),
    *("slowdown", "loops", "is_warmup", "is_disturbed"),
)


def draw_samples(rows: Sequence[Row]) -> Chart | None:
    """Each sample's corrected time against its place in the trial, one small chart per phase.

    Of very many samples, only every n-th is drawn, as the title states: a browser could not hold all of them.
    """
    if not rows:
        return None
    step = math.ceil(len(rows) / _MAX_SAMPLES)
    names = charting.variants_of(rows)
    samples = (
        alt.Chart(charting.data(rows[::step], *_COLUMNS, corrected=formats.seconds, value=formats.seconds))
        .mark_point(filled=True, size=45)
        .encode(
            x=alt.X("ordinal:Q", title="Sample", scale=alt.Scale(nice=False, padding=10)),
            y=alt.Y("corrected:Q", title=None, **charting.seconds(row["corrected"] for row in rows)),
            color=charting.colour(names),
            shape=charting.shape(names),
            opacity=alt.condition("datum.is_warmup || datum.is_disturbed", alt.value(0.35), alt.value(1)),
            tooltip=charting.tips(
                "variant:N",
                "process:O",
                "ordinal:Q",
                charting.text_tip("corrected", "Corrected"),
                charting.text_tip("value", "As measured"),
                alt.Tooltip("slowdown:Q", format=".3f", title="Slowdown"),
                "loops:Q",
                "is_disturbed:N",
            ),
        )
    )
    chart = charting.small_charts(samples, "phase", scales=("y",), axes=("x",))
    if step == 1:
        return chart
    return chart.properties(title=f"One of {step} samples is drawn; all {len(rows):,} are in the CSV")


def with_corrected(answer: Answer, _: Row) -> Answer:
    """The samples with a column ``corrected`` before their values. Pure."""
    from ciphermark_analysis.correction import divided  # loads numpy

    value, slowdown = (answer.columns.index(name) for name in ("value", "slowdown"))
    rows = [(*row[:value], divided(row[value], row[slowdown]), *row[value:]) for row in answer.rows]
    return Answer((*answer.columns[:value], "corrected", *answer.columns[value:]), rows)


CASE_SAMPLES = Figure(
    name="case-samples",
    title="Every sample",
    lead="Samples in the order of measurement, corrected for the host's slowdown.",
    reading=(
        "Pale samples are not counted: warm-ups, and samples during which other processes had the core."
    ),
    view="case_samples",
    derive=with_corrected,
    chart=draw_samples,
    printed=(),
    columns=(
        VARIANT,
        Column("phase", "Phase"),
        Column("process", "Process", formats.text, is_number=True),
        Column("ordinal", "Sample", formats.text, is_number=True),
        columns.seconds("corrected", "Time"),
        columns.seconds("value", "As it was taken"),
        columns.count("slowdown", "Slowed"),
        *columns.opened(columns.count("loops", "Executions"), Column("is_warmup", "Warm-up", formats.yes)),
        Column("is_disturbed", "Disturbed", formats.yes),
    ),
    empty="This case has no time samples.",
)
CASE_OUTCOMES = Figure(
    name="case-outcomes",
    title="Outcomes",
    lead="Outcome of each trial, and the parameters that the library resolved.",
    view="case_outcomes",
    printed=(),
    columns=(
        VARIANT,
        Column("process", "Process", formats.text, is_number=True),
        STATUS,
        REASON,
        N,
        *columns.opened(CHAIN),
        LOG_QP,
        SECURITY_2018,
        SECURITY_2024,
        *columns.opened(
            columns.count("max_abs_error", "Largest error"), Column("version", "Version", formats.text)
        ),
    ),
)
CASE_RESULTS = Figure(
    name="case-results",
    title="Results",
    lead="Medians over all counted samples, with their 95% intervals.",
    view="case_results",
    printed=(),
    columns=(
        BUILD,
        Column("metric", "Metric"),
        Column("phase", "Phase"),
        Column("repetitions", "Operations", formats.text, is_number=True),
        columns.compared(Column("median", "Median", is_number=True, unit="unit", mark=columns.phase_mark)),
        columns.INTERVAL_WITH_UNIT,
        Column("uncorrected_median", "Uncorrected", is_number=True, unit="unit"),
        columns.count("n", "Samples"),
        *columns.opened(columns.UNDISTURBED, columns.count("slowdown", "Slowed")),
    ),
)
