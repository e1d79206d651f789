"""Intervals of samples whose size depends on their values: every view has them as Python computes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_analysis import estimates as statistics
from ciphermark_core.budget import Budget
from ciphermark_db.database import Database

PRECISE = Budget(max_ci_half_width=0.02)


def recorded(database: Database, make, budgets_and_times: dict[str, tuple[Budget, list[float]]]):
    run = make.run()
    database.record_run(run)
    for variant, (budget, times) in budgets_and_times.items():
        outcome = make.outcome(run, make.case(variant), make.times(times))
        database.record_outcome(replace(outcome, trial=replace(outcome.trial, budget=budget)))
    return run


@pytest.mark.parametrize("count", [6, 7, 8, 13, 40])
@pytest.mark.parametrize("budget", [Budget(), PRECISE])
def test_what_ended_at_a_precision_has_the_wider_interval(
    database: Database, make, budget: Budget, count: int
) -> None:
    values = [1.0 + (7 * n % 11) / 10 for n in range(count)]
    run = recorded(database, make, {"seal": (budget, values)})
    found = database.query("select ci_low, ci_high from results where run_id = %s", [run.id])
    expected = statistics.estimate(values, is_sequential=budget is PRECISE)
    assert found.rows == [(expected.low, expected.high)]


@pytest.mark.parametrize("view", ["speedup", "ranking"])
def test_pairs_of_unequal_counts_are_pairs(database: Database, make, view: str) -> None:
    """One variant needed 12 samples and the other 24: the first 12 of each were taken in the same rounds."""
    off = [3.0 + (5 * n % 13) / 10 for n in range(24)]
    on = [1.0 + (3 * n % 7) / 100 for n in range(12)]
    run = recorded(database, make, {"seal": (PRECISE, off), "seal-hexl": (PRECISE, on)})
    found = database.query(
        f"select n, ratio, ci_low, ci_high from {view} where run_id = %s order by ratio desc", [run.id]
    ).rows[0]
    expected = statistics.estimate([a / b for a, b in zip(off, on, strict=False)], is_sequential=True)
    assert found == (12, expected.median, expected.low, expected.high)
