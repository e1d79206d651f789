"""The figure of the whole cost of a pass: time over a link, bytes, keys, memory of both parties, largest error."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ciphermark_present import (
    charting,
    formats,
    headings,
    labels,
    links,
    parameters,
    sentences,
    subject,
    theme,
)
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    BUILD,
    OPTIONS,
    SCHEME,
    SECURITY_2018,
    SECURITY_2024,
    THREADS,
    WORKLOAD,
    N,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Figure, Layout, Rows
from ciphermark_present.printed import Cells, Head, Wanted, grouped, of, present
from ciphermark_present.query import DISTURBED_TIMES, Answer, Row, is_disturbed

if TYPE_CHECKING:  # loaded where costs are compared
    from ciphermark_analysis.links import Cost

LOW, HIGH = 1e6, 1e10  # bits per second
_STEPS_PER_DECADE = 6
_DECADES = 4
_TICKS = [10.0**power for power in range(6, 11)]
_RATE = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, ',.3~r') + ' Gbit/s' : "
    "format(datum.value / 1e6, ',.3~r') + ' Mbit/s'"
)
_OF_LINE = ("variant", "panel", "keys", "comparison_group", "work_s", "moved", theme.ADDRESS)
_COMPUTATION = ("operation", "scheme", "options", "data_set", "threads")
_TOLD = 2  # changes of the fastest, in a heading
_WIDTH = 480
_HEAD_CHARACTERS = 48  # of a line above a small chart, which a phone has room for
_APART = 10  # pixels between labels of the axis
_MOST_ROOM = 0.5  # of the width, for names
_FIELDS = (
    *("variant", "panel", "line", "keys", "kind", "rate", "seconds", "low_s", "high_s"),
    *("text", "dy", "about"),
)


def finding(rows: Sequence[Row]) -> str:
    """The fastest variant of the first computation in which it depends on the link; else of the first computation that
    compares several.
    """
    panels = [turned for panel in _panels(rows) if len(panel) > 1 and (turned := _turned(panel))]
    if not panels:
        return ""
    turns = max(panels, key=lambda turns: len(turns) > 1)
    names = [_named(row) for _, row in turns]
    where = turns[0][1]["operation"]
    if len(turns) == 1:
        return f"{names[0]} is fastest for {where} over every link from 1 Mbit/s to 10 Gbit/s"
    changes = [f"{name} above {links.rate(at)}" for name, (at, _) in zip(names[1:], turns[1:], strict=True)][
        :_TOLD
    ]
    return f"{where}: {names[0]} is fastest over slow links, {', then '.join(changes)}"


def _named(row: Row) -> str:
    return charting.joined(row["variant"], str(row["keys"]))


def _turned(panel: Sequence[Row]) -> list[tuple[float, Row]]:
    """The fastest case of a small chart, from slow to fast links, and the rate from which each is fastest."""
    from ciphermark_analysis.links import turns

    cases = [row for row in panel if not is_disturbed(row, "work_s")]
    if not cases:
        return []
    return [(turn.rate, cases[turn.fastest]) for turn in turns(list(map(_cost, cases)), LOW, HIGH)]


def _cost(row: Row, column: str = "work_s") -> Cost:
    from ciphermark_analysis.links import Cost

    return Cost(float(row[column]), float(row["moved"]))


def _panels(rows: Sequence[Row]) -> list[list[Row]]:
    """The cases of each small chart: their times are comparable. Those with several variants are first."""
    options = {
        name for row in rows for name, value in row["dimensions"].items() if _varies(rows, name, value)
    }
    named = [
        {**row, "keys": sentences.encryption(row, rows), "panel": _computed(row, sorted(options))}
        for row in rows
    ]
    labels = parameters.apart(named, lambda row: row["panel"])
    cases = [
        {**row, "panel": "\n".join((row["panel"], *textwrap.wrap(label, _HEAD_CHARACTERS)))}
        for row, label in zip(named, labels, strict=True)
    ]
    return sorted(grouped(cases, lambda row: row["panel"]), key=lambda panel: len(panel) == 1)


def _varies(rows: Sequence[Row], name: str, value: Any) -> bool:
    return any(row["dimensions"].get(name) != value for row in rows)


def _computed(row: Row, options: Sequence[str]) -> str:
    """The computation of a row, and what its times depend on, in lines; of its options, those that vary."""
    own = [f"{name} {row['dimensions'][name]}" for name in options if name in row["dimensions"]]
    place = charting.joined(row["scheme"], sentences.stated_level(row), sentences.threads(row))
    return "\n".join(filter(None, (row["operation"], ", ".join(own), place)))


def draw_links(rows: Sequence[Row]) -> Chart | None:
    """Time of a pass against the speed of the link, both logarithmic: a line for each case within the interval of its
    work, one small chart for each computation. Rings mark where the fastest changes; charts with rings come first.
    """
    panels = sorted(_panels(rows), key=lambda panel: len(_turned(panel)) < 2)
    points, rest = charting.enough([point for panel in panels for point in _points(panel)], "panel")
    if not points:
        return None
    axis = charting.seconds(point[name] for point in points for name in ("seconds", "low_s", "high_s"))
    shown = list(dict.fromkeys(point["panel"] for point in points))
    notes = [f"In the table only: {len(panels) - len(shown)} other computations"] if rest else []
    marks = [mark for panel in panels if panel[0]["panel"] in shown for mark in _marks(panel, axis)]
    names = charting.variants_of(marks)
    layers = _layers(_x(marks), axis, names, has_keys=any(mark["keys"] for mark in marks))
    chart = alt.layer(*layers, data=charting.data(marks, *_FIELDS))
    header = alt.Header(labelExpr="split(datum.value, '\\n')")
    return charting.small_charts(chart, "panel", shown, width=_WIDTH, axes=("x",), header=header).properties(
        **charting.noted(notes)
    )


def _x(marks: Sequence[Row]) -> alt.X:
    """An axis of rates with room for the texts on its right."""
    longest = max(len(mark["text"]) for mark in marks if mark["kind"] == "curve")
    share = min(_MOST_ROOM, (longest + 1) * labels.CHARACTER / _WIDTH)
    end = HIGH * 10 ** (_DECADES * share / (1 - share))
    return alt.X(
        "rate:Q",
        title="Link",
        scale=alt.Scale(type="log", nice=False, domain=[LOW, end]),
        axis=alt.Axis(
            values=_TICKS, labelExpr=_RATE, labelOverlap="parity", labelSeparation=_APART, grid=False
        ),
    )


def _layers(x: alt.X, axis: Mapping[str, Any], names: Sequence[str], has_keys: bool) -> list[alt.Chart]:
    base = alt.Chart().encode(x=x)
    y = alt.Y("seconds:Q", title=None, **axis)
    tips = charting.tips("variant:N", "keys:N", alt.Tooltip("about:N", title="Time"))
    curves = base.encode(color=charting.colour(names, has_legend=False), detail="line:N").transform_filter(
        "datum.kind === 'curve'"
    )
    keys = {"strokeDash": alt.StrokeDash("keys:N", title="Upload", legend=alt.Legend())} if has_keys else {}
    crossings = base.transform_filter("datum.kind === 'crossing'")
    return [
        curves.mark_area(opacity=0.2).encode(y=alt.Y("low_s:Q"), y2=alt.Y2("high_s:Q")),
        curves.mark_line(strokeWidth=2).encode(y=y, tooltip=tips, **keys),
        crossings.mark_point(style=theme.TEXT, size=90, strokeWidth=1.5, filled=False).encode(
            y=y, tooltip=tips
        ),
        base.transform_filter("datum.text && datum.kind === 'curve'")
        .mark_text(align="left", dx=8, dy=alt.ExprRef(expr="datum.dy"), style=theme.TEXT)
        .encode(y=y, text=alt.Text("text:N")),
        crossings.mark_text(align="left", dx=8, dy=-8, style=theme.TEXT).encode(y=y, text="text:N"),
    ]


def _points(panel: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The points of each line of a small chart."""
    for row in panel:
        costs = [_cost(row, name if row[name] else "work_s") for name in ("work_s", "ci_low", "ci_high")]
        drawn = row
        for step in range(_DECADES * _STEPS_PER_DECADE + 1):
            at = LOW * 10 ** (step / _STEPS_PER_DECADE)
            seconds, low_s, high_s = (cost.time_s(at) for cost in costs)
            yield _at(drawn, at, seconds) | {"low_s": _rounded(low_s), "high_s": _rounded(high_s)}
            drawn = {name: row[name] for name in _OF_LINE if name in row}  # the tooltip is of the first point


def _rounded(value: float) -> float:
    return float(f"{value:.7g}")


def _at(row: Row, at: float, seconds: float) -> dict[str, Any]:
    return {
        **row,
        "line": f"{row['variant']} {row['keys']} {row['comparison_group']}",
        "kind": "curve",
        "rate": _rounded(at),
        "seconds": _rounded(seconds),
        "low_s": _rounded(seconds),
        "high_s": _rounded(seconds),
        "text": "",
        "dy": 0.0,
        "about": f"{formats.seconds(row['work_s'])} of work, {formats.size(row['moved'])}",
    }


def _marks(panel: Sequence[Row], axis: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The points of a small chart, with a name at the end of each line, and the rates at which the fastest changes."""
    points = list(_points(panel))
    last = [point for point in points if point["rate"] >= HIGH * (1 - 1e-9)]
    heights = [charting.from_top(point["seconds"], axis) for point in last]
    moved = labels.spread(heights, labels.LINE / 2, charting.HEIGHT - labels.LINE / 2)
    for point, height, to in zip(last, heights, moved, strict=True):
        point.update(text=_named(point), dy=round(to - height, 1))
    crossings = [
        _at(row, at, seconds)
        | {"kind": "crossing", "text": links.rate(at), "about": formats.seconds(seconds)}
        for at, row in _turned(panel)[1:]
        for seconds in [_cost(row).time_s(at)]
    ]
    return points + crossings


def of_link(rows: Rows, bandwidth: str) -> list[Row]:
    """The rows with their time over a link of this bandwidth, the fastest of each computation first.

    ``total_s`` is the time of a pass, ``input_s`` that of one of its inputs.
    """
    from ciphermark_analysis.links import Cost

    at = links.bits_per_second(bandwidth)
    timed: list[Row] = []
    for row in rows:
        total_s = Cost(float(row["work_s"]), float(row["moved"])).time_s(at)
        lost = ["total_s", "input_s"] if is_disturbed(row, "work_s") else []
        times = {"total_s": total_s, "input_s": total_s / row["inputs"], links.BANDWIDTH: bandwidth}
        timed.append({**row, **times, DISTURBED_TIMES: [*(row[DISTURBED_TIMES] or ()), *lost]})
    groups = grouped(timed, lambda row: tuple(row[name] for name in _COMPUTATION))
    return [row for group in groups for row in sorted(group, key=_by_time)]


def _by_time(row: Row) -> tuple[bool, float, str]:
    return is_disturbed(row, "total_s"), row["total_s"], row["variant"]


def _with_link(answer: Answer, parameters: Row) -> Answer:
    rows = of_link(answer.mappings, str(parameters.get(links.BANDWIDTH) or links.USUAL))
    columns = (*answer.columns, "total_s", "input_s", links.BANDWIDTH)
    return Answer(columns, [tuple(row[name] for name in columns) for row in rows])


def tell_costs(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The whole cost of the variant with the fastest pass over the link, for each computation and level."""
    names = ("operation", "options", "scheme", "data_set", "threads", "security_shown")
    for row in sentences.fastest(every, names, "total_s"):
        what = charting.joined(
            f"{row['operation']} in {row['scheme'].upper()}", row["options"] or "", sentences.threads(row)
        )
        each = f" ({formats.seconds(row['input_s'])} per input)" if row["inputs"] > 1 else ""
        error = "" if row["max_error"] is None else f"; largest error {formats.small(row['max_error'])}"
        yield (
            f"{what}, at {sentences.level_and_table(row)}: fastest whole pass at {row[links.BANDWIDTH]} "
            f"{formats.seconds(row['total_s'])}{each} ({row['variant']}). {_bytes(row)}{error}."
        )


def brief(rows: Sequence[Row], most: int) -> Iterator[str]:
    """A line for the fastest variant of each of the ``most`` longest computations, and the number of the others."""
    best = sorted(sentences.fastest(rows, _COMPUTATION, "total_s"), key=lambda row: -row["total_s"])
    for row in best[:most]:
        keys = "" if row["keys_size"] is None else f", keys {formats.brief_size(row['keys_size'])}"
        yield (
            f"{_computed_with(row)}, {row['scheme'].upper()}: {formats.brief_seconds(row['total_s'])} at "
            f"{row[links.BANDWIDTH]} ({row['variant']}); upload {formats.brief_size(row['upload'])}, download "
            f"{formats.brief_size(row['download'])}{keys}"
        )
    if len(best) > most:
        yield f"… {len(best) - most} more computations"


def _bytes(row: Row) -> str:
    """The bytes and the memory of a case."""
    texts = [f"Upload {formats.size(row['upload'])}", f"download {formats.size(row['download'])}"]
    others = {
        "keys": "keys_size",
        "client memory": "client_peak_bytes",
        "server memory": "server_peak_bytes",
    }
    texts += [
        f"{name} {formats.size(row[column])}" for name, column in others.items() if row[column] is not None
    ]
    return ", ".join(texts)


def _computed_with(row: Row) -> str:
    """The workload with its options, data set and threads, where it has some."""
    return charting.joined(
        row["operation"], row["options"] or "", row["data_set"] or "", sentences.threads(row)
    )


_TOTAL = columns.encrypted(columns.seconds("total_s", "End to end", "end to end"))
_EACH = columns.encrypted(columns.seconds("input_s", "Per input", "per input"))
_CLIENT = columns.encrypted(columns.seconds("client_s", "Client", "client"))
_SERVER = columns.encrypted(columns.seconds("server_s", "Server", "server"))
_COSTS = (
    *(_TOTAL, _EACH, _CLIENT, _SERVER),
    columns.encrypted(columns.size("upload", "Upload", "upload")),
    columns.size("download", "Download", "download"),
    columns.size("keys_size", "Keys", "keys"),
    columns.size("client_peak_bytes", "Client memory", "client memory"),
    columns.size("server_peak_bytes", "Server memory", "server memory"),
    columns.error("max_error", "Largest error", "max error"),
)
_DROPS = {
    "upload": 1,
    "download": 2,
    "keys_size": 3,
    "server_peak_bytes": 4,
    "input_s": 5,
    "max_error": 6,
    "client_peak_bytes": 7,
    "server_s": 8,
    "client_s": 9,
}
_INCLUDED = (
    "End to end: both parties and the transfer at the bandwidth, without latency and keys. Keys: sent once. Memory: "
    "peak of the party's process. Max error: of a result, over all passes"
)


def _listed(rows: Sequence[Row], _: Wanted) -> Iterator[Cells]:
    yield Head("workload"), _computed_with
    yield of(BUILD)
    yield from headings.cells(rows)
    several = any(row["inputs"] > 1 for row in rows)
    own = [column for column in _COSTS if several or column.name != _EACH.name]
    yield from present(
        (of(column, _DROPS.get(column.name, 0)) for column in own), rows, ("", formats.NOTHING)
    )


LAYOUT = Layout(
    about=lambda rows, wanted: f"One pass over a link of {wanted.bandwidth}",
    columns=_listed,
    explained=lambda wanted: _INCLUDED,
    place=45,
)
WHOLE_COST = Figure(
    name="whole-cost",
    title="Whole cost",
    lead="End-to-end time of a pass over links from 1 Mbit/s to 10 Gbit/s; bytes, keys, memory and largest error.",
    reading=(
        "End-to-end time is the work of client and server plus the bytes of all messages divided by the speed of the "
        "link, without latency. A pass has every stage but the keys'. Upload and download are bytes as sent: seeded "
        "where the library can. Keys are "
        "excluded from both, because a client sends them once. Memory is the peak of each party's process. The "
        "largest error is over all values and passes; exact results have 0. The band is the sum of both parties' 95% "
        "intervals. At a ring, two variants take the same time: more work is worth fewer bytes below it. Dashes "
        "distinguish encrypting keys: with the secret key, an upload is about half as large."
    ),
    view="whole_costs",
    subject=subject.WORKLOAD,
    order="operation, scheme, options, data_set, threads, 'work_s' = any(disturbed_times), work_s, variant",
    tell=tell_costs,
    finding=finding,
    derive=_with_link,
    chart=draw_links,
    printed=(LAYOUT,),
    is_table_open=True,
    columns=(
        WORKLOAD,
        replace(OPTIONS, detail=4),
        SCHEME,
        BUILD,
        columns.compared(_COSTS[0]),
        *_COSTS[4:7],
        *(replace(column, detail=3) for column in _COSTS[7:]),
        *columns.opened(
            *_COSTS[1:4],
            THREADS,
            columns.count("inputs", "Inputs per pass"),
            columns.seconds("prepare_s", "Key generation and loading"),
            columns.seconds("preparation_s", "Server's one-time work"),
            N,
            SECURITY_2018,
            SECURITY_2024,
        ),
    ),
    empty="This run has no workload with bytes between parties: the suites tenseal-ml, retrieval and inference have.",
)
