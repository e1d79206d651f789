"""The figure of workloads whose family has none of its own: each metric of each stage, party and step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_core.metrics import METRICS
from ciphermark_present import charting, formats, parameters, subject
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
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.formats import level, seconds
from ciphermark_present.query import Row


def tell_stages(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """Who has the least median time for each stage of each workload, by scheme, size and level."""
    least: dict[tuple[object, ...], Row] = {}
    for row in every:
        if row["metric"] == "time" and not row["part"]:
            place = tuple(row[name] for name in ("operation", "scheme", "size", "security_2018", "stage"))
            if place not in least or row["median"] < least[place]["median"]:
                least[place] = row
    for row in least.values():
        yield (
            f"{row['operation']} in {row['scheme']}, {row['size']:,} elements at {level(row['security_2018'])} (2018): "
            f"least median time of {row['stage']} {seconds(row['median'])} ({row['variant']})."
        )


def draw_stages(rows: Sequence[Row]) -> Chart | None:
    """Wall time of each whole stage by workload and variant, logarithmic, one small chart per stage.

    Options, sizes, schemes, security levels, threads and parameters of one workload stand apart: their times are not
    to be compared.
    """
    known = [row for row in rows if row["metric"] == "time" and not row["part"] and row["median"] > 0]
    if not known:
        return None
    labels = parameters.apart(known, lambda row: (row["stage"], _named(row)))
    times = [
        {**row, "workload": charting.joined(_named(row), label)}
        for row, label in zip(known, labels, strict=True)
    ]
    names = charting.variants_of(times)
    axis = charting.seconds_axis(row["median"] for row in times)
    order = list(dict.fromkeys(row["stage"] for row in times))
    return charting.dressed(
        alt.Chart(charting.data(times, "variant", "workload", "stage", "median"))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(
            x=alt.X("median:Q", title=None, scale=charting.log_scale(), axis=axis),
            y=alt.Y("workload:N", title=None, axis=charting.bands()),
            yOffset=alt.YOffset("variant:N", sort=names),
            color=charting.colour(names),
            shape=charting.shape(names),
            tooltip=charting.tips(
                "variant:N", "workload:N", "stage:N", alt.Tooltip("median:Q", format=".3s")
            ),
        )
        .properties(width=240, height=alt.Step(9))
        .facet(facet=alt.Facet("stage:N", title=None, sort=order), columns=3)
        .resolve_axis(x="independent")
    )


def _named(row: Row) -> str:
    options = row["options"] or f"{row['size']:,}"
    place = f"{row['operation']}, {options}, {row['scheme']}, {level(row['security_2018'])}"
    return f"{place}, {row['threads']} threads" if row["threads"] > 1 else place


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
    chart=draw_stages,
    tell=tell_stages,
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
