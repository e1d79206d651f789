"""What results make of rows: judged comparisons, grids, texts, what is kept."""

from __future__ import annotations

import pytest

from ciphermark_analysis.comparison import PLACE
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.rendering import Filled, Kept
from ciphermark_present import formats
from ciphermark_present.catalogue import comparing, times
from ciphermark_present.page import OF_METRIC, THRESHOLD
from ciphermark_present.query import Answer

RESULT = dict.fromkeys(PLACE) | {
    "scheme": "bfv",
    "operation": "add",
    "n": 10,
    "processes": 2,
    "status": "ok",
    "error": None,
    "ring_dimension": 8192,
    "log_qp": 218.0,
    "security_2018": 128,
    "security_2024": 128,
    "security_compared": 128,
    "security_compared_2024": 128,
    "security_table": "2018",
    "key_switching": "hybrid",
    "decomposition_digits": 4,
    "encryption": "public key",
    "parameter_set_id": "p",
    "is_composite": False,
    "reference_kernel_s": None,
    "memory_kernel_s": None,
    "undisturbed_share": None,
    "slowdown": None,
    "comparison_group": "c",
}
JUDGED = {"direction": "lower", "threshold": 1.05, "threshold_kind": "factor"}


def result(variant: str, median: float, metric: str) -> dict[str, object]:
    own = {"median": median, "low": median * 0.99, "high": median * 1.01}
    unit = {"time": "s", "size": "bytes"}[metric]
    return RESULT | own | {"variant": variant, "case_key": variant, "metric": metric, "unit": unit} | JUDGED


CASES = [
    ("same", 1.0, 1.0, "time"),
    ("only-a", 1.0, None, "time"),
    ("better", 2.0, 1.0, "time"),
    ("size", 10.0, 20.0, "size"),
    ("worse", 1.0, 2.0, "time"),
    ("equal", 10.0, 10.0, "size"),
]


def of_run(number: int) -> Answer:
    rows = [result(case[0], case[number], case[3]) for case in CASES if case[number] is not None]
    return Answer(tuple(rows[0]), [tuple(row.values()) for row in rows])


def judged(threshold: str = OF_METRIC) -> list[dict[str, object]]:
    params = {"levels": "equal", "threshold": threshold, "run_a": "ra", "run_b": "rb"}
    return comparing.judged([of_run(1), of_run(2)], params).mappings


def test_regressions_come_first_and_what_cannot_be_compared_last():
    assert [row["variant"] for row in judged()] == ["worse", "size", "better", "equal", "same", "only-a"]
    assert judged()[-1]["verdict"] == "not comparable: only in run A"
    assert [row["run_id"] for row in judged()] == ["rb"] * 5 + ["ra"]
    assert list(comparing.counted(judged())) == [
        "1 slower",
        "1 worse",
        "1 faster",
        "2 unchanged",
        "1 not comparable",
    ]


@pytest.mark.parametrize(
    ("threshold", "verdict"), [(OF_METRIC, "unchanged"), ("5%", "unchanged"), ("1%", "undecided")]
)
def test_a_page_has_the_threshold_that_its_reader_chose(threshold, verdict):
    """The interval of *same* reaches from 0.98 to 1.02, about."""
    (row,) = (row for row in judged(threshold=threshold) if row["variant"] == "same")
    assert row["verdict"] == verdict


def test_every_threshold_that_a_page_offers_is_one():
    rows = {value: judged(threshold=value) for value in THRESHOLD.values}
    assert len(rows) == len(THRESHOLD.values)


def cell(variant: str, operation: str, **changes: object) -> dict[str, object]:
    names = {column.name for column in times.MATRIX.columns}
    whole = dict.fromkeys(names | {"standing", "hexl"}) | {
        "label": operation,
        "variant": variant,
        "status": "ok",
    }
    return whole | {"comparison_group": f"{operation}-key"} | changes


def test_a_grid_shows_what_is_missing_and_what_failed():
    measured = {"median": 0.002, "ratio": 2.0, "verdict": "slower", "is_equal_parameters": True}
    measured |= {"standing": "behind"}
    rows = [
        cell("seal", "add", **measured | {"ratio": 1.0, "verdict": "no difference"}),
        cell("tenseal", "add", **measured | {"is_equal_parameters": False}),
        cell("seal", "mul", status="crashed", error="signal 11"),
        cell("tenseal", "rotate", **measured | {"ratio": 1.02, "verdict": "no difference"}),
    ]
    item = Filled(
        times.MATRIX, Selection((("run", "r"),)), Answer(tuple(rows[0]), [tuple(r.values()) for r in rows])
    )
    grid = item.grid
    assert [label for label, _ in grid.head[grid.places :]] == ["seal", "tenseal"]
    cells = {row[0].text: [(cell.text, cell.kind) for cell in row[grid.places :]] for row in grid.rows}
    assert cells == {
        "add": [("2.00 ms · 1.00×", "status-ok"), ("2.00 ms · 2.00×*", "status-ok")],
        "mul": [("crashed", "status-crashed"), ("not in this run", "status-missing")],
        "rotate": [("not in this run", "status-missing"), ("2.00 ms · ≈1.02×", "status-ok")],
    }
    links = [cell.address.rpartition("=")[2] for row in grid.rows for cell in row[grid.places :]]
    assert links == ["add-key", "add-key", "mul-key", "", "", "rotate-key"]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "s", "–"),
        (0.0, "s", "0 ns"),
        (1.5e-7, "s", "150 ns"),
        (2.5, "s", "2.50 s"),
        (1536.0, "bytes", "1.54 kB"),
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


def test_a_grid_marks_disturbed_times_and_builds_without_hexl_beside_one_with_it():
    measured = {"median": 0.002, "ratio": 1.0, "verdict": "no difference", "is_equal_parameters": True}
    rows = [
        cell("openfhe", "add", **measured | {"standing": "tie", "hexl": None}),
        cell("seal", "add", **measured | {"standing": "disturbed", "hexl": False}),
        cell("seal-hexl", "add", **measured | {"standing": "tie", "hexl": True}),
    ]

    def grid(shown: list[dict[str, object]]) -> tuple[list[str], list[str]]:
        answer = Answer(tuple(rows[0]), [tuple(row.values()) for row in shown])
        table = Filled(times.MATRIX, Selection((("run", "r"),)), answer).grid
        heads = [label for label, _ in table.head[table.places :]]
        return heads, [cell.text for cell in table.rows[0][table.places :]]

    assert grid(rows) == (
        ["openfhe°", "seal°", "seal-hexl"],
        ["2.00 ms · 1.00×", "!2.00 ms · 1.00×", "2.00 ms · 1.00×"],
    )
    assert grid(rows[:2])[0] == ["openfhe", "seal"]  # nothing is accelerated here
