"""What is known of HElib without loading it: requests that it has no parameters for, and how it switches keys. Pure.

Digits follow the rules of its ``addSpecialPrimes``. In *recommended* it does what it does by default: as many digits as
its ``ContextBuilder`` has columns (``c``), or the next number of them that leaves the modulus as secure as asked, and
special primes of the size that its noise asks for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ciphermark_core.model import ParameterSpec

# Where t ≡ 1 modulo 2N, HElib's tables for encoding take 12.5 N² bytes in each of a worker's two contexts, and decoding
# takes N² steps: 1.6 GB at this ring; 6.3 GB and minutes for a single case at the next; 25 GB at the one after.
LARGEST_BGV_RING = 8192
DEFAULT_DECOMPOSITION_DIGITS = 3
MAX_BITS = 60
MIN_SPECIAL_BITS = 33  # 0.55 · 60
LOSS_BITS = -math.log2(1 - 1 / 8)  # a prime counts as this much smaller
_DEVIATION = 3.2  # of the errors in keys


def refusal(spec: ParameterSpec) -> str | None:
    """Why the adapter takes no such request; ``None`` where nothing is known against it."""
    if spec.scheme == "bgv" and spec.ring_dimension > LARGEST_BGV_RING:
        return (
            f"HElib's slot tables and decoding times grow with N² in BGV: above N = "
            f"{LARGEST_BGV_RING} a case takes minutes and at least 6 GB"
        )
    return None


def choices(spec: ParameterSpec, primes: int) -> range:
    """Numbers of digits to try for so many ciphertext primes: the first that is as secure as asked is taken."""
    least = min(DEFAULT_DECOMPOSITION_DIGITS, primes) if spec.tuning == "recommended" else primes
    return range(least, primes + 1)


def split(primes: int, decomposition_digits: int) -> list[list[int]]:
    """Which ciphertext primes each digit has: as even as can be, the first ones larger."""
    return list(_split(list(range(primes)), decomposition_digits))


def _split(left: list[int], decomposition_digits: int) -> Iterator[list[int]]:
    while left:
        size = math.ceil(len(left) / decomposition_digits)
        yield left[:size]
        left, decomposition_digits = left[size:], decomposition_digits - 1


def special(spec: ParameterSpec, prime_bits: Sequence[float], decomposition_digits: int) -> tuple[int, int]:
    """Number and size of the special primes, for ciphertext primes of so many bits (logarithms) in so many digits."""
    largest = max(sum(prime_bits[i] for i in digit) for digit in split(len(prime_bits), decomposition_digits))
    needed = max(1.0, largest + math.log2(_DEVIATION * decomposition_digits) - _gain_bits(spec))
    count = math.ceil(needed / (MAX_BITS - LOSS_BITS))
    return count, max(MIN_SPECIAL_BITS, math.ceil(needed / count + LOSS_BITS))


def _gain_bits(spec: ParameterSpec) -> float:
    """What the noise of switching moduli spares: half of a dense secret's coefficients are not 0."""
    n, t = spec.ring_dimension, spec.plain_modulus
    if t is None:
        return 0.5 * math.log2(n / 2)
    return math.log2(t * n / 2 * math.sqrt(math.log(n) / 12))
