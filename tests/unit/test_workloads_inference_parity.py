"""LoLa's network for colour images: in the clear, how it lies in slots, and what its circuit takes at full size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from circuit_execution import ADAPTER, executed, parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.suite import files, plan, shipped
from ciphermark_benchmark.suite.form import Suite
from ciphermark_circuits import sums
from ciphermark_contract.interfaces import Unsupported
from ciphermark_contract.tracing import fresh_inputs, trace
from ciphermark_core.errors import UserError
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference import by_parity
from ciphermark_workloads.inference.by_parity import (
    DENSE_BABIES,
    DIAGONALS,
    LOLA_CIFAR,
    ByParity,
    Parities,
    Shape,
    Weights,
    drawn,
)
from ciphermark_workloads.programs import all_traced, keys_of

LARGE = WORKLOADS["lola-cifar"]
FULL = ADAPTER.resolve(LARGE.parameters("ckks"))
SMALL = LARGE.outline(FULL)
# Images of 2·half rows, so that maps have as many; more maps and taps than a ciphertext of 512 slots holds, and fewer.
SHAPES = st.builds(
    lambda half, maps, reach, features, channels, classes: Shape(
        channels, 4 * half, 4, 1, maps, reach, features, classes
    ),
    half=st.integers(2, 4),
    maps=st.integers(1, 19),
    reach=st.integers(0, 1),
    features=st.integers(16, 32),
    channels=st.integers(1, 3),
    classes=st.integers(2, 16),
)


def image(shape, seed=0):
    return np.random.default_rng(seed).uniform(size=(shape.channels, shape.side, shape.side))


def convolved(inputs, layer, kernel, padding):
    """At every second place, tap by tap."""
    channels, side, _ = inputs.shape
    places = (side + 2 * padding - kernel) // 2 + 1
    found = np.empty((len(layer.bias), places, places))
    taps = layer.weights.reshape(-1, channels, kernel, kernel)
    for output, row, column in np.ndindex(found.shape):
        total = layer.bias[output]
        for channel, a, b in np.ndindex(channels, kernel, kernel):
            y, x = 2 * row + a - padding, 2 * column + b - padding
            if 0 <= y < side and 0 <= x < side:
                total += taps[output, channel, a, b] * inputs[channel, y, x]
        found[output, row, column] = total
    return found


def test_the_network_is_what_its_definition_says():
    shape = Shape(channels=2, side=12, kernel=4, padding=1, maps=3, reach=1, features=5, classes=4)
    of, given_image = drawn(shape, 7), image(shape)
    maps = convolved(given_image, of.first, shape.kernel, shape.padding) ** 2
    hidden = convolved(maps, of.second, 6, 2) ** 2
    assert (maps.shape, hidden.shape) == ((3, 6, 6), (5, 3, 3))
    expected = of.dense.weights @ hidden.ravel() + of.dense.bias
    np.testing.assert_allclose(of.logits(given_image), expected, rtol=1e-9, atol=1e-9)


def test_the_large_network_has_the_sizes_and_weights_of_the_published_one():
    """1,000,621 of them, as the code of 2019 has."""
    of = drawn(LOLA_CIFAR, 1)
    layers = (of.first, of.second, of.dense)
    assert [layer.weights.size + layer.bias.size for layer in layers] == [16_019, 929_712, 54_890]
    assert (LOLA_CIFAR.places, LOLA_CIFAR.half, LOLA_CIFAR.neurons) == (14, 7, 5488)
    np.testing.assert_array_equal(of.first.weights, drawn(LOLA_CIFAR, 1).first.weights)
    assert not np.array_equal(of.first.weights, drawn(LOLA_CIFAR, 2).first.weights)


@given(SHAPES, st.sampled_from([1024, 2048]), st.integers(0, 1000))
@settings(max_examples=10)
def test_the_circuit_leads_to_the_logits_of_every_shape(shape, ring, seed):
    """In a pattern that fills the slots, and in one that is there twice."""
    workload = ByParity("of-any-shape", "", Parities(shape, 512))
    spec = replace(workload.parameters("ckks"), ring_dimension=ring, security=0)
    given_image = workload.input(seed, None)
    both = InProcess(workload, ADAPTER, spec, given_image)
    found = both.output(both.executed(given_image)["infer"].outputs, given_image)
    np.testing.assert_allclose(found, drawn(shape, 1).logits(given_image.pixels), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("items", "chains"), [(1, 1), (5, 1), (6, 2), (8, 2), (9, 3)])
def test_a_turned_total_takes_as_many_rotations_as_items_less_one(items, chains):
    chosen = parameters(64, 1)
    vectors = [np.random.default_rng(i).normal(size=32) for i in range(items)]
    found = executed(
        lambda evaluator, given: [sums.turned_total(evaluator, given, 3, chains)], vectors, chosen
    )
    expected = sum(np.roll(vector, -3 * place) for place, vector in enumerate(vectors))
    np.testing.assert_allclose(found.outputs[0], expected, atol=1e-9)
    assert found.counts["rotate"] == items - 1
    assert {*found.program.keys.steps} == (
        {*sums.steps_of_turned_total(items, 3, chains)} if items > 1 else set()
    )


def without_weights(layout):
    """Of so many vectors as the network has, each a number of its own: programs go by shapes."""
    numbers = (np.array([float(number)]) for number in count(1))

    def taken(*shape):
        return [taken(*shape[1:]) for _ in range(shape[0])] if shape else next(numbers)

    babies = layout.babies
    return Weights(
        first=taken(layout.middle, layout.maps // babies, layout.inputs * babies),
        first_bias=taken(layout.middle),
        second=taken(layout.channels, layout.middle * len(layout.shifts) ** 2),
        second_bias=taken(),
        dense=taken(DIAGONALS // DENSE_BABIES, DENSE_BABIES),
        dense_bias=taken(),
    )


def traced(layout):
    """The program of a network, without its weights."""
    weights = without_weights(layout)

    def circuit(evaluator, inputs):
        return by_parity.each(evaluator, inputs, layout, weights)["dense"]

    able = registry.declaration("seal").operations["ckks"]
    return trace(circuit, FULL, fresh_inputs(FULL, layout.inputs), able).program


def products(program):
    """Products with plaintexts by level: an inner product of k terms counts as k."""
    found = Counter()
    for node in program.nodes:
        if node.operation in {"multiply_accumulate", "mul_plain"}:
            found[program.level_of(node)] += len(node.constants)
    return found


@pytest.fixture(scope="module")
def whole():
    return traced(LARGE.layout)


def test_the_full_circuit_takes_the_operations_that_the_packing_was_designed_for(whole):
    """10,192 products and 253 rotations, of which 39, 199 and 15 are of a convolution or dense layer each."""
    assert products(whole) == {5: 6 * 3 * 32, 3: 3 * 25 * 128, 1: 16}
    assert LARGE.layout.products == (576, 9600, 16)
    rotations = Counter()
    for (operation, level), number in whole.counts.items():
        rotations[level] += number if operation == "rotate" else 0
    assert rotations == {5: 6 * 3 + 3 * 7, 3: 3 * 24 + 127, 1: 3 + 3, 0: 9, **dict.fromkeys((4, 2), 0)}
    counts = Counter(node.operation for node in whole.nodes)
    assert (counts["square"], counts["relinearize"], counts["rescale"]) == (4, 4, 3 + 3 + 1 + 1 + 1)
    assert counts["add_plain"] == 3 + 1 + 1
    assert (len(whole.inputs), len(whole.outputs), whole.depth) == (6, 1, 5)


def test_keys_are_those_that_the_program_takes(whole):
    """Told without the network: 20 rotations, and not one for each shift and diagonal."""
    assert LARGE.keys(FULL) == whole.keys
    assert len(whole.keys.steps) == 20


def test_the_memory_that_is_told_is_that_of_plaintexts_and_their_vectors(whole):
    """But for five biases, of 2 MB together."""
    ring, slots = FULL.ring_dimension, FULL.slots
    needed = sum(8 * ((constant.level + 1) * ring + slots) for constant in whole.constants)
    assert 0 <= needed - LARGE.server_bytes(FULL) < 5 << 20
    assert LARGE.server_bytes(FULL) < 16e9


def test_the_outline_takes_the_operations_and_levels_of_the_whole(whole):
    brief = traced(SMALL.layout)
    assert {node.operation for node in brief.nodes} == {node.operation for node in whole.nodes}
    assert (brief.depth, brief.shapes[brief.outputs[0]]) == (whole.depth, whole.shapes[whole.outputs[0]])
    assert SMALL.server_bytes(FULL) < LARGE.server_bytes(FULL) / 10


@pytest.mark.parametrize("variant", ["seal", "openfhe", "pyfhel"])
def test_a_network_is_carried_out_with_the_operations_of_each_library(variant):
    """Those that have no operation for sums of products take as many of products and of sums."""
    given_image = SMALL.input(1, None)
    program = all_traced(SMALL, given_image, FULL, registry.declaration(variant))["infer"].program
    assert sum(products(program).values()) == sum(SMALL.layout.products)


def test_the_small_network_is_inferred_and_its_layers_are_told():
    given_image = SMALL.input(5, None)
    both = InProcess(SMALL, ADAPTER, SMALL.parameters("ckks"), given_image)
    assert [*both.programs["infer"].layers] == [
        "first convolution",
        "first square",
        "second convolution",
        "second square",
        "dense",
    ]
    assert SMALL.keys(both.parameters) == keys_of(both.programs.values())
    for seed in (5, 6):
        given_image = SMALL.input(seed, None)
        found = both.output(both.executed(given_image)["infer"].outputs, given_image)
        judgement = both.judged(found, given_image)
        assert judgement.complaint is None
        assert judgement.results["logit_error"] < 1e-9
        assert "accuracy" not in judgement.results  # weights are random


def test_no_plaintext_is_zero():
    """SEAL refuses products with such."""
    layout = SMALL.layout
    weights = Weights.of(drawn(layout.shape, 1), layout, 8192)
    columns = [*weights.second, *weights.dense, *(column for part in weights.first for column in part)]
    assert all(vector.any() for column in columns for vector in column)


def test_the_chain_is_secure_by_both_tables():
    assert min(FULL.security_2018, FULL.security_2024) >= 128


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"side": 30}, "maps of 13 rows"),
        ({"features": 129}, "129 maps of the second convolution and 10 classes: .* room for 128 and 16"),
        ({"classes": 17}, "112 maps of the second convolution and 17 classes"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_with_the_bound(changed, told):
    with pytest.raises(Unsupported, match=told):
        Parities(replace(LOLA_CIFAR, **changed), 8192)


def test_a_ring_with_too_few_slots_is_refused():
    narrow = replace(LARGE.parameters("ckks"), ring_dimension=8192, security=0)
    with pytest.raises(Unsupported, match="takes 8192 slots, and a ciphertext has 4096: take N = 16384"):
        LARGE.vectors("infer", LARGE.input(1, None), ADAPTER.resolve(narrow))


def test_an_image_that_is_given_is_the_image():
    drawn_image = LARGE.input(3, None)
    taken = LARGE.given_input(drawn_image.pixels.ravel().tolist())
    np.testing.assert_array_equal(taken.pixels, drawn_image.pixels)
    assert taken.label is None


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([0.0] * 3071, "3 × 32 × 32 pixels, 3072 numbers row by row, and not 3071"),
        ([0.0] * 3071 + [1.5], "from 0 to 1"),
        ([0.0] * 3071 + [float("nan")], "from 0 to 1"),
    ],
)
def test_what_is_no_image_is_refused(values, reason):
    with pytest.raises(UserError, match=reason):
        LARGE.given_input(values)


def test_logits_that_the_first_prime_does_not_hold_are_refused():
    """The scale of 2^40 beside a prime of 50 bits leaves ±512, and beside one of 40 bits less than 1/2."""
    images = (SMALL.input(seed, None) for seed in count())
    given_image = next(item for item in images if np.abs(SMALL.reference(item)).max() > 0.1)
    SMALL.require_room(given_image, FULL)
    narrow = ADAPTER.resolve(replace(SMALL.parameters("ckks"), modulus_bits=(37, *[40] * 5, 50)))
    with pytest.raises(Unsupported, match=r"a logit of .* beyond ±0\.06.*a first prime of 37 bits"):
        SMALL.require_room(given_image, narrow)


def planned(memory_mb):
    experiment = {"kind": "inference", "variants": ["seal"], "workloads": ["lola-cifar"]}
    suite = Suite(name="test", budget={"memory_mb": memory_mb}, experiments=[experiment])
    return plan.cases(suite, {"seal": Availability(registry.declaration("seal"))})


def test_memory_is_told_and_too_little_refused_before_any_work():
    (told,) = planned(6400)  # with keys and ciphertexts
    assert (told.server_mb, told.reason) == (5873, None)
    (refused,) = planned(5872)
    assert (refused.status, refused.server_mb) == ("out_of_memory", 5873)


@pytest.mark.extended  # other tests ask plans for their memory, and this changes with the suite alone
def test_the_large_suite_has_room_for_all_of_its_cases():
    suite, _ = files.load(shipped.path("inference-large"))
    named = {name for experiment in suite.experiments for name in experiment.variants}
    every = {name: Availability(registry.declaration(name)) for name in named}
    found = plan.cases(suite, every)
    assert [item.reason for item in found] == [None] * len(found)
    assert "lola-cifar" in {item.case.operation for item in found}
    assert max(item.server_mb or 0 for item in found) <= 16384
