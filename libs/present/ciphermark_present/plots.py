"""Small charts of lines with names at their ends, rows of one chart, and names next to marks. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ciphermark_present import charting, formats, labels, theme
from ciphermark_present.charting import Chart, alt
from ciphermark_present.query import Row

_ROW_PX = 12  # of a mark
_LINE_PX = 28  # of a row with all its marks on a line
_MANY_ROWS = 20  # more of them have their marks on lines
_EDGE_PX = 5  # of a picture
_MAX_ROWS = 40
_HOLLOW, _JOINED = "datum.is_hollow", "!datum.is_hollow"
_OWN = ("variant", "panel", "series", "segment", "is_hollow", "dash", "end", "dy")


@dataclass(frozen=True, slots=True)
class Value:
    """The drawn value: the column, the title, scale and axis of its channel, additional tooltips, and the columns and
    texts that these need. ``has_ends``: the rows have intervals, in ``from`` and ``to``.
    """

    column: str
    title: str | None
    axis: Mapping[str, Any]
    told: Sequence[alt.Tooltip | str]
    columns: tuple[str, ...] = ()
    written: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    has_ends: bool = False

    def text(self, row: Row) -> str:
        """The value as its table writes it."""
        write = self.written.get(self.column, str)
        return str(row["text"]) if "text" in row else charting.thin(write(row[self.column]))

    def data(self, rows: Sequence[Row], *columns: str) -> alt.Data:
        """The columns of rows that a chart needs."""
        ends = ("from", "to") * self.has_ends
        shown = dict.fromkeys((*columns, self.column, *self.columns, *ends))
        return charting.data(rows, *shown, **self.written)

    @property
    def tips(self) -> list[alt.Tooltip]:
        """The tooltip of a mark."""
        return charting.tips("variant:N", "panel:N", *self.told)


@dataclass(frozen=True, slots=True)
class Places:
    """The places of values: their column, their channel, and the words for one. ``dash`` is the title of the column
    ``dash``, where lines have dashes. Layers ``behind`` the lines are what they compare with. ``width`` is that of
    a small chart.
    """

    column: str
    x: alt.X
    write: Callable[[Any], str]
    dash: str = ""
    has_own_axes: bool = False
    behind: tuple[alt.Chart, ...] = ()
    width: int = charting.WIDTH


def lines(rows: Sequence[Row], value: Value, places: Places) -> Chart | None:
    """A small chart for each ``panel``, in the order of the rows: a mark for each row at its place, and a line for each
    ``series``, by default a variant, with its ``name`` at the end. A line breaks where it lacks a place of its panel.

    Marks of rows that are hollow (``is_hollow``) are on no line. Equal marks overlap, the first variant's the largest.
    Equal values of a panel are a sentence. Where most rows are in panels with fewer than three marks, or most panels
    have one place, all are rows of one chart.
    """
    if not rows:
        return None
    own = {"is_hollow": False, "dash": ""}
    cases = [{"series": row["variant"], "name": row["variant"], **own, **row} for row in rows]
    order = list(dict.fromkeys(row["panel"] for row in cases))
    cases.sort(key=lambda row: str(row["variant"]))
    equal = _equal(cases, value, places)
    unequal = [row for row in cases if row["panel"] not in equal]
    drawn, notes = charting.enough(unequal, "panel", order)
    shown = list(dict.fromkeys(places.write(row[places.column]) for row in cases))
    if 2 * len(drawn) < len(unequal) or _are_mostly_of_one_place(drawn, places.column):
        cases.sort(key=lambda row: (order.index(row["panel"]), row[places.column]))
        at = [places.write(row[places.column]) if len(shown) > 1 else "" for row in cases]
        panels = [
            {**row, "panel": charting.joined(row["panel"], row["dash"], words)}
            for row, words in zip(cases, at, strict=True)
        ]
        return in_rows(panels, value, shown if len(shown) == 1 else [])
    panels_drawn = {row["panel"] for row in drawn}
    named, are_named = _named(_broken(drawn, places.column), value, places.column)
    layers = _layers(named, value, places, are_named)
    data = value.data(named, *_OWN, places.column)
    chart = charting.small_charts(
        alt.layer(*places.behind, *layers, data=data),
        "panel",
        [panel for panel in order if panel in panels_drawn],
        width=places.width,
        scales=("x",) * places.has_own_axes,
        axes=("x",),
    )
    return chart.properties(**charting.noted(_stated(equal, order) + notes))


def _are_mostly_of_one_place(rows: Sequence[Row], place: str) -> bool:
    """Whether half of the panels, or all of none, have a single place."""
    panels: dict[str, set[Any]] = defaultdict(set)
    for row in rows:
        panels[row["panel"]].add(row[place])
    return 2 * sum(len(own) == 1 for own in panels.values()) >= len(panels)


def _equal(cases: Sequence[Row], value: Value, places: Places) -> dict[str, str]:
    """The common value, in words, of each panel whose variants agree at one place."""
    panels: dict[str, list[Row]] = defaultdict(list)
    for row in cases:
        panels[row["panel"]].append(row)
    return {
        panel: f"{value.text(rows[0])}, all {len(rows)}, at {places.write(rows[0][places.column])}"
        for panel, rows in panels.items()
        if len(rows) >= charting.MIN_MARKS
        and len({(value.text(row), row[places.column]) for row in rows}) == 1
    }


def _stated(equal: Mapping[str, str], order: Iterable[str]) -> list[str]:
    """A sentence for each value, with the panels that have it."""
    panels: dict[str, list[str]] = defaultdict(list)
    for panel in order:
        if panel in equal:
            panels[equal[panel]].append(panel)
    return [f"{text}: {'; '.join(names)}" for text, names in panels.items()]


def _broken(rows: Sequence[Row], place: str) -> list[Row]:
    """The rows, each with the ``segment`` of its line: a new one begins after a place of the panel that the line
    lacks.
    """
    steps: dict[str, list[Any]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: float(row[place])):
        if row[place] not in steps[row["panel"]][-1:]:
            steps[row["panel"]].append(row[place])
    numbers = {panel: {each: number for number, each in enumerate(own)} for panel, own in steps.items()}
    measured: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows:
        if not row["is_hollow"]:
            measured[row["panel"], row["series"]].add(numbers[row["panel"]][row[place]])
    return [
        {
            **row,
            "segment": sum(
                number not in measured[row["panel"], row["series"]]
                for number in range(numbers[row["panel"]][row[place]])
            ),
        }
        for row in rows
    ]


def _named(rows: Sequence[Row], value: Value, place: str) -> tuple[list[Row], bool]:
    """The rows, those at the ends of lines with a name (``end``), which is moved by ``dy`` to cover no other; and
    whether all names have room.
    """
    ends: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows):
        key = row["panel"], row["name"]
        if not row["is_hollow"] and (key not in ends or row[place] > rows[ends[key]][place]):
            ends[key] = number
    panels: dict[str, list[int]] = defaultdict(list)
    for (panel, _), number in ends.items():
        panels[panel].append(number)
    if max(map(len, panels.values()), default=0) * labels.LINE > charting.HEIGHT:
        return [{**row, "end": "", "dy": 0.0} for row in rows], False
    moves: dict[int, float] = {}
    for numbers in panels.values():
        heights = [charting.from_top(rows[number][value.column], value.axis) for number in numbers]
        moved = labels.spread(heights, labels.LINE / 2, charting.HEIGHT - labels.LINE / 2)
        moves |= {number: round(to - at, 1) for number, at, to in zip(numbers, heights, moved, strict=True)}
    return [
        {**row, "end": row["name"] if number in moves else "", "dy": moves.get(number, 0.0)}
        for number, row in enumerate(rows)
    ], True


def _layers(cases: Sequence[Row], value: Value, places: Places, are_named: bool) -> list[alt.Chart]:
    names = charting.variants_of(cases)
    y = alt.Y(f"{value.column}:Q", title=value.title, **value.axis)
    place = alt.Chart().encode(x=places.x)
    base = place.encode(color=charting.colour(names, has_legend=not are_named))
    look = {"y": y, "shape": charting.shape(names, has_legend=not are_named), "tooltip": value.tips}
    texts = Counter((row["panel"], row[places.column], value.text(row)) for row in cases)
    if max(texts.values()) > 1:
        size = alt.Size("variant:O", title=charting.VARIANT, scale=charting.nested(names, 130, 30))
        look["size"] = size.legend(None) if are_named else size
    line = (
        base.transform_filter(_JOINED)
        .mark_line(strokeWidth=1.5)
        .encode(y=y, detail=["series:N", "segment:N"])
    )
    if places.dash:
        line = line.encode(strokeDash=alt.StrokeDash("dash:N", title=places.dash, legend=alt.Legend()))
    ends = place.mark_text(align="left", dx=10, dy=alt.ExprRef(expr="datum.dy"), style=theme.TEXT)
    return [
        line,
        *charting.intervals(base, "y") * value.has_ends,
        *points(cases, base, **look),
        *[ends.encode(y=y, text=alt.Text("end:N"))] * are_named,
    ]


def points(cases: Sequence[Row], base: alt.Chart, **look: Any) -> list[alt.Chart]:
    """The marks of rows, in two layers where some are hollow."""
    filled = base.transform_filter(_JOINED).mark_point(filled=True, size=60, opacity=1).encode(**look)
    hollow = base.transform_filter(_HOLLOW).mark_point(
        filled=False, fill=theme.INSIDE, size=60, strokeWidth=2, opacity=1
    )
    return [filled, *[hollow.encode(**look)] * any(row["is_hollow"] for row in cases)]


def in_rows(rows: Sequence[Row], value: Value, notes: Sequence[str] = ()) -> Chart:
    """A row for each ``panel`` on one axis, in the order of the rows. Equal values are stated next to their marks."""
    shown = list(dict.fromkeys(row["panel"] for row in rows))
    cases = _noted([row for row in rows if row["panel"] in shown[:_MAX_ROWS]], value, "panel")
    rest = len(shown[_MAX_ROWS:])
    drawn = shown[:_MAX_ROWS]
    # Vega-Lite leaves no room for texts beyond the frame.
    room = labels.CHARACTER * max(len(row["note"]) for row in cases)
    return _dots(cases, value, "panel").properties(
        width="container",
        height=len(drawn) * _LINE_PX
        if _are_many(drawn)
        else charting.height_of(len(drawn), _ROW_PX * len(charting.variants_of(cases))),
        padding={"left": _EDGE_PX, "top": _EDGE_PX, "bottom": _EDGE_PX, "right": _EDGE_PX + round(room)},
        **charting.noted([*notes, *[f"In the table only: {rest:,} other cases"] * bool(rest)]),
    )


def in_panels(
    rows: Sequence[Row], value: Value, label: str, order: Sequence[str], notes: Sequence[str]
) -> Chart:
    """A small chart for each ``panel``, with a row for each value of the column ``label`` and all on one axis. Equal
    values are stated next to their marks.
    """
    panels = {row["panel"] for row in rows}
    shown = [panel for panel in order if panel in panels]
    chart = _dots(_noted(rows, value, label), value, label)
    height = alt.Step(_LINE_PX if _are_many({row[label] for row in rows}) else _ROW_PX)
    charts = charting.small_charts(chart, "panel", shown, height=height, axes=("x",))
    return charts.properties(**charting.noted(notes))


def _are_many(rows: Collection[str]) -> bool:
    """Whether so many rows fit a page only with their marks on lines."""
    return len(rows) > _MANY_ROWS


def _dots(rows: Sequence[Row], value: Value, label: str) -> Chart:
    """A row for each value of the column ``label``, in the order of the rows: marks of variants below each other, or on
    a line where rows are many.
    """
    cases = [{"is_hollow": False, **row} for row in rows]
    order = list(dict.fromkeys(row[label] for row in rows))
    names = charting.variants_of(cases)
    base = alt.Chart().encode(
        x=alt.X(f"{value.column}:Q", title=value.title, **value.axis),
        y=alt.Y(f"{label}:N", title=None, sort=order, axis=charting.bands()),
    )
    look: dict[str, Any] = {"shape": charting.shape(names)}
    if _are_many(order):
        look["size"] = alt.Size("variant:O", title=charting.VARIANT, scale=charting.nested(names, 130, 40))
    else:
        base = base.encode(yOffset=alt.YOffset("variant:N", sort=names))
    marks = base.encode(color=charting.colour(names))
    told = charting.tips("variant:N", *dict.fromkeys((f"{label}:N", "panel:N")), *value.told)
    remark = base.mark_text(align="left", dx=12, style=theme.TEXT).encode(text=alt.Text("note:N"))
    layers = [
        *charting.intervals(marks, "x") * value.has_ends,
        *points(cases, marks, **look, tooltip=told),
        remark,
    ]
    columns = dict.fromkeys(("variant", "panel", label, "is_hollow", "note"))
    return alt.layer(*layers, data=value.data(cases, *columns))


def _noted(rows: Sequence[Row], value: Value, label: str) -> list[Row]:
    """The rows, the middle one of each with equal values with a ``note`` that states the value."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number in sorted(range(len(rows)), key=lambda number: str(rows[number]["variant"])):
        groups[rows[number]["panel"], rows[number][label]].append(number)
    notes: dict[int, str] = {}
    for own in groups.values():
        texts = {value.text(rows[number]) for number in own}
        if len(own) > 1 == len(texts):
            notes[own[(len(own) - 1) // 2]] = f"{texts.pop()}, all {len(own)}"
    return [{**row, "note": notes.get(number, "")} for number, row in enumerate(rows)]


def timed(
    rows: Sequence[Row], part: str, value: str, parts: Sequence[str], notes: Sequence[str] = ()
) -> Chart:
    """Times by ``workload`` and variant: a small chart for each of the ``parts`` of a workload, or rows of one chart
    where most parts have fewer than three marks. Rows with bounds (``ci_low``, ``ci_high``) have intervals.
    """
    has_ends = all("ci_low" in row for row in rows)
    cases = charting.with_ends(rows, value) if has_ends else rows
    ends = ("from", "to") * has_ends
    time = Value(
        value,
        None,
        charting.seconds(row[name] for row in cases for name in (value, *ends)),
        [charting.text_tip(value, "Time")],
        written={value: formats.seconds},
        has_ends=has_ends,
    )
    named = sorted(({**row, "panel": row[part]} for row in cases), key=lambda row: parts.index(row["panel"]))
    drawn, few = charting.enough(named, "panel")
    if 2 * len(drawn) < len(rows):
        return in_rows([{**row, "panel": f"{row['panel']}: {row['workload']}"} for row in named], time, notes)
    return in_panels(drawn, time, "workload", parts, [*notes, *few])


@dataclass(frozen=True, slots=True)
class Measure:
    """One of two measures: its column, the title of its axis, its scale and axis."""

    column: str
    title: str | None
    axis: Mapping[str, Any]


def labelled(  # noqa: PLR0913 - both measures, and how labels stand
    rows: Sequence[Row],
    x: Measure,
    y: Measure,
    text: str,
    *,
    is_above: bool = False,
    size: tuple[float, float] = (charting.WIDTH, charting.HEIGHT),
) -> list[Row]:
    """The rows of charts of a ``size`` (``panel``), each with its ``label``: the column ``text``, moved by ``dx`` and
    ``dy`` from its mark and aligned (``align``) so that it covers no other; empty where there is no room.
    """
    panels: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        panels[row["panel"]].append(number)
    named: dict[int, Row] = {}
    for numbers in panels.values():
        marks = [
            (
                charting.from_left(rows[number][x.column], x.axis, size[0]),
                charting.from_top(rows[number][y.column], y.axis, size[1]),
                str(rows[number][text]),
            )
            for number in numbers
        ]
        places = labels.beside(marks, (0.0, 0.0, *size), is_above=is_above)
        for number, (at_x, at_y, label), place in zip(numbers, marks, places, strict=True):
            to_x, to_y, anchor = place or (at_x, at_y, "start")
            named[number] = {
                "label": label if place else "",
                "dx": round(to_x - at_x, 1),
                "dy": round(to_y - at_y, 1),
                "align": _ALIGNED[anchor],
            }
    return [{**row, **named[number]} for number, row in enumerate(rows)]


_ALIGNED = {"start": "left", "middle": "center", "end": "right"}
LABEL = ("label", "dx", "dy", "align")  # columns


def label_layer(base: alt.Chart) -> alt.Chart:
    """The labels of :func:`labelled`; ``base`` has the places."""
    chart: alt.Chart = base.mark_text(
        baseline="alphabetic",
        style=theme.TEXT,
        dx=alt.ExprRef(expr="datum.dx"),
        dy=alt.ExprRef(expr="datum.dy"),
        align=alt.ExprRef(expr="datum.align"),
    )
    return chart.encode(text=alt.Text("label:N"))
