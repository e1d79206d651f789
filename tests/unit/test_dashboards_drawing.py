"""What the page of drawings reads and shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_core.errors import UserError
from ciphermark_dashboards.drawing import SIDE, STEPS, bars, dots, pixels_of
from ciphermark_measure.parties import messages

INK = st.lists(st.integers(0, 1000).map(lambda value: value / 1000), min_size=SIDE**2, max_size=SIDE**2)


@given(pixels=INK.filter(any))
def test_a_drawing_is_read_and_shown(pixels):
    assert pixels_of(",".join(map(str, pixels))) == pixels
    shown = [0.0] * SIDE**2
    for column, row, ink in dots(pixels):
        shown[SIDE * row + column] = ink
    assert shown == pixels


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "draw a digit first"),
        ("1,2,x", "draw a digit first"),
        (",".join(["0.5"] * 783), "28 × 28"),
        (",".join(["0"] * 784), "empty"),
        (",".join(["1.01"] + ["0"] * 783), "from 0 to 1"),
        (",".join(["nan"] + ["0"] * 783), "from 0 to 1"),
    ],
)
def test_what_is_no_drawing_is_refused(text, reason):
    with pytest.raises(UserError, match=reason):
        pixels_of(text)


def test_bars_are_as_long_as_scores_are_large():
    assert [bar.share for bar in bars([-1.0, 3.0, 1.0])] == [0.0, 100.0, 50.0]
    assert [bar.share for bar in bars([2.0, 2.0])] == [0.0, 0.0]


def test_every_step_of_a_pass_has_words():
    known = set(messages.Step.__args__)
    assert set(STEPS) <= known
    assert known - set(STEPS) == {"fit", "transfer", "check"}  # no party tells of them in such a pass
