"""Two measures against each other on logarithmic axes: marks, their labels, and the Pareto front. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_present import labels, ratio_axis
from ciphermark_present.ratio_axis import Axis

_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 40.0, 18.0, 40.0  # pixels around the frame
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

    placed = sorted(((point, x(point.x), y(point.y)) for point in points), key=lambda each: -each[0].y)
    names = labels.beside(
        [(at_x, at_y, point.variant) for point, at_x, at_y in placed], (left, top, width, bottom)
    )
    return Scatter(
        width,
        height,
        (left, right, top, bottom),
        [(value, x(value)) for value in _ticks(x_axis, _X_LABEL / (right - left))],
        [(value, y(value)) for value in _ticks(y_axis, _Y_LABEL / (bottom - top))],
        [Mark(*mark, label) for mark, label in zip(placed, names, strict=True)],
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
