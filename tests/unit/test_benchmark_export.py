from __future__ import annotations

import csv
import io
import json
import math
import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_benchmark import export
from ciphermark_core.errors import UserError
from ciphermark_db.database import Table

MOMENT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc)
TABLE = Table(
    ("text", "whole", "real", "flag", "bits", "absent", "moment", "exact", "facts"),
    [
        ('a,"b"\nc', 1, 0.1, True, [36, 36, 37], None, MOMENT, Decimal(2) ** 59, {"gcc": "12"}),
        (None, None, None, None, None, None, None, None, None),
        ("", -5, 1e-12, False, [], None, MOMENT, Decimal(7), {}),
    ],
)


FIRST = dict(zip(TABLE.columns, TABLE.rows[0], strict=True))


def from_csv(content):
    return list(csv.reader(io.StringIO(content.decode())))


def from_parquet(content):
    return pq.read_table(io.BytesIO(content)).to_pylist()


def test_csv():
    header, first, absent, last = from_csv(export.rendered(TABLE, "csv"))
    assert header == list(TABLE.columns)
    assert first == [
        'a,"b"\nc',
        "1",
        "0.1",
        "True",
        "[36, 36, 37]",
        "",
        str(MOMENT),
        str(2**59),
        '{"gcc": "12"}',
    ]
    assert absent == [""] * 9
    assert last[3:6] == ["False", "[]", ""]


def test_json():
    rows = json.loads(export.rendered(TABLE, "json"))
    assert rows[0] == FIRST | {"moment": MOMENT.isoformat(), "exact": 2**59}
    assert rows[1] == dict.fromkeys(TABLE.columns)
    assert len(rows) == 3


def test_parquet():
    rows = from_parquet(export.rendered(TABLE, "parquet"))
    assert rows[0] | {"facts": json.loads(rows[0]["facts"])} == FIRST
    assert rows[1] == dict.fromkeys(TABLE.columns)
    assert rows[2]["bits"] == []


def test_the_table_form_has_every_value():
    text = export.rendered(
        Table(("name", "value"), [("add", 0.000123456789), (None, [1, 2])]), "table"
    ).decode()
    assert "0.000123457" in text
    assert "[1, 2]" in text
    assert "None" not in text


reals = st.floats(allow_nan=False, allow_infinity=False)
cells = st.tuples(
    st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")),
    st.none() | st.integers(-(2**62), 2**62),
    st.none() | reals,
    st.none() | st.lists(st.integers(0, 60), max_size=4),
)


@given(st.lists(cells, min_size=1, max_size=5))
def test_numbers_are_the_same_in_every_form(rows):
    table = Table(("text", "whole", "real", "bits"), rows)
    wanted = [dict(zip(table.columns, row, strict=True)) for row in rows]
    assert json.loads(export.rendered(table, "json")) == wanted
    assert from_parquet(export.rendered(table, "parquet")) == wanted
    _, *lines = from_csv(export.rendered(table, "csv"))
    assert [
        {
            "text": row["text"] or None,
            "whole": row["whole"],
            "real": row["real"],
            "bits": row["bits"],
        }
        for row in wanted
    ] == [
        {
            "text": text or None,
            "whole": int(whole) if whole else None,
            "real": float(real) if real else None,
            "bits": json.loads(bits) if bits else None,
        }
        for text, whole, real, bits in lines
    ]


ODD = [
    (math.nan, None),
    (math.inf, None),
    (-math.inf, None),
    (Decimal("NaN"), None),
    (Decimal("Infinity"), None),
    (Decimal("1.5"), 1.5),
    (2**80, 2**80),
    (uuid.UUID(int=5), str(uuid.UUID(int=5))),
    (date(2026, 1, 2), "2026-01-02"),
    (time(1, 2), "01:02:00"),
    ([uuid.UUID(int=5)], [str(uuid.UUID(int=5))]),
    ([Decimal(1), Decimal("NaN")], [1, None]),
    ([1, "a", None, [2.5]], [1, "a", None, [2.5]]),
    ({"a": [Decimal(2) ** 70, math.inf]}, {"a": [2**70, None]}),
]


@pytest.mark.parametrize(("value", "in_json"), ODD, ids=lambda value: repr(value)[:30])
def test_whatever_postgresql_answers_can_be_exported(value, in_json):
    table = Table(("a",), [(value,), (None,)])
    strict = json.loads(export.rendered(table, "json"), parse_constant=pytest.fail)
    assert strict == [{"a": in_json}, {"a": None}]
    assert len(from_parquet(export.rendered(table, "parquet"))) == 2
    assert len(from_csv(export.rendered(table, "csv"))) == 3
    assert export.rendered(table, "table")


def test_values_of_several_types_in_one_column_become_text_in_parquet():
    table = Table(("a",), [({"x": 1},), (3,), ("y",), (None,)])
    assert [row["a"] for row in from_parquet(export.rendered(table, "parquet"))] == [
        '{"x": 1}',
        "3",
        '"y"',
        None,
    ]


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_two_columns_of_one_name_are_told(form):
    with pytest.raises(UserError, match="2 columns are named 'a'"):
        export.rendered(Table(("a", "b", "a"), [(1, 2, 3)]), form)


@pytest.mark.parametrize("form", ["csv", "table"])
def test_two_columns_of_one_name_are_no_trouble_for_text(form):
    text = export.rendered(Table(("a", "a"), [(11, 22)]), form).decode()
    assert "11" in text
    assert "22" in text


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "table"])
def test_an_empty_answer_has_a_form_too(form, tmp_path):
    export.write(Table(("a", "b"), []), form, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == export.rendered(Table(("a", "b"), []), form)
    if form == "parquet":
        assert pq.read_table(tmp_path / "out").column_names == ["a", "b"]


def test_brackets_are_no_markup():
    text = export.rendered(Table(("[/red]", "[bold]b"), [("[red]x[/red]", ["[/y]"])]), "table").decode()
    for part in ("[/red]", "[bold]b", "[red]x[/red]", "[/y]"):
        assert part in text


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(UserError, match=r"nowhere/out.csv: cannot write: No such file or directory"):
        export.write(Table(("a",), []), "csv", tmp_path / "nowhere" / "out.csv")


def test_a_wide_table_is_not_folded_where_there_is_no_margin():
    columns = tuple(f"a_rather_long_name_{number}" for number in range(40))
    header, row, *rest = export.rendered(Table(columns, [(1,) * 40]), "table").decode().splitlines()
    assert header.split() == list(columns)
    assert row.split() == ["1"] * 40
    assert rest == []


@given(rows=st.lists(st.tuples(st.text("abc{}:,"), st.integers(), st.text("xyz", max_size=200)), max_size=4))
def test_a_terminal_shows_every_value_within_its_width(rows):
    """A row is a line where that fits; else each value has its own, and what is long goes on below it."""
    table = Table(("parameter_set_id", "count", "words"), rows)
    lines = list(export.at_width(table, 60))
    assert max(map(len, lines), default=0) <= 60
    letters = "".join(lines).replace(" ", "")
    for row in rows:
        assert all(str(value) in letters for value in row)


def test_few_columns_are_a_table_and_many_are_a_list():
    few = Table(("operation", "median"), [("add", 0.5), ("mul", 2.0)])
    assert list(export.at_width(few, 80)) == ["operation  median", "add        0.5", "mul        2"]
    many = Table(tuple(f"column_{number}" for number in range(30)), [tuple(range(30))] * 2)
    first, second, *_ = export.at_width(many, 80)
    assert (first, second.split()) == ("row 1", ["column_0", "0"])
    assert len(list(export.at_width(many, 80))) == 2 * 31
