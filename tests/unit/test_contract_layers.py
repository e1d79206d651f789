"""Programs in layers: together they are the program, and each computes what the program does there."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from circuit_execution import ADAPTER, executed, parameters
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_contract import layers
from ciphermark_contract.tracing import fresh_inputs, trace

PARAMETERS = parameters(64, 3)
SLOTS = PARAMETERS.slots
VECTORS = [np.linspace(-1, 1, SLOTS), np.cos(np.arange(SLOTS))]

choice = st.tuples(
    st.sampled_from(("add", "sub", "rotate", "add_plain", "negate")),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
choices = st.lists(choice, min_size=1, max_size=30)


def circuit_of(drawn):
    """Returns all values that it makes, in order: whatever of them is taken for an end."""

    def circuit(evaluator, inputs):
        values = list(inputs)
        for operation, first, second in drawn:
            a = values[first % len(values)]
            others = {
                "add": [values[second % len(values)]],
                "sub": [values[second % len(values)]],
                "rotate": [1 + second % 5],
                "add_plain": [evaluator.encode(np.full(SLOTS, 1 + second % 3) / 4, like=a)],
                "negate": [],
            }
            values.append(evaluator.apply(operation, a, *others[operation]))
        return values[len(inputs) :]

    return circuit


def run(layer, traced, operands):
    owner = ADAPTER.key_owner(PARAMETERS, traced.program.keys)
    evaluator = ADAPTER.evaluator(owner.public_material())
    prepared = evaluator.prepare_constants(layer.program, traced.constants)
    bound = evaluator.bind_program(layer.program, operands, prepared)
    bound.run(1)
    return bound.results()


@given(choices, st.lists(st.integers(0, 10**6), max_size=3))
def test_layers_one_after_the_other_are_the_program(drawn, cuts):
    traced = trace(circuit_of(drawn), PARAMETERS, fresh_inputs(PARAMETERS, 2))
    program = traced.program
    ends = {f"until {cut}": [program.outputs[cut % len(program.outputs)]] for cut in cuts}
    ends["last"] = list(program.outputs)
    found = layers.split(program, ends)
    assert sum((Counter(layer.program.counts) for layer in found), Counter()) == Counter(program.counts)
    owner = ADAPTER.key_owner(PARAMETERS, program.keys)
    values = dict(enumerate(owner.encrypt(vector) for vector in VECTORS))
    for layer in found:
        results = run(layer, traced, [values[value] for value in layer.operands])
        values.update(zip(layer.outputs, results, strict=True))
    expected = executed(circuit_of(drawn), VECTORS, PARAMETERS).outputs
    for value, vector in zip(program.outputs, expected, strict=True):
        np.testing.assert_array_equal(values[value].values, vector)


@given(choices)
def test_in_the_clear_a_program_is_what_the_library_without_encryption_computes(drawn):
    traced = trace(circuit_of(drawn), PARAMETERS, fresh_inputs(PARAMETERS, 2))
    values = layers.in_the_clear(traced.program, VECTORS, traced.constants)
    assert len(values) == len(traced.program.shapes)
    expected = executed(circuit_of(drawn), VECTORS, PARAMETERS).outputs
    for value, vector in zip(traced.program.outputs, expected, strict=True):
        np.testing.assert_array_equal(values[value], vector)


def test_a_layer_takes_what_lies_before_it_and_tells_bytes():
    def circuit(evaluator, inputs):
        a, b = inputs
        first = evaluator.apply("rescale", evaluator.apply("mul_plain", a, evaluator.encode(VECTORS[0])))
        return [first, evaluator.apply("add", evaluator.apply("negate", first), lowered(evaluator, b))]

    def lowered(evaluator, b):
        return evaluator.apply("rescale", evaluator.apply("mul_plain", b, evaluator.encode(VECTORS[0])))

    program = trace(circuit, PARAMETERS, fresh_inputs(PARAMETERS, 2)).program
    first, second = layers.split(program, {"first": program.outputs[:1], "second": program.outputs[1:]})
    assert (first.operands, first.ends) == ((0,), program.outputs[:1])
    assert set(second.operands) == {1, *program.outputs[:1]}
    # 64 coefficients of 8 bytes: ciphertexts have two polynomials, 4 primes at first and then 3.
    assert first.operand_bytes == 64 * 8 * (2 * 4 + 4)
    assert first.result_bytes == 64 * 8 * 2 * 3
    assert second.operand_bytes == 64 * 8 * (2 * 4 + 4 + 2 * 3)
    assert (first.facts.name, first.facts.level, first.facts.end_level) == ("first", 3, 2)
    assert {(item.operation, item.level): item.n for item in first.facts.counts} == first.program.counts
    assert first.facts.scale_bits == pytest.approx(math.log2(PARAMETERS.scale), abs=0.1)
    assert (first.facts.operand_bytes, first.facts.result_bytes) == (first.operand_bytes, first.result_bytes)


def test_nodes_that_no_end_needs_belong_to_the_last_layer():
    """A literal program has such."""

    def circuit(evaluator, inputs):
        a, b = inputs
        return [evaluator.apply("negate", a), evaluator.apply("rotate", b, 1), evaluator.apply("add", a, b)]

    program = trace(circuit, PARAMETERS, fresh_inputs(PARAMETERS, 2)).program
    ends = {"first": program.outputs[:1], "last": program.outputs[2:]}
    counts = [
        {operation: n for (operation, _), n in layer.program.counts.items()}
        for layer in layers.split(program, ends)
    ]
    assert counts == [{"negate": 1}, {"rotate": 1, "add": 1}]


@pytest.mark.parametrize("count", [1, 3])
def test_a_layer_without_nodes_ends_with_what_it_takes(count):
    program = trace(lambda _, inputs: list(inputs), PARAMETERS, fresh_inputs(PARAMETERS, count)).program
    (layer,) = layers.split(program, {"all": program.outputs})
    assert layer.operands == layer.outputs == layer.ends == tuple(range(count))
    assert not layer.program.nodes
    assert all(a < b for a, b in pairwise(layer.program.outputs))
