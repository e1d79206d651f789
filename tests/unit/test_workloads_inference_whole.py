"""Networks in whole numbers: bfv by residues of a product of primes, and what it is worth."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_workloads_inference import SHAPES, network, shipped_image

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.inputs import Images
from ciphermark_workloads.inference.network import Layer
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.inference.on_images import SCALES, Exact, Scales, centred, encoded
from ciphermark_workloads.programs import keys_of

MODULUS = Exact.bfv.plain_modulus or 0


@given(SHAPES, st.integers(0, 1000))
def test_what_needs_no_rounding_is_computed_exactly(shape, seed):
    """Weights and pixels that are multiples of the powers of two: also in floating point nothing is rounded then."""
    scales = Scales(2, 3, 3, 3)
    of = network(shape, seed)
    names = ("convolution", "dense", "last")
    layers = {
        name: Layer(*(np.rint(part * 8) / 8 for part in (getattr(of, name).weights, getattr(of, name).bias)))
        for name in names
    }
    images = np.rint(np.random.default_rng(seed).uniform(size=(3, shape.side, shape.side)) * 4) / 4
    found = np.ldexp(scales.of_logits(replace(of, **layers), images).astype(float), -scales.logits)
    np.testing.assert_array_equal(found, replace(of, **layers).logits(images))


@given(st.lists(st.integers(-(2**30), 2**30), min_size=1, max_size=20), st.integers(0, 8))
def test_residues_stand_for_the_numbers_around_zero(numbers, scale):
    exact = np.array(numbers, dtype=np.float64)
    residues = encoded(np.ldexp(exact, -scale), scale, MODULUS)
    assert ((residues >= 0) & (residues < MODULUS)).all()
    np.testing.assert_array_equal(centred(residues, MODULUS), exact.astype(np.int64))


def test_shipped_networks_keep_their_classes_and_fit_the_modulus():
    """All 200 of LoLa's, and 197 of the smaller network's; a fourth of t/2 is left for others."""
    for name, agreeing in (("lola-mnist", 200), ("digits", 197)):
        held = stored.shipped(name)
        found = SCALES.of_logits(held.network, held.images)
        same = np.argmax(found, axis=1) == np.argmax(held.network.logits(held.images), axis=1)
        assert same.sum() == agreeing, name
        assert 8 * np.abs(found).max() < MODULUS


def together(name, given):
    workload = WORKLOADS[name]
    return InProcess(workload, registry.load("cleartext"), workload.parameters("bfv"), given)


def operations(stage):
    return Counter(node.operation for node in stage.program.nodes)


def require_exact(both, given):
    judgement = both.judged(both.output(both.executed(given)["infer"].outputs, given), given)
    assert judgement.complaint is None
    assert judgement.figures["logit_error"] == 0
    return judgement


@pytest.mark.parametrize("form", ["{}", "{}-encrypted", "{}-one"])
@pytest.mark.parametrize("network_name", ["digits", "lola-mnist"])
def test_circuits_give_the_whole_numbers_exactly(network_name, form):
    """On plain vectors, residue by residue."""
    both = together(form.format(network_name), shipped_image(network_name, 0))
    for number in (0, 7, 199):
        require_exact(both, shipped_image(network_name, number))


@pytest.mark.parametrize("shipped", ["digits", "lola-mnist"])
def test_weights_in_the_clear_take_the_products_of_ckks_and_no_rescaling(shipped):
    """A modulus less after each square."""
    both = together(shipped, shipped_image(shipped, 0))
    nodes = both.programs["infer"].program.nodes
    counts = operations(both.programs["infer"])
    fused = [len(node.operands) for node in nodes if node.operation == "multiply_accumulate"]
    taps = {"digits": 3, "lola-mnist": 7}[shipped]
    assert sum(fused) == taps + 32 + 16
    assert counts.pop("multiply_accumulate") == counts.pop("transform_back") == 1 + 4 + 4
    assert counts.pop("transform_ciphertext") == taps + 8 + 4  # each turn of a baby step once
    assert counts == {"add": 3 + 3 + 10, "rotate": 26, "square": 2, "relinearize": 2, "mod_switch": 2}


def test_encrypted_weights_take_eleven_relinearizations_in_bfv_too():
    """As in ckks, but for rescalings; weights of the dense layers go a level down with each square before them."""
    both = together("lola-mnist-encrypted", shipped_image("lola-mnist", 0))
    load, infer = both.programs["load"], both.programs["infer"]
    assert operations(load) == {"mod_switch": 32 + 2 * 16}
    assert operations(infer) == {
        "mul": 7 + 32 + 16,
        "add": 62,
        "rotate": 26,
        "relinearize": 1 + 4 + 4 + 2,
        "square": 2,
        "mod_switch": 2,
    }


def test_one_ciphertext_up_takes_the_rotations_that_it_takes_in_ckks():
    """35 of them, for 57 products."""
    stage = together("lola-mnist-one", shipped_image("lola-mnist", 0)).programs["infer"]
    nodes, counts = stage.program.nodes, operations(stage)
    assert sum(len(node.operands) for node in nodes if node.operation == "multiply_accumulate") == 57
    hoisted = sum(len(node.arguments) for node in nodes if node.operation == "rotate_hoisted")
    assert counts["rotate"] + hoisted == 35
    assert (counts["square"], counts["relinearize"], counts["mod_switch"], counts["rescale"]) == (2, 2, 2, 0)
    assert (counts["add_plain"], len(stage.program.inputs)) == (3, 1)


def test_many_images_take_what_they_take_in_ckks_and_no_rescaling():
    """20,480 + 84,500 + 1,000 products with whole numbers; a modulus less after each square, and an image in each of
    all slots.
    """
    held_images = stored.shipped("lola-mnist")
    images = Images(held_images.images[:1], held_images.labels[:1])
    both = together("cryptonets", images)
    stage = both.programs["infer"]
    terms = [len(node.operands) for node in stage.program.nodes if node.operation == "weighted_sum"]
    assert sum(terms) == 20_480 + 84_500 + 1_000
    assert operations(stage) == {
        "weighted_sum": 845 + 100 + 10,
        "add_plain": 845 + 100 + 10,
        "square": 845 + 100,
        "relinearize": 845 + 100,
        "mod_switch": 845 + 100,
    }
    assert (len(stage.program.inputs), len(stage.program.outputs)) == (784, 10)
    assert both.workload.keys(both.parameters) == keys_of([stage])
    assert both.parameters.slots == 8192


def test_digits_are_computed_exactly_many_at_once():
    images = WORKLOADS["cryptonets-digits"].with_options({"images_at_once": 450}).input(3, None)
    judgement = require_exact(together("cryptonets-digits", images), images)
    assert judgement.figures["images"] == 450


@pytest.mark.parametrize("name", ["lola-mnist", "lola-mnist-one", "lola-mnist-encrypted", "cryptonets"])
def test_parameters_are_secure_by_both_tables_and_leave_logits_an_eighth_of_t(name):
    """Whatever primes t is a product of."""
    adapter = registry.load("cleartext")
    for spec in (WORKLOADS[name].parameters("bfv"), WORKLOADS[name].roomy_parameters("bfv")):
        parameters = adapter.resolve(spec)
        assert min(parameters.security_2018, parameters.security_2024) >= 128
        held_images = stored.shipped("lola-mnist")
        logits = SCALES.of_logits(held_images.network, held_images.images)
        assert 8 * np.abs(logits).max() < spec.plain_modulus


def test_a_logit_beyond_half_of_t_is_refused_with_the_halvings_that_it_takes():
    image = shipped_image("lola-mnist", 0)
    spec = WORKLOADS["lola-mnist"].parameters("bfv")
    small = registry.load("cleartext").resolve(replace(spec, plain_modulus=114689 * 147457))
    assert small.spec.plain_residues == (114689, 147457)
    with pytest.raises(
        Unsupported, match=r"which has 34: take a larger one, or halve the last layer \d+ times"
    ):
        WORKLOADS["lola-mnist"].require_room(image, small)


@pytest.mark.parametrize("power", [12, 20, 60])
def test_a_logit_that_64_bits_do_not_hold_is_refused_too(power):
    """Which would be any number modulo 2^64, and perhaps below t/2."""
    workload = WORKLOADS["digits"].with_options({})
    of = stored.shipped("digits").network
    larger = replace(of, last=Layer(np.ldexp(of.last.weights, power), np.ldexp(of.last.bias, power)))
    workload.__dict__["network"] = lambda: larger
    parameters = registry.load("cleartext").resolve(workload.parameters("bfv"))
    image = shipped_image("digits", 0)
    with pytest.raises(Unsupported, match=r"halve the last layer (\d+) times") as refusal:
        workload.require_room(image, parameters)
    halvings = int(re.findall(r"(\d+) times", str(refusal.value))[0])
    assert power - 4 <= halvings <= power + 4


def test_a_network_of_which_bfv_knows_nothing_stays_in_ckks():
    with pytest.raises(Unsupported, match="is made for ckks, not bfv"):
        WORKLOADS["lola-mnist-published"].parameters("bfv")
