"""The words of what stands for a ciphertext: those of a trivial one, whose first polynomial is the plaintext, and whose
second is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ciphermark_contract.interfaces import Vector
from ciphermark_contract.operations import Ring, coefficients, words
from ciphermark_core.model import Parameters


def words_of(parameters: Parameters, ring: Ring, level: int, slots: Vector) -> list[Vector]:
    """The words of full slots at a level."""
    primes = np.array(words.primes_at(parameters, level), dtype=np.int64)[:, np.newaxis]
    first = coefficients.coefficients_of(ring, slots) % primes
    return words.cut(parameters, level, np.stack([first, np.zeros_like(first)]).astype(np.uint64))


def slots_of(parameters: Parameters, ring: Ring, level: int, parts: Sequence[Vector]) -> Vector:
    """The inverse: the plaintext is below t, and so below the product of the primes, which tell it together."""
    primes = words.primes_at(parameters, level)
    first, whole = words.joined(parameters, level, parts)[0].astype(object), prod(primes)
    others = [whole // prime for prime in primes]
    factors = [other * pow(other, -1, prime) for other, prime in zip(others, primes, strict=True)]
    found = np.array(factors, dtype=object) @ first % whole % ring.modulus
    return coefficients.slots_of(ring, found.astype(np.int64))
