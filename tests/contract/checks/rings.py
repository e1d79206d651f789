"""The small, insecure ring that workloads are tried in."""

from __future__ import annotations

from ciphermark_adapters import registry
from ciphermark_core.model import Scheme
from ciphermark_workloads.parameters import Override

SMALL = Override(ring_dimension=1024, security=0)
ROOMY = Override(ring_dimension=1024, modulus_bits=(56, 56, 56, 60), security=0)


def small_ring(variant: str, scheme: Scheme) -> Override:
    """The recommended primes, or more for a library that moves levels by itself: it goes by bounds on the noise that
    hold for all keys, and by these the recommended ones leave little or nothing (docs/how-to/helib.md).
    """
    return SMALL if registry.declaration(variant).drives_levels(scheme) else ROOMY
