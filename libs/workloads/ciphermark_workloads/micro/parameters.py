"""Parameters that are 128 bits secure by both tables, in the smallest ring, and those of the published circuits."""

from __future__ import annotations

from collections.abc import Sequence

from ciphermark_core.model import ParameterSpec
from ciphermark_core.security import limit

_RINGS = tuple(1 << bits for bits in range(13, 18))

# CryptOracle's default chain, ten levels of 48 bits over a prime of 52, in the smallest ring in which it is secure. Its
# figures "without security" are of N = 65536, where the same chain has more than 256 bits.
PUBLISHED_PARAMETERS = ParameterSpec("ckks", 32768, (52, *[48] * 10, 60), scale_bits=48)


def secure_ring(modulus_bits: Sequence[int], least: int = _RINGS[0]) -> int:
    """The smallest N from 8192 to 131072, at least ``least``, for primes of these sizes, special ones included.

    Raises ``ValueError`` where there is none.
    """
    log_qp = sum(modulus_bits)
    for ring in _RINGS:
        bounds = [limit(table, ring, 128) for table in ("2018", "2024")]
        if ring >= least and all(bound is not None and log_qp <= bound for bound in bounds):
            return ring
    raise ValueError(f"no ring is secure for primes of {log_qp} bits together and at least {least}")
