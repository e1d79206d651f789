"""Labels are next to what they name, in order, and cover nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_present import labels

POSITIONS = st.lists(st.floats(0, 200), min_size=1, max_size=14)


@given(POSITIONS)
def test_spread_labels_are_apart_in_their_order_and_within_bounds(positions: list[float]) -> None:
    moved = labels.spread(positions, 7, 200 - 7 + 14)
    order = sorted(range(len(positions)), key=lambda number: positions[number])
    distances = [moved[later] - moved[one] for one, later in pairwise(order)]
    assert all(distance >= labels.LINE - 1e-9 for distance in distances)
    assert all(7 - 1e-9 <= place <= 207 + 1e-9 for place in moved)


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([50], [50]),
        ([20, 100], [20, 100]),
        ([100, 20], [100, 20]),
        ([50, 50], [43, 57]),
        ([50, 54, 100], [45, 59, 100]),
        ([2], [7]),
        ([199, 200], [179, 193]),
    ],
)
def test_labels_move_as_little_as_possible(positions: list[float], expected: list[float]) -> None:
    assert labels.spread(positions, 7, 193) == pytest.approx(expected)


@given(st.lists(st.tuples(st.floats(20, 300), st.floats(20, 180)), min_size=1, max_size=20))
def test_a_label_beside_a_mark_covers_no_other(places: list[tuple[float, float]]) -> None:
    marks = [(x, y, "a protocol") for x, y in places]
    boxes = [
        labels.box(place, "a protocol")
        for place in labels.beside(marks, (0, 0, 320, 200))
        if place is not None
    ]
    assert all(left >= 0 and right <= 320 and bottom <= 200 for left, _, right, bottom in boxes)
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
