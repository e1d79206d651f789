"""The figure of workloads whose family has none of its own: each metric of each stage, party and step."""

from __future__ import annotations

from ciphermark_core.metrics import METRICS
from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import (
    OPTIONS,
    REASON,
    SCHEME,
    SECURITY_2018,
    SIZE,
    STATUS,
    VARIANT,
    WORKLOAD,
    N,
)
from ciphermark_present.figure import Column, Figure
from ciphermark_present.sentences import workloads


def _label(metric: str | None) -> str:
    """What the registry calls a metric; a run of another version may have others."""
    if metric is None:
        return formats.NOTHING
    return METRICS[metric].label if metric in METRICS else metric.replace("_", " ")


METRIC = Column("metric", "Metric", _label)
MEDIAN = Column("median", "Median", is_number=True, unit="unit")
WORKLOADS = Figure(
    name="workloads",
    title="Workloads",
    lead=(
        "Every metric of every stage: time and CPU time also of each party (client, server) and step, sizes of what "
        "was sent, and what the family of workloads measures of its own. Medians, with the 95 % interval. The chart "
        "has the time of whole stages; its axis is logarithmic."
    ),
    view="workloads",
    subject=subject.FAMILY,
    narrowed_by=("experiment", "operation", "variant"),
    order="operation, scheme, size, metric <> 'time', metric, stage, part, median, variant",
    chart="workloads.stages",
    tell=workloads.stages,
    columns=(
        Column("experiment", "Family"),
        WORKLOAD,
        SCHEME,
        SIZE,
        OPTIONS,
        Column("stage", "Stage", formats.text),
        Column("part", "Party or step", formats.text),
        METRIC,
        VARIANT,
        STATUS,
        N,
        SECURITY_2018,
        MEDIAN,
        Column("ci_low", "95 % from", is_number=True, unit="unit"),
        Column("ci_high", "to", is_number=True, unit="unit"),
        Column("n", "Samples", formats.digits, is_number=True),
        REASON,
    ),
    empty="This run has no workload of such a family.",
)
