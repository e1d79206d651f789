"""Chi-square tests under encryption: their values, and the operations of both circuits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import circuit_execution as circuits
import numpy as np
import pytest

from ciphermark_circuits import chi_square
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.tracing import Circuit, Form, fresh_inputs, trace

PEOPLE = 12


def _ours(people: int) -> Circuit:
    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        blocks = [inputs[start : start + people] for start in range(people, len(inputs), people)]
        return chi_square.statistics(evaluator, inputs[:people], blocks)

    return circuit


def _published(people: int) -> Circuit:
    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        return chi_square.as_published(evaluator, inputs[:people], inputs[people:])

    return circuit


def _expected(genotypes: np.ndarray, phenotypes: np.ndarray) -> np.ndarray:
    """By the formulas, from counts of alleles: both of chi², and of odds ratios."""
    d, r1, c1 = 2 * len(phenotypes), 2 * phenotypes.sum(), genotypes.sum(axis=0)
    n11 = genotypes[phenotypes == 1].sum(axis=0)
    squared, columns = (d * n11 - c1 * r1) ** 2, c1 * (d - c1) * r1 * (d - r1)
    return np.array([squared, columns, n11 * (d - c1 - r1 + n11), (c1 - n11) * (r1 - n11)])


@pytest.mark.parametrize(
    ("circuit", "sent", "factors", "levels"),
    [
        (
            _ours(PEOPLE),
            chi_square.input_factor(PEOPLE),
            [chi_square.input_factor(PEOPLE) ** 4] * 4,
            1,
        ),
        (_published(PEOPLE), 1.0, [chi_square.published_factor(PEOPLE) ** n for n in (2, 2, 1, 1)], 2),
    ],
)
def test_numerators_and_denominators(
    circuit: Circuit, sent: float, factors: Sequence[float], levels: int
) -> None:
    random, chosen = np.random.default_rng(1), circuits.parameters(1024, levels + 1)
    genotypes = random.integers(0, 3, (PEOPLE, 512)).astype(np.float64)
    phenotypes = random.integers(0, 2, PEOPLE).astype(np.float64)
    vectors = [np.full(512, value * sent) for value in phenotypes]
    found = circuits.executed(circuit, [*vectors, *(sent * genotypes)], chosen)
    expected = _expected(genotypes, phenotypes) * np.reshape(factors, (4, 1))
    np.testing.assert_allclose(found.outputs, expected, rtol=1e-9, atol=1e-9)
    assert found.program.depth == levels  # the last products are not rescaled
    assert max(shape.polynomials for shape in found.program.shapes) == 5
    assert not found.program.keys


def _counts(circuit: Circuit, inputs: int, levels: int, form: Form) -> tuple[Mapping[str, int], int]:
    """Operations of a program, and how many of the products with plaintexts are with 1."""
    chosen = circuits.parameters(1024, levels)
    traced = trace(circuit, chosen, fresh_inputs(chosen, inputs), form=form)
    constants = [traced.constants[item.digest] for item in traced.program.constants]
    products = [node for node in traced.program.nodes if node.operation == "mul_plain"]
    ones = sum(bool(np.all(constants[node.constants[0]] == 1)) for node in products)
    return Counter(node.operation for node in traced.program.nodes), ones


def test_the_published_counts() -> None:
    """The columns "true" for 200 people: 207 products, 598 sums, 7 differences, 7 rescalings, 6 drops of a prime, 3
    products with a number, and one product and one sum with a plaintext that their list lacks.
    """
    counts, ones = _counts(_published(200), 400, 3, Form(is_literal=True))
    assert ones == 6
    assert counts == {
        "mul": 206,
        "square": 1,
        "add": 598,
        "sub": 5,
        "sub_plain": 2,
        "rescale": 7 + ones,
        "mul_plain": 3 + 1 + ones,
        "add_plain": 1,
    }


def test_our_counts() -> None:
    """Of 200 people and four blocks; a product with 400 takes 8 doublings and 2 more sums."""
    counts, _ = _counts(_ours(200), 1000, 2, Form())
    assert counts == {
        "mul": 1 + 4 * (200 + 5),
        "square": 4,
        "add_many": 1 + 4,
        "add": 1 + 4 * (199 + 10),
        "sub": 4 * (1 + 2 + 2),
        "sub_plain": 1 + 4,
        "add_plain": 4,
        "mul_plain": 1 + 4,
        "rescale": 2 + 4 * 4,
    }
