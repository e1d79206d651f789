"""What is printed of a run where all of it takes more than two screens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_present.printed import Head, Printed
from ciphermark_present.terminal import fitting, height

WIDTH = 100


def table(title: str, rows: int, explained: str = "") -> Printed:
    heads = (Head("operation"), Head("seal", True))
    texts = tuple((f"add {place}", "1 ms") for place in range(rows))
    return Printed(title, "about", heads, texts, explained=explained)


def lines(groups: list[list[Printed]]) -> int:
    return sum(height(each, WIDTH) for group in groups for each in group)


@pytest.mark.parametrize("count", [1, 3, 40])
def test_what_fits_has_no_more_lines_than_there_are(count: int) -> None:
    groups = [
        [table(f"{name} {place}", 5 + place) for place in range(count)]
        for name in ("times", "depth", "sizes")
    ]
    shown = fitting(groups, WIDTH, 80)
    assert 0 < lines(shown) <= 80
    assert all(shown), "a table of each"


def test_what_fits_as_a_whole_stays_as_it_is() -> None:
    groups = [[table("times", 4), table("more times", 4)], [table("depth", 2, "what it means")]]
    assert fitting(groups, WIDTH, 80) == groups


def test_a_long_table_loses_rows_and_says_how_many() -> None:
    ((shown,),) = fitting([[table("times", 100)]], WIDTH, 80)
    assert len(shown.rows) + shown.hidden_rows == 100
    assert height(shown, WIDTH) < 80


def test_tables_are_taken_from_all_over_a_group_in_its_order() -> None:
    (shown,) = fitting([[table(str(place), 10) for place in range(8)]], WIDTH, 4 * 14)
    assert [each.title for each in shown] == ["0", "2", "4", "6"]


def test_what_is_explained_stands_below_the_last_table_that_is_shown() -> None:
    many = [table(str(place), 10) for place in range(8)]
    many[-1] = replace(many[-1], explained="what it means")
    (shown,) = fitting([many], WIDTH, 60)
    assert [each.explained for each in shown] == [""] * (len(shown) - 1) + ["what it means"]
    assert lines([shown]) <= 60


def test_without_room_nothing_is_shown() -> None:
    assert fitting([[table("times", 4)], []], WIDTH, 3) == [[], []]
