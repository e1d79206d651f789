"""Positions of labels: at the ends of lines, and next to marks, where they cover nothing. Pixels, y downwards. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Place: TypeAlias = tuple[float, float, str]  # x, y of the baseline, and the anchor: start, middle or end
Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
CHARACTER = 7.2  # pixels of a label's character
LINE = 14.0  # pixels from one label to the next below it
_OFFSETS: tuple[Place, ...] = (
    (11, 4, "start"),
    (-11, 4, "end"),
    (0, -11, "middle"),
    (0, 20, "middle"),
    (9, -9, "start"),
    (9, 16, "start"),
    (-9, -9, "end"),
    (-9, 16, "end"),
    (0, -26, "middle"),
    (0, 34, "middle"),
)


def spread(positions: Sequence[float], low: float, high: float, apart: float = LINE) -> list[float]:
    """The positions, moved as little as possible (least squares) so that they are ``apart`` and in their order, then
    into the bounds, which must have room for them.

    Pool adjacent violators (Ayer et al., 1955) of the positions without their distances.
    """
    order = sorted(range(len(positions)), key=lambda number: positions[number])
    pools: list[tuple[float, int]] = []  # the mean and the number of its positions
    for rank, number in enumerate(order):
        mean, count = positions[number] - rank * apart, 1
        while pools and pools[-1][0] > mean:
            other, others = pools.pop()
            mean, count = (mean * count + other * others) / (count + others), count + others
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    end = high - (len(order) - 1) * apart
    moved = {
        number: min(max(mean, low), end) + rank * apart
        for rank, (number, mean) in enumerate(zip(order, means, strict=True))
    }
    return [moved[number] for number in range(len(positions))]


def beside(
    marks: Sequence[tuple[float, float, str]], bounds: Box, *, is_above: bool = False
) -> list[Place | None]:
    """For each mark (x, y, text) the first position of its label within the bounds that covers no other label or mark;
    ``None`` where there is none. Upper marks are labelled first; ``is_above``: above or below, where an interval is at
    both sides.
    """
    offsets = [each for each in _OFFSETS if abs(each[1]) > LINE / 2] if is_above else _OFFSETS
    taken: list[Box] = []
    places: dict[int, Place] = {}
    for number in sorted(range(len(marks)), key=lambda number: marks[number][1]):
        x, y, text = marks[number]
        others = [(mark[0], mark[1]) for place, mark in enumerate(marks) if place != number]
        for dx, dy, anchor in offsets:
            place = x + dx, y + dy, anchor
            where = box(place, text)
            if _is_free(where, bounds, taken, others):
                taken.append(where)
                places[number] = place
                break
    return [places.get(number) for number in range(len(marks))]


def box(place: Place, text: str) -> Box:
    """The area of a label at a position."""
    x, y, anchor = place
    width = len(text) * CHARACTER
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, y - 11, left + width, y + 3


def _is_free(box: Box, bounds: Box, taken: Sequence[Box], marks: Sequence[tuple[float, float]]) -> bool:
    left, top, right, bottom = box
    is_inside = left >= bounds[0] and right <= bounds[2] and top >= bounds[1] - 2 and bottom <= bounds[3]
    is_over_label = any(left < b[2] and right > b[0] and top < b[3] and bottom > b[1] for b in taken)
    is_over_mark = any(left - 7 < x < right + 7 and top - 5 < y < bottom + 5 for x, y in marks)
    return is_inside and not is_over_label and not is_over_mark
