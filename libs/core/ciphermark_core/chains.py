"""Ciphermark's modulus chains for a number of consecutive multiplications, the same for every library.

Sizes come from bounds on the noise in the canonical embedding, with the constants of Mono, Marcolla, Land, Güneysu and
Aragona, "Finding and Evaluating Parameters for BGV" (ePrint 2022/706), and of Biasioli, Marcolla, Calderini and Mono,
"Improving and Automating BFV Parameters Selection" (ePrint 2023/600): a polynomial whose coefficients have variance V
has a norm of at most D·√(N·V), D = 6. Secrets are ternary, errors have σ = 3.19, and decryption is correct while the
norm is below half of the modulus.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ciphermark_core import security
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import ParameterSpec
from ciphermark_core.primes import LARGEST_PRIME_BITS, ntt_primes

_D = 6.0
_COEFFICIENT_D = 8.5
_FEW_EMBEDDINGS = 64  # a sum of fewer is not normal: their bounds are added
_SECRET_VARIANCE = 2 / 3
_ERROR_VARIANCE = 3.19**2
# Headroom of the outer ckks primes above the scale: for results up to 2^19 and their sign where no bound is known, else
# for four times the bound.
_HEADROOM_BITS = 20
_ABOVE_BOUND_BITS = 3
_LEAST_BOUND = 2.0  # every suite has room for sums of two values of at most 1
# bfv has no levels: its modulus is a product of equal primes of at most this size, which all libraries here accept.
_BFV_PRIME_BITS = 54
_BFV_TAIL_BITS = 1.75
_BFV_LOSS_BITS = 0.02  # per prime: the largest primes of b bits are that near to 2^b
_BGV_LOSS_BITS = 0.1
_MORE_PRIMES = 4  # tried beyond the minimum number, for a smaller special prime
_MARGIN_BITS = 0.5  # primes of b bits are a little smaller than 2^b, where libraries take the largest
_BEYOND_ANY_PRIME = 2.0**200


def chain_for_depth(spec: ParameterSpec) -> tuple[int, ...]:
    """Return prime sizes in bits, the special prime last, for ``spec.depth`` consecutive multiplications.

    The chain is the smallest that the bounds allow at ``spec.ring_dimension``. ``spec.depth`` and ``scale_bits`` (ckks)
    or ``plain_modulus`` (bfv, bgv) must be set. Multiplications are the managed ones: relinearized, and rescaled in
    ckks or switched to the next modulus in bgv. Raises ``Unsupported`` where no such primes exist.
    """
    return next(chains_for_depth(spec))


def chains_for_depth(spec: ParameterSpec) -> Iterator[tuple[int, ...]]:
    """Yield chains for ``spec.depth``, smallest first; in bfv and bgv, data primes grow by one bit each time.

    Larger primes serve libraries that need more primes of a size than exist: in bgv, OpenFHE's are also 1 modulo t.
    Raises ``Unsupported`` where no chain exists.
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
            f"no modulus chain for {spec.depth} multiplications in {spec.scheme} at N = {spec.ring_dimension}: it "
            f"takes primes of {max(least)} bits; ask for a smaller {smaller}"
        )


def ckks_chain(scale_bits: int, depth: int, largest_result: float | None = None) -> tuple[int, ...]:
    """Return prime sizes in bits: one prime of the scale's size per rescaling, between two outer primes with headroom.

    The headroom is for results up to ``largest_result`` in magnitude, 2^19 without it, within the maximum prime size.
    The special prime has the maximum size, so that key switching errs no more than with larger outer primes.
    """
    outer = min(LARGEST_PRIME_BITS, scale_bits + headroom_bits(largest_result))
    return (outer, *[scale_bits] * depth, outer)


def headroom_bits(largest_result: float | None = None) -> int:
    """Bits of outer ckks primes above the scale, before the maximum prime size limits them: see :func:`ckks_chain`."""
    if largest_result is None:
        return _HEADROOM_BITS
    return math.ceil(math.log2(max(largest_result, _LEAST_BOUND))) + _ABOVE_BOUND_BITS


def _ckks(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    assert spec.scale_bits is not None
    return ckks_chain(spec.scale_bits, depth)


def _bgv(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    """The first prime and level primes of minimum total size that keep the noise within the first prime.

    The noise of a product is the product of the noises; switching to the next modulus divides it by the prime and
    adds a rounding error. Key-switching noise is small compared with a product, since the special prime is as large as
    the others.
    """
    assert spec.plain_modulus is not None
    sizes = _bgv_sizes(spec.ring_dimension, spec.plain_modulus, depth)
    return (sizes[0], *[sizes[1]] * depth, sizes[0])


@lru_cache(1024)  # called for every case, and many cases share their parameters
def _bgv_sizes(n: int, t: int, depth: int) -> tuple[int, int]:
    """Sizes in bits of the first prime and the level primes; above ``LARGEST_PRIME_BITS`` where none exist."""
    least = math.ceil(math.log2(_deviation_of_rounding(n, t)))
    chains = []
    for level in range(least, max(least, LARGEST_PRIME_BITS) + 1):
        noise = _bgv_noise(n, t, depth, 2.0 ** (level - _MARGIN_BITS))
        chains.append((max(level, math.ceil(math.log2(noise) + 1 + _MARGIN_BITS)), level))
    return min(chains, key=lambda sizes: (sizes[0] > LARGEST_PRIME_BITS, 2 * sizes[0] + depth * sizes[1]))


def _bgv_noise(n: int, t: int, depth: int, prime: float) -> float:
    """A bound on the largest coefficient of the noise after ``depth`` multiplications.

    The rounding error of a modulus switch is large in few embeddings: SEAL does not centre it
    (RNSTool::mod_t_and_divide_q_last_ntt_inplace takes residues modulo t from [0, t)), so that it has a mean of t/2 in
    every coefficient. At the roots of unity next to 1, that is up to N/π times t, times the secret there. How large the
    secret is there differs from key to key: the noise may grow there with every multiplication while it shrinks
    elsewhere. One such embedding changes a coefficient by only 2/N of itself.

    So the few embeddings next to 1, and any one other, are bounded one by one, with D for each factor: a bound fails
    for one key and embedding with probability e^(−D²) = 2·10⁻¹⁶. A coefficient is a sum over the many others. It is
    normal, with the mean square over embeddings divided by N as its variance. It exceeds :data:`_COEFFICIENT_D`
    deviations in fewer than N·2·10⁻¹⁷ < 10⁻¹² of decryptions.
    """
    fresh, rounding = _deviation_of_fresh(n, t), _deviation_of_rounding(n, t)
    few = 2 / n * _noise_after(depth, prime, _D * fresh, _D * rounding)
    many = 0.0
    for size, mean in _bgv_groups(n, t):
        if size < _FEW_EMBEDDINGS:
            secret = 1 + _D * math.sqrt(n * _SECRET_VARIANCE)
            few += size / n * _noise_after(depth, prime, _D * fresh, _D * rounding + mean * secret)
        else:
            own = math.hypot(rounding, mean * math.sqrt(1 + n * _SECRET_VARIANCE))
            many += size / n * _mean_square_after(n, depth, prime, fresh, own)
    return few + _COEFFICIENT_D * math.sqrt(many / n)


def _noise_after(depth: int, prime: float, fresh: float, rounding: float) -> float:
    """The noise in one embedding after ``depth`` multiplications by a fresh operand; the first factor is fresh, too."""
    product = other = fresh + rounding
    for _ in range(depth):
        product = min(product * other / prime + rounding, _BEYOND_ANY_PRIME)
        other = other / prime + rounding
    return product


def _mean_square_after(n: int, depth: int, prime: float, fresh: float, rounding: float) -> float:
    """The mean square over many embeddings: the larger one of products with one operand and of squares.

    Errors of all levels share the secret. Let g be |s|² divided by its mean, exponentially distributed over the
    embeddings: all rounding errors of one embedding are √g times as large. For a square, E|v|⁴ = 2·(E|v|²)². Steps of g
    halve the remaining embeddings, down to one; each counts with its upper end.
    """
    steps = int(math.log2(n))
    shares = (2.0 ** -min(step, steps - 1) for step in range(1, steps + 1))
    return math.fsum(
        share * _square_after(depth, prime, fresh**2 * max(1.0, (1 + g) / 2), rounding**2 * g)
        for share, g in zip(shares, (step * math.log(2) for step in range(1, steps + 1)), strict=True)
    )


def _square_after(depth: int, prime: float, fresh: float, rounding: float) -> float:
    product = other = square = fresh + rounding
    for _ in range(depth):
        product = min(product * other / prime**2 + rounding, _BEYOND_ANY_PRIME)
        square = min(2 * square**2 / prime**2 + rounding, _BEYOND_ANY_PRIME)
        other = other / prime**2 + rounding
    return max(product, square)


def _bgv_groups(n: int, t: int) -> Iterator[tuple[int, float]]:
    """Yield sizes of groups of embeddings with a modulus switch's mean rounding error, without the secret's part.

    At the root of unity e^(iπ(2j + 1)/N), the sum of all powers is 1/sin(π(2j + 1)/(2N)) in absolute value: times t/2.
    Embeddings j to 2j − 1 (0 alone), and their conjugates, make a group with the mean of its first.
    """
    first = 0
    while first < n // 2:
        size = max(1, first)
        yield 2 * size, t / 2 / math.sin(math.pi * (2 * first + 1) / (2 * n))
        first += size


def expected_budget_bits(spec: ParameterSpec, modulus_bits: Sequence[int]) -> float:
    """The model's mean remaining noise budget in bits after ``spec.depth`` multiplications on a chain."""
    assert spec.depth is not None
    assert spec.plain_modulus is not None
    n, t, data = spec.ring_dimension, spec.plain_modulus, modulus_bits[:-1]
    largest = math.sqrt(2 * math.log(2 * n))  # the largest of N normal coefficients, in deviations
    if spec.scheme == "bfv":
        noise_bits = _bfv_deviation_bits(spec, spec.depth) + _bfv_power_bits(n, spec.depth)
        return sum(data) - _BFV_LOSS_BITS * len(data) - noise_bits - math.log2(largest) - 1
    prime = 2.0 ** (data[-1] - _BGV_LOSS_BITS)
    fresh, rounding = _deviation_of_fresh(n, t), _deviation_of_rounding(n, t)
    few = many = 0.0
    for size, mean in _bgv_groups(n, t):
        own = math.hypot(rounding, mean * math.sqrt(1 + n * _SECRET_VARIANCE))
        if size < _FEW_EMBEDDINGS:
            few = max(few, size / n * _noise_after(spec.depth, prime, fresh, own))
        else:
            many += size / n * _mean_square_after(n, spec.depth, prime, fresh, own)
    return data[0] - _BGV_LOSS_BITS - math.log2(few + largest * math.sqrt(many / n)) - 1


def min_log_q(spec: ParameterSpec) -> float:
    """The minimum log2(Q) for ``spec.depth`` (bfv, bgv), whatever primes a library takes."""
    assert spec.depth is not None
    if spec.scheme == "bfv":
        return _bfv_bits(spec, spec.depth)
    *data, _ = next(chains_for_depth(spec))
    return sum(data) - len(data)  # primes of b bits are above 2^(b-1)


def _bfv(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    """The minimum number of equal primes, or more where the chain is as secure as requested only then.

    More primes are smaller, and so is the special prime, which is as large as the others.
    """
    total = _bfv_bits(spec, depth)
    fewest = math.ceil(total / (_BFV_PRIME_BITS - _BFV_LOSS_BITS))
    chains = [
        (math.ceil(total / count + _BFV_LOSS_BITS),) * (count + 1)
        for count in range(fewest, fewest + _MORE_PRIMES)
    ]
    bound = security.limit(spec.security_table, spec.ring_dimension, spec.security) if spec.security else None
    return next((chain for chain in chains if bound is not None and sum(chain) <= bound), chains[0])


def _bfv_bits(spec: ParameterSpec, depth: int) -> float:
    """log2 of twice the largest coefficient of the noise after ``depth`` multiplications; it starts at t times fresh.

    At every embedding, a multiplication multiplies the noise by t·K. K = k0 + k1·s is the rounding quotient of the
    other operand, of variance N/12·(1 + N·V_s). A coefficient follows from the mean square over all embeddings, with D
    once, at the end. Powers of one K exceed a Gaussian's: E|k1·s|^(2d) = (d!)²·(E|k1·s|²)^d where the other operand is
    the same every time, d! where k1 changes and s is the same (squares). Noise counts twice in the first product, where
    both factors are fresh, and in every square. For one embedding, D also bounds each K. Below depth 6, SEAL's budgets
    show more noise than these moments, up to 1.75 bits per multiplication.
    """
    powers = math.lgamma(depth + 1) / math.log(2)
    same_operand, squares = 1 + min(powers, depth * math.log2(_D)), depth + powers / 2
    tail = max(same_operand, squares, _BFV_TAIL_BITS * depth)
    return _bfv_deviation_bits(spec, depth) + tail + math.log2(_D) + 1


def _bfv_power_bits(n: int, depth: int) -> float:
    """log2 of the increase in deviation when all factors are the same operand.

    Both its k1 and the secret may be large in an embedding. Steps of |k1|² and |s|², divided by their means, halve the
    remaining embeddings, down to one.
    """
    steps = range(1, int(math.log2(n)))
    squares = (
        2.0 ** -(a + b) * (a * b * math.log(2) ** 2) ** depth
        for a in steps
        for b in steps
        if 2 ** (a + b) <= n
    )
    return max(0.0, math.log2(math.fsum(squares)) / 2)


def _bfv_deviation_bits(spec: ParameterSpec, depth: int) -> float:
    """log2 of the deviation of a noise coefficient for independent factors; the noise starts at t times fresh."""
    n, t = spec.ring_dimension, _modulus(spec)
    fresh = math.log2(t) + math.log2(_ERROR_VARIANCE * (2 * n * _SECRET_VARIANCE + 1) + 1 / 12) / 2
    return fresh + depth * math.log2(_deviation_of_rounding(n, t))


def _deviation_of_rounding(n: int, t: int) -> float:
    """t·√(N/12·(1 + N·V_s)): deviation of a modulus switch's rounding error in one embedding, in plaintext units."""
    return t * math.sqrt(n / 12 * (1 + n * _SECRET_VARIANCE))


def _deviation_of_fresh(n: int, t: int) -> float:
    """t·√(N·(1/12 + 2N·V_e·V_s + V_e)): deviation of a fresh public-key encryption's noise in one embedding."""
    variance = 1 / 12 + 2 * n * _ERROR_VARIANCE * _SECRET_VARIANCE + _ERROR_VARIANCE
    return t * math.sqrt(n * variance)


def _modulus(spec: ParameterSpec) -> int:
    assert spec.plain_modulus is not None
    return spec.plain_modulus
