"""How good the scores of a classifier are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ciphermark_contract.checking import UNBOUNDED
from ciphermark_core.metrics import METRICS
from ciphermark_core.model import EXACT_SCHEMES
from ciphermark_workloads.learning.classifier import Result, quality


def judged(scores, reference, labels, scheme="ckks"):
    found, clear = Result(np.array(scores)), Result(np.array(reference))
    expected = found if scheme in EXACT_SCHEMES else clear
    return quality(found, clear, expected, np.array(labels, dtype=float), scheme)


def values(found):
    assert found.results.keys() <= METRICS.keys()
    return found.results


def test_quality_is_judged_by_agreement_and_never_by_accuracy():
    found = judged([1.0, -2.0, 3.0, -4.5], [1.0, -2.0, 3.0, -4.0], [0, 1, 0, 0])
    assert found.complaint is None
    assert values(found) == {"accuracy": 0.25, "mse": 0.75, "agreement": 1.0, "noise_error": 0.125}
    assert found.accuracy.max_abs_error == 0.5
    assert found.accuracy.tolerance == 1.0
    assert found.accuracy.precision_bits == 3.0
    better = judged([1.0, 2.0, -3.0], [1.0, -2.0, 3.0], [1, 1, 0])
    assert values(better)["accuracy"] == 1.0
    assert better.complaint == (
        "1 of 3 rows agree with the plaintext run of the same algorithm; ckks must agree in at least 3"
    )


@pytest.mark.parametrize(
    ("scheme", "wrong", "is_right"),
    [
        ("ckks", 0, True),
        ("ckks", 1, False),
        ("bfv", 1, True),
        ("bfv", 2, False),
        ("bgv", 1, True),
        ("bgv", 2, False),
    ],
)
def test_how_many_rows_may_differ(scheme, wrong, is_right):
    reference = np.ones(102)
    scores = reference.copy()
    scores[:wrong] = -1.0
    found = judged(scores, reference, np.ones(102), scheme)
    assert (found.complaint is None) == is_right
    assert found.accuracy.incorrect_slots == wrong
    assert (found.accuracy.precision_bits is None) == (scheme != "ckks")


@pytest.mark.parametrize(("distance", "wrong"), [(2.0**-17, 0), (2.0**-15, 1)])
def test_a_row_on_the_boundary_has_either_class(distance, wrong):
    """The boundary is as wide as errors of ckks are, relative to the largest score."""
    found = judged([8.0, -1e-9], [8.0, 8.0 * distance], [1, 1])
    assert found.accuracy.incorrect_slots == wrong
    assert (found.complaint is None) == (wrong == 0)


def test_fixed_point_is_exact_or_wrong():
    clear, labels = Result(np.array([3.0, -2.0])), np.array([1.0, 0.0])
    right = Result(np.array([2.75, -2.25]))
    exact = quality(right, clear, right, labels, "bfv")
    assert exact.complaint is None
    assert (values(exact)["noise_error"], values(exact)["rounding_error"]) == (0.0, 0.25 / 3)
    assert exact.accuracy.max_abs_error == 0.25
    off_by_one = Result(np.array([2.75 + 2.0**-30, -2.25]))
    complaint = "1 of 2 scores are not those of the same whole numbers in the clear"
    wrong = quality(off_by_one, clear, right, labels, "bgv")
    assert wrong.complaint == complaint
    assert values(wrong)["noise_error"] == 2.0**-30 / 2.75
    assert quality(off_by_one, clear, right, labels, "ckks").complaint is None


def test_agreement_by_chance_is_not_enough():
    """Noise alone has the right signs of two rows one time in four."""
    found = judged([1e6, -1e6], [1.0, -2.0], [1, 0])
    assert values(found)["agreement"] == 1.0
    assert found.complaint.startswith("a score is off by 5e+05 times the largest one")
    assert judged([1e6, -1e6], [1.0, -2.0], [1, 0], "bfv").complaint is None  # there it is what is expected


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_agree_with_nothing(strange):
    found = judged([strange, 1.0], [-1.0, 1.0], [0, 1])
    assert values(found)["agreement"] == 0.5
    assert values(found)["accuracy"] == 0.5
    assert found.accuracy.max_abs_error == UNBOUNDED
    assert all(map(math.isfinite, found.results.values()))  # JSON knows no other numbers


def test_too_few_scores_are_an_error():
    with pytest.raises(ValueError, match="1 rows were scored, and 2 were to be"):
        judged([1.0], [1.0, 1.0], [1, 1])
