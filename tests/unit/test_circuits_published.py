"""The published circuits: their polynomials' errors, their values, and the operations that they really execute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import circuit_execution as circuits
import numpy as np
import pytest

from ciphermark_circuits import chebyshev, published_functions
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.tracing import Circuit

ROUNDING = 1e-9  # of sums of doubles
CIPHERTEXT_PRODUCTS = ("mul", "square")
SUMS = ("add", "sub", "sub_plain")


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-25 * x)) - 0.5


def _circuit(function: Callable[[Evaluator, Handle], Handle]) -> Circuit:
    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        return [function(evaluator, inputs[0])]

    return circuit


def _series(polynomial: OddPolynomial) -> Circuit:
    return _circuit(lambda evaluator, x: chebyshev.evaluate(evaluator, x, [polynomial]))


def test_the_published_errors() -> None:
    """CryptOracle's page of results: 3.7e-5; and the sign's for arguments from 1/256, 0.01, 0.02 and 0.05 on."""
    x = np.linspace(-1, 1, 100_001)
    worst = np.abs(published_functions.logistic_polynomial()(x) - _logistic(x)).max()
    assert 3.6e-5 < worst < 3.75e-5
    for low, error in ((0.01, 1.3e-2), (0.02, 3.7e-3), (0.05, 6e-4)):
        y = np.geomspace(low, 1, 100_001)
        worst = np.abs(published_functions.sign_polynomial()(y) - 1).max()
        assert 0.9 * error < worst < 1.02 * error


def test_the_logistic_function() -> None:
    x = np.linspace(-25, 25, 512)
    found = circuits.executed(_circuit(published_functions.logistic), [x], circuits.parameters(1024, 7))
    expected = published_functions.logistic_polynomial()(x / 25)
    np.testing.assert_allclose(found.outputs[0], expected, rtol=0, atol=ROUNDING)
    assert found.program.depth == 7


def test_the_sign_function() -> None:
    x = np.linspace(-1, 1, 512)
    found = circuits.executed(_circuit(published_functions.sign), [x], circuits.parameters(1024, 10))
    np.testing.assert_allclose(
        found.outputs[0], published_functions.sign_polynomial()(x), rtol=0, atol=ROUNDING
    )
    assert found.program.depth == 10


# Degree and leaves of the series, levels, and CryptOracle's true counts.
PUBLISHED = {
    "logistic": (
        published_functions.logistic,
        (57, 8),
        8,
        {"mul": 116, "square": 8, "mul_plain": 67, "add": 71, "sub": 85, "sub_plain": 31},
    ),
    "sign": (
        published_functions.sign,
        (1007, 32),
        10,
        {"mul": 566, "mul_plain": 63, "add": 519, "sub": 310, "sub_plain": 256},
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_true_counts(name: str) -> None:
    """What the circuit executes besides the series, by kind."""
    function, (degree, leaves), levels, true = PUBLISHED[name]
    chosen = circuits.parameters(1024, levels)
    whole = circuits.literal_counts(_circuit(function), 1, chosen)
    # Unequal, for equal ones cancel, and 0 takes no product.
    coefficients = (0.3 + k / degree for k in range((degree + 1) // 2))
    series = circuits.literal_counts(_series(OddPolynomial((*coefficients,), leaves)), 1, chosen)
    rest = {kind: whole[kind] - series[kind] for kind in true}
    assert rest == true
