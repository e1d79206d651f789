"""Headlines name no time of disturbed samples only."""

from __future__ import annotations

from typing import Any

from ciphermark_dashboards import views
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.pages import FIGURES
from ciphermark_dashboards.rendering import Filled
from ciphermark_present.catalogue import bootstrapping, machines, times
from ciphermark_present.query import Answer

LOST = {"disturbed_times": ["median", "amortized_s"]}


def refreshed(variant: str, ring: int, median: float, amortized_s: float, **more: Any) -> dict[str, Any]:
    case = {"variant": variant, "ring_dimension": ring, "slots": ring // 2, "median": median}
    return {**case, "amortized_s": amortized_s, "disturbed_times": None, **more}


def test_a_disturbed_bootstrapping_is_named_as_such_after_the_cheapest_other() -> None:
    rows = [refreshed("lattigo", 32768, 5.29, 162e-6), refreshed("openfhe", 65536, 13.4, 468e-6)]
    least = refreshed("lattigo", 65536, 19.9, 67.4e-6, **LOST)
    cheapest = "lattigo is cheapest at N = 32768 with 16,384 slots: 5.29 s, or 162 µs per slot and level left"
    assert bootstrapping.finding(rows) == cheapest
    assert bootstrapping.finding([*rows, {**least, "amortized_s": 1.0}]) == cheapest
    assert bootstrapping.finding([*rows, least]) == (
        f"{cheapest}; lattigo at N = 65536, from disturbed samples only, 67.4 µs"
    )
    assert bootstrapping.finding([least]) == ""


def timed(operation: str, median: float, length: int = 4096, **more: Any) -> dict[str, Any]:
    case = {
        "operation": operation,
        "label": operation,
        "variant": "seal",
        "scheme": "bfv",
        "tuning": "matched",
    }
    return {
        **case,
        "ring_dimension": 4096,
        "vector_length": length,
        "modulus_bits": [36],
        "median": median,
        **more,
    }


def test_times_of_operations_are_from_undisturbed_samples() -> None:
    rows = [timed("add", 1e-5), timed("mul", 1e-3), timed("negate", 1e-6, **LOST)]
    assert times.find_range(rows) == "From 10.0 µs (add) to 1.00 ms (mul) at N = 4096"
    assert times.find_range([timed("add", 1e-5, **LOST)]) == ""
    several = [timed("add", 1e-5, 16), timed("add", 2e-5), timed("mul", 1e-5, 16), timed("mul", 1.0, **LOST)]
    assert times.find_growth(several).startswith("add on 4,096 values takes up to 2.00× as long")


def test_a_page_of_disturbed_times_alone_says_so() -> None:
    row = timed("add", 1e-5, **LOST)
    answer = Answer(tuple(row), [tuple(row.values())])
    assert views.answer([Filled(FIGURES["latency"], Selection((("run", "r"),)), answer)]) == {
        "sentence": "Every time here has disturbed samples only: none is called the fastest."
    }


def test_a_disturbed_time_of_a_processor_is_marked() -> None:
    published = {"program": "helr", "security": 80, "cpu_s": 356.0, "predicted_ms": 101.0}
    time = {"program": "helr", "variant": "lattigo", "host": "here", "seconds": 33.3}
    table, other = (
        machines.measured([published], [{**time, "is_disturbed": is_disturbed}])
        for is_disturbed in (True, False)
    )
    assert [row[-3] for row in table.rows] == ["!33.3 s", "356 s"]
    assert table.legend[-1] == "! disturbed samples only"
    assert [row[-3] for row in other.rows] == ["33.3 s", "356 s"]
    assert "disturbed" not in str(other.legend)
