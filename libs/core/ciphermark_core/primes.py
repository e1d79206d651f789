"""NTT-friendly primes: which plaintext moduli and chains can exist at a ring dimension."""

from __future__ import annotations

from functools import lru_cache

from ciphermark_core import security
from ciphermark_core.errors import Unsupported

# Deterministic Miller-Rabin witnesses for n < 3.3e24 (Sorenson and Webster, 2015).
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
LARGEST_PRIME_BITS = 60


def is_prime(n: int) -> bool:
    """Whether n < 2^64 is prime, without error."""
    if n < 2 or any(n % p == 0 for p in _WITNESSES):
        return n in _WITNESSES
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(n, witness, odd, twos) for witness in _WITNESSES)


def _passes(n: int, witness: int, odd: int, twos: int) -> bool:
    x = pow(witness, odd, n)
    if x in (1, n - 1):
        return True
    for _ in range(twos - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


@lru_cache(maxsize=1024)  # plans request the same chains repeatedly
def ntt_primes(bits: int, ring_dimension: int, count: int) -> tuple[int, ...]:
    """The ``count`` largest primes of exactly ``bits`` bits that are 1 modulo 2N.

    Raises ``Unsupported`` where fewer exist.
    """
    step = 2 * ring_dimension
    candidate = ((1 << bits) - 1) // step * step + 1
    primes: list[int] = []
    while len(primes) < count and candidate.bit_length() == bits:
        if is_prime(candidate):
            primes.append(candidate)
        candidate -= step
    if len(primes) < count:
        raise Unsupported(
            f"N = {ring_dimension} has {len(primes)} primes of {bits} bits that are 1 modulo 2N; "
            f"{count} needed"
        )
    return tuple(primes)


def batching_modulus(bits: int, ring_dimension: int) -> int:
    """The largest plaintext modulus of ``bits`` bits that allows N slots (SEAL chooses the same).

    Raises ``Unsupported`` where none exists.
    """
    try:
        return ntt_primes(bits, ring_dimension, 1)[0]
    except Unsupported:
        least = next(b for b in range(2, 61) if _has_prime(b, ring_dimension))
        raise Unsupported(
            f"no batching prime of {bits} bits at N = {ring_dimension}: t must be 1 modulo "
            f"{2 * ring_dimension}; the smallest size with one is {least} bits"
        ) from None


def widest_batching_modulus(bits: int) -> int:
    """The plaintext modulus of ``bits`` bits that gives slots up to the largest ring dimension.

    Raises ``Unsupported`` where none gives slots at N = 2.
    """
    widest = next((n for n in (1 << power for power in range(17, 1, -1)) if _has_prime(bits, n)), 2)
    return batching_modulus(bits, widest)


def _has_prime(bits: int, ring_dimension: int) -> bool:
    try:
        return bool(ntt_primes(bits, ring_dimension, 1))
    except Unsupported:
        return False


def batches(plain_modulus: int, ring_dimension: int) -> bool:
    """Whether t gives N slots: prime and 1 modulo 2N."""
    return plain_modulus % (2 * ring_dimension) == 1 and is_prime(plain_modulus)


@lru_cache(maxsize=64)
def batching_factors(plain_modulus: int, ring_dimension: int) -> tuple[int, ...]:
    """The different primes below 2^31, largest last, that give N slots and have the product t < 2^62.

    An empty tuple where t is no such product.
    """
    step, left = 2 * ring_dimension, plain_modulus
    if left % step != 1 or left >= 1 << 62:
        return ()
    if is_prime(left):
        return (left,) if left < 1 << 31 else ()
    factors = []
    for candidate in range(step + 1, 1 << 31, step):
        if left % candidate == 0:
            factors.append(candidate)
            left //= candidate
            if left == 1 or is_prime(left):
                break
    factors += [left] if left > 1 else []
    is_product = len({*factors}) == len(factors) and all(batches(prime, ring_dimension) for prime in factors)
    return tuple(sorted(factors)) if is_product and max(factors) < 1 << 31 else ()


def default_ckks_chain(
    ring_dimension: int, scale_bits: int, table: security.Table = "2018"
) -> tuple[int, ...]:
    """Ciphermark's default ckks modulus chain: as many primes of the scale's size as 128 bits allow.

    No library has a default for ckks, so all of them get this one: an outer prime, then primes of
    ``scale_bits``, then a special prime of the outer size, at most the limit of ``table``. The outer size is
    60 bits or what leaves room for one scale prime, and at least 5 bits above the scale, so that
    values up to 16 survive at the last level. Raises ``Unsupported`` where nothing fits.
    """
    bound = security.limit(table, ring_dimension, 128)
    outer = 0 if bound is None else min(LARGEST_PRIME_BITS, (bound - scale_bits) // 2)
    if bound is None or outer < scale_bits + 5:
        raise Unsupported(
            f"no default ckks modulus chain at N = {ring_dimension} with a scale of {scale_bits} bits: "
            "ask for a smaller scale or write modulus_bits yourself"
        )
    inner = (bound - 2 * outer) // scale_bits
    return (outer, *[scale_bits] * inner, outer)
