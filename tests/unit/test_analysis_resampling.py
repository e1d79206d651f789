"""The leaderboard's interval covers what it claims to, by simulation; ranks follow from it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis import leaderboard
from ciphermark_analysis.resampling import Rounds, spread, t_quantile
from ciphermark_present import ranks
from ciphermark_present.query import Answer

TRUE = 0.3  # the mean logarithm of the ratios of all cases that there could be
TRIALS = 250
# An interval that covers in 95 % of cases misses 44 or more of 250 by accident with probability
# P(Binomial(250, 0.05) >= 44) = 4e-13; one that covers in 70 % passes with P(Binomial(250, 0.3) <= 43) = 4e-6.
MAX_MISSED = 43


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062), (2, 4.3027), (3, 3.1824), (6, 2.4469), (9, 2.2622), (120, 1.9799)]
)
def test_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert t_quantile(freedom) == pytest.approx(quantile, abs=6e-5)


def _case(random: np.random.Generator, logarithm: float, rounds: int, noise: float) -> Rounds:
    """Times with a long tail, whose median ratio is right."""
    fastest = 1 + noise * random.exponential(1, rounds)
    own = math.exp(logarithm) * (1 + noise * random.exponential(1, rounds))
    numbers = range(rounds)
    return Rounds(
        dict(zip(numbers, own, strict=True)), dict(zip(numbers, fastest, strict=True)), is_paired=True
    )


@pytest.mark.parametrize(
    ("cases", "scatter", "noise"),
    [(2, 0.5, 0.1), (3, 0.5, 0.1), (6, 0.5, 0.3), (15, 0.02, 0.3)],
)
def test_the_interval_covers_the_mean_of_all_cases(cases: int, scatter: float, noise: float) -> None:
    random = np.random.default_rng(20261122)
    missed = 0
    for trial in range(TRIALS):
        logarithms = random.normal(TRUE, scatter, cases)
        sampled = [_case(random, value, 15, noise) for value in logarithms]
        found = spread([[case] for case in sampled], seed=trial)
        mean = np.mean([math.log(np.median(list(case.ratios.values()))) for case in sampled])
        missed += bool(abs(mean - TRUE) > found.half_width(0))
    assert missed <= MAX_MISSED


def test_it_is_not_as_wide_as_it_likes() -> None:
    """Of 20 cases that scatter by 0.5, the half width is near t * 0.5 / sqrt(20) = 0.234."""
    random = np.random.default_rng(1)
    widths = [
        spread([[_case(random, value, 15, 0.01)] for value in random.normal(TRUE, 0.5, 20)]).half_width(0)
        for _ in range(40)
    ]
    assert float(np.mean(widths)) == pytest.approx(0.234, rel=0.1)


def test_variants_that_differ_alike_in_every_case_are_told_apart() -> None:
    """Cases and rounds are shared: what is common to two variants is no doubt about their difference."""
    random = np.random.default_rng(2)
    cases = []
    for logarithm in random.normal(1.0, 0.8, 8):
        first = _case(random, float(logarithm), 15, 0.1)
        cases.append(
            [first, Rounds({n: 1.2 * x for n, x in first.own.items()}, first.fastest, is_paired=True)]
        )
    found = spread(cases)
    assert found.half_width(1, 0) < 1e-9
    assert found.half_width(0) > 0.3


def test_the_same_seed_gives_the_same_interval() -> None:
    cases = [[_case(np.random.default_rng(n), 0.1 * n, 15, 0.1)] for n in range(5)]
    assert spread(cases, 7).half_width(0) == spread(cases, 7).half_width(0)


def test_those_who_took_no_turns_are_drawn_apart() -> None:
    times = {n: 1.0 + 0.1 * (n % 5) for n in range(20)}
    paired, apart = (Rounds(times, times, is_paired=is_paired) for is_paired in (True, False))
    assert spread([[paired], [paired]]).half_width(0) == 0.0
    assert spread([[apart], [apart]]).half_width(0) > 0.0


_COLUMNS = (
    *(
        "variant",
        "is_composite",
        "label",
        "tuning",
        "hexl",
        "mean_ratio",
        "common_cases",
        "fastest_in",
        "wins",
        "ties",
        "compared_cases",
    ),
    *(
        "ok",
        "unsupported",
        "failed",
        "comparison_group",
        "is_paired",
        "is_hollow",
        "ratio",
        "ci_low",
        "ci_high",
    ),
    *("rounds", "times", "slowdowns", "fastest_rounds", "fastest_times", "fastest_slowdowns"),
)


def _rows(variant: str, ratios: list[float], has_interval: bool = True) -> list[tuple[object, ...]]:
    """A row per case, each of 15 rounds that agree with each other."""
    mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
    rounds = list(range(15))
    return [
        (variant, False, variant, "matched", None, mean, len(ratios), 0, 0, 0, len(ratios), len(ratios), 0, 0)
        + (f"case {number}", True, False, ratio)
        + ((ratio, ratio) if has_interval else (None, None))
        + (rounds, [ratio * 2.0] * 15, [2.0] * 15, rounds, [1.0] * 15, [1.0] * 15)
        for number, ratio in enumerate(ratios)
    ]


def _ranks(*rows: list[tuple[object, ...]]) -> dict[str, object]:
    found = ranks.ranked(Answer(_COLUMNS, [row for each in rows for row in each]), {})
    assert found.columns == ranks.COLUMNS
    return {row["variant"]: row["rank"] for row in found.mappings}


def test_a_lead_in_every_case_is_one_and_a_lead_in_some_is_none() -> None:
    fast, slow = [1.0] * 6, [1.5, 1.6, 1.4, 1.5, 1.7, 1.5]
    assert _ranks(_rows("a", fast), _rows("b", slow)) == {"a": 1, "b": 2}
    mixed, other = [1.0, 3.0, 1.0, 3.0], [3.0, 1.0, 3.0, 1.1]
    assert _ranks(_rows("a", mixed), _rows("b", other)) == {"a": 1, "b": 1}


def test_within_the_significance_threshold_there_is_no_lead() -> None:
    assert _ranks(_rows("a", [1.0] * 6), _rows("b", [1.04] * 6)) == {"a": 1, "b": 1}


def test_one_case_alone_is_judged_by_its_own_interval() -> None:
    assert _ranks(_rows("a", [1.0]), _rows("b", [1.06])) == {"a": 1, "b": 2}


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 6)), min_size=1, max_size=6))
def test_no_rank_contradicts_a_mean(judged: list[tuple[float, int]]) -> None:
    means, given_ranks = zip(*judged, strict=True)
    found = leaderboard._consistent(means, given_ranks)
    assert found[means.index(min(means))] is not None
    kept = sorted((mean, rank) for mean, rank in zip(means, found, strict=True) if rank is not None)
    for (mean, rank), (next_mean, next_rank) in pairwise(kept):
        assert mean == next_mean or rank <= next_rank
    for rank, before in zip(found, given_ranks, strict=True):
        assert rank in (None, before)


def test_who_is_slow_in_one_case_of_many_is_not_the_first() -> None:
    """Slow by far in one case: its mean is the worst, and its interval reaches below that of the fastest."""
    cases = _rows("a", [1.0] * 6), _rows("b", [1.5] * 6), _rows("c", [1.0] * 5 + [1e5])
    assert _ranks(*cases) == {"a": 1, "b": 2, "c": None}


def test_without_intervals_there_is_no_rank() -> None:
    assert _ranks(_rows("a", [1.0, 1.0]), _rows("b", [2.0, 2.0], has_interval=False)) == {
        "a": None,
        "b": None,
    }


def test_a_variant_without_cases_is_told_and_not_ranked() -> None:
    nothing = [("c", False, "c", "matched", None, None, 0, 0, 0, 0, 0, 0, 3, 0) + (None,) * 12]
    assert _ranks(_rows("a", [1.0, 1.0]), nothing) == {"a": 1, "c": None}
