"""The figure of workloads whose family has none of its own: each metric of each stage, party and step."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count as count_from

from ciphermark_core.metrics import METRICS
from ciphermark_present import (
    catalogue,
    charting,
    families,
    formats,
    headings,
    parameters,
    plots,
    sentences,
    subject,
)
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    BUILD,
    OPTIONS,
    REASON,
    SCHEME,
    SECURITY_2018,
    SECURITY_2024,
    SIZE,
    STATUS,
    WORKLOAD,
    N,
)
from ciphermark_present.charting import Chart
from ciphermark_present.figure import Column, Figure, Layout
from ciphermark_present.formats import seconds
from ciphermark_present.printed import Cells, Head, Pivot, Printed, Wanted, of, pivoted
from ciphermark_present.query import Row

_ONE_TIME = "prepare"  # the stage that belongs to no pass


def tell_stages(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The fastest variant of each stage of each workload by its median, by scheme, size and level, and by the
    encrypting key where that differs.
    """
    whole = [row for row in every if row["metric"] == "time" and not row["part"]]
    whole = [{**row, "keys": sentences.encryption(row, whole)} for row in whole]
    place = ("operation", "scheme", "vector_length", "security_shown", "stage", "keys")
    for row in sentences.fastest(whole, place, "median"):
        keys = f", {row['keys']}" if row["keys"] else ""
        yield (
            f"{row['operation']} in {row['scheme'].upper()}, vector length {row['vector_length']:,}, at "
            f"{sentences.level_and_table(row)}{keys}: "
            f"fastest median time of {row['stage']} {seconds(row['median'])} ({row['variant']})."
        )


def find_stage(rows: Sequence[Row]) -> str:
    """The stage of a pass with the longest time among the fastest ones of each workload."""
    whole = [row for row in rows if row["metric"] == "time" and not row["part"] and row["stage"] != _ONE_TIME]
    best = sentences.fastest(whole, ("operation", "scheme", "options", "vector_length", "stage"), "median")
    if not best:
        return ""
    longest = max(best, key=lambda row: float(row["median"]))
    return (
        f"{longest['operation']}: {longest['stage']} takes {seconds(longest['median'])} with {longest['variant']}, the "
        "fastest median"
    )


def draw_stages(rows: Sequence[Row]) -> Chart | None:
    """Wall time of each whole stage by workload and variant, logarithmic, one small chart per stage.

    A workload is split by options, sizes, schemes, security levels, threads and parameters: times that differ in these
    are not comparable.
    """
    stages = [row for row in rows if row["metric"] == "time" and not row["part"] and row["median"] > 0]
    if not stages:
        return None
    varied = [write for write in _CONDITIONS if len({write(row) for row in stages}) > 1]
    shared = charting.joined(*(write(stages[0]) for write in _CONDITIONS if write not in varied))
    places = [(row["stage"], _named(row, varied)) for row in stages]
    labels = _brief(parameters.apart(stages, lambda row: (row["stage"], _named(row, varied))), places)
    times = [
        {**row, "workload": charting.joined(name, label, sentences.encryption(row, stages))}
        for row, (_, name), label in zip(stages, places, labels, strict=True)
    ]
    parts = sorted({row["stage"] for row in times}, key=_in_order)
    return plots.timed(times, "stage", "median", parts, [f"All: {shared}"] * bool(shared))


_CONDITIONS: tuple[Callable[[Row], str], ...] = (
    lambda row: str(row["scheme"]).upper(),
    sentences.stated_level,
    sentences.threads,
)


def _in_order(stage: str) -> tuple[bool, list[tuple[int, str]]]:
    """The one-time stage first, then stages by name, with their numbers as numbers."""
    pieces = re.split(r"(\d+)", stage)
    return stage != _ONE_TIME, [(int(each), "") if each.isdigit() else (-1, each) for each in pieces]


def _named(row: Row, conditions: Sequence[Callable[[Row], str]]) -> str:
    options = row["options"] or f"{row['vector_length']:,}"
    return charting.joined(row["operation"], options, *(write(row) for write in conditions))


def _brief(labels: Sequence[str], places: Sequence[tuple[str, str]]) -> list[str]:
    """As many first parts of each label as tell it apart from the others at its place."""
    several: dict[tuple[str, str], set[str]] = defaultdict(set)
    for label, place in zip(labels, places, strict=True):
        several[place].add(label)
    counts = {
        place: next(
            count for count in count_from(1) if len({_first(label, count) for label in own}) == len(own)
        )
        for place, own in several.items()
    }
    return [_first(label, counts[place]) for label, place in zip(labels, places, strict=True)]


def _first(label: str, count: int) -> str:
    return ", ".join(label.split(", ")[:count])


def _label(metric: str | None) -> str:
    """The registry's label of a metric; a run of another version may have other metrics."""
    if metric is None:
        return formats.NOTHING
    return METRICS[metric].label if metric in METRICS else metric.replace("_", " ")


METRIC = Column("metric", "Metric", _label)
_SIZE = "size"
MEDIAN = Column("median", "Median", is_number=True, unit="unit", mark=columns.phase_mark)


_PARTS = "Times by party and step, and of transfers; checks excluded"


def _unlisted(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
    """The rows with metrics that no other table has; a family's own figures have the metrics of its stages."""
    own = [each for figure, layout in catalogue.printed() for each in (figure, *layout.others)]
    listed = [
        (figure.subject, {column.name for column in figure.columns})
        for figure in own
        if figure.subject is not None and not figure.subject.is_rest
    ]
    return [
        row
        for row in answers[0]
        if row["metric"] is not None
        and not any(about.covers(row["experiment"]) and row["metric"] in names for about, names in listed)
    ]


def _whole(rows: Sequence[Row]) -> list[Row]:
    """The value of the whole stage for each metric. A metric without one, such as a peak, has the values of its parts.
    Sizes keep all rows: bytes that are sent back are not part of the sent ones.
    """
    whole = {(row["stage"], row["metric"]) for row in rows if not row["part"] and row["metric"] != _SIZE}
    return [row for row in rows if not row["part"] or (row["stage"], row["metric"]) not in whole]


def _input(row: Row) -> str:
    """The input of a computation: its options; without any, the number of values."""
    return str(row["options"]) if row["options"] else formats.values(row["vector_length"])


def _metric(row: Row) -> str:
    return f"{METRIC.brief_cell(row)}, {row['part']}" if row["part"] else METRIC.brief_cell(row)


def _interval(row: Row) -> str:
    """The interval of a time, in the unit of the median; empty for other metrics."""
    if row["unit"] != "s":
        return ""
    return formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"])[1]


def _listed(rows: Sequence[Row], _: Wanted) -> Iterator[Cells]:
    yield Head("stage"), lambda row: str(row["stage"])
    yield of(METRIC)[0], _metric
    yield of(BUILD)
    yield from headings.cells(rows)
    yield of(MEDIAN)
    yield Head("95% interval", True, drop=1), _interval


def _parts(rows: Sequence[Row], _: Wanted) -> Iterator[Printed]:
    """A line per part, the longest first, and a column per variant, or per case where a variant has several."""
    parts = [row for row in rows if row["part"] and row["metric"] == "time"]
    if not parts:
        return
    cases = {row["case_key"]: row for row in parts}
    is_told = len({row["variant"] for row in cases.values()}) == len(cases)
    names = {
        key: row["variant"] if is_told else f"{row['variant']} {row['ring_dimension']}"
        for key, row in cases.items()
    }
    longest: dict[tuple[str, str], float] = {}
    for row in parts:
        place = (row["stage"], row["part"])
        longest[place] = max(longest.get(place, row["median"]), row["median"])
    parts.sort(key=lambda row: (row["stage"], -longest[row["stage"], row["part"]]))
    pivot = Pivot(
        lambda row: (row["stage"], row["part"]),
        lambda row, _: MEDIAN.brief_cell(row),
        lambda _: list(dict.fromkeys(names.values())),
        columns.acceleration_marks,
    )
    heads: list[Cells] = [
        (Head("stage"), lambda row: str(row["stage"])),
        (Head("part"), lambda row: str(row["part"])),
    ]
    named = [{**row, "variant": names[row["case_key"]]} for row in parts]
    yield pivoted("", _PARTS, heads, named, pivot, once=1, nothing="")


_WITH_STAGES = [
    figure.subject
    for module in families.modules()
    for figure in vars(module).values()
    if isinstance(figure, Figure) and figure.subject and "stage" in [column.name for column in figure.columns]
]
# Families whose stages have no figure of their own.
FAMILY = subject.all_but(subject.WORKLOAD, *_WITH_STAGES)
LAYOUT = Layout(
    rows=_unlisted,
    table=("experiment", "operation", "options", "data_set", "vector_length", "threads", "scheme"),
    varied=lambda row: row["ring_dimension"],
    title=lambda rows, wanted: f"{wanted.titled(rows[0]['operation'])}, {rows[0]['experiment']}",
    about=lambda rows, _: f"{headings.heading(rows)}. {_input(rows[0])}, {headings.threads(rows[0])}",
    columns=_listed,
    once=lambda rows: 2,
    shown=_whole,
    more=_parts,
    place=90,
)
WORKLOADS = Figure(
    name="workloads",
    title="Workloads",
    lead="Every metric of every stage: medians with 95% intervals.",
    reading=(
        "Time and CPU time are also listed by party (client, server) and step. Sizes are those of transferred"
        " objects. A family of workloads may add metrics of its own. The chart shows the time of whole "
        "stages."
    ),
    view="workloads",
    subject=FAMILY,
    order=(
        "operation, scheme, vector_length, metric <> 'time', metric, stage, part, 'median' = any(disturbed_times), "
        "median, variant"
    ),
    finding=find_stage,
    chart=draw_stages,
    tell=tell_stages,
    printed=(LAYOUT,),
    columns=(
        WORKLOAD,
        *columns.opened(Column("experiment", "Family")),
        SCHEME,
        *columns.opened(SIZE),
        replace(OPTIONS, detail=4),
        Column("stage", "Stage", formats.text),
        Column("part", "Party or step", formats.text),
        METRIC,
        BUILD,
        replace(STATUS, detail=5),
        *columns.opened(N, SECURITY_2018, SECURITY_2024),
        columns.compared(MEDIAN),
        columns.INTERVAL_WITH_UNIT,
        *columns.opened(columns.count("n", "Samples"), REASON),
    ),
    empty="This run has no workload of such a family.",
)
