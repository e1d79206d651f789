"""Networks in whole numbers: bfv by residues of a product of primes, and what it is worth."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_workloads_inference import SHAPES, network, shipped_image

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference.network import Layer
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.inference.on_images import SCALES, Exact, Scales, centred, encoded

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
        Unsupported,
        match=r"which has 34: take a larger one, or halve the last layer (\d+) times \(`halvings: \1`\)",
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
    with pytest.raises(Unsupported, match=r"halve the last layer \d+ times") as refusal:
        workload.require_room(image, parameters)
    halvings = int(re.findall(r"`halvings: (\d+)`", str(refusal.value))[0])
    assert power - 4 <= halvings <= power + 4


def test_a_network_of_which_bfv_knows_nothing_stays_in_ckks():
    with pytest.raises(Unsupported, match="is made for ckks, not bfv"):
        WORKLOADS["lola-mnist-published"].parameters("bfv")
