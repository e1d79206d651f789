"""Bounds on the random errors of ckks: all slots stay within them except with probability 10^−10.

The error of a slot is the value of a noise polynomial at a root of unity ζ, divided by the scale. The real part of a
polynomial with independent coefficients of variance v is normal there, with variance N·v/2. For the ternary secret s,
|s(ζ)|² is exponential with mean 2N/3. Terms are bounded one by one, and added.
"""

from __future__ import annotations

from math import ceil, hypot, log, pi, prod, sqrt

from ciphermark_core.model import Parameters

SIGMA = 3.2  # of fresh noise, in every library
# Logarithm of the probability, and of the factor below 10 by which Laplace's method underestimates a tail.
_CHANCE = log(1e10) + log(10)


def one_operation(parameters: Parameters, ciphertexts: int = 2) -> float:
    """Bound for any one operation, primitive or managed, on ``ciphertexts`` fresh encryptions of values in [−1, 1].

    Noise exceeds it less than once in 10^9 times. In a sum of products, each ciphertext's error counts at
    most once. A managed product is rescaled while it has three polynomials, then relinearized; a rotation switches its
    key. Rounding errors of encoding, and of rescaling two polynomials, are below the slack of these bounds.
    """
    switched = key_switch(parameters) if parameters.key_switching else 0.0
    return ciphertexts * fresh(parameters) + rescaled_product(parameters) + switched


def bootstrapped(parameters: Parameters, _: int = 1) -> float:
    """Bound for bootstrapping: the resolved ``error``, since the library's approximations exceed its noise."""
    return fresh(parameters) + parameters.require_bootstrapping().error


def fresh(parameters: Parameters) -> float:
    """Bound for public-key encryption, e·v + e₀ + e₁·s, with variance (4N/3 + 1)·σ² per coefficient.

    OpenFHE adds as much again in decryption; rescaling adds N/18, which is less.
    """
    ring = parameters.ring_dimension
    deviation = sqrt(3 * (4 * ring / 3 + 1) * SIGMA**2 * ring / 2)
    return _normal_quantile(ring) * deviation / _scale(parameters)


def rescaled_product(parameters: Parameters) -> float:
    """Bound for the rounded third polynomial times s²: r(ζ)·|s(ζ)|², r with variance 1/12 per coefficient.

    With E exponential and Z normal, P(E·|Z| > k) = ∫ exp(−e)·P(|Z| > k/e) de, largest where e³ = k²: about
    exp(−1.5·k^(2/3)), here over N/2 slots.
    """
    ring = parameters.ring_dimension
    quantile: float = ((_CHANCE + log(ring / 2)) / 1.5) ** 1.5
    return quantile * sqrt(ring / 24) * (2 * ring / 3) / _scale(parameters)


def key_switch(parameters: Parameters) -> float:
    """Bound for key switching: Σ (q/P)·(N/π)·e(ζ) over the digits, in the slot nearest to 1.

    Digits in [0, q) have the mean q/2, and Σ ζ^i is 2N/π in that slot. Their deviations from the mean add less than a
    tenth. All digits have equally many primes, or the last one fewer.
    """
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
