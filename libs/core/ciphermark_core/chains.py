"""Modulus chains for a number of multiplications one after another, made by Ciphermark for every library alike.

Sizes come from bounds on the noise in the canonical embedding, with the constants of Mono, Marcolla, Land, Güneysu and
Aragona, "Finding and Evaluating Parameters for BGV" (ePrint 2022/706), and of Biasioli, Marcolla, Calderini and Mono,
"Improving and Automating BFV Parameters Selection" (ePrint 2023/600): a polynomial whose coefficients have variance V
has a norm of at most D·√(N·V), D = 6. Secrets are ternary, errors have σ = 3.19, decryption is right while the norm
is below half of the modulus.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ciphermark_core.errors import Unsupported
from ciphermark_core.primes import LARGEST_PRIME_BITS, ntt_primes
from ciphermark_core.words import ParameterSpec

_D = 6.0
_SECRET_VARIANCE = 2 / 3
_ERROR_VARIANCE = 3.19**2
# What the first ckks prime has above the scale: results up to 2^19 fit beside their sign.
_HEADROOM_BITS = 20
# bfv has no levels: its modulus is cut into equal primes of at most this size, which all libraries here can take.
_BFV_PRIME_BITS = 54
_MARGIN_BITS = 2  # primes of b bits are a little smaller than 2^b


def chain_for_depth(spec: ParameterSpec) -> tuple[int, ...]:
    """Prime sizes, the special prime last, with which ``spec.depth`` multiplications one after another come out right.

    The least that the bounds allow at ``spec.ring_dimension``: ``spec.depth`` and ``scale_bits`` (ckks) or
    ``plain_modulus`` (bfv, bgv) must be set. Multiplications are the managed ones: relinearized, and rescaled in
    ckks or switched to the next modulus in bgv. Raises ``Unsupported`` where no such primes exist.
    """
    return next(chains_for_depth(spec))


def chains_for_depth(spec: ParameterSpec) -> Iterator[tuple[int, ...]]:
    """Chains for ``spec.depth``, the least first: with data primes one bit larger each time in bfv and bgv.

    Larger primes are for libraries that need more of a size than exist (OpenFHE's are 1 modulo t as well in bgv).
    Raises ``Unsupported`` where there is none.
    """
    assert spec.depth is not None
    least = {"ckks": _ckks, "bgv": _bgv, "bfv": _bfv}[spec.scheme](spec, spec.depth)
    room = LARGEST_PRIME_BITS - max(least)  # below 0 where no prime is large enough
    growths = range(min(1, room + 1)) if spec.scheme == "ckks" else range(room + 1)
    is_possible = False
    for growth in growths:
        chain = tuple(bits + growth for bits in least)
        try:
            for bits in set(chain):
                ntt_primes(bits, spec.ring_dimension, chain.count(bits))
        except Unsupported:
            continue
        is_possible = True
        yield chain
    if not is_possible:
        smaller = "scale" if spec.scheme == "ckks" else "plain_modulus"
        raise Unsupported(
            f"no chain for {spec.depth} multiplications in {spec.scheme} at N = {spec.ring_dimension}: it takes primes "
            f"of {max(least)} bits; ask for a smaller {smaller}"
        )


def _ckks(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    """One prime of the scale's size for each rescaling between two outer primes with headroom."""
    assert spec.scale_bits is not None
    outer = min(LARGEST_PRIME_BITS, spec.scale_bits + _HEADROOM_BITS)
    return (outer, *[spec.scale_bits] * depth, outer)


def _bgv(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    """The least level primes with which the noise stays within the first prime, all primes of that size or one more.

    The noise of a product is the product of the noises; switching to the next modulus divides it by the prime and
    adds a rounding error. What key switching adds is small beside a product, since the special prime is as large as
    the others.
    """
    rounding = _rounding_bits(spec)
    fresh = _fresh_bits(spec)
    level = math.ceil(rounding) + _MARGIN_BITS
    while True:
        last = _noise_after(depth, level, fresh, rounding)
        if last < math.inf:
            first = max(level, math.ceil(last) + 1 + _MARGIN_BITS)
            return (first, *[level] * depth, first)
        level += 1


def _noise_after(depth: int, level: int, fresh: float, rounding: float) -> float:
    """log2 of the noise after ``depth`` multiplications by one fresh operand; infinite where it does not settle.

    Settled means: another multiplication would not end above the present one by more than a bit.
    """
    product, other = fresh, fresh
    prime = level - _MARGIN_BITS / 2
    for _ in range(depth):
        before = product
        product = _sum_bits(product + other - prime, rounding)
        other = _sum_bits(other - prime, rounding)
        if product > max(before, fresh) + 1:
            return math.inf
    return product if product <= fresh + 1 else math.inf


def _bfv(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    """Equal primes for a modulus that holds t, the noise of a fresh ciphertext and what each multiplication adds.

    A multiplication makes the noise larger by at most D·t·√(N/12·(1 + 2N/3))·2 (two operands), and adds less.
    """
    growth = _rounding_bits(spec) + 1
    total = _fresh_bits(spec) + 2 + depth * growth + _MARGIN_BITS
    count = math.ceil(total / (_BFV_PRIME_BITS - 1))
    bits = math.ceil(total / count) + 1
    return (bits,) * (count + 1)


def _rounding_bits(spec: ParameterSpec) -> float:
    """log2 of D·t·√(N/12·(1 + N·V_s)): the rounding error of a modulus switch, in units of the plaintext."""
    n = spec.ring_dimension
    return math.log2(_D * _modulus(spec) * math.sqrt(n / 12 * (1 + n * _SECRET_VARIANCE)))


def _fresh_bits(spec: ParameterSpec) -> float:
    """log2 of D·t·√(N·(1/12 + 2N·V_e·V_s + V_e)): a fresh encryption with the public key."""
    n = spec.ring_dimension
    variance = 1 / 12 + 2 * n * _ERROR_VARIANCE * _SECRET_VARIANCE + _ERROR_VARIANCE
    return math.log2(_D * _modulus(spec) * math.sqrt(n * variance))


def _modulus(spec: ParameterSpec) -> int:
    assert spec.plain_modulus is not None
    return spec.plain_modulus


def _sum_bits(a: float, b: float) -> float:
    """log2(2^a + 2^b)."""
    return max(a, b) + math.log2(1 + 2.0 ** -abs(a - b))
