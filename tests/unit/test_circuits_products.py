"""What becomes of the scale of a product, and of the scales of logistic regression on its own modulus chain."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from circuit_execution import ADAPTER, executed

from ciphermark_adapters.cleartext.declaration import DECLARATIONS
from ciphermark_circuits import products
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.operations import top_level
from ciphermark_contract.program import Program
from ciphermark_core.model import ParameterSpec
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.learning.classifier import split
from ciphermark_workloads.programs import all_traced

TASK = split(DATA_SETS["boston"](), 1)
LEFT = {
    "as much as there was": ((60, 45), 45, ["mul", "rescale", "relinearize"]),
    "little": ((60, 60), 45, ["mul", "relinearize", "rescale"]),
    "nothing": ((60, 60), 30, ["mul", "relinearize"]),
}


def chain(moduli, scale_bits):
    return ADAPTER.resolve(ParameterSpec("ckks", 1024, (*moduli, 60), scale_bits=scale_bits, security=0))


def multiplied(evaluator, inputs):
    return [products.product(evaluator, *inputs)]


@pytest.mark.parametrize("left", LEFT)
def test_a_product_is_rescaled_where_scale_is_left_and_relinearized_first_where_it_is_little(left):
    moduli, scale_bits, operations = LEFT[left]
    factors = np.random.default_rng(1).uniform(-1, 1, (2, 512))
    execution = executed(multiplied, list(factors), chain(moduli, scale_bits))
    assert [node.operation for node in execution.program.nodes] == operations
    assert np.allclose(execution.outputs[0], factors[0] * factors[1])


def test_at_the_last_level_there_is_nothing_to_rescale_by():
    factors = list(np.ones((2, 512)))
    with pytest.raises(Unsupported, match=r"it needs a depth of 1 \(no level is left"):
        executed(multiplied, factors, chain((40,), 19))
    assert executed(multiplied, factors, chain((60,), 25)).program.nodes[-1].operation == "relinearize"


def key_switches(program: Program) -> int:
    return sum(node.operation in ("rotate", "relinearize") for node in program.nodes)


@pytest.mark.parametrize(
    ("name", "primes", "roomy_primes"), [("lr-k3-encrypted", 6, 8), ("lr-k5-encrypted", 10, 14)]
)
def test_regression_takes_two_primes_a_step_and_ends_at_the_scales_it_is_made_for(name, primes, roomy_primes):
    workload = WORKLOADS[name]
    counts = []
    for spec, count in (
        (workload.parameters("ckks"), primes),
        (workload.roomy_parameters("ckks"), roomy_primes),
    ):
        parameters = ADAPTER.resolve(spec)
        assert len(parameters.moduli) == count
        assert parameters.security_2018 >= 128
        stages = all_traced(workload, TASK, parameters, DECLARATIONS[0])
        counts.append([key_switches(stage.program) for stage in stages.values()])
        (model,) = stages["train"].returned
        *scores, _ = stages["infer"].returned
        kept_bits = 60 if count == primes else spec.scale_bits
        assert (model.level, {score.level for score in scores}) == (1, {0})
        # whatever the primes differ from powers of two by, tripled from step to step, is far below a bit
        assert log2(model.scale) == pytest.approx(kept_bits, abs=0.01)
        assert log2(scores[0].scale) == pytest.approx(spec.scale_bits, abs=0.01)
    assert counts[0] == counts[1]


def test_whole_numbers_go_down_a_modulus_with_every_product():
    """In bfv as in bgv: two products to train, one to infer."""
    workload = WORKLOADS["lr-fixed-encrypted"]
    for scheme in ("bfv", "bgv"):
        parameters = ADAPTER.resolve(workload.parameters(scheme))
        stages = all_traced(workload, TASK, parameters, DECLARATIONS[0])
        (model,) = stages["train"].returned
        *scores, _ = stages["infer"].returned
        top = top_level(parameters)
        assert (model.level, {score.level for score in scores}) == (top - 2, {top - 3})
