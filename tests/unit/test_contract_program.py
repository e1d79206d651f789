"""Programs as data: round trips, counts, costs and the lives of values, for any graph."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS
from ciphermark_contract.interfaces import Handle, KeyRequest, Vector
from ciphermark_contract.operations import OPERATIONS, Shape, fresh, top_level
from ciphermark_contract.program import UNUSED, Node, Program, digest_of
from ciphermark_contract.tracing import Traced, TracingEvaluator, fresh_inputs, trace
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec

RING = 64
MODULUS = primes.batching_modulus(20, RING)
ADAPTER = CleartextAdapter(DECLARATIONS[0])
PARAMETERS = ADAPTER.resolve(ParameterSpec("bfv", RING, (40, 40, 40), MODULUS, security=0))
UNARY = ("negate", "square", "relinearize", "rotate")
BINARY = ("add", "sub", "mul")
PLAIN = ("add_plain", "sub_plain", "mul_plain")

choice = st.tuples(st.sampled_from((*UNARY, *BINARY, *PLAIN)), st.integers(0, 10**6), st.integers(0, 10**6))
choices = st.lists(choice, min_size=1, max_size=40)


def _traced(drawn: list[tuple[str, int, int]], outputs: int = 2) -> Traced:
    """A random circuit over two inputs that returns its last values. Products are relinearized."""

    def circuit(evaluator, inputs):  # type: ignore[no-untyped-def]
        values = list(inputs)
        for operation, first, second in drawn:
            a = values[first % len(values)]
            if operation in BINARY:
                result = evaluator.apply(operation, a, values[second % len(values)])
            elif operation in PLAIN:
                plain = evaluator.encode(np.full(RING, 1 + second % 5, dtype=np.int64), like=a)
                result = evaluator.apply(operation, a, plain)
            else:
                result = evaluator.apply(operation, a, *([1 + second % 3] if operation == "rotate" else []))
            if evaluator.polynomials(result) > 2:
                result = evaluator.apply("relinearize", result)
            values.append(result)
        return values[-outputs:]

    return trace(circuit, PARAMETERS, fresh_inputs(PARAMETERS, 2))


def _executed(program: Program, traced: Traced, vectors: list[np.ndarray]) -> list[np.ndarray]:  # type: ignore[type-arg]
    owner = ADAPTER.key_owner(PARAMETERS, KeyRequest.of(relinearization=True))
    evaluator = ADAPTER.evaluator(owner.public_material())
    inputs = [evaluator.load(owner.dump(owner.encrypt(values), "none")) for values in vectors]
    bound = evaluator.bind_program(program, inputs, evaluator.prepare_constants(program, traced.constants))
    bound.run(1)
    return [owner.decrypt(result) for result in bound.results()]


@given(choices, st.integers(2, 4))
def test_repeated_a_program_computes_on_each_set_of_inputs_by_itself(
    drawn: list[tuple[str, int, int]], count: int
) -> None:
    traced = _traced(drawn)
    program, several = traced.program, traced.program.repeated(count)
    assert (several.constants, several.depth, several.keys) == (
        program.constants,
        program.depth,
        program.keys,
    )
    assert several.counts == {key: count * n for key, n in program.counts.items()}
    assert several.work(_unit) == count * program.work(_unit)
    assert several.span(_unit) == program.span(_unit)
    sets = [[np.full(RING, 2 * i + j, dtype=np.int64) for j in range(2)] for i in range(count)]
    expected = [values for vectors in sets for values in _executed(program, traced, vectors)]
    found = _executed(several, traced, [vector for vectors in sets for vector in vectors])
    np.testing.assert_array_equal(found, expected)


def _unit(node: Node, level: int) -> float:
    return 1.0


@given(choices)
def test_bytes_hold_the_whole_program(drawn: list[tuple[str, int, int]]) -> None:
    program = _traced(drawn).program
    again = Program.from_bytes(program.to_bytes())
    assert again == program
    assert again.digest == program.digest


@given(choices)
def test_values_live_from_their_node_to_their_last_use(drawn: list[tuple[str, int, int]]) -> None:
    """No operand is dead, every value but an output dies once, and none is alive longer than it is used."""
    program = _traced(drawn).program
    alive = set(range(len(program.inputs)))
    most = len(alive)
    for node, first, dying in zip(program.nodes, program.first_results, program.dying, strict=True):
        assert alive.issuperset(node.operands)
        alive.update(range(first, first + len(node.results)))
        most = max(most, len(alive))
        assert alive.issuperset(dying)
        alive.difference_update(dying)
    assert most == program.live_ciphertexts
    if program.nodes:
        assert alive == set(program.outputs)
    for value, last in enumerate(program.last_uses):
        users = [index for index, node in enumerate(program.nodes) if value in node.operands]
        assert last == (len(program.nodes) if value in program.outputs else max(users, default=UNUSED))


@given(choices)
def test_every_node_serves_an_output_and_is_there_once(drawn: list[tuple[str, int, int]]) -> None:
    program = _traced(drawn).program
    for first, node in zip(program.first_results, program.nodes, strict=True):
        assert any(program.last_uses[first + i] != UNUSED for i in range(len(node.results)))
    operations = [(node.operation, node.operands, node.constants, node.arguments) for node in program.nodes]
    assert len(set(operations)) == len(operations)


@given(choices)
def test_counts_work_and_span(drawn: list[tuple[str, int, int]]) -> None:
    program = _traced(drawn).program
    assert sum(program.counts.values()) == len(program.nodes) == program.work(lambda node, level: 1.0)
    assert program.counts == Counter((node.operation, program.level_of(node)) for node in program.nodes)
    span = program.span(lambda node, level: 1.0)
    assert (span > 0) == bool(program.nodes)
    assert span <= len(program.nodes)


@given(choices)
def test_a_program_computes_what_the_circuit_does(drawn: list[tuple[str, int, int]]) -> None:
    """Both on ``cleartext``: pruning, sharing and freeing change no value."""
    traced = _traced(drawn)
    owner = ADAPTER.key_owner(PARAMETERS, KeyRequest.of(relinearization=True))
    evaluator = ADAPTER.evaluator(owner.public_material())
    inputs = [owner.encrypt(np.arange(RING) * factor % MODULUS) for factor in (3, 7)]
    prepared = evaluator.prepare_constants(traced.program, traced.constants)
    bound = evaluator.bind_program(traced.program, inputs, prepared)
    bound.run(1)
    values = list(inputs)
    for operation, first, second in drawn:
        a = values[first % len(values)]
        others = [values[second % len(values)]] if operation in BINARY else []
        if operation in PLAIN:
            others = [evaluator.encode(np.full(RING, 1 + second % 5, dtype=np.int64), like=a)]
        steps = [1 + second % 3] if operation == "rotate" else []
        values.append(evaluator.apply("relinearize", evaluator.apply(operation, a, *others, *steps)))
    for output, expected in zip(bound.results(), values[-2:], strict=True):
        np.testing.assert_array_equal(owner.decrypt(output), owner.decrypt(expected))


def test_a_chain_is_all_span_and_independent_nodes_are_not() -> None:
    chain = _traced([("rotate", 2 + i - 1, 0) for i in range(6)], outputs=1).program
    assert chain.span(lambda node, level: 2.0) == chain.work(lambda node, level: 2.0)
    wide = _traced([("rotate", 0, 0), ("rotate", 1, 0)]).program
    assert wide.span(lambda node, level: 1.0) == 1.0
    assert wide.work(lambda node, level: 1.0) == 2.0


def test_a_chain_needs_no_more_than_two_ciphertexts_beside_the_other_input() -> None:
    """The rotations of one value, one after the other: each takes the place of the one before."""
    program = _traced([("rotate", i, 0) for i in range(1, 9)], outputs=1).program
    assert [node.operands for node in program.nodes[1:]] == [(a,) for a, _ in pairwise(range(2, 10))]
    assert program.live_ciphertexts == 3
    assert program.keys.steps == (1,)


@pytest.mark.parametrize(
    "broken",
    [b"", b"{}", b"\x80", Program(PARAMETERS, (), (), (), (0,)).to_bytes()],
    ids=["nothing", "text", "no fields", "an output that there is not"],
)
def test_bytes_that_hold_no_program_are_refused(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"contains no program|not in an order"):
        Program.from_bytes(broken)


def test_a_node_that_comes_before_its_operand_is_refused() -> None:
    node = Node("negate", (1,), (), (), (Shape(1),))
    with pytest.raises(ValueError, match="order of execution"):
        Program.from_bytes(Program(PARAMETERS, (Shape(1),), (), (node,), (1,)).to_bytes())


def test_a_missing_constant_is_told() -> None:
    traced = _traced([("add_plain", 0, 0)])
    evaluator = ADAPTER.evaluator(
        ADAPTER.key_owner(PARAMETERS, KeyRequest.of(relinearization=True)).public_material()
    )
    with pytest.raises(ValueError, match="1 constants whose vectors are not given"):
        evaluator.prepare_constants(traced.program, {})
    prepared = evaluator.prepare_constants(traced.program, traced.constants)
    with pytest.raises(ValueError, match="takes 2 inputs, not 1"):
        evaluator.bind_program(traced.program, [None], prepared)


def test_plaintexts_have_the_bytes_of_the_form_that_nodes_take() -> None:
    """Two data primes. One vector is taken in NTT form twice and by its coefficients once, another in
    NTT form a level further down.
    """
    names = ("mul_plain", "mul_plain_ntt", "mod_switch", "add")
    evaluator = TracingEvaluator(PARAMETERS, fresh_inputs(PARAMETERS, 1), names)
    (a,) = evaluator.inputs
    same, other = (np.full(RING, value, dtype=np.int64) for value in (1, 2))

    def product(operation: str, value: Handle, vector: Vector) -> Handle:
        return evaluator.apply(operation, value, evaluator.encode(vector, like=value))

    results = [product("mul_plain_ntt", a, same), product("mul_plain_ntt", a, same)]
    results.append(product("mul_plain", a, same))
    lower = evaluator.apply("mod_switch", a)
    results.append(product("mul_plain_ntt", lower, other))
    program = evaluator.traced(results).program
    assert program.plaintext_bytes == 8 * RING * (2 + 1 + 1)
    assert dataclasses.replace(program, is_managed=True).plaintext_bytes == 0
    assert evaluator.traced([a]).program.plaintext_bytes == 0


def test_contents_stay_in_the_first_words() -> None:
    evaluator = TracingEvaluator(PARAMETERS, fresh_inputs(PARAMETERS, 1), ("mul_plain_ntt",))
    (a,) = evaluator.inputs
    vector = np.ones(RING, dtype=np.int64)
    result = evaluator.apply("mul_plain_ntt", a, evaluator.encode(vector, like=a))
    program = evaluator.traced([result]).program
    content = program.to_bytes()
    assert (b"mul_plain_prepared" in content, b"mul_plain_ntt" in content) == (True, False)
    assert (b"digits" in content, b"decomposition_digits" in content) == (True, False)
    assert Program.from_bytes(content) == program


def test_digests_tell_vectors_apart() -> None:
    values = np.arange(4)
    assert digest_of(values) == digest_of(values.copy())
    assert digest_of(values) != digest_of(values.astype(np.float64))
    assert digest_of(values) != digest_of(values + 1)


def test_the_top_level_counts_what_a_modulus_needs_above_t() -> None:
    wide = primes.batching_modulus(50, RING)
    parameters = dataclasses.replace(PARAMETERS, plain_modulus=wide)
    assert (top_level(PARAMETERS), top_level(parameters)) == (1, 0)
    assert fresh(parameters) == Shape(0)


def test_programs_of_ten_thousand_nodes_are_traced_and_stored() -> None:
    """As many as the largest circuits have; how long it takes is measured in ``make bench``."""
    evaluator = TracingEvaluator(PARAMETERS, fresh_inputs(PARAMETERS, 2), ("add", "rotate"))
    a, b = evaluator.inputs
    for _ in range(5000):
        a, b = b, evaluator.apply("rotate", evaluator.apply("add", a, b), 1)
    program = evaluator.traced([b]).program
    assert len(program.nodes) == 10_000
    assert Program.from_bytes(program.to_bytes()) == program


def test_parameters_travel_with_the_program() -> None:
    parameters: Parameters = Program.from_bytes(_traced([("negate", 0, 0)]).program.to_bytes()).parameters
    assert parameters == PARAMETERS


def test_scales_that_differ_by_rounding_are_added() -> None:
    """HElib's scales of two ways to one level differ by its logarithms of moduli."""
    scale = 2.0**40
    low, high = Shape(1, scale), Shape(1, scale * (1 + 5.2e-15))
    assert OPERATIONS["add"].shape_after(PARAMETERS, low, high) == low
    with pytest.raises(ValueError, match="cannot be added"):
        OPERATIONS["add"].shape_after(PARAMETERS, low, Shape(1, scale * (1 + 1e-13)))
