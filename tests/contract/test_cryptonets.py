"""Thousands of images at once: logits are those in the clear on every variant driven by levels that has numbers.

Numbers are what ciphertexts are multiplied with, in one operation or one by one.
"""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.together import Together
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import recommended

from . import harness
from .cells import Cell, has, is_driven_by_levels, where


def _multiplies_by_numbers(cell: Cell) -> bool:
    return has("weighted_sum")(cell) or has("mul_scalar")(cell)


pytestmark = [
    pytest.mark.schemes("ckks"),
    where(is_driven_by_levels),
    where(_multiplies_by_numbers),
    where(has("add_plain", "square")),
]


def test_digits_in_all_slots(variant: str, scheme: Scheme) -> None:
    workload = WORKLOADS["cryptonets-digits"]
    images = workload.input(1, None)
    spec = recommended(workload, scheme, registry.declaration(variant))
    both = Together(workload, harness.adapter(variant), spec, images)
    found = both.output(both.executed(images)["infer"].outputs, images)
    judgement = both.judged(found, images)
    assert judgement.complaint is None
    assert judgement.figures["images"] == 4096
    assert judgement.figures["agreement"] == 1
    assert len(np.unique(np.argmax(found, axis=1))) == 10
