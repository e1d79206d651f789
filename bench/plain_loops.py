"""Common code of sections ``baseline`` and ``wrappers``: parameters, and sampling of plain loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ciphermark_contract.interfaces import Bound, Handle
from ciphermark_core import primes
from ciphermark_core.model import ParameterSpec, Scheme

RING_DIMENSIONS = (4096, 8192, 16384, 32768)
SETS = 3  # number of operand sets, as in a trial


def specification(scheme: Scheme, ring_dimension: int, security: int = 128) -> ParameterSpec:
    """The library's default chain for bfv with t of 20 bits, Ciphermark's own for ckks."""
    if scheme == "bfv":
        modulus = primes.batching_modulus(20, ring_dimension)
        return ParameterSpec(scheme, ring_dimension, plain_modulus=modulus, security=security)
    scale_bits = 30 if ring_dimension == min(RING_DIMENSIONS) else 40
    bits = primes.default_ckks_chain(ring_dimension, scale_bits)
    return ParameterSpec(scheme, ring_dimension, modulus_bits=bits, scale_bits=scale_bits, security=security)


@dataclass(frozen=True, slots=True)
class PlainBound(Bound):
    """An external operation that the platform's probe can sample; its results are not returned."""

    elapsed_ns: Callable[[int], int]  # time of a number of executions

    def run(self, loops: int) -> int:
        return self.elapsed_ns(loops)

    def results(self) -> list[Handle]:
        return []
