"""A host-wide shift is the host's where its reference kernel moved as well, else a regression; a reference cancels the
host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_analysis_comparison import ROW

from ciphermark_analysis.comparison import COLUMNS, Rule
from ciphermark_analysis.estimates import Estimate, ratio_of
from ciphermark_analysis.two_runs import HOST_WIDE_SHIFT, SHARED, UNKNOWN, judgements, relative, shared

BASE = dict.fromkeys(COLUMNS) | ROW


def row(variant, ratio, **changes):
    """A time that was 2 s in a, and ``ratio`` times faster in b, both with intervals of 5 %."""
    b = 2.0 / ratio
    times = {"b_median": b, "b_low": 0.95 * b, "b_high": 1.05 * b}
    return BASE | {"variant": variant} | times | changes


def verdicts(rows):
    place = COLUMNS.index("verdict")
    return [values[place].partition(":")[0] for values in judgements(rows, Rule())]


SAME = (1.0, 1.0)  # reference-kernel baselines alike in both runs
SLOWER_HOST = (1.0, 2.0)


def group(ratios, hosts=SAME, **changes):
    """Variants of one comparison; ``hosts`` are the times of the reference kernel in a and b, in 10 µs."""
    times = zip("ab", hosts, strict=True)
    reference_kernels = {
        f"{run}_reference_kernel_s": None if time is None else time * 1e-5 for run, time in times
    }
    return [row(f"v{place}", ratio, **reference_kernels, **changes) for place, ratio in enumerate(ratios)]


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ((0.4, 0.36, 0.42), [HOST_WIDE_SHIFT] * 3),
        ((0.5, 0.5), ["undecided"] * 2),  # by the reference kernels' ratio alone
        ((0.2, 0.2), ["slower"] * 2),  # two builds of one library may both have become slower
        ((0.4, 0.4, 1.0), ["slower", "slower", "undecided"]),
        ((0.4, 0.4, 3.0), ["slower", "slower", "faster"]),
        ((0.25, 0.4, 0.4), ["slower"] * 3),  # one suffers far more than the others
        (
            (0.2, 0.2, 0.2),
            ["slower"] * 3,
        ),  # five times as long, where the reference kernel took twice as long
        ((2.0, 2.1, 2.2), ["faster"] * 3),  # in spite of the host
    ],
)
def test_a_change_that_all_variants_share_with_the_reference_kernel_is_the_hosts(ratios, expected):
    """Beside a reference kernel that took twice as long in b."""
    assert verdicts(group(ratios, SLOWER_HOST)) == expected


@pytest.mark.parametrize(
    ("ratios", "hosts", "verdict", "reason"),
    [
        ((0.5, 0.55, 0.52), SAME, "slower", SHARED),
        ((0.5, 0.55, 0.52), (1.0, 1.02), "slower", SHARED),
        ((2.0, 1.9, 2.1, 2.2), SAME, "faster", SHARED),
        ((0.8, 0.8, 0.8), (1.0, 1.06), "slower", SHARED),  # the host was slower, and not by as much
        ((0.5, 0.55, 0.52), (1.0, None), "slower", UNKNOWN),
        ((0.5, 0.55, 0.52), (None, None), "slower", UNKNOWN),
    ],
)
def test_a_change_that_all_variants_share_without_the_reference_kernel_is_a_regression_and_says_so(
    ratios, hosts, verdict, reason
):
    """As where seal, pyfhel and tenseal are all SEAL, and SEAL became slower."""
    place = COLUMNS.index("verdict")
    found = judgements(group(ratios, hosts), Rule())
    expected = f"{verdict}: all {len(ratios)} variants alike, {reason}"
    assert {values[place] for values in found} == {expected}


@pytest.mark.parametrize(
    ("slowdowns", "ratio", "expected"),
    [
        ((1.0, 1.0), 0.85, "slower"),
        (
            (1.0, 1.5),
            0.85,
            HOST_WIDE_SHIFT,
        ),  # OpenFHE suffers more than the reference kernel: the correction leaves a part
        ((1.0, 1.5), 1.18, HOST_WIDE_SHIFT),  # pointwise operations suffer less: it takes too much
        ((1.0, 1.5), 0.5, "slower"),
        ((1.0, None), 0.85, "slower"),
    ],
)
def test_what_the_correction_of_a_slow_host_leaves_is_the_hosts(slowdowns, ratio, expected):
    known = dict(zip(("a_slowdown", "b_slowdown"), slowdowns, strict=True))
    assert verdicts(group((ratio, ratio, ratio), **known)) == [expected] * 3


@given(
    powers=st.lists(st.floats(0.65, 1.45), min_size=3, max_size=5),
    levels=st.floats(0.4, 2.5),
    states=st.floats(0.4, 2.5),
)
def test_whatever_a_host_does_within_the_powers_that_were_measured_is_no_regression(powers, levels, states):
    """All variants alike: times go by powers of the reference kernel that differ by what is called alike at most."""
    ratios = [levels**power * states ** (power - 1) for power in powers]
    rows = group(ratios, (levels, 1.0), a_slowdown=states, b_slowdown=1.0)
    are_alike = max(ratios) / min(ratios) <= 1.25
    assert not are_alike or set(verdicts(rows)) not in ({"slower"}, {"faster"})


def test_comparisons_are_judged_one_by_one():
    rows = [*group((0.5,) * 3), row("v0", 0.5, comparison_group="add")]
    place = COLUMNS.index("verdict")
    assert [values[place] for values in judgements(rows, Rule())][2:] == [
        f"slower: all 3 variants alike, {SHARED}",
        "slower",
    ]


def test_what_all_variants_share_is_told_of_the_whole():
    rows = [*group((0.5,) * 3), row("v0", 0.5, comparison_group="add")]
    found = [dict(zip(COLUMNS, values, strict=True)) for values in judgements(rows, Rule())]
    assert shared(found).startswith(f"Results that moved alike in all variants, {SHARED}: 3 slower. Check")
    assert shared(found[3:]) is None


def test_a_variant_as_reference_cancels_what_it_shares():
    rows = [row("seal", 0.5), row("pyfhel", 0.5), row("openfhe", 1.0)]
    found = {r["variant"]: r for r in relative(rows, "seal")}
    assert {name: r["b_median"] for name, r in found.items()} == {"seal": 2.0, "pyfhel": 2.0, "openfhe": 1.0}
    ratio = ratio_of(Estimate(10, 2.0, 1.9, 2.1), Estimate(10, 4.0, 3.8, 4.2))
    assert found["pyfhel"]["b_low"] == pytest.approx(0.95 * 4.0 * ratio.low)
    assert found["pyfhel"]["b_high"] == pytest.approx(1.05 * 4.0 * ratio.high)
    assert verdicts(list(found.values())) == ["undecided", "undecided", "faster"]


def test_the_reference_kernel_as_reference_is_that_of_the_row():
    slow = row("seal", 0.5, a_reference_kernel_s=1e-5, b_reference_kernel_s=2e-5)
    unknown = row("pyfhel", 0.5)
    (found,) = relative([slow, unknown], "reference_kernel")
    assert (found["variant"], found["b_median"], found["a_reference_kernel_s"]) == ("seal", 2.0, None)


def test_what_is_no_time_stays_as_it_is():
    memory = BASE | {"unit": "bytes", "metric": "peak_memory"}
    assert relative([memory], "seal") == [memory]


def test_a_reference_without_interval_leaves_none():
    rows = [row("seal", 0.5, a_low=None, a_high=None), row("pyfhel", 0.5)]
    assert {(r["b_low"], r["b_high"]) for r in relative(rows, "seal")} == {(None, None)}
