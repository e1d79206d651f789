"""Scores of predictions and residuals of operations, by hand."""

from __future__ import annotations

import pytest

from ciphermark_analysis.scores import Score, residuals, score


def test_a_score_keeps_the_sign_of_the_worst_error_and_of_the_mean() -> None:
    assert score([0.02, -0.12, 0.04]) == Score(
        rows=3,
        mape=pytest.approx(0.06),
        worst=-0.12,
        bias=pytest.approx(-0.02),
        within_close=pytest.approx(1 / 3),
        within_fair=pytest.approx(2 / 3),
    )
    assert score([]) is None


def test_residuals_weigh_errors_by_the_time_of_an_operation() -> None:
    parts = [("mul", 3.0, 0.1), ("mul", 1.0, -0.1), ("rotate", 4.0, -0.2), ("add", 0.0, 9.0)]
    rotate, mul = sorted(residuals(parts), key=lambda each: each.operation != "rotate")
    assert (mul.operation, mul.share, mul.error, mul.results) == ("mul", 0.5, pytest.approx(0.05), 2)
    assert (rotate.share, rotate.error, rotate.results) == (0.5, -0.2, 1)
