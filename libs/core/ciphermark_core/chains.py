"""Modulus chains for a number of multiplications one after another, made by Ciphermark for every library alike.

Sizes come from bounds on the noise in the canonical embedding, with the constants of Mono, Marcolla, Land, Güneysu and
Aragona, "Finding and Evaluating Parameters for BGV" (ePrint 2022/706), and of Biasioli, Marcolla, Calderini and Mono,
"Improving and Automating BFV Parameters Selection" (ePrint 2023/600): a polynomial whose coefficients have variance V
has a norm of at most D·√(N·V), D = 6. Secrets are ternary, errors have σ = 3.19, decryption is right while the norm
is below half of the modulus.
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
_FEW_EMBEDDINGS = 64  # of fewer a sum is not normal: their bounds are added
_SECRET_VARIANCE = 2 / 3
_ERROR_VARIANCE = 3.19**2
# What the outer ckks primes have above the scale: results up to 2^19 fit beside their sign where no bound of them is
# known, and otherwise four times the bound.
_HEADROOM_BITS = 20
_ABOVE_BOUND_BITS = 3
_LEAST_BOUND = 2.0  # of sums of two values of at most 1, for which every suite has room
# bfv has no levels: its modulus is cut into equal primes of at most this size, which all libraries here can take.
_BFV_PRIME_BITS = 54
_BFV_TAIL_BITS = 1.75
_BFV_LOSS_BITS = 0.02  # of a prime: the largest ones of a size are that near to the next
_BGV_LOSS_BITS = 0.1
_MORE_PRIMES = 4  # than the fewest that are tried, for a smaller special prime
_MARGIN_BITS = 0.5  # primes of b bits are a little smaller than 2^b, where libraries take the largest
_BEYOND_ANY_PRIME = 2.0**200


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
            f"no modulus chain for {spec.depth} multiplications in {spec.scheme} at N = {spec.ring_dimension}: it "
            f"takes primes of {max(least)} bits; ask for a smaller {smaller}"
        )


def ckks_chain(scale_bits: int, depth: int, largest_result: float | None = None) -> tuple[int, ...]:
    """One prime of the scale's size for each rescaling between two outer primes with headroom: for results of at most
    ``largest_result`` in magnitude, of up to 2^19 without, as far as primes can be as large. The special prime is as
    large as any, so that switching keys errs no more than with larger outer primes.
    """
    outer = min(LARGEST_PRIME_BITS, scale_bits + headroom_bits(largest_result))
    return (outer, *[scale_bits] * depth, outer)


def headroom_bits(largest_result: float | None = None) -> int:
    """By how much outer ckks primes are larger than the scale, where primes can be as large: see :func:`ckks_chain`."""
    if largest_result is None:
        return _HEADROOM_BITS
    return math.ceil(math.log2(max(largest_result, _LEAST_BOUND))) + _ABOVE_BOUND_BITS


def _ckks(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    assert spec.scale_bits is not None
    return ckks_chain(spec.scale_bits, depth)


def _bgv(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    """First prime and level primes with which the noise stays within the first prime, least in sum.

    The noise of a product is the product of the noises; switching to the next modulus divides it by the prime and
    adds a rounding error. What key switching adds is small beside a product, since the special prime is as large as
    the others.
    """
    assert spec.plain_modulus is not None
    sizes = _bgv_sizes(spec.ring_dimension, spec.plain_modulus, depth)
    return (sizes[0], *[sizes[1]] * depth, sizes[0])


@lru_cache(1024)  # asked for every case, of which many have the same parameters
def _bgv_sizes(n: int, t: int, depth: int) -> tuple[int, int]:
    """Sizes of the first prime and of the level primes; above ``LARGEST_PRIME_BITS`` where there are none."""
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
    secret is there differs from key to key; there may the noise grow with every multiplication while it shrinks
    elsewhere. One such embedding changes a coefficient by 2/N of itself only.

    So the few embeddings next to 1, and any one other, are bounded one by one, with D for each factor: a bound fails
    for one key and embedding with probability e^(−D²) = 2·10⁻¹⁶. Of the many others a coefficient is a sum: normal, its
    variance the mean square over embeddings by N, and below :data:`_COEFFICIENT_D` deviations but for
    N·2·10⁻¹⁷ < 10⁻¹² of decryptions.
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
    """The noise in one embedding after ``depth`` multiplications by one operand, fresh at first as the other."""
    product = other = fresh + rounding
    for _ in range(depth):
        product = min(product * other / prime + rounding, _BEYOND_ANY_PRIME)
        other = other / prime + rounding
    return product


def _mean_square_after(n: int, depth: int, prime: float, fresh: float, rounding: float) -> float:
    """The mean square over many embeddings, whichever is larger of products with one operand and squares.

    Errors of all levels have the secret in common: with g = |s|² by its mean, exponentially distributed over the
    embeddings, all rounding errors of one embedding are √g times as large. Of a square E|v|⁴ = 2·(E|v|²)². Steps of g
    halve the embeddings that are left, down to one; each counts with its upper end.
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
    """Numbers of embeddings, and the mean of a modulus switch's rounding error there, without the secret's part.

    At the root of unity e^(iπ(2j + 1)/N), the sum of all powers is 1/sin(π(2j + 1)/(2N)) in absolute value: times t/2.
    Embeddings j to 2j − 1 (0 alone), and their conjugates, make a group with the mean of its first.
    """
    first = 0
    while first < n // 2:
        size = max(1, first)
        yield 2 * size, t / 2 / math.sin(math.pi * (2 * first + 1) / (2 * n))
        first += size


def expected_budget_bits(spec: ParameterSpec, modulus_bits: Sequence[int]) -> float:
    """Noise budget that is left after ``spec.depth`` multiplications on average, by the model: what a chain keeps."""
    assert spec.depth is not None
    assert spec.plain_modulus is not None
    n, t, data = spec.ring_dimension, spec.plain_modulus, modulus_bits[:-1]
    largest = math.sqrt(2 * math.log(2 * n))  # of N normal coefficients, in deviations
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
    """What log2(Q) must be for ``spec.depth`` (bfv, bgv), whatever primes a library takes."""
    assert spec.depth is not None
    if spec.scheme == "bfv":
        return _bfv_bits(spec, spec.depth)
    *data, _ = next(chains_for_depth(spec))
    return sum(data) - len(data)  # primes of b bits are above 2^(b-1)


def _bfv(spec: ParameterSpec, depth: int) -> tuple[int, ...]:
    """Equal primes, as few as can be; one or some more where the chain is as secure as asked only then, since the
    special prime is as large as the others.
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
    """log2 of twice the largest coefficient of the noise after ``depth`` multiplications, t times a fresh one at first.

    A multiplication makes the noise larger by t·K at every embedding, K the rounding quotient of the other operand:
    k0 + k1·s, of variance N/12·(1 + N·V_s). What a coefficient is follows from the mean square over all embeddings,
    with D once, at the end. Powers of one K are larger than of a Gaussian: E|k1·s|^(2d) = (d!)²·(E|k1·s|²)^d where the
    other operand is the same every time, d! where k1 is another one and s the same (squares). Noise counts twice in the
    first product, where both factors are fresh, and in every square. For one embedding D bounds each K, too. Below
    depth 6 SEAL's budgets show more than these moments, up to 1.75 bits a multiplication.
    """
    powers = math.lgamma(depth + 1) / math.log(2)
    same_operand, squares = 1 + min(powers, depth * math.log2(_D)), depth + powers / 2
    tail = max(same_operand, squares, _BFV_TAIL_BITS * depth)
    return _bfv_deviation_bits(spec, depth) + tail + math.log2(_D) + 1


def _bfv_power_bits(n: int, depth: int) -> float:
    """log2 by which the deviation is larger since all factors are one operand's: both its k1 and the secret may be
    large in an embedding. Steps of |k1|² and |s|² by their means halve the embeddings that are left, down to one.
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
    """log2 of the deviation of a coefficient of the noise, t times a fresh one at first, if factors are independent."""
    n, t = spec.ring_dimension, _modulus(spec)
    fresh = math.log2(t) + math.log2(_ERROR_VARIANCE * (2 * n * _SECRET_VARIANCE + 1) + 1 / 12) / 2
    return fresh + depth * math.log2(_deviation_of_rounding(n, t))


def _deviation_of_rounding(n: int, t: int) -> float:
    """t·√(N/12·(1 + N·V_s)): of the rounding error of a modulus switch in one embedding, in units of the plaintext."""
    return t * math.sqrt(n / 12 * (1 + n * _SECRET_VARIANCE))


def _deviation_of_fresh(n: int, t: int) -> float:
    """t·√(N·(1/12 + 2N·V_e·V_s + V_e)): of a fresh encryption with the public key, in one embedding."""
    variance = 1 / 12 + 2 * n * _ERROR_VARIANCE * _SECRET_VARIANCE + _ERROR_VARIANCE
    return t * math.sqrt(n * variance)


def _modulus(spec: ParameterSpec) -> int:
    assert spec.plain_modulus is not None
    return spec.plain_modulus
