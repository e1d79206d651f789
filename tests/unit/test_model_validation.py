"""Errors of predictions: signs, means, and which rows count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_analysis.scores import score
from ciphermark_model.interpolation import Costs
from ciphermark_model.quantity import Quantity
from ciphermark_model.table import Cost, CostTable, Key
from ciphermark_model.validation import Criterion, Measured, Row, held_out, proof

MEASURED = Measured(median_s=2.0, low_s=1.99, high_s=2.01, executions=10, workers=2)
ROW = Row("key", ("matrix-product",), Quantity(2.1, 1.9, 2.3), 3.0, MEASURED)


def test_errors_are_signed_and_relative_to_the_measured_time() -> None:
    assert ROW.error == pytest.approx(0.05)
    assert ROW.published_error == pytest.approx(0.5)
    low = replace(ROW, predicted=Quantity(1.9, 1.8, 1.99))
    assert low.error == pytest.approx(-0.05)
    assert (ROW.is_within_interval, low.is_within_interval) == (True, False)


def test_a_score_is_the_mean_of_absolute_errors_with_the_signed_worst() -> None:
    result = score([0.02, -0.2, 0.03, 0.1])
    assert result is not None
    assert result.mape == pytest.approx(0.0875)
    assert result.worst == -0.2
    assert result.bias == pytest.approx(-0.0125)
    assert (result.rows, result.within_close, result.within_fair) == (4, 0.5, 0.75)
    assert score([]) is None


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (replace(ROW, measured=replace(MEASURED, executions=9)), "9 executions"),
        (replace(ROW, measured=replace(MEASURED, workers=1)), "1 worker"),
        (replace(ROW, measured=replace(MEASURED, high_s=2.05)), "interval ±1.5%"),
        (replace(ROW, measured=replace(MEASURED, high_s=float("nan"))), "interval ±nan%"),
        (replace(ROW, uncovered=("series at level 3",)), "not covered: series at level 3"),
        (replace(ROW, measured=None, failure="incorrect: 3 of 9 values"), "incorrect: 3 of 9 values"),
        (replace(ROW, measured=None), "not measured"),
        (replace(ROW, predicted=None), "not predicted"),
        (ROW, None),
    ],
)
def test_a_row_counts_by_a_criterion_that_knows_no_prediction(row: Row, reason: str | None) -> None:
    assert row.reason_against(Criterion()) == reason


def test_excluded_rows_are_kept_with_their_reasons_and_have_no_part_in_the_scores() -> None:
    far = replace(ROW, predicted=Quantity(9.0, 8.0, 10.0), measured=replace(MEASURED, executions=1))
    outside = replace(ROW, predicted=Quantity(2.1, 2.05, 2.2), published_s=None)
    result = proof([ROW, far, outside], Criterion())
    assert result.counted == (ROW, outside)
    assert result.excluded == ((far, "1 execution"),)
    assert result.own is not None
    assert result.own.worst == pytest.approx(0.05)
    assert result.published is not None
    assert result.published.rows == 1
    assert result.coverage == 0.5
    assert result.every is not None
    assert result.every.worst == pytest.approx(3.5)
    assert proof([], Criterion()).coverage is None


def test_the_criterion_is_stated_in_words() -> None:
    assert str(Criterion()) == (
        "at least 10 executions in at least 2 fresh workers, and a 95% interval of the median within ±1%"
    )


def _table(costs: dict[tuple[int, int], float]) -> CostTable:
    """Costs of an addition by N and number of primes."""
    entries = {
        Key("add", "ckks", ring, primes): Cost(median, 0.99 * median, 1.01 * median)
        for (ring, primes), median in costs.items()
    }
    return CostTable("host", "seal", "build", entries)


def test_every_second_level_is_left_out_and_predicted_from_its_neighbors() -> None:
    """Costs in proportion to N and primes are predicted exactly, and one that deviates by its deviation."""
    costs = {(4096, primes): 1e-6 * primes for primes in (1, 2, 3, 4, 5)}
    result = held_out(_table(costs), "primes")
    assert sorted(key.primes for key in result.errors) == [2, 4]
    assert all(abs(error) < 1e-9 for error in result.errors.values())
    twice = held_out(_table(costs | {(4096, 2): 4e-6}), "primes")
    assert twice.errors[Key("add", "ckks", 4096, 2)] == pytest.approx(-0.5)


def test_every_second_ring_is_left_out_and_a_cost_without_neighbors_is_counted() -> None:
    costs = {(ring, 2): 1e-9 * ring for ring in (4096, 8192, 16384)}
    result = held_out(_table(costs), "ring_dimension")
    assert [key.ring_dimension for key in result.errors] == [8192]
    assert result.errors[Key("add", "ckks", 8192, 2)] == pytest.approx(0, abs=1e-9)
    alone = held_out(_table({(4096, 1): 1e-6, (8192, 1): 2e-6}), "ring_dimension")
    assert (dict(alone.errors), alone.uncovered) == ({}, 0)


def test_a_relinearization_without_a_product_costs_what_a_rotation_there_costs() -> None:
    """The ratio of both is 0.9 with two primes: at level 0 the rotation takes 2 µs, so 1.8 µs."""
    costs = {("relinearize", 2): 5.4e-6, ("relinearize", 3): 8e-6}
    costs |= {("rotate", 1): 2e-6, ("rotate", 2): 6e-6, ("rotate", 3): 8e-6}
    entries = {
        Key(name, "ckks", 4096, primes, digits=primes, special=1): Cost(median, median, median)
        for (name, primes), median in costs.items()
    }
    table = CostTable("host", "seal", "build", entries)
    wanted = Key("relinearize", "ckks", 4096, 1, digits=1, special=1)
    cost = Costs(table).of(wanted)
    assert cost is not None
    assert cost.median == pytest.approx(1.8e-6)
    assert (cost.low, cost.high) == pytest.approx((1.6e-6, 2e-6)), "the ratio is 1 with three primes"
    assert Costs(replace(table, entries={})).of(wanted) is None
