"""What pictures compute from results: exponents of growth, crossings over links, trees of times, distributions."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress, t

from ciphermark_analysis import distribution, growth, links, time_tree
from ciphermark_analysis.links import Cost
from ciphermark_analysis.time_tree import REST, Node

RINGS = (1024, 2048, 4096, 8192, 16384, 32768)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.25])
def test_the_exponent_of_a_power_law_is_its_own(power):
    found = growth.exponent(RINGS, [3e-6 * n**power for n in RINGS])
    assert (found.n, found.value) == (6, pytest.approx(power))
    assert found.low == pytest.approx(power, abs=1e-9)
    assert found.high == pytest.approx(power, abs=1e-9)


@given(st.lists(st.floats(1e-6, 1e3), min_size=3, max_size=9))
def test_an_exponent_has_the_interval_of_a_regression(times):
    rings = [1024 * 2**place for place in range(len(times))]
    found = growth.exponent(rings, times)
    wanted = linregress([math.log(n) for n in rings], [math.log(time) for time in times])
    is_constant = len(set(times)) == 1  # then scipy has no error
    half_width = 0.0 if is_constant else t.ppf(0.975, len(times) - 2) * wanted.stderr
    assert found.value == pytest.approx(wanted.slope, abs=1e-9)
    assert found.high - found.low == pytest.approx(2 * half_width, rel=1e-6, abs=1e-6)


def test_two_points_have_an_exponent_without_an_interval():
    assert growth.exponent((1024, 2048), (1.0, 4.0)) == growth.Exponent(2, pytest.approx(2.0), None, None)
    with pytest.raises(ValueError, match="two different x"):
        growth.exponent((1024, 1024), (1.0, 4.0))


def test_n_log_n_grows_a_little_faster_than_n():
    found = growth.exponent(RINGS, [growth.n_log_n(n) for n in RINGS])
    assert found.value == pytest.approx(1.117, abs=1e-3)


@pytest.mark.parametrize(
    ("a", "b", "rate"),
    [
        (Cost(1.0, 1e6), Cost(2.0, 0.0), 8e6),  # a second less work is worth a megabyte
        (Cost(2.0, 0.0), Cost(1.0, 1e6), 8e6),
        (Cost(1.0, 1e6), Cost(2.0, 2e6), None),
        (Cost(1.0, 1e6), Cost(1.0, 2e6), None),
        (Cost(1.0, 1e6), Cost(2.0, 1e6), None),
        (Cost(1.0, 1e6), Cost(1.0, 1e6), None),
    ],
)
def test_costs_are_equal_where_saved_work_pays_for_more_bytes(a, b, rate):
    found = links.crossing(a, b)
    assert found == (rate if rate is None else pytest.approx(rate))
    if found is not None:
        assert a.time_s(found) == pytest.approx(b.time_s(found))


COSTS = st.lists(st.builds(Cost, st.floats(1e-3, 1e3), st.floats(0, 1e9)), min_size=1, max_size=6)
LOW, HIGH = 1e6, 1e10


@given(COSTS, st.floats(6, 10))
def test_no_cost_is_below_the_one_whose_turn_it_is(costs, power):
    changes = links.turns(costs, LOW, HIGH)
    assert changes[0].rate == LOW
    assert all(one.rate <= other.rate < HIGH for one, other in pairwise(changes))
    assert all(one.fastest != other.fastest for one, other in pairwise(changes))
    rate = 10**power
    turn = [change for change in changes if change.rate <= rate][-1]
    assert costs[turn.fastest].time_s(rate) <= min(cost.time_s(rate) for cost in costs) * (1 + 1e-9)


def test_three_costs_take_turns():
    costs = [Cost(1.0, 1e8), Cost(10.0, 1e6), Cost(100.0, 0.0), Cost(200.0, 1e9)]
    found = [(turn.fastest, turn.rate) for turn in links.turns(costs, 1e4, HIGH)]
    assert found == [(2, 1e4), (1, pytest.approx(8e6 / 90)), (0, pytest.approx(8 * 99e6 / 9))]


def spans(root):
    return {"/".join(span.path): (span.start_s, span.end_s) for span in time_tree.spans(root)}


def test_parts_follow_each_other_and_the_rest_is_shown_as_such():
    train = Node("train", 10.0, (Node("client", 4.0, (Node("encrypt", 1.0),)), Node("server", 5.0)))
    found = spans(Node("pass", 13.0, (train, Node("infer", 3.0))))
    assert found == {
        "train": (0, 10),
        "train/client": (0, 4),
        "train/client/encrypt": (0, 1),
        f"train/client/{REST}": (1, 4),
        "train/server": (4, 9),
        f"train/{REST}": (9, 10),
        "infer": (10, 13),
    }


def test_parts_that_add_up_to_more_than_the_whole_keep_their_widths():
    found = spans(Node("pass", 1.0, (Node("a", 1.0, (Node("x", 0.75), Node("y", 0.75))), Node("b", 1.0))))
    assert found == {"a": (0, 1.5), "a/x": (0, 0.75), "a/y": (0.75, 1.5), "b": (1.5, 2.5)}


def nodes(depth: int = 3):
    parts = st.just(()) if depth == 0 else st.lists(nodes(depth - 1), max_size=3).map(tuple)
    return st.builds(Node, st.sampled_from("abc"), st.floats(0, 10), parts)


@given(nodes())
def test_every_part_lies_within_its_whole_and_none_covers_another(root):
    levels: dict[int, list[time_tree.Span]] = {0: [time_tree.Span((), 0.0, root.extent_s)]}
    for span in time_tree.spans(root):
        levels.setdefault(len(span.path), []).append(span)
    for level, found in levels.items():
        for one, other in pairwise(sorted(found, key=lambda span: (span.start_s, span.end_s))):
            assert one.start_s <= one.end_s <= other.start_s + 1e-9
        for span in found if level else ():
            assert any(
                whole.start_s - 1e-9 <= span.start_s and span.end_s <= whole.end_s + 1e-9
                for whole in levels[level - 1]
            )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([2.0], [(2.0, 1.0)]),
        ([3.0, 1.0, 2.0, 2.0], [(1.0, 0.25), (2.0, 0.75), (3.0, 1.0)]),
    ],
)
def test_a_distribution_rises_at_its_values(values, expected):
    assert distribution.steps(values) == expected


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0, 1))
def test_a_share_of_the_values_lies_below_its_quantile(values, share):
    found = distribution.quantile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert sum(value < found for value in values) <= share * len(values) + 1e-9
    (reached,) = [part for value, part in distribution.steps(values) if value == found]
    assert reached >= share - 1e-9
