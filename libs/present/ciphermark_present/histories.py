"""Times over the runs of one suite: which of them changed, and pictures of them. Pure.

``rows`` are those of the block ``histories``: a row per run and result, the earliest run first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from ciphermark_analysis import history
from ciphermark_analysis.history import ChangePoint
from ciphermark_present import answers, changes, formats, labels, ratio_axis
from ciphermark_present.query import Row

MIN_RUNS = 3
_LEFT, _RIGHT, _TOP, _BOTTOM = 60.0, 78.0, 22.0, 26.0  # pixels around the frame
_Y_LABEL, _NAME = 22.0, 14.0  # pixels that a tick's label and a line's name take
_MARGIN = 1.06  # factor between the outermost value and the frame
_result = ("case_key", "phase", "repetitions")
_panel = ("comparison_group", "phase", "repetitions")


@dataclass(frozen=True)
class Series:
    """A time of one library, with a row per run and its change points."""

    rows: Sequence[Row]
    points: Sequence[ChangePoint]

    @property
    def variant(self) -> str:
        """Its library."""
        return str(self.rows[0]["variant"])

    @property
    def place(self) -> tuple[object, ...]:
        """The computation and phase: libraries with the same share a picture."""
        return tuple(self.rows[0][name] for name in _panel)

    @cached_property
    def size(self) -> float:
        """The largest change, as a factor above 1; 1 without a change."""
        return max((max(point.ratio, 1 / point.ratio) for point in self.points), default=1.0)

    @property
    def sentences(self) -> list[str]:
        """Its change points in words."""
        return [f"{self.variant} is {_change(point.ratio)} {self._since(point)}" for point in self.points]

    def _since(self, point: ChangePoint) -> str:
        first = formats.minute(self.rows[point.earliest]["started_at"])
        if point.earliest == point.latest:
            return f"from {first} on"
        return f"from between {first} and {formats.minute(self.rows[point.latest]['started_at'])} on"


def of_runs(rows: Iterable[Row], threshold: float | None = None) -> list[Series]:
    """The series of results that several runs have, judged together, those with the largest changes first.

    ``threshold`` is the significance threshold of times, a factor, as for two runs.
    """
    grouped: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        grouped.setdefault(tuple(row[name] for name in _result), {}).setdefault(str(row["run_id"]), row)
    histories = [list(own.values()) for own in grouped.values() if len(own) >= MIN_RUNS]
    rule = history.rule(histories, threshold)
    series = [Series(own, history.change_points(own, rule)) for own in histories]
    return sorted(series, key=lambda each: -each.size)


def pictured(series: Sequence[Series], case: str, changed: Iterable[Row]) -> list[list[Series]]:
    """The series of each picture: all phases of the chosen case; without one, the series with a change point or a
    result in ``changed``, each with all libraries of its computation. One picture of each operation comes first.
    """
    wanted = {(row["phase"], row["repetitions"], row["comparison_group"], row["variant"]) for row in changed}

    def is_wanted(each: Series) -> bool:
        row = each.rows[0]
        if case:
            return bool(row["comparison_group"] == case)
        own = (row["phase"], row["repetitions"], row["comparison_group"], row["variant"])
        return bool(each.points) or own in wanted

    places = {each.place: each.rows[0]["operation"] for each in series if is_wanted(each)}
    firsts = {operation: place for place, operation in reversed(places.items())}
    ordered = sorted(places, key=lambda place: place not in firsts.values())
    return [[each for each in series if each.place == place] for place in ordered]


@dataclass(frozen=True, slots=True)
class Mark:
    """The time of one run, in pixels: ``low`` and ``high`` are the ends of its interval, if it has one."""

    row: Row
    x: float
    y: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A library's times in a picture; its name stands at the height ``label``."""

    variant: str
    marks: Sequence[Mark]
    path: str
    label: float


@dataclass(frozen=True, slots=True)
class Shift:
    """A change point in a picture: between two runs, of some libraries."""

    left: float
    right: float
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The times of one computation over the runs, at their true distances, on a logarithmic axis."""

    title: str
    about: str
    width: float
    height: float
    frame: tuple[float, float, float, float]
    dates: tuple[str, str]
    ticks: Sequence[tuple[str, float]]
    lines: Sequence[Line]
    shifts: Sequence[Shift]


def picture(series: Sequence[Series], width: float, height: float) -> Picture:
    """The picture of series of one computation."""
    frame = left, right, top, bottom = _LEFT, width - _RIGHT, _TOP, height - _BOTTOM
    rows = [row for each in series for row in each.rows]
    ends = [end for row in rows for end in (row["median"], row["low"], row["high"]) if end]
    axis = ratio_axis.around(ends, _MARGIN)
    moments = [row["started_at"] for row in rows]
    first, last = min(moments), max(moments)

    def x(moment: datetime) -> float:
        share = (moment - first) / (last - first) if last > first else 0.5
        return round(left + 8 + (right - left - 16) * share, 1)

    def y(value: float) -> float:
        return round(bottom - (bottom - top) * axis.position(value) / 100, 1)

    return Picture(
        _title(series),
        ", ".join(
            filter(None, (changes.computation(rows[0]), changes.conditions(rows[0]), rows[0]["phase"]))
        ),
        width,
        height,
        frame,
        _dates(first, last),
        [
            (formats.tick_seconds(value), y(value))
            for value in ratio_axis.ticks(axis, 100 * _Y_LABEL / (bottom - top))
        ],
        _lines(series, x, y, bottom),
        _shifts(series, x),
    )


def _title(series: Sequence[Series]) -> str:
    sentences = [text for each in series for text in each.sentences]
    if not sentences:
        return f"No change point in {max(len(each.rows) for each in series)} runs"
    return sentences[0] + (f", and {len(sentences) - 1} more" if len(sentences) > 1 else "")


def _change(ratio: float) -> str:
    """A change of the level in words."""
    return f"{answers.times(max(ratio, 1 / ratio))} {'slower' if ratio > 1 else 'faster'}"


def _dates(first: datetime, last: datetime) -> tuple[str, str]:
    """The moments at the ends of the axis, no more exact than needed."""
    write: Callable[[datetime], str] = formats.minute
    if first.date() != last.date():
        write = _day
    return write(first), write(last)


def _day(moment: datetime) -> str:
    return formats.moment(moment, "%Y-%m-%d")


def _lines(
    series: Sequence[Series], x: Callable[[datetime], float], y: Callable[[float], float], bottom: float
) -> list[Line]:
    """The lines, with names that do not overlap."""
    marks = {
        each.variant: [
            Mark(
                row,
                x(row["started_at"]),
                y(row["median"]),
                None if row["low"] is None else y(row["low"]),
                None if row["high"] is None else y(row["high"]),
            )
            for row in each.rows
        ]
        for each in series
    }
    heights = labels.spread([own[-1].y for own in marks.values()], _TOP, bottom, _NAME)
    return [
        Line(name, own, "M" + "L".join(f"{mark.x} {mark.y}" for mark in own), round(height, 1))
        for (name, own), height in zip(marks.items(), heights, strict=True)
    ]


def _shifts(series: Sequence[Series], x: Callable[[datetime], float]) -> list[Shift]:
    """The change points, those of several libraries at one position together."""
    places: dict[tuple[float, float], list[str]] = {}
    for each in series:
        xs = [x(row["started_at"]) for row in each.rows]
        for point in each.points:
            if point.earliest == point.latest:
                middle = round((xs[point.latest - 1] + xs[point.latest]) / 2, 1)
                place = (middle, middle)
            else:
                place = (xs[point.earliest - 1], xs[point.latest])
            places.setdefault(place, []).append(f"{each.variant} {_change(point.ratio)}")
    return [
        Shift(*place, texts[0] if len(texts) == 1 else f"{len(texts)} libraries")
        for place, texts in sorted(places.items())
    ]
