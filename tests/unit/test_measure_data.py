from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_core.model import Case, ParameterSpec
from ciphermark_measure import operands

T = 65537


def case(scheme="bfv", size=1000, pattern="random", plain_modulus=T):
    modulus = None if scheme == "ckks" else plain_modulus
    return Case(
        "seal", "arithmetic", "add", ParameterSpec(scheme, 4096, plain_modulus=modulus), size, pattern
    )


schemes = st.sampled_from(["bfv", "bgv", "ckks"])
seeds = st.integers(0, 2**62)


@given(schemes, seeds, st.integers(0, 50), st.integers(1, 300), st.sampled_from(["constant", "random"]))
def test_an_operand_is_determined_by_case_seed_and_index(scheme, seed, index, size, pattern):
    made = case(scheme, size, pattern)
    first, second = operands.operand(made, seed, index), operands.operand(made, seed, index)
    assert np.array_equal(first, second)
    assert len(first) == size
    assert first.dtype == (np.float64 if scheme == "ckks" else np.int64)


@given(schemes, seeds, st.integers(0, 50), st.integers(1, 50))
def test_operands_differ_from_one_index_to_the_next(scheme, seed, index, step):
    made = case(scheme)
    assert not np.array_equal(operands.operand(made, seed, index), operands.operand(made, seed, index + step))


@given(schemes, seeds, st.integers(1, 2**61))
def test_operands_differ_from_one_seed_to_the_next(scheme, seed, step):
    made = case(scheme)
    assert not np.array_equal(
        operands.operand(made, seed, 0), operands.operand(made, (seed + step) % 2**62, 0)
    )


@given(seeds, st.sampled_from([2, 3, T, 1032193, 2**59]))
def test_integers_are_never_zero_and_below_the_modulus(seed, modulus):
    values = operands.operand(case(plain_modulus=modulus), seed, 0)
    assert values.min() >= 1
    assert values.max() < modulus


def test_random_integers_use_the_whole_range():
    values = operands.operand(case(size=20_000), 1, 0)
    assert values.min() < 0.01 * T
    assert values.max() > 0.99 * T
    assert len(np.unique(values)) > 10_000


@given(seeds)
def test_reals_lie_between_minus_one_and_one(seed):
    values = operands.operand(case("ckks"), seed, 0)
    assert -1 <= values.min() < -0.9
    assert 0.9 < values.max() <= 1


@given(seeds)
def test_factors_neither_vanish_nor_grow(seed):
    values = operands.operand(case("ckks"), seed, 0, is_factor=True)
    assert 0.9 <= values.min() <= values.max() <= 1


@given(schemes, seeds, st.integers(1, 300))
def test_the_pattern_same_repeats_one_value(scheme, seed, size):
    assert len(np.unique(operands.operand(case(scheme, size, "constant"), seed, 0))) == 1


def test_the_pattern_same_has_another_value_in_every_operand():
    values = {int(operands.operand(case(pattern="constant"), 1, index)[0]) for index in range(20)}
    assert len(values) == 20


@pytest.mark.parametrize(
    ("size", "slots", "lengths"),
    [(10, 4, [4, 4, 2]), (8, 4, [4, 4]), (3, 4, [3]), (4, 4, [4]), (5, 1, [1] * 5)],
)
def test_chunks(size, slots, lengths):
    values = np.arange(size)
    pieces = operands.chunks(values, slots)
    assert [len(piece) for piece in pieces] == lengths
    assert np.array_equal(np.concatenate(pieces), values)
