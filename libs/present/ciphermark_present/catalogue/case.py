"""Figures of one case."""

from __future__ import annotations

from ciphermark_present import formats
from ciphermark_present.catalogue.columns import (
    CHAIN,
    LOG_QP,
    REASON,
    SECURITY_2018,
    SECURITY_2024,
    STATUS,
    VARIANT,
    N,
)
from ciphermark_present.figure import Column, Figure

CASE_SAMPLES = Figure(
    name="case-samples",
    title="Every sample",
    lead=(
        "In the order they were taken, each divided by how much the host slowed it; pale ones do not count: warm-ups, "
        "and what others had the core in."
    ),
    view="case_samples",
    chart="case.samples",
    columns=(
        VARIANT,
        Column("phase", "Phase"),
        Column("process", "Process", formats.text, is_number=True),
        Column("ordinal", "Sample", formats.text, is_number=True),
        Column("corrected", "Time", formats.seconds, is_number=True),
        Column("value", "As it was taken", formats.seconds, is_number=True),
        Column("slow_down", "Slowed", formats.digits, is_number=True),
        Column("loops", "Executions", formats.digits, is_number=True),
        Column("is_warmup", "Warm-up", formats.yes),
        Column("is_disturbed", "Disturbed", formats.yes),
    ),
    empty="No time was taken of this case.",
)
CASE_OUTCOMES = Figure(
    name="case-outcomes",
    title="Outcomes",
    lead="What came of each trial, and the parameters that the library resolved the request to.",
    view="case_outcomes",
    columns=(
        VARIANT,
        Column("process", "Process", formats.text, is_number=True),
        STATUS,
        REASON,
        N,
        CHAIN,
        LOG_QP,
        SECURITY_2018,
        SECURITY_2024,
        Column("max_abs_error", "Largest error", formats.digits, is_number=True),
        Column("version", "Version", formats.text),
    ),
)
CASE_FIGURES = Figure(
    name="case-figures",
    title="Figures",
    lead="Medians over all samples that count, with the 95 % interval of the median.",
    view="case_figures",
    columns=(
        VARIANT,
        Column("metric", "Metric"),
        Column("phase", "Phase"),
        Column("repetitions", "Operations", formats.text, is_number=True),
        Column("median", "Median", is_number=True, unit="unit"),
        Column("ci_low", "95 % from", is_number=True, unit="unit"),
        Column("ci_high", "to", is_number=True, unit="unit"),
        Column("n", "Samples", formats.digits, is_number=True),
        Column("quiet_share", "Quiet", formats.percent, is_number=True),
        Column("slow_down", "Slowed", formats.digits, is_number=True),
    ),
)
