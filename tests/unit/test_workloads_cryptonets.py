"""CryptoNets in the clear: what its circuit takes, and an image in each slot."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from circuit_execution import ADAPTER
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from test_workloads_inference import SHAPES, network

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.operations import of_scheme
from ciphermark_contract.tracing import fresh_inputs, trace
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference import inputs as held
from ciphermark_workloads.inference.network import Layer, patches, pixels_met
from ciphermark_workloads.inference.networks import stored


def some(name, count):
    images = stored.shipped(name)
    return held.Images(images.images[:count], images.labels[:count])


def test_where_sums_are_no_operation_there_are_products_with_numbers():
    """The same sums, term by term; where there are neither, the program says what is missing."""
    workload = WORKLOADS["cryptonets-digits"]
    parameters = ADAPTER.resolve(workload.parameters("ckks"))

    def traced(*absent):
        return trace(
            lambda evaluator, inputs: workload.circuit("infer", evaluator, inputs, [], {}),
            parameters,
            fresh_inputs(parameters, 64),
            [name for name in of_scheme("ckks") if name not in absent],
        ).program

    apart = Counter(node.operation for node in traced("weighted_sum").nodes)
    sums = [node for node in traced().nodes if node.operation == "weighted_sum"]
    pairs = [pair for node in sums for pair in zip(node.operands, node.arguments, strict=True)]
    assert apart["mul_scalar"] == len({*pairs})  # equal nodes are one
    assert apart["add"] == len(pairs) - len(sums)
    with pytest.raises(Unsupported, match="no mul_scalar in ckks"):
        traced("weighted_sum", "mul_scalar")


def test_memory_of_encrypted_weights_is_told():
    """As sent, half of six primes, then of six, of six to four and of six to two."""
    plain, encrypted = WORKLOADS["cryptonets-digits"], WORKLOADS["cryptonets-digits-encrypted"]
    parameters = ADAPTER.resolve(plain.parameters("ckks"))
    more = encrypted.server_bytes(parameters) - plain.server_bytes(parameters)
    assert more == 2 * 8 * 8192 * (2972 * 3 + 50 * 6 + 2592 * (6 + 5 + 4) + 330 * (6 + 5 + 4 + 3 + 2))


@given(SHAPES, st.integers(0, 2**32 - 1))
def test_a_convolution_is_a_sum_over_the_pixels_that_are_met(shape, seed):
    random = np.random.default_rng(seed)
    images, weights = random.uniform(size=(3, shape.side, shape.side)), random.normal(size=shape.taps)
    flat = images.reshape(3, -1)
    found = [flat[:, pixels] @ weights[taps] for taps, pixels in pixels_met(shape)]
    np.testing.assert_allclose(np.transpose(found), weights @ patches(images, shape), atol=1e-12)


@settings(max_examples=10)
@given(SHAPES, st.integers(0, 1000))
def test_networks_of_any_shape_are_computed(shape, seed):
    """By the circuit on plain vectors: layers in order, map by map."""
    of, workload = network(shape, seed), WORKLOADS["cryptonets-digits"].with_options({"halvings": 2})
    workload.__dict__["network"] = lambda: of
    images = held.Images(np.random.default_rng(seed).uniform(size=(5, shape.side, shape.side)), None)
    try:
        spec = replace(workload.parameters("ckks"), ring_dimension=64, security=0)
        both = InProcess(workload, ADAPTER, spec, images)
    except Unsupported:  # a neuron that meets nothing but padding
        reject()
    found = both.output(both.executed(images)["infer"].outputs, images)
    np.testing.assert_allclose(found, of.logits(images.pixels), rtol=1e-6, atol=1e-6)


def test_more_images_than_slots_are_refused_with_the_ring_that_has_them():
    workload = WORKLOADS["cryptonets-digits"].with_options({"images_at_once": 5000})
    parameters = ADAPTER.resolve(workload.parameters("ckks"))
    with pytest.raises(
        Unsupported, match="5000 images do not lie side by side in 4096 slots: take N = 16384"
    ):
        workload.vectors("infer", workload.input(1, None), parameters)


@pytest.mark.parametrize(("scheme", "factor"), [("ckks", 0.0), ("bfv", 0.0), ("bfv", 2.0**-20)])
def test_a_neuron_without_weights_is_refused(scheme, factor):
    """In whole numbers also one whose weights round to 0: of its sum no ciphertext would be left."""
    of = stored.shipped("digits").network
    weights = of.dense.weights.copy()
    weights[3] *= factor
    workload = WORKLOADS["cryptonets-digits"].with_options({})
    workload.__dict__["network"] = lambda: replace(of, dense=Layer(weights, of.dense.bias))
    with pytest.raises(Unsupported, match="a neuron has weights that are all 0"):
        InProcess(workload, registry.load("cleartext"), workload.parameters(scheme), some("digits", 2))


def test_inputs_have_every_image_alike_often():
    workload = WORKLOADS["cryptonets-digits"].with_options({"images_at_once": 450})
    chosen, again, other = (workload.input(seed, None) for seed in (3, 3, 4))
    np.testing.assert_array_equal(chosen.pixels, again.pixels)
    assert not np.array_equal(chosen.pixels, other.pixels)
    counts = Counter(image.tobytes() for image in chosen.pixels)
    assert {*counts.values()} <= {2, 3, 4, 6}  # some shipped images may be equal
    assert (len(chosen), sum(counts.values())) == (450, 450)
