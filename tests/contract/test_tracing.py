"""Programs traced from circuits: their graphs, and that every library computes what they say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS as CLEARTEXT
from ciphermark_contract.interfaces import Evaluator, Handle, KeyRequest, Unsupported, Vector
from ciphermark_contract.operations import Shape
from ciphermark_contract.program import Constant, Node, Program, digest_of
from ciphermark_contract.tracing import Circuit, Form, Traced, fresh_inputs, trace
from ciphermark_core.model import Parameters, Scheme

from . import cells, examples, harness
from .cells import Cell
from .checks.values import right
from .harness import Subject


def _parameters(scheme: Scheme) -> Parameters:
    return CleartextAdapter(CLEARTEXT[0]).resolve(harness.DEEP_SPECS[scheme])


def _vector(parameters: Parameters) -> Vector:
    dtype = np.float64 if parameters.scale is not None else np.int64
    return np.arange(parameters.slots, dtype=dtype) % 3


def circuit_with(values: Vector) -> Circuit:
    """rotate(x + x·y, 1) + p by managed operations; and x − y."""

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        x, y = inputs
        do = evaluator.managed().apply
        total = do("rotate", do("add", x, do("mul", x, y)), 1)
        return [do("add_plain", total, values), do("sub", x, y)]

    return circuit


def _traced(scheme: Scheme) -> Traced:
    parameters = _parameters(scheme)
    return trace(circuit_with(_vector(parameters)), parameters, fresh_inputs(parameters, 2))


def _graph(program: Program) -> list[tuple[str, tuple[int, ...], int]]:
    return [(node.operation, node.operands, node.results[0].level) for node in program.nodes]


def test_graph_of_an_exact_circuit() -> None:
    traced, plain = _traced("bfv"), _vector(_parameters("bfv"))
    two, three = Shape(1, None, 2), Shape(1, None, 3)
    program = traced.program
    assert program.nodes == (
        Node("mul", (0, 1), (), (), (three,)),
        Node("relinearize", (2,), (), (), (two,)),
        Node("add", (0, 3), (), (), (two,)),
        Node("rotate", (4,), (), (1,), (two,)),
        Node("add_plain", (5,), (0,), (), (two,)),
        Node("sub", (0, 1), (), (), (two,)),
    )
    assert program.outputs == (6, 7)
    assert program.constants == (Constant(digest_of(plain), 1),)
    np.testing.assert_array_equal(traced.constants[digest_of(plain)], plain)
    assert (program.depth, program.keys) == (0, KeyRequest.of(True, (1,)))


def test_bgv_spends_a_level_on_a_product() -> None:
    program = _traced("bgv").program
    assert _graph(program)[:5] == [
        ("mul", (0, 1), 1),
        ("relinearize", (2,), 1),
        ("mod_switch", (3,), 0),
        ("mod_switch", (0,), 0),  # x comes down to meet x·y
        ("add", (5, 4), 0),
    ]
    assert program.depth == 1
    assert program.counts["mod_switch", 1] == 2


def test_graph_of_a_ckks_circuit() -> None:
    """x meets x·y one level down at its exact scale: s²/q, by a product with 1 encoded at scale s."""
    parameters = _parameters("ckks")
    scale, prime = parameters.scale, parameters.moduli[-1]
    assert scale is not None
    lower = scale * scale / prime
    ones = lower * prime / scale
    program = _traced("ckks").program
    assert [(node.operation, node.operands, node.results) for node in program.nodes[:7]] == [
        ("mul", (0, 1), (Shape(2, scale * scale, 3),)),
        ("relinearize", (2,), (Shape(2, scale * scale, 2),)),
        ("rescale", (3,), (Shape(1, lower, 2),)),
        ("mul_plain", (0,), (Shape(2, scale * ones, 2),)),
        ("rescale", (5,), (Shape(1, scale * ones / prime, 2),)),
        ("add", (6, 4), (Shape(1, scale * ones / prime, 2),)),
        ("rotate", (7,), (Shape(1, scale * ones / prime, 2),)),
    ]
    assert [(item.level, item.scale) for item in program.constants] == [(2, ones), (1, scale * ones / prime)]


def _computed(deep: Subject, traced: Traced, vectors: Sequence[Vector]) -> list[Handle]:
    prepared = deep.evaluator.prepare_constants(traced.program, traced.constants)
    inputs = [deep.encrypted(values) for values in vectors]
    bound = deep.evaluator.bind_program(traced.program, inputs, prepared)
    assert bound.run(2) > 0
    return bound.results()


USED = {"mul", "rotate", "add", "sub", "add_plain"}


def _has_levels(cell: Cell) -> bool:
    """Whether the circuit is one of primitives that say at which level they are."""
    return {*USED} <= {*cell.operations} and cells.is_driven_by_levels(cell)


def _forms(cell: Cell) -> list[str]:
    """Primitive operations where a library is driven by levels, and the managed form everywhere."""
    managed = ["managed"] if {*cell.managed} >= USED else []
    return ["by levels", *managed] if _has_levels(cell) else managed


@cells.each("form", _forms)
def test_a_program_computes_what_its_circuit_means(deep: Subject, form: str) -> None:
    x, y, p = (deep.vector(seed) for seed in range(3))
    traced = trace(
        circuit_with(p),
        deep.parameters,
        fresh_inputs(deep.parameters, 2),
        deep.declared.operations[deep.scheme],
        Form(is_managed=form == "managed"),
    )
    total, difference = _computed(deep, traced, (x, y))
    expected = examples.meaning(deep, "add", x, examples.meaning(deep, "mul", x, y))
    expected = examples.meaning(deep, "add", examples.meaning(deep, "rotate", expected, 1), p)
    right(deep, total, expected, operations=4)
    right(deep, difference, examples.meaning(deep, "sub", x, y))


@cells.where(_has_levels)
def test_shapes_are_those_of_the_library(deep: Subject) -> None:
    """Levels, exact scales and polynomials of the outputs, as the tracer foresaw them."""
    x, y, p = (deep.vector(seed) for seed in range(3))
    traced = trace(
        circuit_with(p),
        deep.parameters,
        fresh_inputs(deep.parameters, 2),
        deep.declared.operations[deep.scheme],
    )
    for output, value in zip(_computed(deep, traced, (x, y)), traced.program.outputs, strict=True):
        shape, evaluator = traced.program.shapes[value], deep.evaluator
        assert (evaluator.level(output), evaluator.polynomials(output)) == (shape.level, shape.polynomials)
        if shape.scale is not None:
            assert evaluator.scale(output) == pytest.approx(shape.scale, rel=1e-12)


def test_a_program_does_not_depend_on_values() -> None:
    """What the server computes is fixed before any data are there: the digest is the same whoever asks."""
    assert _traced("ckks").program.digest == _traced("ckks").program.digest


def test_a_program_too_deep_for_its_chain_is_refused_with_its_depth() -> None:
    parameters = _parameters("ckks")

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        (x,) = inputs
        for _ in range(5):
            x = evaluator.managed().apply("square", x)
        return [x]

    with pytest.raises(Unsupported, match=r"has 2 levels: it needs a depth of 5"):
        trace(circuit, parameters, fresh_inputs(parameters, 1))


def test_mistakes_of_a_circuit_are_told_while_it_is_traced() -> None:
    parameters = _parameters("ckks")

    def mixed(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        (x,) = inputs
        return [evaluator.apply("add", x, evaluator.apply("mod_switch", x))]

    with pytest.raises(ValueError, match="operands are at levels 2 and 1"):
        trace(mixed, parameters, fresh_inputs(parameters, 1))
    with pytest.raises(Unsupported, match="no rotate_columns in ckks"):
        trace(
            lambda evaluator, inputs: [evaluator.apply("rotate_columns", inputs[0])],
            parameters,
            fresh_inputs(parameters, 1),
            CLEARTEXT[0].operations["ckks"],
        )


def test_a_literal_program_has_every_operation_of_its_circuit() -> None:
    parameters = _parameters("bfv")

    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        (x,) = inputs
        evaluator.apply("negate", x)
        return [evaluator.apply("add", evaluator.apply("square", x), evaluator.apply("square", x))]

    counts = [
        len(trace(circuit, parameters, fresh_inputs(parameters, 1), form=form).program.nodes)
        for form in (Form(), Form(is_literal=True))
    ]
    assert counts == [2, 4]
