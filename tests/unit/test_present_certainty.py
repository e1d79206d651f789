from __future__ import annotations

import pytest

from ciphermark_present import certainty


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [((1, 2), "sure"), ((1,), "sure"), ((1, 1, 3), "tie"), ((1, None), "not sure"), ((None,), "not sure")],
)
def test_one_first_variant_among_ranked_ones_is_sure(ranks, expected):
    assert certainty.of([{"rank": rank, "mean_ratio": 1.5} for rank in ranks]) == expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("faster", "no difference"), "sure"),
        (("faster", "too few samples"), "not sure"),
        (("undecided",), "not sure"),
        ((None, "slower"), "sure"),
        ((None,), ""),
        ((), ""),
    ],
)
def test_decided_verdicts_are_sure(verdicts, expected):
    assert certainty.of([{"verdict": verdict} for verdict in verdicts]) == expected


def test_rows_without_a_mean_have_no_rank():
    assert certainty.of([{"rank": None, "mean_ratio": None}, {"rank": 1, "mean_ratio": 1.0}]) == "sure"


def test_each_tuning_is_ranked_apart() -> None:
    rows = [
        {"rank": rank, "mean_ratio": 1.5, "tuning": tuning}
        for tuning in ("matched", "recommended")
        for rank in (1, 2)
    ]
    assert certainty.of(rows) == "sure"
