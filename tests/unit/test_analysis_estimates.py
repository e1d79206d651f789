from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis.estimates import (
    CONFIDENCE,
    LOOKS,
    Estimate,
    estimate,
    interval_rank,
    ratio_of,
    sequential_rank,
    verdict,
)
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD

values = st.floats(1e-9, 1e6)
samples = st.lists(values, min_size=1, max_size=60)


def coverage(n: int, rank: int) -> Fraction:
    """P(x_(r) ≤ median ≤ x_(n+1−r)) of n independent values, exactly: 1 − 2 P(Binomial(n, 1/2) < r)."""
    return 1 - 2 * Fraction(sum(math.comb(n, k) for k in range(rank)), 2**n)


@pytest.mark.parametrize("n", [*range(1, 121), 250, 999, 1000, 1075, 2000])
def test_the_interval_covers_the_median_and_no_narrower_one_does(n):
    wanted = Fraction(CONFIDENCE).limit_denominator(1000)
    rank = interval_rank(n)
    if rank is None:
        assert n < 6
        assert coverage(n, 1) < wanted
    else:
        assert n + 1 - rank > rank
        assert coverage(n, rank) >= wanted
        assert coverage(n, rank + 1) < wanted


@pytest.mark.parametrize(
    ("n", "confidence", "rank"),
    # From tables of binomial intervals of the median (Hollander and Wolfe, A.2 with p = 1/2).
    [
        (5, 0.95, None),
        (6, 0.95, 1),
        (8, 0.95, 1),
        (9, 0.95, 2),
        (10, 0.95, 2),
        (20, 0.95, 6),
        (25, 0.95, 8),
        (50, 0.95, 18),
        (100, 0.95, 40),
        (7, 0.99, None),
        (8, 0.99, 1),
        (10, 0.5, 4),
        (1, 0.0, 1),
    ],
)
def test_interval_rank(n, confidence, rank):
    assert interval_rank(n, confidence) == rank


def ever_missed(looks: int) -> Fraction:
    """P(at one of the first looks the interval of :func:`sequential_rank` misses the median), exactly.

    ``ways[k]``: sequences of coins with k heads, of which none was ever out of bounds.
    """
    ways, tossed = [1], 0
    for n in LOOKS[:looks]:
        steps = [math.comb(n - tossed, heads) for heads in range(n - tossed + 1)]
        rank = sequential_rank(n)
        assert rank is not None
        ways = [
            sum(ways[k] * steps[heads - k] for k in range(max(0, heads - n + tossed), min(heads, tossed) + 1))
            if rank <= heads <= n - rank
            else 0
            for heads in range(n + 1)
        ]
        tossed = n
    return 1 - Fraction(sum(ways), 2**tossed)


def test_whoever_stops_whenever_he_likes_misses_the_median_in_one_of_twenty_cases_at_most():
    allowed = 1 - Fraction(CONFIDENCE).limit_denominator(1000)
    assert allowed * 9 / 10 < ever_missed(13) <= allowed  # up to 512, exactly; all of them: the next test


def test_so_it_is_up_to_the_last_look():
    """The same in floating point: sums of positive terms, each to 16 digits."""
    inside, tossed = np.ones(1), 0
    for n in LOOKS:
        more, rank = n - tossed, sequential_rank(n)
        steps = np.exp(
            [math.lgamma(more + 1) - math.lgamma(k + 1) - math.lgamma(more - k + 1) for k in range(more + 1)]
            - more * np.log(2)
        )
        inside, tossed = np.convolve(inside, steps), n
        inside[:rank] = inside[n - rank + 1 :] = 0
    assert 1 - inside.sum() <= 1 - CONFIDENCE


@pytest.mark.parametrize(
    ("n", "rank"),
    [(0, None), (7, None), (8, 1), (11, 1), (12, 2), (31, 6), (32, 10), (4096, 1934), (10**9, 1934)],
)
def test_sequential_rank(n, rank):
    assert sequential_rank(n) == rank


@given(st.integers(8, 10_000))
def test_stopping_costs_width(n):
    rank, fixed = sequential_rank(n), interval_rank(n)
    assert rank is not None
    assert fixed is not None
    assert rank <= fixed


@given(samples)
def test_an_estimate_is_made_of_measured_values(found):
    made = estimate(found)
    assert made.n == len(found)
    assert made.median == statistics.median(found)
    if made.low is None or made.high is None:
        assert made.low is made.high is None
        assert len(found) < 6
    else:
        assert made.low in found
        assert made.high in found
        assert made.low <= made.median <= made.high


@given(samples, st.randoms())
def test_an_estimate_does_not_depend_on_the_order(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert estimate(shuffled) == estimate(found)


@given(st.integers(6, 200))
def test_the_bounds_are_the_values_of_their_ranks(n):
    made, rank = estimate([float(i) for i in range(1, n + 1)]), interval_rank(n)
    assert (made.low, made.high) == (rank, n + 1 - rank)
    assert made.low + made.high == 2 * made.median  # symmetrical about the median


def test_an_estimate_of_nothing_is_a_mistake():
    with pytest.raises(ValueError, match="no median"):
        estimate([])


BEYOND = math.nextafter(SIGNIFICANCE_THRESHOLD, 2)
BELOW = math.nextafter(1 / SIGNIFICANCE_THRESHOLD, 0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (None, None, "too few samples"),
        (None, 2.0, "too few samples"),
        (2.0, None, "too few samples"),
        (2.0, 3.0, "faster"),
        (BEYOND, 3.0, "faster"),
        (SIGNIFICANCE_THRESHOLD, 3.0, "no difference"),
        (1.01, 1.02, "no difference"),
        (1.0, 1.0, "no difference"),
        (0.5, 2.0, "no difference"),
        (0.98, 0.99, "no difference"),
        (0.5, 1 / SIGNIFICANCE_THRESHOLD, "no difference"),
        (0.5, BELOW, "slower"),
        (0.2, 0.3, "slower"),
    ],
)
def test_verdict(low, high, expected):
    middle = 1.0 if low is None or high is None else (low + high) / 2
    assert verdict(Estimate(10, middle, low, high)) == expected


def test_the_threshold_of_a_verdict_can_be_given():
    ratio = Estimate(10, 1.1, 1.06, 1.2)
    assert verdict(ratio) == "faster"
    assert verdict(ratio, threshold=1.07) == "no difference"


def test_ratio_of():
    ratio = ratio_of(Estimate(10, 6.0, 4.0, 8.0), Estimate(7, 2.0, 1.0, 4.0))
    assert (ratio.n, ratio.median) == (7, 3.0)
    # log low = log 3 - sqrt((log 6 - log 4)² + (log 4 - log 2)²), and the other way round
    assert ratio.low == pytest.approx(3 / math.exp(math.hypot(math.log(6 / 4), math.log(4 / 2))))
    assert ratio.high == pytest.approx(3 * math.exp(math.hypot(math.log(8 / 6), math.log(2 / 1))))
    assert 4.0 / 4.0 < ratio.low < ratio.high < 8.0 / 1.0  # not the worst of both medians at once


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [
        (Estimate(8, 6.0, -1.0, 8.0), Estimate(8, 2.0, 2.0, 2.0), 0.0, 4.0),
        (Estimate(8, 6.0, 6.0, 6.0), Estimate(8, 2.0, 0.0, 2.0), 3.0, None),
        (Estimate(8, 0.0, 0.0, 1.0), Estimate(8, 0.0, 0.0, 1.0), None, None),
    ],
)
def test_a_bound_of_nothing_is_infinitely_far(a, b, low, high):
    ratio = ratio_of(a, b)
    assert (ratio.low, ratio.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(("a_low", "b_low"), [(None, 1.0), (4.0, None), (None, None)])
def test_a_ratio_with_too_few_samples_has_no_verdict(a_low, b_low):
    a = Estimate(3, 6.0, a_low, None if a_low is None else 8.0)
    b = Estimate(3, 2.0, b_low, None if b_low is None else 4.0)
    ratio = ratio_of(a, b)
    assert ratio.median == 3
    assert ratio.low is None or ratio.high is None
    assert verdict(ratio) == "too few samples"


@given(samples, samples)
def test_a_ratio_turned_round_is_its_inverse(a, b):
    there, back = ratio_of(estimate(a), estimate(b)), ratio_of(estimate(b), estimate(a))
    assert there.median * back.median == pytest.approx(1)
    if there.low is not None and there.high is not None:
        assert there.low <= there.median * (1 + 1e-12)
        assert there.median <= there.high * (1 + 1e-12)
        assert there.low * back.high == pytest.approx(1)
        assert there.high * back.low == pytest.approx(1)


@given(st.lists(values, min_size=6, max_size=40))
def test_a_run_against_itself_differs_in_nothing(found):
    assert verdict(ratio_of(estimate(found), estimate(found))) == "no difference"


@given(st.lists(st.floats(1.0, 1.1), min_size=6, max_size=40), st.floats(1.5, 100))
def test_a_clear_difference_has_the_same_verdict_from_both_sides(found, factor):
    slow = [value * factor for value in found]
    assert verdict(ratio_of(estimate(slow), estimate(found))) == "faster"
    assert verdict(ratio_of(estimate(found), estimate(slow))) == "slower"
