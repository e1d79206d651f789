"""What sections ``baseline`` and ``wrappers`` hold against plain loops: parameters, and how a plain loop is sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ciphermark_contract.interfaces import Bound, Handle
from ciphermark_core import primes
from ciphermark_core.model import ParameterSpec, Scheme

RING_DIMENSIONS = (4096, 8192, 16384, 32768)
SETS = 3  # operand sets, as many as a trial has


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
    """An operation of somebody else, as something that the platform's probe samples; its results stay there."""

    elapsed_ns: Callable[[int], int]  # of so many executions

    def run(self, loops: int) -> int:
        return self.elapsed_ns(loops)

    def results(self) -> list[Handle]:
        return []
