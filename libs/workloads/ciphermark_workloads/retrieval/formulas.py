"""What FastPIR costs, how many bytes it moves, and how far its noise is from a wrong answer. Pure.

Of nq = ``layout.blocks`` blocks and ncol = ``layout.columns`` columns, with k data primes and one special prime. Counts
are those of the protocol (Ahmad et al., "Addra: Metadata-private voice communication over fully untrusted
infrastructure", OSDI 2021); sizes are SEAL's: N words of 8 bytes for each prime of a polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt

from ciphermark_workloads.retrieval.layout import Layout

_WORD = 8  # bytes of a coefficient modulo a prime, and of a slot before it is encoded
SIGMA = 3.2  # deviation of the error of an encryption with the secret key, a coefficient


@dataclass(frozen=True, slots=True)
class Counts:
    """Operations of the server for one answer. Ciphertexts are transformed where they are kept in coefficient form."""

    products: int
    additions: int
    rotations: int
    transforms: int
    transforms_back: int


def counts(layout: Layout) -> Counts:
    """nq·ncol products with plaintexts, one addition fewer, and ncol − 1 rotations, whatever n is."""
    products = layout.blocks * layout.columns
    return Counts(products, products - 1, layout.columns - 1, layout.blocks, layout.columns)


def store_bytes(layout: Layout, primes: int) -> int:
    """The database as plaintexts in evaluation form."""
    return layout.blocks * layout.columns * _polynomial_bytes(layout, primes)


def server_bytes(layout: Layout, primes: int) -> int:
    """What a server holds while it prepares: the store, and each plaintext as a vector and in coefficient form."""
    return layout.elements * layout.element_bytes + store_bytes(layout, primes + 2)


def query_bytes(layout: Layout, primes: int) -> int:
    """A query: nq ciphertexts, both polynomials of each written out."""
    return layout.blocks * answer_bytes(layout, primes)


def seeded_query_bytes(layout: Layout, primes: int) -> int:
    """A query of ciphertexts that are written with a seed in the place of one polynomial."""
    return layout.blocks * _polynomial_bytes(layout, primes)


def answer_bytes(layout: Layout, primes: int) -> int:
    """An answer: one ciphertext."""
    return 2 * _polynomial_bytes(layout, primes)


def key_bytes(layout: Layout, primes: int) -> int:
    """The keys of ⌈log2 ncol⌉ rotations, each of a digit for every data prime."""
    one = primes * 2 * _polynomial_bytes(layout, primes + 1)
    return (layout.columns - 1).bit_length() * one


def noise_ratio(layout: Layout, log_q: float, plain_modulus: int, deviation: float) -> float:
    """The largest noise that decrypts right, q/2t, divided by the standard deviation of an answer's noise.

    A fresh error of this ``deviation`` a coefficient is multiplied by a plaintext of N coefficients that are uniform
    modulo t, of standard deviation t/√12, and nq·ncol such products are added up: their independent errors grow by
    √(N·nq·ncol). A coefficient is normal, so of N of them one is too large with a chance below 2^-26 at a ratio of 7,
    and below 2^-37 at 8 (N = 4096). The key switches of rotations add less than a hundredth of it.
    """
    terms = 2 * layout.row * layout.blocks * layout.columns
    largest = log_q - 1 - log2(plain_modulus)
    return float(2.0 ** (largest - log2(deviation * plain_modulus / sqrt(12) * sqrt(terms))))


def secret_deviation(_: int) -> float:
    """Of the error of an encryption with the secret key: :data:`SIGMA`, in every ring."""
    return SIGMA


def switched_deviation(ring_dimension: int) -> float:
    """Of the error of an encryption with the public key under the whole chain, switched to the data primes, as SEAL
    does: what rounding both polynomials leaves, of which one is multiplied by a ternary secret.
    """
    return sqrt((2 * ring_dimension / 3 + 1) / 12)


def uncentred_deviation(ring_dimension: int) -> float:
    """As :func:`switched_deviation` in SEAL's bgv, which rounds down: errors have a mean of half a step too, and its
    product with a secret adds three times the variance; for one key in some hundred more than fifteen times.
    """
    return 4 * switched_deviation(ring_dimension)


def public_deviation(ring_dimension: int) -> float:
    """Of the error of an encryption with the public key under the data primes: e·u + e₀ + e₁·s with ternary u and s."""
    return SIGMA * sqrt(4 * ring_dimension / 3 + 1)


def _polynomial_bytes(layout: Layout, primes: int) -> int:
    return 2 * layout.row * primes * _WORD
