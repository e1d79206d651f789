"""Networks in whole numbers: bfv by residues of a product of primes, and what it is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_workloads_inference import SHAPES, network, shipped_image

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_measure.parties.together import Together
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.by_taps import BFV, SCALES
from ciphermark_workloads.inference.network import Layer
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.inference.whole_numbers import Scales, centred, encoded

MODULUS = BFV.plain_modulus or 0


@settings(deadline=None, max_examples=30)
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


@pytest.mark.parametrize("name", ["digits", "lola-mnist"])
def test_the_circuit_gives_the_whole_numbers_exactly(name):
    """On plain vectors, residue by residue: the same products as in ckks, and a modulus less after each square."""
    workload = WORKLOADS[name]
    both = Together(workload, registry.load("cleartext"), workload.parameters("bfv"), shipped_image(name, 0))
    for image in (shipped_image(name, number) for number in (0, 7, 199)):
        judgement = both.judged(both.output(both.executed(image)["infer"].outputs, image), image)
        assert judgement.complaint is None
        assert judgement.figures["logit_error"] == 0
    operations = {node.operation for node in both.programs["infer"].program.nodes}
    assert operations == {
        "transform_ciphertext",
        "transform_back",
        "multiply_accumulate",
        "add",
        "rotate",
        "square",
        "relinearize",
        "mod_switch",
    }


def test_a_logit_beyond_half_of_t_is_refused_with_the_halvings_that_it_takes():
    image = shipped_image("lola-mnist", 0)
    spec = WORKLOADS["lola-mnist"].parameters("bfv")
    small = registry.load("cleartext").resolve(replace(spec, plain_modulus=114689 * 147457))
    assert small.spec.plain_residues == (114689, 147457)
    with pytest.raises(
        Unsupported, match=r"which has 34: take a larger one, or halve the last layer \d+ times"
    ):
        WORKLOADS["lola-mnist"].require_room(image, small)


def test_a_network_of_which_bfv_knows_nothing_stays_in_ckks():
    with pytest.raises(Unsupported, match="is made for ckks, not bfv"):
        WORKLOADS["lola-mnist-encrypted"].parameters("bfv")
