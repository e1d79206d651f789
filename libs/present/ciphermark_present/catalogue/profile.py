"""The figure of where a pass of a workload spends its time: stages, parties, steps, and parts of a computation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ciphermark_present import charting, formats, sentences, subject, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import BUILD, INTERVAL, SCHEME, WORKLOAD
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure
from ciphermark_present.printed import grouped
from ciphermark_present.query import Answer, Row, is_disturbed

if TYPE_CHECKING:  # loaded where a tree is made
    from ciphermark_analysis.time_tree import Node, Span

_ONCE = "prepare"  # the stage that is executed once, not in every pass
# The steps of one party. A step of both is recorded as their sum.
_STEPS = {"client": ("fit", "pack", "encrypt", "decrypt", "unpack"), "server": ("evaluate",)}
_SHARED = ("load", "serialize", "deserialize")
_COMPUTATION, _TRANSFER, _LAST = "evaluate", "transfer", "decrypt"  # steps; the last stage has the last
_LEVELS = ("stage", "party", "step", "part")
_BETWEEN = " › "
_ADDED = ("place", "depth", "start_s", "end_s", "share", "is_rest")
_ROW_PX, _CHARACTER_PX = 44, 6.6
Times = Mapping[tuple[str | None, str | None], Row]  # of a stage, by party and step


def with_places(answer: Answer, _: Row) -> Answer:
    """A row for each part of a pass, with its position: wholes before their parts, and the time that no part explains.
    Such a rest, and the share of one party in a step of both, follow from other times and have no interval.
    """
    from ciphermark_analysis.time_tree import Node, spans

    names = (*answer.columns, *_ADDED)
    found: list[tuple[Any, ...]] = []
    for rows in grouped(answer.mappings, lambda row: row["case_info_id"]):
        stages = dict(_stages(rows))
        parts = [row for row in rows if row["metric"] == "layer_time"]
        root = Node("pass", 0.0, tuple(_node(name, times, parts) for name, times in stages.items()))
        for span in spans(root):
            row = _row(stages[span.path[0]], parts, span) | {"share": _length(span) / root.extent_s}
            found.append(tuple(row[name] for name in names))
    return Answer(names, found)


def _stages(rows: Sequence[Row]) -> Iterator[tuple[str, Times]]:
    """The stages of a pass of which the parties' times are known; the one that decrypts results is the last."""
    times: dict[str, dict[tuple[str | None, str | None], Row]] = {}
    for row in rows:
        if row["metric"] == "time" and row["stage"] != _ONCE:
            times.setdefault(row["stage"], {})[row["party"], row["step"]] = row
    for name in sorted(times, key=lambda name: ((None, _LAST) in times[name], name)):
        if (None, None) in times[name] and any((party, None) in times[name] for party in _STEPS):
            yield name, times[name]


def _node(name: str, times: Times, parts: Sequence[Row]) -> Node:
    from ciphermark_analysis.time_tree import Node

    own = [Node(row["step"], row["median"]) for row in parts if row["stage"] == name]
    parties = [_party(party, times, own) for party in _STEPS if (party, None) in times]
    transfer = times.get((None, _TRANSFER))
    between = [] if transfer is None else [Node(_TRANSFER, transfer["median"])]
    return Node(name, times[None, None]["median"], (*parties, *between))


def _party(party: str, times: Times, parts: Sequence[Node]) -> Node:
    """A party's steps, and its share in the steps of both: what its own steps leave of its time."""
    from ciphermark_analysis.time_tree import Node

    seconds = times[party, None]["median"]
    steps = [
        Node(step, times[None, step]["median"], tuple(parts) if step == _COMPUTATION else ())
        for step in _STEPS[party]
        if (None, step) in times
    ]
    shared = [step for step in _SHARED if (None, step) in times]
    left_s = seconds - sum(step.seconds for step in steps)
    own_s = min(left_s, sum(times[None, step]["median"] for step in shared))
    return Node(party, seconds, (*steps, *([Node(", ".join(shared), own_s)] if own_s > 0 else [])))


def _row(times: Times, parts: Sequence[Row], span: Span) -> dict[str, Any]:
    """The measured row of a span, or that of its stage with another time, and the span's position."""
    measured = _measured(times, parts, span)
    computed = {"median": _length(span), "ci_low": None, "ci_high": None, "n": None}
    return {
        **(measured or {**times[None, None], **computed}),
        "place": _BETWEEN.join(span.path),
        "depth": len(span.path),
        "start_s": span.start_s,
        "end_s": span.end_s,
        "is_rest": span.is_rest,
    }


def _measured(times: Times, parts: Sequence[Row], span: Span) -> Row | None:
    if span.is_rest:
        return None
    stage, *inner = span.path
    match inner:
        case []:
            return times[None, None]
        case [name]:
            return times.get((name, None)) or times.get((None, name))
        case [_, name]:
            return None if name in _SHARED else times.get((None, name))
        case _:
            return next(row for row in parts if (row["stage"], row["step"]) == (stage, inner[-1]))


def _length(span: Span) -> float:
    return span.end_s - span.start_s


def finding(rows: Sequence[Row]) -> str:
    """The longest part of the drawn case that has no measured parts."""
    case = _drawn(rows)
    if not case:
        return ""
    longest = _longest(case)
    where = longest["place"].replace(_BETWEEN, ", ")
    return f"{formats.percent(longest['share'])} of a pass of {longest['operation']} is {where} ({longest['variant']})"


def _drawn(rows: Sequence[Row]) -> list[Row]:
    """The rows of one case: the fastest of the first workload."""
    here = [row for row in rows if row["operation"] == rows[0]["operation"]]
    cases = grouped(here, lambda row: row["case_info_id"])
    return min(
        cases, key=lambda case: (any(is_disturbed(row, "median") for row in case), _whole_s(case)), default=[]
    )


def _whole_s(case: Sequence[Row]) -> float:
    return float(max(row["end_s"] for row in case))


def _longest(case: Sequence[Row]) -> Row:
    wholes = {row["place"].rpartition(_BETWEEN)[0] for row in case}
    return max(
        (row for row in case if row["place"] not in wholes), key=lambda row: row["end_s"] - row["start_s"]
    )


def draw_profile(rows: Sequence[Row]) -> Chart | None:
    """A pass of one case as an icicle: a row for stages, one for parties, one for steps, and one for the parts of the
    computation, all as wide as their times. The longest part has the colour of its library.
    """
    case = _drawn(rows)
    if len(case) < charting.MIN_MARKS:
        return None
    first, longest = case[0], _longest(case)
    colour = charting.look(first["variant"], [first["variant"]])[0]
    axis = charting.seconds_from_zero([_whole_s(case)])
    end_s = axis["scale"].to_dict()["domain"][1]
    levels = _LEVELS[: max(row["depth"] for row in case)]
    marks = [_mark(row, row is longest) for row in case]
    base = alt.Chart().encode(
        x=alt.X("start_s:Q", title=None, **axis), y=alt.Y("level:N", title=None, sort=[*levels])
    )
    boxes = base.encode(x2=alt.X2("end_s:Q"), tooltip=_tips())
    room = f"(datum.end_s - datum.start_s) / {end_s!r} * width - 12"
    shown = f"{room} >= datum.text_px ? datum.text : {room} >= datum.name_px ? datum.name : ''"
    layers = [
        boxes.transform_filter("!datum.is_rest && !datum.is_longest").mark_rect(style=theme.PART),
        boxes.transform_filter("datum.is_rest").mark_rect(style=theme.REST),
        boxes.transform_filter("datum.is_longest").mark_rect(
            color=colour, fillOpacity=0.3, stroke=colour, strokeWidth=2
        ),
        base.transform_calculate(shown=shown)
        .mark_text(align="left", dx=6, style=theme.TEXT)
        .encode(text="shown:N"),
    ]
    written = {
        **dict.fromkeys(("median", "ci_low", "ci_high"), formats.seconds),
        "share": formats.share,
    }
    chart = alt.layer(*layers, data=charting.data(marks, *_FIELDS, **written))
    return chart.properties(
        width="container", height=_ROW_PX * len(levels), **charting.noted([_described(rows, first)])
    )


def _tips() -> list[alt.Tooltip]:
    return charting.tips(
        "place:N",
        charting.text_tip("median", "Time"),
        charting.text_tip("ci_low", "95% from"),
        charting.text_tip("ci_high", "to"),
        charting.text_tip("share", "Share"),
    )


_FIELDS = (
    *("place", "level", "start_s", "end_s", "median", "ci_low", "ci_high", "share", "is_rest", "is_longest"),
    *("name", "text", "name_px", "text_px"),
)


def _mark(row: Row, is_longest: bool) -> Row:
    name = row["place"].rpartition(_BETWEEN)[2]
    text = f"{name} {formats.percent(row['share'])}"
    return {
        **row,
        "level": _LEVELS[row["depth"] - 1],
        "is_longest": is_longest,
        "name": name,
        "text": text,
        "name_px": len(name) * _CHARACTER_PX,
        "text_px": len(text) * _CHARACTER_PX,
    }


def _described(rows: Sequence[Row], row: Row) -> str:
    """The drawn case, and whether the table has others."""
    level = sentences.stated_level(row)
    case = charting.joined(
        row["variant"],
        row["operation"],
        row["options"] or "",
        row["scheme"].upper(),
        f"N = {row['ring_dimension']}",
        level,
        sentences.threads(row),
    )
    others = len({each["case_info_id"] for each in rows}) > 1
    return f"{case}{'. Filters select another library or workload.' if others else ''}"


PROFILE = Figure(
    name="profile",
    title="Profile of a pass",
    lead="Median time of one pass by stage, party, step, and part of the computation.",
    reading=(
        "Widths are times, and each row divides the one above it. The stage prepare is excluded: it runs once, not in "
        "every pass. Steps of both parties are recorded as one sum; each party's share in them is what its other steps "
        "leave of its time. Parts of a computation run separately, in addition to the passes. Not attributed: time "
        "that no measured part explains. Medians of parts may add up to more than the median of the whole."
    ),
    view="workloads",
    subject=subject.WORKLOAD,
    where={"metric": ["time", "layer_time"]},
    order="operation, scheme, options, threads, variant, case_info_id, metric <> 'time', stage, median desc",
    derive=with_places,
    finding=finding,
    chart=draw_profile,
    printed=(),
    columns=(
        WORKLOAD,
        SCHEME,
        BUILD,
        Column("place", "Where"),
        columns.seconds("median", "Time"),
        INTERVAL,
        columns.share("share", "Share"),
    ),
    empty="This run has no workload with times of both parties: the suites tenseal-ml, retrieval and inference have.",
)
