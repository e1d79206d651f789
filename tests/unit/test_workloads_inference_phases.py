"""One ciphertext up: an image in its phases, and what the circuit takes of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from circuit_execution import ADAPTER
from hypothesis import given
from hypothesis import strategies as st
from test_workloads_inference import SHAPES, network, shipped_image

from ciphermark_contract.interfaces import Unsupported
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.by_phases import Phases
from ciphermark_workloads.inference.inputs import Image
from ciphermark_workloads.inference.network import Shape
from ciphermark_workloads.programs import keys_of


def together(workload, image):
    return InProcess(workload, ADAPTER, workload.parameters("ckks"), image)


@pytest.mark.parametrize("name", ["digits", "lola-mnist"])
def test_the_circuit_gives_the_logits(name):
    both = together(WORKLOADS[f"{name}-one"], shipped_image(name, 0))
    for image in (shipped_image(name, number) for number in (0, 7, 199)):
        judgement = both.judged(both.output(both.executed(image)["infer"].outputs, image), image)
        assert judgement.complaint is None
        assert judgement.figures["logit_error"] < 1e-9


def test_it_takes_what_the_packing_was_designed_for():
    """57 products and 35 rotations, 8 of them of the one ciphertext that goes up; 2 squares, 5 rescalings."""
    both = together(WORKLOADS["lola-mnist-one"], shipped_image("lola-mnist", 0))
    program = both.programs["infer"].program
    counts = Counter(node.operation for node in program.nodes)
    fused = [len(node.operands) for node in program.nodes if node.operation == "multiply_accumulate"]
    assert counts.pop("multiply_accumulate") == len(fused) == 1 + 4 + 4
    hoisted = [len(node.arguments) for node in program.nodes if node.operation == "rotate_hoisted"]
    assert (hoisted, counts.pop("rotate_hoisted")) == ([8, 2], 2)
    assert sum(fused) == 9 + 32 + 16
    assert counts["rotate"] + sum(hoisted) == (8 + 2) + (10 + 5) + (6 + 4) == 35
    assert (counts["square"], counts["relinearize"], counts["rescale"], counts["add_plain"]) == (2, 2, 5, 3)
    assert (len(program.inputs), program.depth) == (1, 5)
    told = both.workload.keys(both.parameters)
    assert told == keys_of(both.programs.values())
    assert len(told.rotations.steps) == 24


@given(SHAPES, st.integers(0, 1000))
def test_networks_of_any_shape_that_fits_are_computed(shape, seed):
    shape = replace(shape, stride=2, hidden=min(shape.hidden, 100))
    workload, of = WORKLOADS["digits-one"].with_options({}), network(shape, seed)
    workload.__dict__["network"] = lambda: of
    image = Image(np.random.default_rng(seed).uniform(size=(shape.side, shape.side)), None)
    try:
        Phases(shape)
    except Unsupported:
        return
    both = together(workload, image)
    found = both.output(both.executed(image)["infer"].outputs, image)
    np.testing.assert_allclose(found, of.logits(image.pixels[None])[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"stride": 1}, "at every second pixel"),
        ({"hidden": 101}, "the network has 101 hidden neurons, and this packing has 100"),
        ({"classes": 17}, "the network has 17 classes, and this packing has 16"),
        ({"maps": 6}, "the network has 1200 slots of maps, and this packing has 1024"),
    ],
)
def test_what_the_pattern_does_not_hold_is_refused_with_the_bound(changes, reason):
    with pytest.raises(Unsupported, match=reason):
        Phases(replace(Shape(28, 5, 2, 5, 100, 10, after=1), **changes))
