"""Figures of probes: what they measured per execution, and where the call stacks were, as a flame graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ciphermark_present import charting, formats, page, sentences, speedscope, subject, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import INTERVAL_WITH_UNIT, OPERATION, VARIANT, N
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.page import Page
from ciphermark_present.printed import grouped
from ciphermark_present.query import Answer, Row

if TYPE_CHECKING:  # loaded where a tree is made
    from ciphermark_analysis.time_tree import Node

_BETWEEN = " › "
_ADDED = ("place", "function", "depth", "start", "end", "share", "own_share")
_LEAST_SHARE = 5e-3  # a narrower function is not seen
_ROW_PX, _CHARACTER_PX = 26, 6.6
_FIELDS = (
    "place",
    "function",
    "depth",
    "start",
    "end",
    "share",
    "own_share",
    "is_hottest",
    "text",
    "text_px",
)


def with_frames(answer: Answer, _: Row) -> Answer:
    """A row for each function of each case and phase, callers before the functions that they call, with its position
    and its share of the samples, also of those in the function itself. Pure.
    """
    from ciphermark_analysis.time_tree import Node, spans

    names = (*answer.columns, *_ADDED)
    found: list[tuple[Any, ...]] = []
    for rows in grouped(answer.mappings, lambda row: (row["case_info_id"], row["phase"])):
        counts: Counter[tuple[str, ...]] = Counter()
        for frames, count in (stack for row in rows for stack in speedscope.parsed(row["call_stacks"])):
            counts[tuple(frames)] += count
        total = counts.total() or 1
        for span in spans(Node("", 1.0, tuple(_nodes(counts, total)))):
            if not span.is_rest:
                own = counts[span.path] / total
                place = (_BETWEEN.join(span.path), span.path[-1], len(span.path))
                values = (*place, span.start_s, span.end_s, span.end_s - span.start_s, own)
                added = dict(zip(_ADDED, values, strict=True))
                found.append(tuple({**rows[0], **added}[name] for name in names))
    return Answer(names, found)


def _nodes(counts: Mapping[tuple[str, ...], int], total: int) -> Iterator[Node]:
    """The outermost functions of stacks with those that they call, the most frequent first."""
    from ciphermark_analysis.time_tree import Node

    inner: dict[str, Counter[tuple[str, ...]]] = {}
    for frames, count in counts.items():
        if frames:
            inner.setdefault(frames[0], Counter())[frames[1:]] += count
    for name, own in sorted(inner.items(), key=lambda item: -item[1].total()):
        if own.total() >= _LEAST_SHARE * total:
            yield Node(name, own.total() / total, tuple(_nodes(own, total)))


def finding(rows: Sequence[Row]) -> str:
    """The function of the drawn case with the largest share of its own."""
    case = _drawn(rows)
    if not case:
        return ""
    name, share = _hottest(case)
    return (
        f"{formats.percent(share)} of {case[0]['operation']} is in {speedscope.brief(name)} itself "
        f"({case[0]['variant']})"
    )


def _drawn(rows: Sequence[Row]) -> list[Row]:
    """The rows of the first case and phase."""
    return next(iter(grouped(rows, lambda row: (row["case_info_id"], row["phase"]))), [])


def _hottest(case: Sequence[Row]) -> tuple[str, float]:
    """A function, wherever it is called from, and its share of the samples."""
    shares: Counter[str] = Counter()
    for row in case:
        shares[row["function"]] += row["own_share"]
    return max(shares.items(), key=lambda item: item[1])


def draw_flame(rows: Sequence[Row]) -> Chart | None:
    """One case as an icicle: below each function are those that it calls, as wide as their shares of the samples. The
    function with the largest share of its own has the color of the library.
    """
    case = _drawn(rows)
    if len(case) < charting.MIN_MARKS:
        return None
    first, (hottest, _) = case[0], _hottest(case)
    colour = charting.look(first["variant"], [first["variant"]])[0]
    marks = [_mark(row, row["function"] == hottest) for row in case]
    axis = alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    base = alt.Chart().encode(
        x=alt.X("start:Q", title=None, axis=axis, scale=alt.Scale(domain=[0, 1], nice=False)),
        y=alt.Y("depth:O", title=None, axis=None),
    )
    boxes = base.encode(x2=alt.X2("end:Q"), tooltip=_tips())
    shown = "(datum.end - datum.start) * width - 8 >= datum.text_px ? datum.text : ''"
    layers = [
        boxes.transform_filter("!datum.is_hottest").mark_rect(style=theme.PART),
        boxes.transform_filter("datum.is_hottest").mark_rect(
            color=colour, fillOpacity=0.3, stroke=colour, strokeWidth=2
        ),
        base.transform_calculate(shown=shown)
        .mark_text(align="left", dx=4, style=theme.TEXT)
        .encode(text="shown:N"),
    ]
    written = dict.fromkeys(("share", "own_share"), formats.share)
    depth = max(row["depth"] for row in case)
    chart = alt.layer(*layers, data=charting.data(marks, *_FIELDS, **written))
    notes = [_described(rows, first)]
    return chart.properties(width="container", height=_ROW_PX * depth, **charting.noted(notes))


def _mark(row: Row, is_hottest: bool) -> Row:
    text = f"{speedscope.brief(row['function'])} {formats.percent(row['share'])}"
    return {**row, "is_hottest": is_hottest, "text": text, "text_px": len(text) * _CHARACTER_PX}


def _tips() -> list[alt.Tooltip]:
    return charting.tips(
        "function:N",
        charting.text_tip("share", "Share"),
        charting.text_tip("own_share", "Share of its own"),
        alt.Tooltip("place:N", title="Calls"),
    )


def _described(rows: Sequence[Row], row: Row) -> str:
    """The drawn case and phase, and whether there are others."""
    case = charting.joined(
        row["variant"],
        row["operation"],
        row["phase"],
        row["scheme"].upper(),
        f"N = {row['ring_dimension']}",
        sentences.threads(row),
    )
    others = len({(each["case_info_id"], each["phase"]) for each in rows}) > 1
    return f"{case}{'. Filters select another case; the table has all phases.' if others else ''}"


_PLACE = (OPERATION, N, VARIANT, Column("phase", "Phase"))
PROBES = Figure(
    name="probes",
    title="Results of probes",
    lead="What probes measured per execution, and why others measured nothing.",
    reading=(
        "Probes run after the samples, in repetitions of their own. Each has its overhead: CPU time with the probe "
        "over that without it, less 1. Formulas: IPC is instructions / cycles, memory traffic is 64 bytes × LLC "
        "misses / wall time, both in user mode."
    ),
    view="probe_results",
    subject=subject.ANYTHING,
    covers_levels=True,
    order="operation, scheme, ring_dimension, variant, phase, probe, metric",
    printed=(),
    columns=(
        *_PLACE,
        Column("probe", "Probe"),
        Column("label", "Metric", formats.text),
        Column("median", "Median", is_number=True, unit="unit"),
        *columns.opened(INTERVAL_WITH_UNIT),
        Column("unmeasured", "Not measured, because", formats.text, is_prose=True),
    ),
    empty="This run has no probes: write `probes: [allocations, stacks]` in its suite, or use ciphermark profile.",
    is_table_open=True,
)
FLAME_GRAPH = Figure(
    name="flame-graph",
    title="Flame graph",
    lead="Functions below their callers, as wide as their share of the sampled call stacks.",
    reading=(
        "py-spy samples the worker while it repeats the operation. A workload's operations are executed one by one. "
        "Functions with less than 0.5% are left out. Share of its own: samples in the function, not in those that "
        "it calls."
    ),
    view="call_stacks",
    subject=subject.ANYTHING,
    covers_levels=True,
    order="operation, scheme, ring_dimension, variant, is_evaluation desc, phase, process",
    derive=with_frames,
    finding=finding,
    chart=draw_flame,
    printed=(),
    columns=(
        *_PLACE,
        Column("function", "Function"),
        columns.share("share", "Share"),
        columns.share("own_share", "Share of its own"),
        *columns.opened(Column("place", "Calls", is_prose=True)),
    ),
    empty="This run has no call stacks: write `probes: [stacks]` in its suite, or use ciphermark profile.",
)
PAGE = Page(
    "/profile",
    "Profile",
    "Where an execution spends its time, and what it allocates.",
    (page.SCHEME, page.TABLE, page.SECURITY, page.RING_DIMENSION, page.OPERATION, page.VARIANT),
    (FLAME_GRAPH, PROBES),
    question="What does a library do to {operation} in {scheme} at {security} by the {table}?",
    place=98,
)
