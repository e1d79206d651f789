"""Advice from predicted costs: limits, dominance, ties, the reason against every candidate, and regret."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_core.model import ParameterSpec
from ciphermark_model.advice import (
    MAX_NEAREST,
    MEASURES,
    OBJECTIVES,
    Candidate,
    Costs,
    Limits,
    Miss,
    advise,
    compared,
    dominates,
    misses,
    operations_of,
    regret,
)
from ciphermark_model.quantity import Quantity

CKKS = ParameterSpec("ckks", 8192, (60, 40, 60), scale_bits=40)
BFV = ParameterSpec("bfv", 8192, (60, 60, 60), plain_modulus=65537)


def around(value: float, share: float = 0.05) -> Quantity:
    return Quantity(value, value * (1 - share), value * (1 + share))


def costs(time_s=1.0, memory=100.0, traffic=10.0, **more) -> Costs:
    usual = {
        "latency_s": around(time_s),
        "evaluation_s": around(time_s / 2),
        "transfer_s": 0.0,
        "client_memory_bytes": memory / 2,
        "server_memory_bytes": memory,
        "upload_bytes": traffic / 2,
        "download_bytes": traffic / 2,
        "key_bytes": 50.0,
        "security_2018": 128,
        "security_2024": 0,
        "log_qp": 160.0,
        "operations_s": {"mul": time_s / 2},
    }
    return Costs(**usual | more)


def candidate(own: Costs | None = None, variant="seal", request=CKKS, **more) -> Candidate:
    return Candidate(variant, more.pop("threads", 1), request, {}, request.ring_dimension, costs=own, **more)


def test_the_answer_has_no_dominated_candidate_and_names_what_dominates_it():
    fast, small, slow = costs(1.0, 200), costs(2.0, 100), costs(2.5, 210)
    answer = advise([candidate(slow), candidate(fast), candidate(small)], Limits())
    assert [point.index for point in answer.points] == [1, 2]
    (out,) = answer.left_out
    assert (out.index, out.against, out.by) == (0, "dominated", 1)
    assert out.comparison.time == pytest.approx(2.5)
    assert not out.comparison.is_tie


def test_times_with_overlapping_intervals_are_a_tie_and_share_a_rank():
    """The slower variant of equal memory and bytes stays: it is not surely slower."""
    other = candidate(costs(1.05), variant="openfhe")
    answer = advise([other, candidate(costs(1.0)), candidate(costs(2.0, 50))], Limits())
    assert [(point.index, point.rank) for point in answer.points] == [(1, 1), (0, 1), (2, 3)]
    assert answer.points[0].next.is_tie
    assert not answer.points[1].next.is_tie
    assert answer.points[2].next is None


def test_of_one_variant_the_predicted_time_decides_and_of_equals_the_first():
    answer = advise(
        [candidate(costs(1.05)), candidate(costs(1.0)), candidate(costs(1.0), threads=2)], Limits()
    )
    assert [point.index for point in answer.points] == [1]
    assert [(item.index, item.by, item.comparison.is_tie) for item in answer.left_out] == [
        (0, 1, True),
        (2, 1, True),
    ]


@pytest.mark.parametrize(
    ("objective", "order"), [("time", [0, 1, 2]), ("memory", [1, 0, 2]), ("bytes", [2, 1, 0])]
)
def test_the_objective_orders_the_points(objective, order):
    several = [costs(1.0, 300, 30), costs(2.0, 100, 20), costs(4.0, 400, 10)]
    answer = advise([candidate(each) for each in several], Limits(), objective)
    assert [point.index for point in answer.points] == order
    assert [point.rank for point in answer.points] == [1, 2, 3]


def test_a_point_is_compared_with_the_next_one_in_numbers():
    a = costs(1.0, 100, 10, operations_s={"mul": 0.2, "rotate": 0.3})
    b = costs(3.0, 50, 10, operations_s={"mul": 1.0, "rotate": 0.4, "add": 0.1})
    one = compared(a, b)
    assert (one.time, one.memory, one.traffic, one.is_tie) == (3.0, 0.5, 1.0, False)
    assert (one.operation, one.difference_s) == ("mul", pytest.approx(0.8))
    assert compared(b, a).operation == ""


@pytest.mark.parametrize(
    ("limits", "own", "expected"),
    [
        (Limits(latency=0.5), {}, Miss("latency", 1.0, 0.5, 2.0, "s")),
        (Limits(throughput=4), {}, Miss("throughput", 2.0, 4, 2.0, "1/s")),
        (Limits(client_memory=40), {}, Miss("client_memory", 50.0, 40, 1.25, "bytes")),
        (Limits(server_memory=40), {}, Miss("server_memory", 100.0, 40, 2.5, "bytes")),
        (Limits(upload=4), {}, Miss("upload", 5.0, 4, 1.25, "bytes")),
        (Limits(download=4), {}, Miss("download", 5.0, 4, 1.25, "bytes")),
        (Limits(keys=25), {}, Miss("keys", 50.0, 25, 2.0, "bytes")),
        (Limits(price=1), {"price": around(3.0)}, Miss("price", 3.0, 1, 3.0, "price")),
        (Limits(price=1), {}, Miss("price", None, 1, math.inf, "price")),
        (Limits(error=1e-4), {}, Miss("error", None, 1e-4, math.inf)),
        (Limits(error=1.0), {"error": Quantity(0.9, 0.5, 2.0)}, Miss("error", 2.0, 1.0, 2.0)),
        (Limits(exact=True), {}, Miss("exact", "ckks is approximate", "exact")),
        (Limits(libraries=("openfhe",)), {}, Miss("libraries", "seal", "openfhe")),
        (Limits(security_table="2024"), {}, Miss("security", 0, 128, math.inf, "bits")),
        (Limits(), {"security_2018": None}, Miss("security", None, 128, math.inf, "bits")),
    ],
    ids=lambda value: value.limit if isinstance(value, Miss) else "",
)
def test_each_limit_is_missed_by_an_amount(limits, own, expected):
    one = candidate(costs(**own))
    assert misses(one, limits) == (expected,)
    answer = advise([one], limits)
    assert answer.points == ()
    assert [item.misses for item in answer.nearest] == [(expected,)]


def test_limits_that_hold_are_not_missed():
    generous = Limits(
        error=1.0,
        latency=1.0,
        throughput=2.0,
        client_memory=50,
        server_memory=100,
        upload=5,
        download=5,
        keys=50,
        libraries=("seal",),
        threads=1,
    )
    one = candidate(costs(error=around(0.5)))
    assert misses(one, generous) == ()
    (point,) = advise([one], generous).points
    assert point.uncertain == ("latency", "throughput")


def test_exact_results_meet_every_error_and_need_a_noise_budget():
    exact = candidate(costs(budget_bits=Quantity(5, 2, 8)), request=BFV)
    assert misses(exact, Limits(error=1e-9, exact=True)) == ()
    spent = candidate(costs(budget_bits=Quantity(1, -1, 3)), request=BFV)
    assert misses(spent, Limits()) == (Miss("noise_budget", -1, 0, math.inf, "bits"),)


def test_a_candidate_without_a_prediction_keeps_its_reason():
    answer = advise(
        [
            candidate(reason="the library has no rotate"),
            candidate(reason="the table lacks rotate at level 3", is_uncovered=True),
        ],
        Limits(),
    )
    assert [(item.against, item.reason) for item in answer.left_out] == [
        ("unsupported", "the library has no rotate"),
        ("uncovered", "the table lacks rotate at level 3"),
    ]
    assert answer.points == answer.nearest == ()


def test_the_nearest_misses_need_the_smallest_factors_and_fewest_kinds():
    several = [
        candidate(costs(4.0)),
        candidate(costs(1.5)),
        candidate(costs(1.1), variant="openfhe"),
        candidate(costs(2.0, security_2018=0)),
        *(candidate(costs(time_s)) for time_s in (5.0, 6.0, 7.0)),
    ]
    answer = advise(several, Limits(latency=1.0, libraries=("seal",)))
    assert [item.index for item in answer.nearest] == [1, 0, 4, 5, 6]
    assert len(answer.nearest) == MAX_NEAREST


def test_unknown_memory_never_dominates_and_misses_a_limit():
    unknown = costs(1.0, server_memory_bytes=None)
    assert not dominates(unknown, costs(2.0))
    assert dominates(costs(0.5), unknown)
    assert [miss.limit for miss in misses(candidate(unknown), Limits(server_memory=1e9))] == ["server_memory"]
    assert compared(unknown, unknown).memory == 1.0


amounts = st.integers(1, 8).map(float)
predicted = st.builds(costs, amounts, amounts, amounts)
candidates = st.lists(
    st.one_of(
        st.builds(candidate, predicted, st.sampled_from(["seal", "openfhe"])),
        st.builds(
            lambda text, is_uncovered: candidate(reason=text, is_uncovered=is_uncovered),
            st.text(),
            st.booleans(),
        ),
    ),
    max_size=12,
)
limits = st.builds(
    Limits, latency=st.none() | amounts, server_memory=st.none() | amounts, upload=st.none() | amounts
)


def no_worse(a: Costs, b: Costs) -> bool:
    return (
        a.latency_s.value <= b.latency_s.value
        and a.memory_bytes <= b.memory_bytes
        and a.traffic_bytes <= b.traffic_bytes
    )


@given(candidates, limits, st.sampled_from(OBJECTIVES))
def test_every_candidate_is_a_point_or_has_a_reason(several, limits, objective):
    answer = advise(several, limits, objective)
    points, out = [point.index for point in answer.points], [item.index for item in answer.left_out]
    assert sorted(points + out) == [*range(len(several))]
    own = [several[index].costs for index in points]
    assert not [1 for a in own for b in own if dominates(a, b)]
    for item in answer.left_out:
        assert {
            "limit": bool(item.misses),
            "dominated": item.by is not None and no_worse(several[item.by].costs, several[item.index].costs),
            "unsupported": several[item.index].costs is None,
            "uncovered": several[item.index].is_uncovered,
        }[item.against]
        assert all(miss.factor >= 1 for miss in item.misses)
    met = [each for each in several if each.costs and not misses(each, limits)]
    assert bool(answer.points) == bool(met)
    assert bool(answer.nearest) == (not met and any(each.costs for each in several))
    assert [point.rank for point in answer.points] == sorted(point.rank for point in answer.points)
    if met and objective == "time":
        assert several[points[0]].costs.latency_s.value == min(each.costs.latency_s.value for each in met)


@given(predicted, predicted)
def test_no_two_candidates_dominate_each_other(a, b):
    assert not (dominates(a, b) and dominates(b, a))
    assert not dominates(a, replace(a))


def test_every_measure_has_a_limit_of_its_name():
    assert MEASURES.keys() < Limits.__dataclass_fields__.keys()


def test_regret_is_the_share_of_time_lost_by_the_first_choice():
    measured = {"a": 1.1, "b": 1.0, "c": 3.0}
    assert regret(["b", "a"], measured) == 0.0
    assert regret(["a", "b"], measured) == pytest.approx(0.1)
    with pytest.raises(KeyError):
        regret(["d"], measured)


def test_operations_are_summed_over_levels():
    assert operations_of([("mul", 1.0), ("add", 3.0), ("mul", 0.5)]) == {"add": 3.0, "mul": 1.5}
