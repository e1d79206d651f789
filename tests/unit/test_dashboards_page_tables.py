"""Tables of pages: at most eight columns, sorted and in pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_core.errors import UserError
from ciphermark_dashboards import page_tables
from ciphermark_dashboards.page_tables import Addresses, Arrangement
from ciphermark_dashboards.pages import FIGURES
from ciphermark_present.catalogue.columns import PARAMETERS, RATIO_INTERVAL
from ciphermark_present.figure import OPENED, Column


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_at_most_eight_columns_and_loses_none(name: str) -> None:
    figure = FIGURES[name]
    others = (replace(column, detail=5) for column in PARAMETERS)
    columns = tuple({column.name: column for column in (*figure.columns, *others, *figure.columns)}.values())
    rows = [{column.name: (place, place) for column in columns} for place in range(2)]
    told = page_tables.columns_of(columns, rows)
    assert 0 < len(told.shown) <= page_tables.MAX_COLUMNS
    assert sorted(column.name for part in (told.shown, told.opened) for column in part) == sorted(
        column.name for column in columns
    )
    kept = [column for column in figure.columns if column.detail == 0]
    assert len(kept) <= page_tables.MAX_COLUMNS, "columns that never go"
    assert figure.columns[0] in told.shown, "the column that names a row"


def test_what_all_rows_share_is_no_column() -> None:
    columns = (Column("operation", "Operation"), Column("n", "N"), Column("seed", "Seed", detail=OPENED))
    rows = [{"operation": "add", "n": n, "seed": n} for n in (1, 2)]
    told = page_tables.columns_of(columns, rows)
    assert [[column.name for column in part] for part in (told.shown, told.opened, told.shared)] == [
        ["n"],
        ["seed"],
        ["operation"],
    ]
    assert len(page_tables.columns_of(columns, rows[:1]).shown) == 2, "a single row shares nothing"


@given(st.lists(st.one_of(st.none(), st.integers(), st.floats(allow_nan=False))), st.booleans())
def test_rows_are_sorted_and_those_without_a_value_come_last(
    values: list[float | None], is_descending: bool
) -> None:
    column = Column("median", "Median")
    rows = [{"median": value} for value in values]
    told = page_tables.arranged(rows, [column], Arrangement("median", is_descending))
    present = [value for value in values if value is not None]
    expected = sorted(present, reverse=is_descending)
    assert [row["median"] for row in told] == expected + [None] * (len(values) - len(present))
    assert page_tables.arranged(rows, [column], Arrangement("other")) == rows


@given(count=st.integers(0, 1000), page=st.integers(1, 100))
def test_pages_have_every_row_once(count: int, page: int) -> None:
    addresses = Addresses("latency", "/operations?run=a")
    part = page_tables.pages(count, Arrangement("median", page=page), addresses)
    assert part.last - part.first < page_tables.ROWS
    assert part.last <= count
    assert bool(part.before) == (part.first > 1)
    assert bool(part.after) == (part.last < count)


def test_an_address_names_the_order_and_the_page() -> None:
    arrangement = Arrangement("median", True, 3)
    assert page_tables.arrangements(arrangement.text("latency")) == {"latency": arrangement}
    assert arrangement.by("median") == Arrangement("median")
    assert arrangement.by("n") == Arrangement("n")
    assert Arrangement("median").by("median") == Arrangement("median", True)
    assert page_tables.arrangements("") == {}


@pytest.mark.parametrize(
    "text", ["latency", "latency:median", "latency:median:0", "latency:median:x", ":a:1"]
)
def test_an_address_with_another_order_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="FIGURE:COLUMN:PAGE"):
        page_tables.arrangements(text)


def test_bars_compare_the_variants_of_a_case() -> None:
    column = Column("median", "Median", is_compared=True)
    rows = [
        {"comparison_group": group, "median": value}
        for group, value in (("a", 1.0), ("a", 4.0), ("a", 1.04), ("b", 9.0), ("c", None), ("c", 2.0))
    ]
    of = page_tables.comparisons(rows, column)
    told = [of(row) for row in rows]
    assert [each and (each.share, each.is_best) for each in told] == [
        (0.25, True),
        (1.0, False),
        (0.26, True),
        None,
        None,
        None,
    ]


def test_the_ratio_of_the_fastest_to_itself_has_no_interval() -> None:
    bounds = ((1.0, 1.0), (0.972, 1.0), (1.2, 1.3), (None, None))
    cells = [RATIO_INTERVAL.cell({"ci_low": low, "ci_high": high}) for low, high in bounds]
    assert cells == ["", "[0.972, 1.00]", "[1.20, 1.30]", ""]
