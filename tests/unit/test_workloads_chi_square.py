"""The chi-square test in the clear: its values by another formula, and what is judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.model import Parameters
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.micro.chi_square import Associations, Study
from ciphermark_workloads.workload import Judgement, Truth

FULL = {"people": 200, "markers": 16384}
NAMES = ("chi-square", "chi-square-published")


def _resolved(workload: AnyWorkload, ring: int | None = None) -> Parameters:
    spec = workload.parameters("ckks")
    return registry.load("cleartext").resolve(replace(spec, ring_dimension=ring or spec.ring_dimension))


def _judged(found: Associations, study: Study) -> Judgement:
    workload = WORKLOADS["chi-square"]
    right = workload.reference(study)
    return workload.judge(found, Truth(study, right, right, _resolved(workload)))


def test_pearsons_sum_is_the_formula_of_counts() -> None:
    """Marker by marker, from the counts that the circuit computes."""
    study = WORKLOADS["chi-square"].with_options({"people": 30, "markers": 200}).input(2, None)
    found, d, r1 = WORKLOADS["chi-square"].reference(study), 60, 2 * study.phenotypes.sum()
    for marker in range(200):
        c1 = study.genotypes[:, marker].sum()
        n11 = study.genotypes[:, marker] @ study.phenotypes
        margins = c1 * (d - c1) * r1 * (d - r1)
        wanted = d * (n11 * d - c1 * r1) ** 2 / margins if margins else 0.0
        assert found.chi2[marker] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        below = (c1 - n11) * (r1 - n11)
        odds = n11 * (n11 - r1 - c1 + d) / below if below else np.inf
        assert found.odds[marker] == pytest.approx(odds)


def test_known_quantiles() -> None:
    """Of one degree of freedom, by any table."""
    tests = Associations(np.array([0.0, 2.705543, 3.841459, 6.634897, 10.827566]), np.ones(5))
    np.testing.assert_allclose(tests.p, [1, 0.1, 0.05, 0.01, 0.001], rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_markers_without_variation(name: str) -> None:
    """A denominator that is 0 but for noise gives no quotient."""
    workload = WORKLOADS[name].with_options({"people": 4, "markers": 3})
    study = Study(np.array([[0.0, 2, 1]] * 3 + [[0, 2, 0]]), np.array([1.0, 0, 1, 0]))
    factor, odds_factor = workload.factors()
    noise = 1e-3
    outputs = [
        np.array([noise, noise, (8 * 2 - 3 * 4) ** 2]) * factor,
        np.array([noise, noise, 3 * 5 * 4 * 4]) * factor,
        np.array([noise, noise, 2 * 3]) * odds_factor,
        np.array([noise, noise, 1 * 2]) * odds_factor,
    ]
    found, right = workload.output(outputs, study, _resolved(workload)), workload.reference(study)
    np.testing.assert_allclose(found.chi2, [0, 0, 8 * 16 / 240], rtol=1e-9)
    np.testing.assert_allclose(right.chi2, found.chi2)
    assert found.odds.tolist() == pytest.approx([np.inf, np.inf, 3.0])
    assert right.odds.tolist() == pytest.approx(found.odds.tolist())


def test_wrong_values_are_noticed() -> None:
    workload = WORKLOADS["chi-square"]
    study = workload.input(4, None)
    right = workload.reference(study)
    assert _judged(right, study).complaint is None
    wrong = right.chi2.copy()
    wrong[7] += 0.01 + wrong[7] * 0.002
    assert "1 of 4096" in str(_judged(Associations(wrong, right.odds), study).complaint)
    wrong[7] = np.nan
    assert "1 of 4096" in str(_judged(Associations(wrong, right.odds), study).complaint)


def test_another_order_of_the_largest_is_noticed() -> None:
    """By two markers whose chi² are closer than what each may err."""
    workload = WORKLOADS["chi-square"]
    study = workload.input(4, None)
    right = Associations(20 * (1 - 2e-4) ** np.arange(4096), np.ones(4096))
    swapped = right.chi2.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    truth = Truth(study, right, right, _resolved(workload))
    assert workload.judge(right, truth).complaint is None
    assert "place 4" in str(workload.judge(Associations(swapped, right.odds), truth).complaint)


@pytest.mark.parametrize(
    ("name", "ring", "ciphertexts"),
    [
        ("chi-square", 8192, 200 * 5),
        ("chi-square-published", 32768, 400),
        ("chi-square-published", 131072, 400),
    ],
)
def test_ciphertexts_of_the_published_study(name: str, ring: int, ciphertexts: int) -> None:
    workload = WORKLOADS[name].with_options(FULL)
    parameters = _resolved(workload, ring)
    assert parameters.security_2024 >= 128
    assert workload.input_ciphertexts("compute", parameters) == ciphertexts


def test_a_ring_that_is_too_small_for_one_ciphertext_is_refused() -> None:
    workload = WORKLOADS["chi-square-published"].with_options(FULL)
    with pytest.raises(Unsupported, match="16384 slots"):
        workload.blocks(_resolved(workload, 16384))
