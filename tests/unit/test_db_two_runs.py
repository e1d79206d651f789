"""What moved together is the host's; a reference cancels the host."""

from __future__ import annotations

import pytest
from test_benchmark_comparison import ROW

from ciphermark_db.comparison import COLUMNS
from ciphermark_db.two_runs import TOGETHER, judgements, relative

BASE = dict.fromkeys(COLUMNS) | ROW


def row(variant, ratio, **changes):
    """A time that was 2 s in a, and ``ratio`` times faster in b, both with intervals of 5 %."""
    b = 2.0 / ratio
    times = {"b_median": b, "b_low": 0.95 * b, "b_high": 1.05 * b}
    return BASE | {"variant": variant} | times | changes


def verdicts(rows):
    place = COLUMNS.index("verdict")
    return [values[place].partition(":")[0] for values in judgements(rows, any_security=False)]


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ((0.5, 0.55, 0.52), [TOGETHER] * 3),
        ((2.0, 1.9, 2.1, 2.2), [TOGETHER] * 4),
        ((0.5, 0.5), ["slower"] * 2),  # two builds of one library may both have become slower
        ((0.5, 0.5, 1.0), ["slower", "slower", "no difference"]),
        ((0.5, 0.5, 2.0), ["slower", "slower", "faster"]),
        ((0.3, 0.5, 0.5), ["slower"] * 3),  # one suffers far more than the others
    ],
)
def test_a_change_that_all_variants_share_is_the_hosts(ratios, expected):
    assert verdicts([row(f"v{place}", ratio) for place, ratio in enumerate(ratios)]) == expected


def test_comparisons_are_judged_one_by_one():
    rows = [row(f"v{place}", 0.5) for place in range(3)] + [row("v0", 0.5, comparison_key="add")]
    assert verdicts(rows) == [TOGETHER] * 3 + ["slower"]


def test_a_variant_as_reference_cancels_what_it_shares():
    rows = [row("seal", 0.5), row("pyfhel", 0.5), row("openfhe", 1.0)]
    found = {r["variant"]: r for r in relative(rows, "seal")}
    assert {name: r["b_median"] for name, r in found.items()} == {"seal": 2.0, "pyfhel": 2.0, "openfhe": 1.0}
    # the worst of both intervals: 0.95 * 4 s times (1.9 s / 4.2 s)
    assert found["pyfhel"]["b_low"] == pytest.approx(0.95 * 4.0 * 1.9 / 4.2)
    assert found["pyfhel"]["b_high"] == pytest.approx(1.05 * 4.0 * 2.1 / 3.8)
    assert verdicts(list(found.values())) == ["no difference", "no difference", "faster"]


def test_the_anchor_as_reference_is_that_of_the_row():
    slow = row("seal", 0.5, a_anchor_s=1e-5, b_anchor_s=2e-5)
    unknown = row("pyfhel", 0.5)
    (found,) = relative([slow, unknown], "anchor")
    assert (found["variant"], found["b_median"], found["a_anchor_s"]) == ("seal", 2.0, None)


def test_what_is_no_time_stays_as_it_is():
    memory = BASE | {"unit": "bytes", "metric": "peak_memory"}
    assert relative([memory], "seal") == [memory]


def test_a_reference_without_interval_leaves_none():
    rows = [row("seal", 0.5, a_low=None, a_high=None), row("pyfhel", 0.5)]
    assert {(r["b_low"], r["b_high"]) for r in relative(rows, "seal")} == {(None, None)}
