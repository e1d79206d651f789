"""The bounds against noise as the schemes draw it: never above, and not far above what is seen."""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_contract import noise_bound
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec

N, SCALE, TIMES = 1024, 2.0**30, 200
SPEC = ParameterSpec("ckks", N, scale_bits=30)


def parameters(count, special, digits):
    moduli, specials = (1 << 40,) * count, (1 << 40,) * special
    return Parameters(
        SPEC, N, moduli, specials, N // 2, scale=SCALE, key_switching=KeySwitching("hybrid", digits)
    )


PARAMETERS = parameters(1, 1, 1)
ROOTS = np.exp(1j * np.pi * np.arange(N) / N)


def at_roots(coefficients):
    """Values at the primitive 2N-th roots of unity."""
    return np.fft.fft(coefficients * ROOTS)


def noise(numbers):
    return at_roots(numbers.normal(0, noise_bound.SIGMA, N))


def ternary(numbers):
    return at_roots(numbers.integers(-1, 2, N))


def encrypted(numbers):
    return noise(numbers) * ternary(numbers) + noise(numbers) + noise(numbers) * ternary(numbers)


def rounded(numbers):
    return at_roots(numbers.uniform(-0.5, 0.5, N)) * ternary(numbers) ** 2


def switched(numbers):
    return at_roots(numbers.uniform(0, 1, N)) * noise(numbers)


@pytest.mark.parametrize(
    ("bound", "drawn", "max_above"),
    [
        (noise_bound.fresh, encrypted, 4),
        (noise_bound.rescaled_product, rounded, 8),
        (noise_bound.key_switch, switched, 4),
    ],
)
def test_a_bound_is_above_what_is_drawn_and_not_far_above(bound, drawn, max_above):
    """Above: but for once in 10^10 times. Far above: the largest of a hundred thousand slots is of five deviations or
    so, and bounds are of eight; the generator is seeded."""
    numbers = np.random.default_rng(1)
    largest = max(np.abs(drawn(numbers).real).max() for _ in range(TIMES)) / SCALE
    assert largest < bound(PARAMETERS) < max_above * largest


def test_one_operation_adds_the_errors_of_its_ciphertexts():
    two, ten = (noise_bound.one_operation(PARAMETERS, count) for count in (2, 10))
    assert ten - two == pytest.approx(8 * noise_bound.fresh(PARAMETERS))


@pytest.mark.parametrize(
    ("primes", "special", "digits", "share"),
    [(4, 2, 2, 2**0.5), (3, 2, 2, (1 + 2.0**-80) ** 0.5), (4, 1, 4, 2), (4, 2, 4, 2 * 2.0**-40)],
)
def test_digits_are_of_as_many_primes_but_the_last(primes, special, digits, share):
    several = noise_bound.key_switch(parameters(primes, special, digits))
    assert several == pytest.approx(share * noise_bound.key_switch(PARAMETERS))
