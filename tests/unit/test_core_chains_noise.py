"""Modulus chains for a depth in bgv hold the noise of sampled keys, with a rounding error as SEAL's: it is not
centred."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ciphermark_core.chains import chain_for_depth
from ciphermark_core.model import ParameterSpec

Polynomial = npt.NDArray[np.float64]
Embeddings = npt.NDArray[np.complex128]
PLAIN_MODULUS = 65537


def _embedded(polynomial: Polynomial) -> Embeddings:
    """Values at the roots of X^N + 1."""
    n = len(polynomial)
    return np.fft.fft(polynomial * np.exp(1j * np.pi * np.arange(n) / n))


def _largest_coefficient(values: Embeddings) -> float:
    return float(np.abs(np.fft.ifft(values)).max())


def _noise_bits(chain: tuple[int, ...], n: int, generator: np.random.Generator) -> float:
    """log2 of the largest coefficient of what decryption reduces, after the multiplications that a chain is for."""
    t = PLAIN_MODULUS
    secret = _embedded(generator.integers(-1, 2, n).astype(float))

    def rounding() -> Embeddings:
        """Residues modulo t from [0, t) in both polynomials of a ciphertext."""
        return _embedded(generator.uniform(0, t, n)) + _embedded(generator.uniform(0, t, n)) * secret

    def fresh() -> Embeddings:
        errors = [_embedded(generator.normal(0, 3.19, n)) for _ in range(3)]
        encryption = _embedded(generator.integers(-1, 2, n).astype(float))
        message = _embedded(generator.uniform(0, t, n))
        return message + t * (errors[0] + errors[1] * secret + errors[2] * encryption) + rounding()

    product, other = fresh(), fresh()
    for bits in chain[1:-1]:
        product = product * other / 2.0**bits + rounding()
        other = other / 2.0**bits + rounding()
    return float(np.log2(_largest_coefficient(product)))


@pytest.mark.parametrize(("n", "depth"), [(4096, 1), (4096, 2), (8192, 4), (16384, 9), (32768, 20)])
def test_the_noise_of_every_key_stays_within_the_first_prime(n: int, depth: int) -> None:
    chain = chain_for_depth(ParameterSpec("bgv", n, plain_modulus=PLAIN_MODULUS, depth=depth))
    generator = np.random.default_rng(n)
    noises = [_noise_bits(chain, n, generator) for _ in range(6)]
    assert max(noises) < chain[0] - 2


def test_equal_primes_of_36_bits_are_too_few_for_some_keys() -> None:
    """What SEAL showed too: of six keys two decrypted wrongly after 20 multiplications, whatever the operands."""
    generator = np.random.default_rng(1)
    noises = [_noise_bits((36,) * 22, 32768, generator) for _ in range(6)]
    assert min(noises) < 33
    assert max(noises) > 35
