"""Charts of one value of each variant at every N, or vector length: small charts with lines, or rows of one chart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ciphermark_present import charting, parameters, theme
from ciphermark_present.charting import Chart, alt
from ciphermark_present.query import Row

_ROW_PX = 12  # of a mark
_OTHER, _JOINED = "datum.is_other", "!datum.is_other"


@dataclass(frozen=True, slots=True)
class Value:
    """The drawn value: the column, the title, scale and axis of its channel, additional tooltips, and the columns and
    texts that these need. ``has_ends``: the rows have intervals, in ``from`` and ``to``.
    """

    column: str
    title: str | None
    axis: Mapping[str, Any]
    told: Sequence[alt.Tooltip]
    columns: tuple[str, ...] = ()
    written: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    has_ends: bool = False

    def text(self, row: Row) -> str:
        """The value as its table writes it."""
        write = self.written.get(self.column, str)
        return str(row["text"]) if "text" in row else write(row[self.column])

    def data(self, rows: Sequence[Row], *columns: str) -> alt.Data:
        """The columns of rows that a chart needs."""
        ends = ("from", "to") * self.has_ends
        shown = (
            "variant",
            "panel",
            "ring_dimension",
            "is_other",
            self.column,
            *self.columns,
            *ends,
            *columns,
        )
        return charting.data(rows, *shown, **self.written)

    @property
    def tips(self) -> list[alt.Tooltip]:
        """The tooltip of a mark."""
        return charting.tips("variant:N", "panel:N", *self.told)


def by_ring(rows: Sequence[Row], value: Value) -> Chart | None:
    """A mark for each variant at every N; see :func:`along`."""
    return along(rows, value, "ring_dimension", "N")


def along(rows: Sequence[Row], value: Value, place: str, title: str) -> Chart | None:
    """A mark for each variant and place on an axis to base 2, one small chart per ``label``, or operation, and tuning.

    A line joins a variant's cases. Of several at one place, it takes the one with the longest chain; the marks of the
    others are hollow. Equal marks overlap, the first variant's the largest. Panels with fewer than three marks appear
    in the table only, and equal values at one place are a sentence. Where no panel has three marks, or there is only
    one place, all cases are rows of one chart.
    """
    if not rows:
        return None
    cases = sorted(_paneled(rows), key=lambda row: str(row["variant"]))
    labels = list(dict.fromkeys(row["label"] for row in _paneled(rows)))
    order = [panel for _, panel in sorted({(labels.index(row["label"]), row["panel"]) for row in cases})]
    equal = _equal(cases, value, place, title.partition(",")[0])
    drawn, rest = charting.enough([row for row in cases if row["panel"] not in equal], "panel")
    marks = Counter(row["panel"] for row in drawn)
    is_sparse = max(marks.values(), default=0) < charting.MIN_MARKS
    if (is_sparse and len(order) > 1) or len({row[place] for row in cases}) == 1:
        return _rows([{**row, "at": row[place]} for row in cases], value, order, title.partition(",")[0])
    x = charting.powers_of_two((row[place] for row in cases), title, place)
    layers = _layers(cases, value, x)
    columns = {place} - {"ring_dimension"}
    chart = alt.layer(*layers, data=value.data(drawn, *columns))
    panels = {row["panel"] for row in drawn}
    return charting.small_charts(
        chart, "panel", [panel for panel in order if panel in panels], axes=("x",)
    ).properties(**charting.noted(_stated(equal, order) + rest.get("title", [])))


def _equal(cases: Sequence[Row], value: Value, place: str, title: str) -> dict[str, str]:
    """The common value, in words, of each panel whose variants agree at one place."""
    panels: dict[str, list[Row]] = defaultdict(list)
    for row in cases:
        panels[row["panel"]].append(row)
    return {
        panel: f"{value.text(rows[0])}, all {len(rows)}, at {title} = {rows[0][place]}"
        for panel, rows in panels.items()
        if len(rows) >= charting.MIN_MARKS and len({(value.text(row), row[place]) for row in rows}) == 1
    }


def _stated(equal: Mapping[str, str], order: Sequence[str]) -> list[str]:
    """A sentence for each value, with the panels that have it."""
    panels: dict[str, list[str]] = defaultdict(list)
    for panel in order:
        if panel in equal:
            panels[equal[panel]].append(panel)
    return [f"{text}: {'; '.join(names)}" for text, names in panels.items()]


def _layers(cases: Sequence[Row], value: Value, x: alt.X) -> list[alt.Chart]:
    names = charting.variants_of(cases)
    base = alt.Chart().encode(x=x, color=charting.colour(names))
    y = alt.Y(f"{value.column}:Q", title=value.title, **value.axis)
    size = alt.Size("variant:O", title=charting.VARIANT, scale=charting.nested(names, 130, 30))
    look = {"y": y, "shape": charting.shape(names), "size": size, "tooltip": value.tips}
    line = base.transform_filter(_JOINED).mark_line(strokeWidth=1.5).encode(y=y, detail="variant:N")
    whiskers = base.mark_rule(strokeWidth=2).encode(y=alt.Y("from:Q"), y2=alt.Y2("to:Q"))
    return [line, *[whiskers] * value.has_ends, *_points(cases, base, **look)]


def _points(cases: Sequence[Row], base: alt.Chart, **look: Any) -> list[alt.Chart]:
    """The marks; they are hollow where the place has a longer chain."""
    points = base.transform_filter(_JOINED).mark_point(filled=True, size=60, opacity=1).encode(**look)
    others = base.transform_filter(_OTHER).mark_point(filled=False, size=60, strokeWidth=1.8, opacity=1)
    return [points, *[others.encode(**look)] * any(row["is_other"] for row in cases)]


def _rows(cases: Sequence[Row], value: Value, order: Sequence[str], word: str) -> Chart:
    """A row for each panel and place (``at``), which the ``word`` names, all on one axis. Equal values are stated next
    to their marks.
    """
    names = charting.variants_of(cases)
    places = sorted({row["at"] for row in cases})

    def named(panel: str, place: int) -> str:
        return charting.joined(panel, f"{word} = {place}" if len(places) > 1 else "")

    texts: dict[str, list[str]] = defaultdict(list)
    for row in cases:
        texts[named(row["panel"], row["at"])].append(value.text(row))
    equal = {
        row: f"{own[0]}, all {len(own)}" for row, own in texts.items() if 1 < len(own) != len(set(own)) == 1
    }
    noted = []
    for row in cases:
        name = named(row["panel"], row["at"])
        noted.append({**row, "row": name, "note": equal.pop(name, "")})
    sort = [named(panel, at) for panel in order for at in places if named(panel, at) in texts]
    base = alt.Chart().encode(
        x=alt.X(f"{value.column}:Q", title=value.title, **value.axis),
        y=alt.Y("row:N", title=None, sort=sort, axis=charting.bands()),
    )
    marks = base.encode(yOffset=alt.YOffset("variant:N", sort=names), color=charting.colour(names))
    whiskers = marks.mark_rule(strokeWidth=2).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"))
    points = _points(cases, marks, shape=charting.shape(names), tooltip=value.tips)
    notes = base.mark_text(align="left", dx=12, style=theme.TEXT).encode(text=alt.Text("note:N"))
    layers = [*[whiskers] * value.has_ends, *points, notes]
    height = _ROW_PX * len(names) * len(sort)
    return alt.layer(*layers, data=value.data(noted, "row", "note")).properties(
        width="container", height=height
    )


def _paneled(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows, each with its ``panel``, and whether its place has a longer chain (``is_other``)."""
    is_divided = len({row.get("tuning") for row in rows}) > 1
    named = []
    for row in rows:
        label = row.get("label") or row["operation"]
        panel = charting.joined(label, f"{row.get('tuning')} tuning" if is_divided else "")
        named.append({**row, "label": label, "panel": panel})
    if not _are_told_by_chains(named):
        words = parameters.apart(named, _place)
        named = [
            {**row, "panel": charting.joined(row["panel"], word)}
            for row, word in zip(named, words, strict=True)
        ]
    longest: dict[Any, tuple[int, str]] = {}
    for row in named:
        longest[_place(row)] = max(_chain(row), longest.get(_place(row), _chain(row)))
    return [{**row, "is_other": _chain(row)[1] != longest[_place(row)][1]} for row in named]


def _are_told_by_chains(rows: Sequence[Row]) -> bool:
    """Whether each place has one case, or two with different chains."""
    places: dict[Any, dict[str, str]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: str(row["variant"])):
        places[_place(row)].setdefault(row["comparison_group"], str(row.get("modulus_bits")))
    return all(len(chains) == len(set(chains.values())) <= 2 for chains in places.values())


def _place(row: Row) -> tuple[Any, ...]:
    return row["panel"], row["ring_dimension"], row["vector_length"]


def _chain(row: Row) -> tuple[int, str]:
    return sum(row.get("modulus_bits") or ()), row["comparison_group"]
