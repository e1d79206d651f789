"""SealPIR at full size: the noise of both layers is what the formulas say, and one that runs out is told as such."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
import retrieval_costs

from ciphermark_contract.operations import Ring, coefficients
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import Override
from ciphermark_workloads.retrieval import columns
from ciphermark_workloads.retrieval.grids import SquareGrid

from . import harness

pytestmark = [pytest.mark.schemes("bfv"), pytest.mark.variants("seal")]


def _together(variant: str, scheme: Scheme, bits: tuple[int, ...]) -> InProcess:
    workload = WORKLOADS["seal-pir"].with_options({"elements": 10000, "element_bytes": 288})
    return harness.in_process(workload, variant, scheme, 0, Override(modulus_bits=bits, security=0))


@pytest.mark.parametrize(
    ("bits", "ratio"),
    [
        ((35, 35, 36), 1050),
        # With as small a prime to drop as this, what is multiplied is most of the noise.
        ((35, 28, 36), 110),
    ],
)
def test_the_noise_is_what_the_formula_says(
    variant: str, scheme: Scheme, bits: tuple[int, ...], ratio: float
) -> None:
    """A budget of b bits says that the largest of N coefficients of noise is between 2^-b and 2^-(b + 1) of what
    decrypts right, q/2t, which the formula tells in standard deviations. Of the coefficients of both answers, some
    2^16 that are nearly normal, none is beyond 8 deviations, nor all of one ciphertext below 1/2, with chances below
    2^16·2^-49 and 8·0.39^4096. The second word of a polynomial is shorter, 15 bits of 35, and what it is multiplied
    with grows less.
    """
    both = _together(variant, scheme, bits)
    parameters = both.parameters
    grid = SquareGrid.of(10000, 288, parameters)
    told = retrieval_costs.word_noise_ratio(
        grid, bits[:-1], parameters.plain_modulus or 0, columns.secret_deviation(parameters.ring_dimension)
    )
    assert 0.9 * ratio < told < 1.1 * ratio
    for index in (0, 9999):
        outputs = both.executed(index)["answer"].outputs
        received = [both.owner.load(both.evaluator.dump(item, "none")) for item in outputs]
        budgets = [both.owner.noise_budget_bits(item) or 0 for item in received]
        assert log2(told / 8) - 1 <= min(budgets), (told, budgets)
        assert max(budgets[::2]) <= log2(2 * told), (told, budgets)


def test_noise_that_has_run_out_is_told(variant: str, scheme: Scheme) -> None:
    """A last prime of 24 bits leaves half a deviation: none of the words has a budget, so that a client says why the
    element is wrong.
    """
    both = _together(variant, scheme, (24, 35, 36))
    outputs = both.executed(7)["answer"].outputs
    received = [both.owner.load(both.evaluator.dump(item, "none")) for item in outputs]
    assert [both.owner.noise_budget_bits(item) for item in received] == [0] * 4


def test_noise_that_has_run_out_in_the_inner_layer_is_told(variant: str, scheme: Scheme) -> None:
    """Words of what is no ciphertext, freshly encrypted: these have room. The noise of their ciphertext is uniform, and
    all of its 4,096 coefficients are below half of what decrypts right with a chance of 2^-4096.
    """
    both = _together(variant, scheme, (35, 35, 36))
    drawn = np.random.default_rng(1).integers(0, 1 << 14, (4, both.parameters.ring_dimension))
    outer = [both.owner.encrypt(item) for item in coefficients.slots_of(Ring.of(both.parameters), drawn)]
    budgets = [both.owner.noise_budget_bits(item) or 0 for item in both.workload.opened(both.owner, outer)]
    assert min(budgets[:4]) > 0
    assert budgets[4:] == [0]
