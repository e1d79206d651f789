"""Resolution of requests by ``cleartext``: primes as a library would choose them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ciphermark_contract import requests
from ciphermark_contract.interfaces import Vector
from ciphermark_contract.operations import Ring, coefficients, words
from ciphermark_core import primes, security
from ciphermark_core.model import Bootstrapping, Parameters, ParameterSpec

# Levels of the approximate modular reduction with a sparse secret: OpenFHE's, and Lattigo's.
_REDUCTION_DEPTHS = (10, 8)


def resolve(spec: ParameterSpec) -> Parameters:
    """Resolve to the largest different primes of the requested sizes, special prime last.

    Raises ``Unsupported`` for requests that no library could support.
    """
    requests.require_ring(spec, "cleartext")
    requests.require_scale(spec)
    requests.require_slots(spec)
    moduli = requests.chosen_primes(spec, chain_of(spec), "cleartext")
    data = max(1, len(moduli) - 1)
    secrets = {spec.secret_distribution: spec.hamming_weight}
    parameters = requests.resolved(
        spec, moduli[:data], moduli[data:], secrets, _bootstrapping(spec, data - 1)
    )
    requests.require_room(spec, parameters.log_q)
    return parameters


def _bootstrapping(spec: ParameterSpec, levels: int) -> Bootstrapping | None:
    """Exact bootstrapping with OpenFHE's depth, or Lattigo's where the chain has fewer levels."""
    bootstrapping = spec.bootstrapping
    if bootstrapping is None:
        return None
    encoding, decoding = bootstrapping.level_budget
    late, early = (0, decoding) if bootstrapping.slots_first else (decoding, 0)
    depths = [encoding + reduction + late for reduction in _REDUCTION_DEPTHS]
    depth = next((each for each in depths if each < levels), depths[0])
    return Bootstrapping(bootstrapping, depth, error=0.0, operand_level=early, key_bytes=0)


def chain_of(spec: ParameterSpec) -> tuple[int, ...]:
    """Prime sizes for a request; without one, a chain of 30-bit primes up to the limit of the security table."""
    if spec.modulus_bits is not None:
        return spec.modulus_bits
    if spec.scheme == "ckks":
        return primes.default_ckks_chain(spec.ring_dimension, spec.scale_bits or 0, spec.security_table)
    bound = security.limit(spec.security_table, spec.ring_dimension, 128) or 60
    return (30,) * (bound // 30) or (bound,)


def words_of(parameters: Parameters, ring: Ring, level: int, slots: Vector) -> list[Vector]:
    """The words of full slots at a level."""
    primes = np.array(words.primes_at(parameters, level), dtype=np.int64)[:, np.newaxis]
    first = coefficients.coefficients_of(ring, slots) % primes
    return words.cut(parameters, level, np.stack([first, np.zeros_like(first)]).astype(np.uint64))


def slots_of(parameters: Parameters, ring: Ring, level: int, parts: Sequence[Vector]) -> Vector:
    """The inverse of :func:`words_of`: the plaintext is below t, hence below the product of the primes."""
    primes = words.primes_at(parameters, level)
    first, whole = words.joined(parameters, level, parts)[0].astype(object), prod(primes)
    others = [whole // prime for prime in primes]
    factors = [other * pow(other, -1, prime) for other, prime in zip(others, primes, strict=True)]
    values = np.array(factors, dtype=object) @ first % whole % ring.modulus
    return coefficients.slots_of(ring, values.astype(np.int64))
