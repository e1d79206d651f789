"""Noise by the model: against closed formulas, against polynomials that are multiplied out, and at its limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_adapters.cleartext.declaration import DECLARATIONS
from ciphermark_contract import noise_bound
from ciphermark_contract.interfaces import Managed
from ciphermark_contract.noise_sources import NoiseSources
from ciphermark_contract.operations import OPERATIONS, Kind
from ciphermark_contract.tracing import fresh_inputs, trace
from ciphermark_core import chains
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import ParameterSpec
from ciphermark_model import noise
from ciphermark_model.embeddings import Embeddings
from ciphermark_model.precision import has_room, precision

NOTHING = NoiseSources()
ADAPTER = CleartextAdapter(DECLARATIONS[0])
N = 1024
CKKS = ADAPTER.resolve(ParameterSpec("ckks", N, (50, 35, 35, 50), None, 35, security=0))
BFV = ADAPTER.resolve(ParameterSpec("bfv", N, (50, 50, 50), 65537, security=0))
BGV = ADAPTER.resolve(ParameterSpec("bgv", N, (50, 50, 50, 50), 65537, security=0))


def traced(parameters, circuit, inputs=2):
    def managed(evaluator, handles):
        return [circuit(Managed(evaluator).apply, *handles)]

    return trace(managed, parameters, fresh_inputs(parameters, inputs))


def predicted(parameters, circuit, inputs=(1.0, 1.0), sources=NOTHING):
    program = traced(parameters, circuit)
    return precision(program.program, program.constants, inputs, sources)


def at_roots(polynomial, exponents):
    return np.array([np.sum(polynomial * np.exp(1j * np.pi * e * np.arange(N) / N)) for e in exponents])


def test_coefficients_are_those_of_the_values():
    at = Embeddings(CKKS, 2, np.random.default_rng(1))
    polynomials = np.random.default_rng(2).normal(size=(2, N))
    exponents = [pow(3, c, 2 * N) for c in range(N // 2)]
    values = np.array([at_roots(polynomial, exponents) for polynomial in polynomials])
    np.testing.assert_allclose(at.coefficients(values), polynomials, atol=1e-9)
    np.testing.assert_allclose(at.ones, at_roots(np.ones(N), exponents), rtol=1e-9)


@pytest.mark.parametrize("element", [3, 9, -1, 2 * N - 3])
def test_automorphisms_of_the_values_are_those_of_the_polynomial(element):
    at = Embeddings(CKKS, 1, np.random.default_rng(1))
    polynomial = np.random.default_rng(2).normal(size=N)
    turned = np.zeros(N)
    for i, value in enumerate(polynomial):
        place = i * element % (2 * N)
        turned[place % N] += value if place < N else -value
    exponents = [pow(3, c, 2 * N) for c in range(N // 2)]
    values = at.turned(at_roots(polynomial, exponents)[np.newaxis], element % (2 * N))
    np.testing.assert_allclose(values[0], at_roots(turned, exponents), atol=1e-9)


def test_a_fresh_error_has_the_deviation_of_the_formula():
    """(4N/3 + 1)·σ² + 1/12 a coefficient; the largest of 512 normal slots is at 2.6 to 4.5 deviations."""
    error = predicted(CKKS, lambda do, x, y: do("negate", x)).error
    deviation = math.sqrt(((4 * N / 3 + 1) * noise_bound.SIGMA**2 + 1 / 12) * N / 2) / 2**35
    assert 2.2 < error.value / deviation < 5.5
    assert error.low < error.value < error.high


def test_errors_of_one_ciphertext_add_up_and_those_of_two_do_not():
    def doubled(do, x, y):
        for _ in range(10):
            x = do("add", x, x)
        return x

    one = predicted(CKKS, lambda do, x, y: do("negate", x)).error.value
    assert predicted(CKKS, doubled).error.value == pytest.approx(1024 * one, rel=0.3)
    two = predicted(CKKS, lambda do, x, y: do("add", x, y)).error.value
    assert 1.1 < two / one < 1.8


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_budgets_of_consecutive_products_are_those_of_the_chains(scheme):
    """Of two homes of the moments, by variances there and by draws here."""
    spec = ParameterSpec(scheme, 4096, None, 65537, security=0, depth=2)
    chain = chains.chain_for_depth(spec)
    parameters = ADAPTER.resolve(replace(spec, modulus_bits=chain, depth=None))
    budget = predicted(parameters, lambda do, x, y: do("mul", do("mul", x, y), x)).budget_bits
    assert abs(budget.value - chains.expected_budget_bits(spec, chain)) < 4


def test_a_library_that_divides_fresh_noise_has_four_bits_more():
    plain = predicted(BFV, lambda do, x, y: do("negate", x)).budget_bits
    divided = predicted(
        BFV, lambda do, x, y: do("negate", x), sources=NoiseSources(divides_fresh=True)
    ).budget_bits
    assert 3 < divided.value - plain.value < 5


def test_values_that_exceed_the_modulus_are_not_safe():
    program = traced(CKKS, lambda do, x, y: do("mul", do("mul", x, y), x))
    assert has_room(precision(program.program, program.constants, [1.0, 1.0]))
    assert not has_room(precision(program.program, program.constants, [1.0, 1e6]))
    assert not has_room(precision(program.program, program.constants, [1.0, 1.0]), tolerance=1e-9)


@pytest.mark.parametrize("parameters", [BFV, BGV])
def test_noise_beyond_the_modulus_is_not_safe(parameters):
    def powers(do, x, y, times):
        for _ in range(times):
            x = do("mul", x, y)
        return x

    shallow, deep, deepest = (
        traced(parameters, lambda do, x, y, n=n: powers(do, x, y, n)) for n in (1, 6, 60)
    )
    assert has_room(precision(shallow.program, shallow.constants))
    assert not has_room(precision(deep.program, deep.constants))
    with np.errstate(all="raise", under="ignore"):
        assert not has_room(precision(deepest.program, deepest.constants))


def test_what_the_model_does_not_cover_is_refused_by_name():
    program = traced(BGV, lambda do, x, y: do("add", x, y))
    with pytest.raises(Unsupported, match="bgv is not modeled"):
        precision(program.program, program.constants, sources=NoiseSources(schemes=("ckks",)))


def test_each_operation_on_ciphertexts_has_a_rule():
    """Those that yield plaintexts are no nodes of programs."""
    results = {Kind.CIPHERTEXT, Kind.CIPHERTEXTS, Kind.TRANSFORMED}
    assert set(noise._RULES) == {name for name, row in OPERATIONS.items() if row.result in results}
