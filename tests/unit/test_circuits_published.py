"""The published circuits: their polynomials' errors, their values, and the operations that they really execute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

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


# Degree and leaves of the series, levels, and CryptOracle's true counts of products, of sums, and of products with
# scalars.
PUBLISHED = {
    "logistic": (published_functions.logistic, (57, 8), 8, 116 + 8, 71 + 85 + 31, 67),
    "sign": (published_functions.sign, (1007, 32), 10, 566, 519 + 310 + 256, 63),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_true_counts(name: str) -> None:
    """What the circuit executes, less the series. Its sums bring operands to one scale by products with 1, which are
    no part of the published counts: so at least those of products with scalars."""
    function, (degree, leaves), levels, products, additions, scalars = PUBLISHED[name]
    chosen = circuits.parameters(1024, levels)
    whole = circuits.literal_counts(_circuit(function), 1, chosen)
    series = circuits.literal_counts(_series(OddPolynomial((0.5,) * ((degree + 1) // 2), leaves)), 1, chosen)
    rest: Mapping[str, int] = Counter(whole) - Counter(series)
    assert sum(rest[kind] for kind in CIPHERTEXT_PRODUCTS) == products
    assert sum(rest[kind] for kind in SUMS) == additions
    assert rest["mul_plain"] >= scalars
