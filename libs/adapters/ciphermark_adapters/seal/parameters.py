"""What SEAL makes of a request: chains come from SEAL, and SEAL checks everything but security."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_adapters.seal.binding import SealContext, SealModule
from ciphermark_adapters.seal.declaration import DEFAULT_RINGS
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec

# SEAL_POLY_MOD_DEGREE_MIN and _MAX; default chains exist for fewer.
SMALLEST_RING = 2
LARGEST_RING = 131072
LARGEST_PLAIN_MODULUS_BITS = 60
MOST_SIZES_LISTED = 20


def resolve(module: SealModule, spec: ParameterSpec) -> Parameters:
    """The parameter set that SEAL has for ``spec``, prime by prime; raises ``Unsupported`` with the reason.

    Security is not checked here: Ciphermark compares with its own tables.
    """
    requests.require_ring(spec, "SEAL", SMALLEST_RING, LARGEST_RING)
    requests.require_scale(spec)
    t = spec.plain_modulus or 0
    if spec.scheme != "ckks" and t.bit_length() > LARGEST_PLAIN_MODULUS_BITS:
        raise Unsupported(
            f"t = {t} has {t.bit_length()} bits: SEAL takes at most {LARGEST_PLAIN_MODULUS_BITS}"
        )
    requests.require_slots(spec)
    chain = tuple(_chain(module, spec))
    seal = _context(module, spec, chain)
    # SEAL's own rule in CKKSEncoder::encode: the scale and a sign bit must fit into the modulus.
    requests.require_room(spec, seal.modulus_bits)
    data = len(chain) - (1 if seal.switches_keys else 0)
    return requests.resolved(spec, chain[:data], chain[data:])


def context(module: SealModule, parameters: Parameters) -> SealContext:
    """SEAL's context for a resolved parameter set."""
    chain = parameters.moduli + parameters.special_moduli
    return _context(module, parameters.spec, chain)


def _context(module: SealModule, spec: ParameterSpec, chain: Sequence[int]) -> SealContext:
    plain_modulus = spec.plain_modulus or 0 if spec.scheme != "ckks" else 0
    try:
        return module.Context(spec.scheme, spec.ring_dimension, chain, plain_modulus)
    except (ValueError, RuntimeError) as error:
        sizes = _in_words([prime.bit_length() for prime in chain])
        modulus = "" if spec.scheme == "ckks" else f" and t = {spec.plain_modulus}"
        raise Unsupported(
            f"SEAL refuses {spec.scheme} at N = {spec.ring_dimension} with {sizes}{modulus}: {error}"
        ) from error


def _chain(module: SealModule, spec: ParameterSpec) -> Sequence[int]:
    n = spec.ring_dimension
    if spec.modulus_bits is not None:
        return _created(module, n, spec.modulus_bits)
    if spec.scheme == "ckks":
        return _created(module, n, primes.default_ckks_chain(n, spec.scale_bits or 0))
    if n not in DEFAULT_RINGS:
        raise Unsupported(
            f"SEAL has a default chain for N = {', '.join(map(str, DEFAULT_RINGS))}, none for {n}: "
            "write modulus_bits"
        )
    return module.default_chain(n)


def _created(module: SealModule, ring_dimension: int, bits: tuple[int, ...]) -> Sequence[int]:
    if not bits:
        raise Unsupported("SEAL needs at least one prime: write modulus_bits with one size or more")
    try:
        return module.create_chain(ring_dimension, bits)
    except (ValueError, RuntimeError) as error:
        raise Unsupported(
            f"SEAL makes no chain of {_in_words(bits)} at N = {ring_dimension}: {error}. It takes at most "
            f"256 primes of at most {primes.LARGEST_PRIME_BITS} bits, all different and 1 modulo "
            f"{2 * ring_dimension}"
        ) from error


def _in_words(bits: Sequence[int]) -> str:
    if len(bits) > MOST_SIZES_LISTED:
        return f"{len(bits)} primes of {min(bits)} to {max(bits)} bits"
    return f"primes of {', '.join(map(str, bits))} bits"
