"""Rows of a validation: forecasts joined with what was measured, and frozen tables."""

from __future__ import annotations

from typing import Any

import pytest

from ciphermark_benchmark import validating
from ciphermark_benchmark.validating import CRITERION, Forecast
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, ParameterSpec
from ciphermark_model.table import Cost, CostTable, Key
from ciphermark_model.validation import proof

SPEC = ParameterSpec("ckks", 8192, (50, 40, 40, 50), scale_bits=40)
CASE = Case("seal", "micro", "matrix-product", SPEC, 64, "random", threads=2, dimensions={"side": 8})
TABLE = CostTable("host", "seal", "build", {Key("add", "ckks", 8192, 3): Cost(1e-5, 0.9e-5, 1.1e-5)})


def stage(median: float | None, status: str = "ok", **own: Any) -> dict[str, Any]:
    """A row of the report."""
    times = {"n": 12, "median": median, "ci_low": median, "ci_high": median, "workers": 2, "error": None}
    return {"case_key": CASE.key, "status": status, "stage": "compute", **times, **own}


def test_the_time_of_a_case_is_the_sum_of_its_stages() -> None:
    stages = [stage(0.5, n=24), stage(0.25, workers=3, ci_low=0.2, ci_high=0.31)]
    (row,) = validating.rows([Forecast(CASE)], stages)
    assert row.measured is not None
    assert (row.measured.median_s, row.measured.low_s, row.measured.high_s) == (0.75, 0.7, 0.81)
    assert (row.measured.executions, row.measured.workers) == (12, 2)
    assert row.place == ("matrix-product (side 8)", "8192", "3", "seal", "2")


@pytest.mark.parametrize(
    ("stages", "forecast", "reason"),
    [
        ([stage(0.5), stage(None, "incorrect", error="3 values")], Forecast(CASE), "incorrect: 3 values"),
        ([], Forecast(CASE), "not measured"),
        ([], Forecast(CASE, failure="64 slots"), "64 slots"),
        ([stage(0.5)], Forecast(CASE, failure="no cost table of seal"), "no cost table of seal"),
    ],
)
def test_a_row_that_failed_anywhere_does_not_count(
    stages: list[dict[str, Any]], forecast: Forecast, reason: str
) -> None:
    result = proof(validating.rows([forecast], stages), CRITERION)
    assert [each for _, each in result.excluded] == [reason]


def test_a_median_without_an_interval_does_not_count() -> None:
    (row,) = validating.rows([Forecast(CASE)], [stage(0.5, ci_low=None, ci_high=None)])
    assert row.measured is not None
    assert CRITERION.reason_against(row.measured) == "interval ±nan%"


def test_a_table_with_another_digest_is_refused() -> None:
    tables = {"seal": TABLE}
    validating.frozen(tables, [f"seal:{TABLE.digest}", f"seal:{TABLE.digest[:8]}"])
    for wanted, text in (
        ("seal:0000zzzz", "now"),
        ("openfhe:12", "VARIANT:DIGEST"),
        ("seal", "VARIANT:DIGEST"),
    ):
        with pytest.raises(UserError, match=text):
            validating.frozen(tables, [wanted])
