"""Batches by a probabilistic batch code: every element has three buckets, costs are the formulas'."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_costs import resolved

from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.errors import UserError
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.retrieval import batch_pir

BATCH_PIR = WORKLOADS["batch-pir"]


# --- Buckets ---------------------------------------------------------------------------------------------------------


@given(st.integers(1, 3000), st.integers(1, 70))
def test_every_element_has_a_place_in_three_buckets(elements, wanted):
    code = batch_pir.batch_code(elements, wanted)
    assert code.count == 3 * -(-wanted // 2)
    thirds = code.buckets // (code.count // 3)
    assert (thirds == [0, 1, 2]).all()
    whole = code.element_at(0, code.count, 0, code.largest)
    assert whole.shape == (code.largest, code.count)
    assert Counter(whole[whole >= 0].tolist()) == dict.fromkeys(range(elements), 3)
    assert (whole[-1] >= 0).any()
    for number in range(3):
        assert (whole[code.positions[:, number], code.buckets[:, number]] == np.arange(elements)).all()


def test_buckets_are_filled_alike():
    """2^16 elements: a bucket has 2,048 on average, of a random hash with a deviation of 45; ours never changes."""
    assert batch_pir.batch_code(1 << 16, 64).largest < 2048 + 7 * 46


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_choice_is_found_wherever_there_is_one(choices):
    found = batch_pir.matched(choices)
    if found is None:  # by Hall's theorem, some of them have fewer buckets together than they are
        assert any(
            len({bucket for item in some for bucket in item}) < len(some)
            for size in range(1, len(choices) + 1)
            for some in combinations(choices, size)
        )
        return
    assert len(set(found)) == len(choices)
    assert all(bucket in choice for bucket, choice in zip(found, choices, strict=True))


# --- Costs -----------------------------------------------------------------------------------------------------------


# --- Parameters, and what cannot be ----------------------------------------------------------------------------------


def test_more_than_there_are_cannot_be_wanted():
    with pytest.raises(Unsupported, match="64 elements are wanted, and the database has 63"):
        BATCH_PIR.with_options({"elements": 63}).parameters("bfv")
    with pytest.raises(UserError, match="wanted"):
        BATCH_PIR.with_options({"wanted": 15})


def test_indices_that_cannot_be_asked_for_are_refused():
    """An index that there is not, one that is told twice too often, and four with the same three buckets."""
    workload = BATCH_PIR.with_options({"wanted": 16})
    parameters = resolved(workload)
    with pytest.raises(UserError, match="there is no element 4096: the database has 4096"):
        workload.vectors("answer", [*range(15), 4096], parameters)
    with pytest.raises(Unsupported, match="16 indices cannot be assigned to different buckets of 24"):
        workload.vectors("answer", [7] * 16, parameters)
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, choice in enumerate(batch_pir.batch_code(4096, 16).buckets.tolist()):
        groups.setdefault(tuple(choice), []).append(index)
    alike = next(indices for indices in groups.values() if len(indices) >= 4)[:4]
    others = [index for index in range(4096) if index not in alike][:12]
    with pytest.raises(Unsupported, match="cannot be assigned to different buckets"):
        workload.vectors("answer", alike + others, parameters)
    with pytest.raises(
        Unsupported, match="cannot be assigned to different buckets"
    ):  # before anything is packed
        workload.require_room(alike + others, parameters)


def test_a_batch_has_as_many_different_indices_as_are_wanted():
    found = [BATCH_PIR.input(seed, None) for seed in range(20)]
    assert all(len(set(item)) == 64 and min(item) >= 0 and max(item) < 4096 for item in found)
    assert found[3] == BATCH_PIR.input(3, None)
