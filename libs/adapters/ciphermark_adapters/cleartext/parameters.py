"""What ``cleartext`` makes of a request: primes as a library would choose them."""

from __future__ import annotations

import math

from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes, security
from ciphermark_core.model import Parameters, ParameterSpec


def resolve(spec: ParameterSpec) -> Parameters:
    """The largest primes of the asked sizes, all different, special prime last.

    Raises ``Unsupported`` for what no library could have.
    """
    _check(spec)
    bits = chain_of(spec)
    pools = {size: iter(primes.ntt_primes(size, spec.ring_dimension, bits.count(size))) for size in set(bits)}
    moduli = tuple(next(pools[size]) for size in bits)
    special = 1 if len(moduli) > 1 else 0
    parameters = Parameters(
        spec=spec,
        ring_dimension=spec.ring_dimension,
        moduli=moduli[: len(moduli) - special],
        special_moduli=moduli[len(moduli) - special :],
        slots=spec.slots,
        plain_modulus=None if spec.scheme == "ckks" else spec.plain_modulus,
        scale=2.0 ** (spec.scale_bits or 0) if spec.scheme == "ckks" else None,
    )
    if parameters.scale is not None and math.log2(parameters.scale) + 1 >= parameters.log_q:
        raise Unsupported(
            f"a scale of {spec.scale_bits} bits does not fit into a modulus of {parameters.log_q:.0f} bits"
        )
    return parameters


def chain_of(spec: ParameterSpec) -> tuple[int, ...]:
    """Prime sizes for a request; without one, a chain of 30-bit primes up to the 2018 limit."""
    if spec.modulus_bits is not None:
        return spec.modulus_bits
    if spec.scheme == "ckks":
        return primes.default_ckks_chain(spec.ring_dimension, spec.scale_bits or 0)
    bound = security.limit("2018", spec.ring_dimension, 128) or 60
    return (30,) * (bound // 30) or (bound,)


def _check(spec: ParameterSpec) -> None:
    n, t = spec.ring_dimension, spec.plain_modulus
    if n < 2 or n & (n - 1):
        raise Unsupported(f"there is no ring of dimension {n}: N must be a power of two")
    if spec.modulus_bits == ():
        raise Unsupported("a chain needs at least one prime: write modulus_bits with one size or more")
    if spec.modulus_bits is not None and max(spec.modulus_bits) > primes.LARGEST_PRIME_BITS:
        raise Unsupported(f"primes have at most {primes.LARGEST_PRIME_BITS} bits")
    if spec.scheme == "ckks":
        if not spec.scale_bits:
            raise Unsupported("ckks needs a scale: write scale_bits")
    elif t is None:
        raise Unsupported(f"{spec.scheme} needs a plaintext modulus: write plain_modulus")
    elif not primes.batches(t, n):
        raise Unsupported(f"t = {t} gives no slots at N = {n}: it must be a prime that is 1 modulo {2 * n}")
