"""What figures make of rows: judged comparisons, grids, texts, what is kept."""

from __future__ import annotations

import pytest

from ciphermark_dashboards import formats
from ciphermark_dashboards.catalogue import comparing, times
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.kept import Kept
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.store import Answer
from ciphermark_db.comparison import PLACE

SIDE = {
    "n": 10,
    "median": 1.0,
    "low": 0.99,
    "high": 1.01,
    "status": "ok",
    "ring_dimension": 8192,
    "log_qp": 218.0,
}
LEVEL = {"security_2018": 128, "security_2024": 128}


def two(variant: str, a: float | None, b: float | None, metric: str = "time") -> dict[str, object]:
    row: dict[str, object] = dict.fromkeys(PLACE) | {
        "variant": variant,
        "metric": metric,
        "unit": {"time": "s", "size": "bytes"}[metric],
        "comparison_key": "c",
    }
    for name, median in (("a", a), ("b", b)):
        side = SIDE | LEVEL | {"median": median}
        if median is None:
            side |= {"status": None}
        else:
            side |= {"low": median * 0.99, "high": median * 1.01}
        row |= {f"{name}_{key}": value for key, value in side.items()}
    return row


ROWS = [
    two("same", 1.0, 1.0),
    two("only-a", 1.0, None),
    two("better", 2.0, 1.0),
    two("size", 10.0, 20.0, "size"),
    two("worse", 1.0, 2.0),
    two("equal", 10.0, 10.0, "size"),
]


def judged(show: str = "all", rows: list[dict[str, object]] = ROWS) -> list[dict[str, object]]:
    answer = Answer(tuple(rows[0]), [tuple(row.values()) for row in rows])
    params = {"levels": "equal", "show": show, "run_a": "ra", "run_b": "rb"}
    return comparing.judged(answer, params).mappings


def test_regressions_come_first_and_what_cannot_be_compared_last():
    assert [row["variant"] for row in judged()] == ["worse", "size", "better", "same", "equal", "only-a"]
    assert judged()[-1]["verdict"] == "not comparable: run b has no such case or metric"
    assert [row["run_id"] for row in judged()] == ["rb"] * 5 + ["ra"]
    assert list(comparing.counted(judged())) == [
        "1 slower",
        "1 worse",
        "1 faster",
        "1 no difference",
        "1 unchanged",
        "1 not comparable",
    ]


@pytest.mark.parametrize(
    ("show", "variants"),
    [
        ("regressions", ["worse", "size"]),
        ("changed", ["worse", "size", "better"]),
        ("unchanged", ["same", "equal"]),
        ("not comparable", ["only-a"]),
    ],
)
def test_one_can_look_at_some(show, variants):
    assert [row["variant"] for row in judged(show)] == variants


def cell(variant: str, operation: str, **changes: object) -> dict[str, object]:
    names = {column.name for column in times.MATRIX.columns}
    whole = dict.fromkeys(names) | {"operation": operation, "variant": variant, "status": "ok"}
    return whole | {"comparison_key": f"{operation}-key"} | changes


def test_a_grid_shows_what_is_missing_and_what_failed():
    measured = {"median": 0.002, "ratio": 2.0, "verdict": "slower", "is_equal_parameters": True}
    rows = [
        cell("seal", "add", **measured | {"ratio": 1.0, "verdict": "no difference"}),
        cell("tenseal", "add", **measured | {"is_equal_parameters": False}),
        cell("seal", "mul", status="crashed", error="signal 11"),
        cell("tenseal", "rotate", **measured | {"ratio": 1.02, "verdict": "no difference"}),
    ]
    item = Filled(
        times.MATRIX, Selection((("run", "r"),)), Answer(tuple(rows[0]), [tuple(r.values()) for r in rows])
    )
    assert item.variants == ["seal", "tenseal"]
    texts = {place[0]: [(found.text, found.status) for found in cells] for place, cells in item.grid}
    assert texts == {
        "add": [("2 ms · 1×", "ok"), ("2 ms · 2×*", "ok")],
        "mul": [("crashed", "crashed"), ("not in this run", "missing")],
        "rotate": [("not in this run", "missing"), ("2 ms · ≈1.02×", "ok")],
    }
    links = [found.comparison_key for _, cells in item.grid for found in cells]
    assert links == ["add-key", "add-key", "mul-key", None, None, "rotate-key"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "s", "–"),
        (0.0, "s", "0 ns"),
        (1.5e-7, "s", "150 ns"),
        (2.5, "s", "2.5 s"),
        (1536.0, "bytes", "1.5 KiB"),
        (0.0, "bytes", "0 B"),
        (3.0, "bits", "3 bits"),
        (1.0, "flag", "1"),
        (12345.6, None, "12,346"),
    ],
)
def test_quantities_have_the_unit_that_fits(value, unit, text):
    assert formats.quantity(value, unit) == text


def test_what_was_asked_for_last_is_kept_within_bounds():
    made = []
    kept: Kept[str] = Kept(most=10, weight=len)

    def get(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key * 4

        return kept.get(key, make)

    for key in "aabab":
        assert get(key) == key * 4
    assert made == ["a", "b"]
    get("a")
    get("c")  # 12 is more than 10: b, unused for longest, goes
    get("a")
    assert made == ["a", "b", "c"]
    get("b")
    assert made == ["a", "b", "c", "b"]
