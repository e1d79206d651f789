"""Odd polynomials over ciphertexts: the right values at exact scales, by few products; Remez' algorithm beside them."""

from __future__ import annotations

import circuit_execution as circuits
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_circuits import chebyshev, minimax
from ciphermark_circuits.chebyshev import OddPolynomial
from ciphermark_contract.interfaces import Unsupported

ROUNDING = 1e-9  # sums of doubles, times coefficients of up to some hundred
POINTS = np.linspace(-1, 1, 512)


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-25 * x)) - 0.5


def _evaluated(polynomials: list[OddPolynomial], levels: int | None = None) -> circuits.Execution:
    chosen = circuits.parameters(1024, levels or sum(polynomial.depth for polynomial in polynomials))
    return circuits.executed(
        lambda evaluator, inputs: [chebyshev.evaluate(evaluator, inputs[0], polynomials)], [POINTS], chosen
    )


@given(
    st.lists(st.floats(-1, 1).filter(lambda c: abs(c) > 1e-3), min_size=1, max_size=40),
    st.sampled_from([2, 4, 8, 16, 32]),
)
def test_any_odd_polynomial(coefficients: list[float], leaves: int) -> None:
    """The value, at the level that its degree tells, at the parameters' scale."""
    polynomial = OddPolynomial(tuple(coefficients), leaves)
    found = _evaluated([polynomial])
    np.testing.assert_allclose(found.outputs[0], polynomial(POINTS), rtol=0, atol=ROUNDING)
    (output,) = found.program.outputs
    shape = found.program.shapes[output]
    assert (shape.level, shape.polynomials) == (0, 2)
    assert shape.scale == pytest.approx(2.0**40, rel=1e-12)
    assert found.program.depth == polynomial.degree.bit_length()


@given(
    st.lists(st.sampled_from([0.0, 0.7, -0.3, 1.0]), min_size=2, max_size=40).filter(lambda c: any(c[1:])),
    st.sampled_from([2, 4, 8]),
)
def test_any_series(coefficients: list[float], leaves: int) -> None:
    """Of any parity and with zeros, in one level for each bit of the degree."""
    degree = max(np.flatnonzero(coefficients))
    found = circuits.executed(
        lambda evaluator, inputs: [chebyshev.series(evaluator, inputs[0], coefficients, leaves)],
        [POINTS],
        circuits.parameters(1024, int(degree).bit_length()),
    )
    right = np.polynomial.chebyshev.chebval(POINTS, coefficients)
    np.testing.assert_allclose(found.outputs[0], right, rtol=0, atol=ROUNDING)
    (output,) = found.program.outputs
    assert found.program.shapes[output].level == 0
    assert found.program.shapes[output].scale == pytest.approx(2.0**40, rel=1e-12)


def test_a_constant_is_no_series() -> None:
    with pytest.raises(ValueError, match="a constant"):
        circuits.executed(
            lambda evaluator, inputs: [chebyshev.series(evaluator, inputs[0], [1.0, 0.0])],
            [POINTS],
            circuits.parameters(1024, 1),
        )


@pytest.mark.parametrize(
    ("degree", "leaves", "products", "relinearizations"), [(77, 16, 17, 15), (77, 8, 18, 14), (79, 8, 18, 14)]
)
def test_products_of_the_logistic_function(
    degree: int, leaves: int, products: int, relinearizations: int
) -> None:
    found = minimax.odd_minimax(_logistic, degree, 1e-9, 1.0)
    execution = _evaluated([OddPolynomial(found.coefficients, leaves)])
    counts = execution.counts
    assert counts["mul"] + counts["square"] == products
    assert counts["relinearize"] == relinearizations
    np.testing.assert_allclose(execution.outputs[0], _logistic(POINTS), rtol=0, atol=found.error + ROUNDING)


@pytest.mark.parametrize(
    ("degrees", "products", "error"), [((7, 7, 13), 17, 5.1e-3), ((7, 7, 15), 18, 2.5e-3)]
)
def test_products_of_the_sign_function(degrees: tuple[int, ...], products: int, error: float) -> None:
    steps = minimax.sign_steps(degrees, 0.01)
    found = _evaluated(
        [OddPolynomial(step.coefficients, leaves) for step, leaves in zip(steps, (2, 2, 4), strict=True)]
    )
    assert found.program.depth == 10
    assert found.counts["mul"] + found.counts["square"] == products
    far = np.abs(POINTS) >= 0.01
    assert np.abs(found.outputs[0] - np.sign(POINTS))[far].max() <= error


def test_too_few_levels_are_told_with_what_is_needed() -> None:
    with pytest.raises(Unsupported, match="it needs a depth of 4"):
        _evaluated([OddPolynomial((1.0,) * 5, 4)], levels=3)


def test_minimax_errors_level_out() -> None:
    """The largest error is taken on with alternating sign degree-of-freedom plus one times: nothing is nearer."""
    x = np.geomspace(0.1, 1, 20001)
    found = minimax.odd_minimax(np.ones_like, 9, 0.1, 1.0)
    error = OddPolynomial(found.coefficients, 4)(x) - 1
    assert np.abs(error).max() == pytest.approx(found.error, rel=1e-5)
    extremes = np.abs(error) >= found.error * (1 - 1e-5)
    signs = np.sign(error[extremes])
    assert np.count_nonzero(np.diff(signs)) == 5


def test_minimax_is_nearer_than_interpolation() -> None:
    """The published polynomial of degree 77 errs by 3.7e-5."""
    assert minimax.odd_minimax(_logistic, 77, 1e-9, 1.0).error < 2.1e-5


@pytest.mark.parametrize("low", [0.1, 0.01])
def test_each_step_of_the_sign_comes_nearer(low: float) -> None:
    x = np.geomspace(low, 1, 5001)
    errors = [step.error for step in minimax.sign_steps((7, 7, 7), low)]
    assert errors == sorted(errors, reverse=True)
    for step in minimax.sign_steps((7, 7, 7), low):
        x = OddPolynomial(step.coefficients, 2)(x)
        assert 0 < x.min() < x.max() < 2
    assert np.abs(x - 1).max() == pytest.approx(errors[-1], rel=1e-4)
