from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_core import primes, security
from ciphermark_core.errors import Unsupported

RINGS = (1024, 2048, 4096, 8192, 16384, 32768)

rings = st.integers(1, 17).map(lambda power: 1 << power)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (0, False),
        (1, False),
        (2, True),
        (3, True),
        (4, False),
        (41, True),
        (43, True),
        (41 * 43, False),
        (561, False),  # Carmichael
        (3215031751, False),  # strong pseudoprime to the bases 2, 3, 5 and 7
        (3825123056546413051, False),  # strong pseudoprime to the first nine primes
        (318665857834031151167461, False),  # strong pseudoprime to the first twelve
        (2**31 - 1, True),
        (2**61 - 1, True),
        (2**64 - 59, True),
        (2**64 - 1, False),
        (4294967291 * 4294967279, False),
    ],
)
def test_is_prime(n, expected):
    assert primes.is_prime(n) is expected


def test_is_prime_agrees_with_a_sieve():
    limit = 20_000
    sieve = bytearray([1]) * limit
    sieve[:2] = b"\0\0"
    for factor in range(2, math.isqrt(limit) + 1):
        if sieve[factor]:
            sieve[factor * factor :: factor] = bytes(len(sieve[factor * factor :: factor]))
    assert [n for n in range(limit) if primes.is_prime(n)] == [n for n in range(limit) if sieve[n]]


@given(bits=st.integers(2, 17), ring_dimension=rings, count=st.integers(0, 6))
def test_ntt_primes_are_the_largest_of_all(bits, ring_dimension, count):
    sizes = range((1 << bits) - 1, (1 << (bits - 1)) - 1, -1)
    every = [n for n in sizes if n % (2 * ring_dimension) == 1 and _is_prime_by_division(n)]
    if len(every) < count:
        with pytest.raises(Unsupported, match=f"{len(every)} primes of {bits} bits.*{count} needed"):
            primes.ntt_primes(bits, ring_dimension, count)
    else:
        assert list(primes.ntt_primes(bits, ring_dimension, count)) == every[:count]


@given(bits=st.integers(30, 60), ring_dimension=st.sampled_from(RINGS), count=st.integers(1, 8))
def test_ntt_primes_have_what_the_transform_needs(bits, ring_dimension, count):
    found = primes.ntt_primes(bits, ring_dimension, count)
    assert len(set(found)) == count
    assert list(found) == sorted(found, reverse=True)
    for prime in found:
        assert prime.bit_length() == bits
        assert prime % (2 * ring_dimension) == 1
        assert pow(2, prime - 1, prime) == 1


# PlainModulus::Batching(N, bits) of SEAL 4.1.2; 0 where SEAL throws.
SEAL_CHOICES = {
    (1024, 12): 0,
    (1024, 14): 12289,
    (1024, 20): 1038337,
    (2048, 16): 61441,
    (2048, 20): 1032193,
    (4096, 16): 40961,
    (4096, 17): 114689,
    (4096, 20): 1032193,
    (8192, 16): 0,
    (8192, 17): 114689,
    (8192, 20): 1032193,
    (16384, 20): 786433,
    (32768, 20): 786433,
}


@pytest.mark.parametrize(("ring_dimension", "bits"), SEAL_CHOICES)
def test_batching_modulus_is_what_seal_chooses(ring_dimension, bits):
    expected = SEAL_CHOICES[ring_dimension, bits]
    if expected:
        assert primes.batching_modulus(bits, ring_dimension) == expected
        assert primes.batches(expected, ring_dimension)
    else:
        with pytest.raises(Unsupported, match=f"no batching prime of {bits} bits at N = {ring_dimension}"):
            primes.batching_modulus(bits, ring_dimension)


@pytest.mark.parametrize("module", ["_ciphermark_seal", "_ciphermark_seal_hexl"])
@pytest.mark.parametrize("ring_dimension", RINGS)
def test_batching_modulus_is_what_the_installed_seal_chooses(module, ring_dimension):
    seal = pytest.importorskip(module)
    chosen = 0
    for bits in range(12, 61, 3):
        try:
            expected = seal.create_chain(ring_dimension, (bits,))
        except (ValueError, RuntimeError):
            with pytest.raises(Unsupported):
                primes.batching_modulus(bits, ring_dimension)
        else:
            assert [primes.batching_modulus(bits, ring_dimension)] == expected
            chosen += 1
    assert chosen > 10


def test_a_missing_batching_prime_is_answered_with_the_smallest_size_that_has_one():
    with pytest.raises(Unsupported, match=r"t must be 1 modulo 8192; the smallest size with one is 16 bits"):
        primes.batching_modulus(12, 4096)
    assert primes.batching_modulus(16, 4096)


@pytest.mark.parametrize(
    ("plain_modulus", "ring_dimension", "expected"),
    [
        (65537, 1024, True),
        (65537, 32768, True),
        (65537, 65536, False),
        (1032193, 4096, True),
        (1040385, 4096, False),  # 1 modulo 8192, but 5 divides it
        (1032191, 4096, False),
        (2, 4096, False),
        (1, 4096, False),
    ],
)
def test_batches(plain_modulus, ring_dimension, expected):
    assert primes.batches(plain_modulus, ring_dimension) is expected


@pytest.mark.parametrize(
    ("ring_dimension", "scale_bits", "expected"),
    [
        (2048, 14, (20, 14, 20)),
        (4096, 30, (39, 30, 39)),
        (4096, 33, (38, 33, 38)),
        (8192, 30, (60, 30, 30, 30, 60)),
        (8192, 40, (60, 40, 40, 60)),
        (16384, 40, (60, *[40] * 7, 60)),
        (16384, 55, (60, *[55] * 5, 60)),
        (32768, 40, (60, *[40] * 19, 60)),
        (131072, 50, (60, *[50] * 15, 60)),
    ],
)
def test_default_ckks_chain(ring_dimension, scale_bits, expected):
    assert primes.default_ckks_chain(ring_dimension, scale_bits) == expected


@given(ring_dimension=rings, scale_bits=st.integers(10, 60))
def test_default_ckks_chain_fills_128_bits_and_no_more(ring_dimension, scale_bits):
    bound = security.limit("2018", ring_dimension, 128)
    try:
        chain = primes.default_ckks_chain(ring_dimension, scale_bits)
    except Unsupported:
        # Nothing fits: even the smallest outer primes leave no room for one prime of the scale.
        assert bound is None or 2 * (scale_bits + 5) + scale_bits > bound or scale_bits + 5 > 60
        return
    first, *inner, special = chain
    assert first == special
    assert scale_bits + 5 <= first <= primes.LARGEST_PRIME_BITS
    assert inner
    assert set(inner) == {scale_bits}
    assert sum(chain) <= bound
    assert sum(chain) + scale_bits > bound or first < primes.LARGEST_PRIME_BITS


@pytest.mark.parametrize(("ring_dimension", "scale_bits"), [(512, 20), (2048, 30), (4096, 34), (16384, 56)])
def test_where_no_default_chain_fits_the_reason_says_what_to_do(ring_dimension, scale_bits):
    with pytest.raises(
        Unsupported,
        match=f"no default ckks modulus chain at N = {ring_dimension} with a scale of {scale_bits} bits: "
        ".*modulus_bits",
    ):
        primes.default_ckks_chain(ring_dimension, scale_bits)


@pytest.mark.parametrize("ring_dimension", RINGS[2:])
@pytest.mark.parametrize("scale_bits", [30, 32])
def test_default_ckks_chain_exists_in_seal_and_is_secure_there(ring_dimension, scale_bits):
    seal = pytest.importorskip("_ciphermark_seal")
    chain = primes.default_ckks_chain(ring_dimension, scale_bits)
    found = seal.create_chain(ring_dimension, chain)
    assert security.level("2018", ring_dimension, math.log2(math.prod(found))) >= 128


def _is_prime_by_division(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


@pytest.mark.parametrize(
    ("bits", "modulus", "ring_dimension"), [(20, 786433, 131072), (17, 65537, 32768), (14, 12289, 2048)]
)
def test_the_widest_batching_modulus_gives_slots_at_the_largest_ring(bits, modulus, ring_dimension):
    found = primes.widest_batching_modulus(bits)
    assert (found, found.bit_length()) == (modulus, bits)
    assert primes.batches(found, ring_dimension)
    assert not primes.batches(found, 2 * ring_dimension)
