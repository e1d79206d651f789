"""Thousands of images at once: logits are those in the clear on every variant driven by levels that has numbers, or
encrypted weights, and in bfv to the last digit.

Numbers are what ciphertexts are multiplied with, in one operation or one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ciphermark_core.model import Scheme
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.network import Layer, Network, Shape
from ciphermark_workloads.parameters import NOTHING, Override
from ciphermark_workloads.workload import Judgement

from . import harness
from .cells import Cell, each, has, is_driven_by_levels, where
from .checks.rings import SMALL


def _multiplies_by_numbers(cell: Cell) -> bool:
    return has("weighted_sum")(cell) or has("mul_scalar")(cell)


pytestmark = [
    pytest.mark.schemes("ckks", "bfv"),
    where(is_driven_by_levels),
    where(has("add_plain", "square")),
]


def _judgement(workload: Any, variant: str, scheme: Scheme, override: Override = SMALL) -> Judgement:
    images = workload.input(1, None)
    return harness.judgement(harness.in_process(workload, variant, scheme, images, override), images)


def _rings(cell: Cell) -> list[int]:
    """The small one, and on one library the recommended one."""
    return [1024, 8192] if cell.declared.variant == "seal" else [1024]


@where(_multiplies_by_numbers)
@each("ring", _rings)
def test_digits_in_all_slots(variant: str, scheme: Scheme, ring: int) -> None:
    """With the recommended parameters, and with their primes over a small ring."""
    slots = ring // 2 if scheme == "ckks" else ring
    workload = WORKLOADS["cryptonets-digits"].with_options({"images_at_once": slots})
    judgement = _judgement(workload, variant, scheme, SMALL if ring == 1024 else NOTHING)
    assert judgement.complaint is None
    assert judgement.results["images"] == slots
    if scheme == "ckks":
        assert judgement.results["agreement"] == 1
    else:
        assert judgement.results["logit_error"] == 0


@pytest.mark.schemes("ckks")
def test_encrypted_weights(variant: str, scheme: Scheme) -> None:
    """Of a small network: the weights of that for digits are 2,972 ciphertexts."""
    shape = Shape(side=8, kernel=3, stride=3, maps=2, hidden=6, classes=3, after=1)
    random = np.random.default_rng(4)
    sizes = ((shape.maps, shape.taps), (shape.hidden, shape.features), (shape.classes, shape.hidden))
    layers = [
        Layer(random.normal(size=size) / np.sqrt(size[1]), random.normal(size=size[0])) for size in sizes
    ]
    workload = WORKLOADS["cryptonets-digits-encrypted"].with_options({"images_at_once": 200})
    workload.__dict__["network"] = lambda: Network(shape, *layers)
    judgement = _judgement(workload, variant, scheme)
    assert judgement.complaint is None
    assert judgement.results["agreement"] == 1
