"""The figure of the time of a pass over links of different speeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ciphermark_present import charting, formats, labels, parameters, sentences, subject, theme
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import BUILD, SCHEME, WORKLOAD
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Figure
from ciphermark_present.printed import grouped
from ciphermark_present.query import Row, is_disturbed

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
_TOLD = 2  # changes of the fastest, in a heading
_WIDTH = 480
_MOST_ROOM = 0.5  # of the width, for names
_FIELDS = (
    *("variant", "panel", "line", "keys", "kind", "rate", "seconds", "low_s", "high_s"),
    *("text", "dy", "about"),
)


def rate(bits_per_second: float) -> str:
    """A link's speed with three significant digits."""
    unit, factor = ("Gbit/s", 1e9) if bits_per_second >= 999.5e6 else ("Mbit/s", 1e6)
    return f"{formats.three_digits(bits_per_second / factor)} {unit}"


def finding(rows: Sequence[Row]) -> str:
    """The fastest variant of the first computation in which it depends on the link; else of the first computation."""
    panels = [turned for panel in _panels(rows) if (turned := _turned(panel))]
    if not panels:
        return ""
    turns = max(panels, key=lambda turns: len(turns) > 1)
    names = [_named(row) for _, row in turns]
    where = turns[0][1]["operation"]
    if len(turns) == 1:
        return f"{names[0]} is fastest for {where} over every link from 1 Mbit/s to 10 Gbit/s"
    changes = [f"{name} above {rate(at)}" for name, (at, _) in zip(names[1:], turns[1:], strict=True)][:_TOLD]
    return f"{where}: {names[0]} is fastest over slow links, {', then '.join(changes)}"


def _named(row: Row) -> str:
    return charting.joined(row["variant"], str(row["keys"]))


def _turned(panel: Sequence[Row]) -> list[tuple[float, Row]]:
    """The fastest case of a small chart, from slow to fast links, and the rate from which each is fastest."""
    from ciphermark_analysis import links

    cases = [row for row in panel if not is_disturbed(row, "work_s")]
    if not cases:
        return []
    return [(turn.rate, cases[turn.fastest]) for turn in links.turns(list(map(_cost, cases)), LOW, HIGH)]


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
        {**row, "panel": "\n".join(filter(None, (row["panel"], label)))}
        for row, label in zip(named, labels, strict=True)
    ]
    return sorted(grouped(cases, lambda row: row["panel"]), key=lambda panel: len(panel) == 1)


def _varies(rows: Sequence[Row], name: str, value: Any) -> bool:
    return any(row["dimensions"].get(name) != value for row in rows)


def _computed(row: Row, options: Sequence[str]) -> str:
    """The computation of a row, and what its times depend on, in lines; of its options, those that vary."""
    own = [f"{name} {row['dimensions'][name]}" for name in options if name in row["dimensions"]]
    level = formats.level(sentences.shown_level(row))
    place = charting.joined(row["scheme"], level, sentences.threads(row))
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
        axis=alt.Axis(values=_TICKS, labelExpr=_RATE, labelOverlap="parity", grid=False),
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
        _at(row, at, seconds) | {"kind": "crossing", "text": rate(at), "about": formats.seconds(seconds)}
        for at, row in _turned(panel)[1:]
        for seconds in [_cost(row).time_s(at)]
    ]
    return points + crossings


LINK_SPEED = Figure(
    name="link-speed",
    title="Time by link speed",
    lead="Time of a pass: both parties' work and the transfer, over links from 1 Mbit/s to 10 Gbit/s.",
    reading=(
        "Time is the work of client and server plus the bytes of all messages divided by the speed of the link, "
        "without latency. Keys are excluded: a client sends them once. The band is the sum of both parties' 95% "
        "intervals. At a ring, two variants take the same time: more work is worth fewer bytes below it. Dashes "
        "distinguish encrypting keys: with the secret key, an upload is about half as large."
    ),
    view="passes",
    subject=subject.WORKLOAD,
    order="operation, scheme, options, threads, 'work_s' = any(disturbed_times), work_s, variant",
    finding=finding,
    chart=draw_links,
    printed=(),
    columns=(
        WORKLOAD,
        SCHEME,
        BUILD,
        columns.encrypted(columns.seconds("work_s", "Work")),
        columns.interval(lambda row, low, high: formats.interval_of(row["work_s"], low, high)),
        columns.encrypted(columns.size("upload", "Upload")),
        columns.size("download", "Download"),
    ),
    empty="This run has no workload with bytes between parties: the suites tenseal-ml, retrieval and inference have.",
)
