"""Circuits that choose levels and scales themselves are right on every library that lets them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ciphermark_circuits import chebyshev, matrix_product
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_circuits.matrix_product import Grid
from ciphermark_contract.interfaces import Vector
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import Circuit, fresh_inputs, trace
from ciphermark_core.model import ParameterSpec

from . import cells, harness
from .checks import noise_bound

NEEDED = {
    "add",
    "sub",
    "sub_plain",
    "mul",
    "square",
    "mul_plain",
    "rescale",
    "relinearize",
    "mod_switch",
    "rotate",
}
pytestmark = [pytest.mark.schemes("ckks"), cells.where(cells.has(*NEEDED))]
SIZE = 8
RING = 1024


def _executed(
    variant: str, circuit: Circuit, levels: int, vectors: Sequence[Vector]
) -> tuple[Program, Vector]:
    """The program over a small, insecure ring, and the slots of its one output."""
    declared, adapter = harness.registry.declaration(variant), harness.adapter(variant)
    parameters = adapter.resolve(ParameterSpec("ckks", RING, (55, *[45] * levels, 55), None, 45, security=0))
    traced = trace(circuit, parameters, fresh_inputs(parameters, len(vectors)), declared.operations["ckks"])
    subject = harness.subject_with(variant, parameters.spec, traced.program.keys)
    evaluator, inputs = subject.evaluator, [subject.encrypted(vector) for vector in vectors]
    prepared = evaluator.prepare_constants(traced.program, traced.constants)
    bound = evaluator.bind_program(traced.program, inputs, prepared)
    bound.run(1)
    (output,) = bound.results()
    return traced.program, subject.decrypted(output)


def _matrices() -> tuple[Vector, Vector]:
    left, right = np.random.default_rng(3).uniform(-1, 1, (2, SIZE, SIZE))
    return left, right


@pytest.mark.parametrize("grid", [Grid(SIZE, 4, 1), Grid(SIZE, 4, 4)])
def test_a_row_major_matrix_product(variant: str, scheme: str, grid: Grid) -> None:
    """A slot of the result depends on one row and one column: on ``SIZE`` slots of any value, by factors up to 1."""
    left, right = _matrices()
    program, slots = _executed(
        variant,
        lambda evaluator, inputs: [matrix_product.row_major(evaluator, *inputs, grid)],
        2,
        [left.ravel(), right.ravel()],
    )
    error = noise_bound.of_program(program, amplification=SIZE)
    np.testing.assert_allclose(slots[: SIZE**2], (left @ right).ravel(), rtol=0, atol=error)


def test_a_matrix_product_packed_by_the_client(variant: str, scheme: str) -> None:
    left, right = _matrices()
    program, slots = _executed(
        variant,
        lambda evaluator, inputs: [matrix_product.packed_by_client(evaluator, *inputs, SIZE)],
        1,
        [matrix_product.packed_left(left, RING // 2), matrix_product.packed_right(right, RING // 2)],
    )
    error = noise_bound.of_program(program, amplification=SIZE)
    np.testing.assert_allclose(matrix_product.unpacked(slots, SIZE), left @ right, rtol=0, atol=error)


@pytest.mark.parametrize("leaves", [2, 4, 8])
def test_a_composition_of_odd_polynomials(variant: str, scheme: str, leaves: int) -> None:
    """|T_k′| ≤ k² on [−1, 1], and factors of absolute sum 1: a change grows at most to the product of the squares."""
    generator = np.random.default_rng(leaves)
    polynomials = []
    for degree in (15, 5):
        coefficients = generator.uniform(0.1, 1, (degree + 1) // 2) * generator.choice(
            [-1, 1], (degree + 1) // 2
        )
        polynomials.append(OddPolynomial(tuple(coefficients / np.abs(coefficients).sum()), leaves))
    x = np.linspace(-1, 1, RING // 2)
    program, slots = _executed(
        variant,
        lambda evaluator, inputs: [chebyshev.evaluate(evaluator, inputs[0], polynomials)],
        sum(polynomial.depth for polynomial in polynomials),
        [x],
    )
    error = noise_bound.of_program(program, amplification=15**2 * 5**2)
    np.testing.assert_allclose(slots, polynomials[1](polynomials[0](x)), rtol=0, atol=error)
