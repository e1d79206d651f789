"""How large the errors of ckks may be by chance: bounds that all slots keep to but for once in 10^10 times.

The error of a slot is the value of a noise polynomial at a root of unity ζ, divided by the scale. A polynomial of
independent coefficients of variance v is normal there, with N·v/2 in its real part; of the ternary secret s,
|s(ζ)|² is exponential with mean 2N/3. Terms are bounded one by one, and added.
"""

from __future__ import annotations

from math import hypot, log, pi, sqrt

from ciphermark_contract.program import Program
from ciphermark_core.model import Parameters

SIGMA = 3.2  # of fresh noise, in every library
# Logarithm of the chance, and of the factor below 10 by which Laplace's method is short of a tail.
_CHANCE = log(1e10) + log(10)


def polynomial_of_products(parameters: Parameters, slope: float, products: float) -> float:
    """For p(x) of an encrypted x: ``slope`` ≥ |p′|, and ``products`` the sum of the factors of products in it.

    Each product is rescaled while it has three polynomials, then relinearized.
    """
    each = _rescaled_product(parameters) + _key_switch(parameters)
    return slope * _fresh(parameters) + products * each


def rescaled_product(parameters: Parameters) -> float:
    """For x·y of encrypted x and y in [−1, 1], rescaled while it has three polynomials."""
    return 2 * _fresh(parameters) + _rescaled_product(parameters)


def of_program(program: Program, amplification: float) -> float:
    """For a program whose inputs and nodes each add the largest error of one of them; a change of any of their slots
    by ε changes a slot of the result by ``amplification``·ε at most.
    """
    parameters = program.parameters
    each = _fresh(parameters) + _rescaled_product(parameters) + _key_switch(parameters)
    return (len(program.inputs) + len(program.nodes)) * amplification * each


def _fresh(parameters: Parameters) -> float:
    """Encryption with the public key, e·v + e₀ + e₁·s: 4N/3 + 1 times σ² a coefficient; OpenFHE adds as much again
    when it decrypts, and rescaling N/18, which is less."""
    ring = parameters.ring_dimension
    deviation = sqrt(3 * (4 * ring / 3 + 1) * SIGMA**2 * ring / 2)
    return _normal_quantile(ring) * deviation / _scale(parameters)


def _rescaled_product(parameters: Parameters) -> float:
    """The rounded third polynomial times s²: r(ζ)·|s(ζ)|², r with variance 1/12 a coefficient.

    With E exponential and Z normal, P(E·|Z| > k) = ∫ exp(−e)·P(|Z| > k/e) de, largest where e³ = k²: about
    exp(−1.5·k^(2/3)), here over N/2 slots.
    """
    ring = parameters.ring_dimension
    quantile = ((_CHANCE + log(ring / 2)) / 1.5) ** 1.5
    return quantile * sqrt(ring / 24) * (2 * ring / 3) / _scale(parameters)


def _key_switch(parameters: Parameters) -> float:
    """Digits in [0, q) have the mean q/2, and Σ ζ^i is 2N/π in the slot nearest to 1: there Σ (q/P)·(N/π)·e(ζ) over the
    primes, and less than a tenth of it from the digits' deviations from their mean."""
    ring = parameters.ring_dimension
    ratio = hypot(*parameters.moduli) / max(parameters.special_moduli)
    deviation = 1.1 * ratio * ring / pi * SIGMA * sqrt(ring / 2)
    return _normal_quantile(ring) * deviation / _scale(parameters)


def _normal_quantile(ring: int) -> float:
    """P(|Z| > z) ≤ exp(−z²/2) for each of N/2 slots."""
    return sqrt(2 * (_CHANCE + log(ring / 2)))


def _scale(parameters: Parameters) -> float:
    assert parameters.scale is not None, "bfv and bgv are exact"
    return parameters.scale
