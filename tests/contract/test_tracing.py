"""``tracing`` records the graph of a computation, the same over ``cleartext`` and over a real library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS as CLEARTEXT
from ciphermark_adapters.tracing.adapter import Node, TracingEvaluator
from ciphermark_contract.interfaces import Adapter, Exhausted, KeyOwner, KeyRequest, Unsupported, Vector
from ciphermark_core.model import Parameters, Scheme

from . import examples, harness
from .checks.values import compare

ALONE = harness.absence("seal")
SCHEMES: tuple[Scheme, ...] = ("bfv", "bgv", "ckks")


def _vectors(parameters: Parameters) -> list[Vector]:
    generator = np.random.default_rng(7)
    if parameters.scale is not None:
        return list(generator.uniform(-1, 1, (3, parameters.slots)))
    return list(generator.integers(0, parameters.plain_modulus, (3, parameters.slots)))


def _traced(adapter: Adapter, parameters: Parameters) -> tuple[KeyOwner, TracingEvaluator]:
    owner = adapter.key_owner(parameters, KeyRequest(True, (1,)))
    return owner, TracingEvaluator(adapter.evaluator(owner.public_material()))


def _computed(owner: KeyOwner, evaluator: TracingEvaluator) -> Any:
    """rotate(x + x·y, 1) + p by managed operations."""
    x, y, p = _vectors(owner.parameters)
    a, b = (evaluator.load(owner.dump(owner.encrypt(values), "none")) for values in (x, y))
    do = evaluator.managed().apply
    return do("add_plain", do("rotate", do("add", a, do("mul", a, b)), 1), p)


def _cleartext(parameters: Parameters) -> list[Node]:
    owner, evaluator = _traced(CleartextAdapter(CLEARTEXT[0]), parameters)
    _computed(owner, evaluator)
    return evaluator.graph


def _parameters(scheme: Scheme) -> Parameters:
    return CleartextAdapter(CLEARTEXT[0]).resolve(harness.DEEP_SPECS[scheme])


def test_graph_of_an_exact_circuit() -> None:
    """Index, operation, inputs, steps, level, scale, polynomials."""
    assert _cleartext(_parameters("bfv")) == [
        Node(0, "load", (), None, 1, None, 2),
        Node(1, "load", (), None, 1, None, 2),
        Node(2, "mul", (0, 1), None, 1, None, 3),
        Node(3, "relinearize", (2,), None, 1, None, 2),
        Node(4, "add", (0, 3), None, 1, None, 2),
        Node(5, "rotate", (4,), 1, 1, None, 2),
        Node(6, "encode", (), None, None, None, None),
        Node(7, "add_plain", (5, 6), None, 1, None, 2),
    ]


def test_bgv_spends_a_level_on_a_product() -> None:
    graph = _cleartext(_parameters("bgv"))
    assert [(node.operation, node.inputs, node.level) for node in graph[2:6]] == [
        ("mul", (0, 1), 1),
        ("relinearize", (2,), 1),
        ("mod_switch", (3,), 0),
        ("mod_switch", (0,), 0),  # x comes down to meet x·y
    ]
    assert (graph[6].operation, graph[6].inputs) == ("add", (5, 4))


def test_graph_of_a_ckks_circuit() -> None:
    """x meets x·y one level down at its exact scale: s²/q, by a product with 1 encoded at scale s."""
    parameters = _parameters("ckks")
    scale, prime = parameters.scale, parameters.moduli[-1]
    lower = scale * scale / prime
    ones = lower * prime / scale
    assert _cleartext(parameters) == [
        Node(0, "load", (), None, 2, scale, 2),
        Node(1, "load", (), None, 2, scale, 2),
        Node(2, "mul", (0, 1), None, 2, scale * scale, 3),
        Node(3, "relinearize", (2,), None, 2, scale * scale, 2),
        Node(4, "rescale", (3,), None, 1, lower, 2),
        Node(5, "encode", (), None, None, ones, None),
        Node(6, "mul_plain", (0, 5), None, 2, scale * ones, 2),
        Node(7, "rescale", (6,), None, 1, scale * ones / prime, 2),
        Node(8, "add", (7, 4), None, 1, scale * ones / prime, 2),
        Node(9, "rotate", (8,), 1, 1, scale * ones / prime, 2),
        Node(10, "encode", (), None, None, scale * ones / prime, None),
        Node(11, "add_plain", (9, 10), None, 1, scale * ones / prime, 2),
    ]


@pytest.mark.skipif(ALONE is not None, reason=str(ALONE))
@pytest.mark.parametrize("traced", SCHEMES)
def test_graph_over_seal_is_that_over_cleartext(traced: Scheme) -> None:
    """SEAL's own primes for both, so that scales agree to the last bit."""
    adapter = harness.adapter("seal")
    parameters = adapter.resolve(harness.DEEP_SPECS[traced])
    owner, evaluator = _traced(adapter, parameters)
    result = _computed(owner, evaluator)
    assert evaluator.graph == _cleartext(parameters)

    x, y, p = _vectors(parameters)
    subject = harness.subject("seal", harness.DEEP_SPECS[traced])
    total = examples.meaning(subject, "add", x, examples.meaning(subject, "mul", x, y))
    expected = examples.meaning(subject, "add", examples.meaning(subject, "rotate", total, 1), p)
    compare(subject, owner.decrypt(owner.load(evaluator.dump(result, "none"))), expected, operations=4)


def test_a_bound_operation_is_recorded_each_time_it_runs() -> None:
    owner, evaluator = _traced(CleartextAdapter(CLEARTEXT[0]), _parameters("bfv"))
    x, y, _ = _vectors(owner.parameters)
    a, b = (evaluator.load(owner.dump(owner.encrypt(values), "none")) for values in (x, y))
    bound = evaluator.bind("sub", [(a, b), (b, b)])
    bound.run(2)
    assert [(node.operation, node.inputs) for node in evaluator.graph[2:]] == [
        ("sub", (0, 1)),
        ("sub", (1, 1)),
    ] * 2


def test_what_fails_is_not_recorded() -> None:
    owner, evaluator = _traced(CleartextAdapter(CLEARTEXT[0]), _parameters("ckks"))
    ciphertext = evaluator.load(owner.dump(owner.encrypt(np.ones(4)), "none"))
    for _ in range(evaluator.level(ciphertext)):
        ciphertext = evaluator.apply("mod_switch", ciphertext)
    recorded = list(evaluator.graph)
    with pytest.raises(Exhausted):
        evaluator.apply("rescale", ciphertext)
    with pytest.raises(Unsupported):
        evaluator.apply("rotate_columns", ciphertext)
    assert evaluator.graph == recorded
