"""Two measures against each other on logarithmic axes: marks, their labels, and the Pareto front. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ciphermark_present import ratio_axis
from ciphermark_present.ratio_axis import Axis

_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 40.0, 18.0, 40.0  # pixels around the frame
_CHARACTER = 7.2  # pixels of a label's character
_X_LABEL, _Y_LABEL = 56.0, 20.0  # pixels that labels of axes take
_EQUAL = 1.0001  # a smaller ratio counts as equal


@dataclass(frozen=True, slots=True)
class Point:
    """One variant, with its values of both measures."""

    variant: str
    x: float
    y: float
    is_hollow: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """The positions of a variant's mark and label, in pixels; ``label`` is ``None`` where there is no room for one."""

    point: Point
    x: float
    y: float
    label: tuple[float, float, str] | None


@dataclass(frozen=True, slots=True)
class Scatter:
    """A picture of points: ticks are values with their positions; ``front`` is an SVG path."""

    width: float
    height: float
    frame: tuple[float, float, float, float]
    x_ticks: Sequence[tuple[float, float]]
    y_ticks: Sequence[tuple[float, float]]
    marks: Sequence[Mark]
    front: str


def front(points: Sequence[Point]) -> list[Point]:
    """The points that no other point beats in both measures, the fastest first."""
    kept: list[Point] = []
    for point in sorted(points, key=lambda each: (each.x, each.y)):
        if not kept or point.y * _EQUAL < kept[-1].y:
            kept.append(point)
    return kept


def scatter(points: Sequence[Point], width: float, height: float) -> Scatter:
    """The picture of at least two points."""
    left, right, top, bottom = _LEFT, width - _RIGHT, _TOP, height - _BOTTOM
    x_axis = ratio_axis.around([point.x for point in points], 1.16)
    y_axis = ratio_axis.around([point.y for point in points], 1.14)

    def x(value: float) -> float:
        return _rounded(left + (right - left) * x_axis.position(value) / 100)

    def y(value: float) -> float:
        return _rounded(bottom - (bottom - top) * y_axis.position(value) / 100)

    placed = [(point, x(point.x), y(point.y)) for point in points]
    return Scatter(
        width,
        height,
        (left, right, top, bottom),
        [(value, x(value)) for value in _ticks(x_axis, _X_LABEL / (right - left))],
        [(value, y(value)) for value in _ticks(y_axis, _Y_LABEL / (bottom - top))],
        list(_labelled(placed, (left, top, width, bottom))),
        _line([(x(point.x), y(point.y)) for point in front(points)], top, right),
    )


def _rounded(pixels: float) -> float:
    return round(pixels, 1)


def _ticks(axis: Axis, share: float) -> list[float]:
    return ratio_axis.ticks(axis, 100 * share)


def _line(places: Sequence[tuple[float, float]], top: float, right: float) -> str:
    """The path from above the fastest point down to it, in steps through the others, and out to the right."""
    (x, y), *rest = places
    steps = "".join(f"H{next_x}V{next_y}" for next_x, next_y in rest)
    return f"M{x} {top}V{y}{steps}H{right}"


Box = tuple[float, float, float, float]


def _labelled(placed: Sequence[tuple[Point, float, float]], bounds: Box) -> Iterator[Mark]:
    """The marks, each with a label at the first free position next to it."""
    taken: list[Box] = []
    for point, x, y in sorted(placed, key=lambda each: -each[0].y):
        others = [(other_x, other_y) for other, other_x, other_y in placed if other is not point]
        label = None
        for each in _places(x, y):
            where = box(each, point.variant)
            if _is_free(where, bounds, taken, others):
                taken.append(where)
                label = each
                break
        yield Mark(point, x, y, label)


def _places(x: float, y: float) -> Iterator[tuple[float, float, Any]]:
    yield x + 11, y + 4, "start"
    yield x - 11, y + 4, "end"
    yield x, y - 11, "middle"
    yield x, y + 20, "middle"
    yield x + 9, y - 9, "start"
    yield x + 9, y + 16, "start"
    yield x - 9, y - 9, "end"
    yield x - 9, y + 16, "end"
    yield x, y - 26, "middle"
    yield x, y + 34, "middle"


def box(place: tuple[float, float, str], text: str) -> Box:
    """The area of a label at a position: left, top, right and bottom."""
    x, y, anchor = place
    width = len(text) * _CHARACTER
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - 11, left + width, y + 3


def _is_free(box: Box, bounds: Box, taken: Sequence[Box], marks: Sequence[tuple[float, float]]) -> bool:
    left, top, right, bottom = box
    is_inside = left >= bounds[0] and right <= bounds[2] and top >= bounds[1] - 2 and bottom <= bounds[3]
    is_over_label = any(left < b[2] and right > b[0] and top < b[3] and bottom > b[1] for b in taken)
    is_over_mark = any(left - 7 < x < right + 7 and top - 5 < y < bottom + 5 for x, y in marks)
    return is_inside and not is_over_label and not is_over_mark
