from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_contract import checking
from ciphermark_core import wire
from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.model import Accuracy, Parameters, ParameterSpec

integers = st.lists(st.integers(0, 2**40), min_size=1, max_size=30)
reals = st.lists(st.floats(-100, 100), min_size=1, max_size=30)


def exact(*vectors):
    return [np.array(vector, dtype=np.int64) for vector in vectors]


def real(*vectors):
    return [np.array(vector, dtype=np.float64) for vector in vectors]


def test_the_tolerance_of_exact_schemes_is_zero():
    made = Parameters(ParameterSpec("bfv", 4096), 4096, (97,), (), 4096, plain_modulus=65537)
    assert checking.tolerance(made) == 0


@pytest.mark.parametrize(
    ("ring_dimension", "scale_bits", "tolerance_bits"),
    [(4096, 30, -7.6), (8192, 40, -16.1), (32768, 40, -13.0)],
)
def test_a_wrong_slot_is_outside_the_tolerance_of_ckks(ring_dimension, scale_bits, tolerance_bits):
    spec = ParameterSpec("ckks", ring_dimension, scale_bits=scale_bits)
    chain = ((1 << 60, *[1 << 40] * 3), (1 << 60,))
    made = Parameters(
        spec,
        ring_dimension,
        *chain,
        ring_dimension // 2,
        scale=2.0**scale_bits,
        key_switching=one_digit_per_prime(*chain),
    )
    tolerance = checking.tolerance(made)
    assert math.log2(tolerance) == pytest.approx(tolerance_bits, abs=0.1)
    expected = np.random.default_rng(1).uniform(-1, 1, made.slots)
    actual = expected.copy()
    actual[[7, 8]] = actual[[8, 7]]  # what a rotation by another step would leave
    assert checking.accuracy([actual], [expected], tolerance).incorrect_slots == 2


def test_the_tolerance_grows_with_the_ciphertexts_that_add_up():
    spec = ParameterSpec("ckks", 8192, scale_bits=40)
    made = Parameters(spec, 8192, (1 << 60,), (), 4096, scale=2.0**40)
    assert checking.tolerance(made) < checking.tolerance(made, 8) < 4 * checking.tolerance(made)


@pytest.mark.parametrize(
    ("actual", "expected", "error", "wrong"),
    [
        ([[1, 2, 3]], [[1, 2, 3]], 0, 0),
        ([[1, 2, 4]], [[1, 2, 3]], 1, 1),
        ([[9, 2, 0]], [[1, 2, 3]], 8, 2),
        ([[1, 2, 3, 77]], [[1, 2, 3]], 0, 0),  # slots beyond the vector do not count
        ([[1, 2], [3, 4]], [[1, 2], [3, 5]], 1, 1),  # the vector of two ciphertexts
        ([[1, 2], [0, 0]], [[1, 2], [3, 5]], 5, 2),
    ],
)
def test_exact_schemes_are_compared_exactly(actual, expected, error, wrong):
    found = checking.accuracy(exact(*actual), exact(*expected), 0.0)
    assert found == Accuracy(error, wrong, 0.0, None)
    assert checking.is_right(found) is (wrong == 0)


@pytest.mark.parametrize(
    ("actual", "expected", "tolerance", "wrong", "precision"),
    [
        ([0.5, 0.25], [0.5, 0.25], 2**-20, 0, 1074),
        ([0.5 + 2**-21, 0.25], [0.5, 0.25], 2**-20, 0, 21),
        ([0.5 + 2**-19, 0.25], [0.5, 0.25], 2**-20, 1, 19),
        ([0.5 + 2**-20, 0.25], [0.5, 0.25], 2**-20, 0, 20),  # the tolerance itself is right
        ([1024 + 2**-8, 0], [1024, 0], 2**-18, 0, 18),  # large values: relative to the largest
        ([1024 + 2**-7, 0], [1024, 0], 2**-18, 1, 17),
        ([2.0, 0.0], [0.0, 2.0], 2**-20, 2, 0),
    ],
)
def test_ckks_is_compared_within_the_tolerance(actual, expected, tolerance, wrong, precision):
    found = checking.accuracy(real(actual), real(expected), tolerance)
    assert found.incorrect_slots == wrong
    assert found.precision_bits == pytest.approx(precision)
    assert found.tolerance == tolerance


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_wrong_and_can_be_told(poison):
    found = checking.accuracy(real([0.5, poison, 0.25]), real([0.5, 0.5, 0.25]), 2**-10)
    assert found.incorrect_slots == 1
    assert not checking.is_right(found)
    assert wire.from_line(wire.to_line(found), Accuracy) == found


@pytest.mark.parametrize("tolerance", [0.0, 2**-10])
@pytest.mark.parametrize("actual", [[], [1], [1, 2]])
def test_a_result_that_is_too_short_is_wrong_in_all_slots_and_can_be_told(actual, tolerance):
    make = exact if tolerance == 0 else real
    found = checking.accuracy(make(actual), make([1, 2, 3]), tolerance)
    assert found.incorrect_slots == 3
    assert wire.from_line(wire.to_line(found), Accuracy) == found


@given(integers, st.data())
def test_every_changed_slot_is_counted(values, data):
    changed = data.draw(st.sets(st.integers(0, len(values) - 1)))
    actual = [value + 1 if index in changed else value for index, value in enumerate(values)]
    found = checking.accuracy(exact(actual), exact(values), 0.0)
    assert found.incorrect_slots == len(changed)
    assert found.max_abs_error == (1 if changed else 0)


@given(reals, st.floats(2**-30, 2**-5), st.integers(4, 30))
def test_ckks_is_right_exactly_within_the_tolerance(values, error, tolerance_bits):
    tolerance = 2.0**-tolerance_bits
    actual = [values[0] + error, *values[1:]]
    magnitude = max(1.0, *(abs(value) for value in values))
    found = checking.accuracy(real(actual), real(values), tolerance)
    real_error = abs((values[0] + error) - values[0])
    assert found.max_abs_error == real_error
    assert checking.is_right(found) is (real_error <= tolerance * magnitude)
    if real_error:
        assert found.precision_bits == pytest.approx(-math.log2(real_error / magnitude))


def test_large_integers_are_not_compared_as_floats():
    big = 2**59
    found = checking.accuracy(exact([big + 1]), exact([big]), 0.0)
    assert (found.incorrect_slots, found.max_abs_error) == (1, 1.0)
