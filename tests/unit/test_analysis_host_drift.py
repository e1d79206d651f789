"""What two runs differ by may be their hosts: the reference kernels' ratio widens intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis import comparison
from ciphermark_analysis.estimates import Estimate
from ciphermark_analysis.family import decided
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD

BASE = {"unit": "s", "variant": "seal", "reference_kernel_ratio": 1.0, "ratio": 1.0}
NAMES = ("undisturbed_share", "slowdown")
factors = st.floats(0.3, 3.0)


def rows(*pairs, variants=("seal", "openfhe")):
    return [
        BASE
        | {
            "variant": variants[i % len(variants)],
            "reference_kernel_ratio": kernel_ratio and 1 / kernel_ratio,
            "ratio": 1 / ratio,
        }
        for i, (kernel_ratio, ratio) in enumerate(pairs)  # a/b
    ]


@pytest.mark.parametrize(
    ("kernel_ratio", "ratio", "expected"),
    [
        (None, (1.4, 1.38, 1.42), "faster"),
        (1.0, (1.4, 1.38, 1.42), "faster"),
        (1.4, (1.4, 1.38, 1.42), "undecided"),  # all of it is the host's
        (1.4, (1.3, 1.28, 1.32), "undecided"),  # the reference kernel suffers more than the work
        (1.4, (1.0, 0.99, 1.01), "undecided"),
        (1.1, (1.4, 1.38, 1.42), "faster"),  # the host explains a part
        (0.9, (1.4, 1.38, 1.42), "faster"),  # in spite of the host
        (0.8, (0.8, 0.79, 0.81), "undecided"),
        (0.95, (0.7, 0.69, 0.71), "slower"),
        (1.02, (0.9, 0.89, 0.91), "slower"),
    ],
)
def test_a_difference_is_claimed_where_it_stands_with_the_reference_kernels_and_without(
    kernel_ratio, ratio, expected
):
    median, low, high = ratio
    interval = comparison.widened(Estimate(20, median, low, high), kernel_ratio)
    assert decided(interval, SIGNIFICANCE_THRESHOLD) == expected


@given(median=factors, below=st.floats(0.5, 1.0), above=st.floats(1.0, 2.0), kernel_ratio=factors)
def test_the_wider_interval_holds_the_one_as_measured_and_the_corrected_one(
    median, below, above, kernel_ratio
):
    ratio = Estimate(10, median, median * below, median * above)
    wider = comparison.widened(ratio, kernel_ratio)
    for factor in (1.0, 1 / kernel_ratio):
        assert wider.low <= ratio.low * factor * (1 + 1e-9)
        assert wider.high >= ratio.high * factor * (1 - 1e-9)
    assert wider.median == median
    mirrored = comparison.widened(Estimate(10, 1 / median, 1 / ratio.high, 1 / ratio.low), 1 / kernel_ratio)
    assert (mirrored.low, mirrored.high) == (pytest.approx(1 / wider.high), pytest.approx(1 / wider.low))


def test_without_an_interval_there_is_nothing_to_widen():
    ratio = Estimate(3, 1.5, None, None)
    assert comparison.widened(ratio, 1.4) == ratio


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(4e-5, 5e-5, 0.8), (None, 5e-5, None), (4e-5, None, None), (0.0, 5e-5, None)]
)
def test_the_reference_kernels_ratio(a, b, expected):
    assert (
        comparison.reference_kernel_ratio({"a_reference_kernel_s": a, "b_reference_kernel_s": b}) == expected
    )


def test_where_all_variants_move_with_the_reference_kernel_that_is_the_host():
    told = comparison.drift(rows((0.7, 0.75), (0.72, 0.8), (0.7, 0.76), (0.71, 0.77)))
    assert "1.42× slower in B" in told
    assert "Host-wide shift: 4 of 4 times moved with it in all variants, median 1.31× slower in B" in told


@pytest.mark.parametrize(
    "pairs",
    [
        [(0.7, 0.75), (0.7, 1.2), (0.7, 0.75), (0.7, 1.2)],  # one variant moved against it
        [(0.7, 1.1), (0.7, 1.1), (0.7, 0.75), (0.7, 0.8)],
    ],
)
def test_where_not_all_move_with_the_reference_kernel_that_is_not_said(pairs):
    told = comparison.drift(rows(*pairs))
    assert "1.43× slower in B" in told
    assert "Host-wide shift" not in told


@pytest.mark.parametrize("known", [[], rows((1.01, 1.5), (0.99, 1.4)), rows((None, 1.5), (None, 1.4))])
def test_of_one_host_there_is_nothing_to_tell(known):
    assert comparison.drift(known) is None


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((0.0, None), (0.4, 1.2), ["a"]),
        ((0.0, 1.4), (0.0, None), ["b"]),  # what was slowed and is corrected can be compared
        ((None, None), (1.0, 1.01), []),
    ],
)
def test_results_made_of_disturbed_samples_are_named(a, b, expected):
    row = {
        f"{side}_{name}": value
        for side, own in (("a", a), ("b", b))
        for name, value in zip(NAMES, own, strict=True)
    }
    assert comparison.disturbed(row) == expected


@pytest.mark.parametrize(
    ("kernel_ratio", "slowdowns", "low", "high"),
    [
        ((4e-5, 4e-5), (1.0, 1.0), 1 / 1.03, 1.03),  # as far as readings of an undisturbed host agree
        ((4e-5, 4e-5), (None, None), 1 / 1.03, 1.03),
        ((4e-5, 8e-5), (1.0, 1.0), 0.5**1.5 / 1.03, 1.03),
        ((8e-5, 4e-5), (1.0, 1.0), 1 / 1.03, 2**1.5 * 1.03),
        ((4e-5, 4e-5), (1.0, 2.0), 0.5**0.5 / 1.03, 2**0.4 * 1.03),
        ((4e-5, 8e-5), (2.0, 1.0), 0.5 / 1.03, 1.03),  # what differs is which state was called undisturbed
    ],
)
def test_what_hosts_may_have_made_of_equal_times(kernel_ratio, slowdowns, low, high):
    row = dict(
        zip(
            ("a_reference_kernel_s", "b_reference_kernel_s", "a_slowdown", "b_slowdown"),
            (*kernel_ratio, *slowdowns),
            strict=True,
        )
    )
    assert comparison.of_hosts(row) == (pytest.approx(low), pytest.approx(high))


def test_without_a_reference_kernel_nobody_knows_what_hosts_made():
    row = {"a_reference_kernel_s": None, "b_reference_kernel_s": 4e-5, "a_slowdown": 1.0, "b_slowdown": 1.0}
    assert comparison.of_hosts(row) is None
