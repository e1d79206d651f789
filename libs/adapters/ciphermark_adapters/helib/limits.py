"""Facts about HElib without loading it: unsupported requests, and key switching. Pure.

Digits follow the rules of its ``addSpecialPrimes``. *recommended* uses HElib's defaults. The number of digits is that
of the columns (``c``) of its ``ContextBuilder``, or the next one with the requested security level. Special primes have
the size that its noise requires.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ciphermark_core.model import ParameterSpec

# For t ≡ 1 modulo 2N, HElib's tables for encoding take 12.5 N² bytes in each of a worker's two contexts, and decoding
# takes N² steps: 1.6 GB at this ring; 6.3 GB and minutes per case at the next; 25 GB at the one after.
LARGEST_BGV_RING = 8192
DEFAULT_DECOMPOSITION_DIGITS = 3
MAX_BITS = 60
MIN_SPECIAL_BITS = 33  # 0.55 · 60
LOSS_BITS = -math.log2(1 - 1 / 8)  # a prime counts as this much smaller
_DEVIATION = 3.2  # standard deviation of the errors in keys


def refusal(spec: ParameterSpec) -> str | None:
    """Return why the adapter refuses a request; ``None`` where no reason is known."""
    if spec.scheme == "bgv" and spec.ring_dimension > LARGEST_BGV_RING:
        return (
            f"HElib's slot tables and decoding times grow with N² in BGV: above N = "
            f"{LARGEST_BGV_RING} a case takes minutes and at least 6 GB"
        )
    return None


def choices(spec: ParameterSpec, primes: int) -> range:
    """Numbers of digits to try for ``primes`` ciphertext primes; the first with the requested security is taken."""
    least = min(DEFAULT_DECOMPOSITION_DIGITS, primes) if spec.tuning == "recommended" else primes
    return range(least, primes + 1)


def split(primes: int, decomposition_digits: int) -> list[list[int]]:
    """The indices of each digit's ciphertext primes: as even as possible, with larger digits first."""
    return list(_split(list(range(primes)), decomposition_digits))


def _split(left: list[int], decomposition_digits: int) -> Iterator[list[int]]:
    while left:
        size = math.ceil(len(left) / decomposition_digits)
        yield left[:size]
        left, decomposition_digits = left[size:], decomposition_digits - 1


def special(spec: ParameterSpec, prime_bits: Sequence[float], decomposition_digits: int) -> tuple[int, int]:
    """Number and size of the special primes; ``prime_bits`` are log2 of the ciphertext primes."""
    largest = max(sum(prime_bits[i] for i in digit) for digit in split(len(prime_bits), decomposition_digits))
    needed = max(1.0, largest + math.log2(_DEVIATION * decomposition_digits) - _gain_bits(spec))
    count = math.ceil(needed / (MAX_BITS - LOSS_BITS))
    return count, max(MIN_SPECIAL_BITS, math.ceil(needed / count + LOSS_BITS))


def _gain_bits(spec: ParameterSpec) -> float:
    """Bits saved by the noise of modulus switching: half of a dense secret's coefficients are nonzero."""
    n, t = spec.ring_dimension, spec.plain_modulus
    if t is None:
        return 0.5 * math.log2(n / 2)
    return math.log2(t * n / 2 * math.sqrt(math.log(n) / 12))
