"""How large the errors of ckks may be by chance: bounds that all slots keep to but for once in 10^10 times.

The error of a slot is the value of a noise polynomial at a root of unity ζ, divided by the scale. A polynomial of
independent coefficients of variance v is normal there, with N·v/2 in its real part; of the ternary secret s,
|s(ζ)|² is exponential with mean 2N/3. Terms are bounded one by one, and added.
"""

from __future__ import annotations

from math import ceil, hypot, log, pi, prod, sqrt

from ciphermark_core.model import Parameters

SIGMA = 3.2  # of fresh noise, in every library
# Logarithm of the chance, and of the factor below 10 by which Laplace's method is short of a tail.
_CHANCE = log(1e10) + log(10)


def one_operation(parameters: Parameters, ciphertexts: int = 2) -> float:
    """For any one operation, primitive or managed, on so many fresh encryptions of values in [−1, 1]; exceeded by
    accident less than once in 10^9 times.

    Of a sum of products each ciphertext's error counts once at most; a managed product is rescaled while it has three
    polynomials and then relinearized, and a rotation switches its key. What is rounded when a plaintext is encoded, or
    two polynomials are rescaled, is less than what is left of these.
    """
    switched = key_switch(parameters) if parameters.key_switching else 0.0
    return ciphertexts * fresh(parameters) + rescaled_product(parameters) + switched


def bootstrapped(parameters: Parameters, _: int = 1) -> float:
    """For a bootstrapping: the library's approximations err more than its noise, and it resolved how far."""
    return fresh(parameters) + parameters.require_bootstrapping().error


def fresh(parameters: Parameters) -> float:
    """Encryption with the public key, e·v + e₀ + e₁·s: 4N/3 + 1 times σ² a coefficient; OpenFHE adds as much again
    when it decrypts, and rescaling N/18, which is less."""
    ring = parameters.ring_dimension
    deviation = sqrt(3 * (4 * ring / 3 + 1) * SIGMA**2 * ring / 2)
    return _normal_quantile(ring) * deviation / _scale(parameters)


def rescaled_product(parameters: Parameters) -> float:
    """The rounded third polynomial times s²: r(ζ)·|s(ζ)|², r with variance 1/12 a coefficient.

    With E exponential and Z normal, P(E·|Z| > k) = ∫ exp(−e)·P(|Z| > k/e) de, largest where e³ = k²: about
    exp(−1.5·k^(2/3)), here over N/2 slots.
    """
    ring = parameters.ring_dimension
    quantile: float = ((_CHANCE + log(ring / 2)) / 1.5) ** 1.5
    return quantile * sqrt(ring / 24) * (2 * ring / 3) / _scale(parameters)


def key_switch(parameters: Parameters) -> float:
    """Digits in [0, q) have the mean q/2, and Σ ζ^i is 2N/π in the slot nearest to 1: there Σ (q/P)·(N/π)·e(ζ) over the
    digits, and less than a tenth of it from their deviations from their mean. All digits have as many primes, or
    the last fewer."""
    assert parameters.key_switching is not None, "without it no key is switched"
    ring, special = parameters.ring_dimension, parameters.special_moduli
    size = ceil(len(parameters.moduli) / parameters.key_switching.decomposition_digits)
    starts = range(0, len(parameters.moduli), size)
    decomposition_digits = (prod(parameters.moduli[start : start + size]) for start in starts)
    ratio = hypot(*(digit / prod(special) for digit in decomposition_digits))
    deviation = 1.1 * ratio * ring / pi * SIGMA * sqrt(ring / 2)
    return _normal_quantile(ring) * deviation / _scale(parameters)


def _normal_quantile(ring: int) -> float:
    """P(|Z| > z) ≤ exp(−z²/2) for each of N/2 slots."""
    return sqrt(2 * (_CHANCE + log(ring / 2)))


def _scale(parameters: Parameters) -> float:
    assert parameters.scale is not None, "bfv and bgv are exact"
    return parameters.scale
