"""SEAL's default chains, known without loading it. Pure."""

from __future__ import annotations

from ciphermark_core.model import ParameterSpec

# Sizes of the primes of CoeffModulus::BFVDefault, which are for 128 bits of security, by ring dimension.
_SIZES: dict[int, tuple[int, ...]] = {
    1024: (27,),
    2048: (54,),
    4096: (36, 36, 37),
    8192: (43, 43, 44, 44, 44),
    16384: (48, 48, 48, *[49] * 6),
    32768: (*[55] * 15, 56),
}
DEFAULT_RINGS = tuple(_SIZES)
_BITS = 128


def default_chain(spec: ParameterSpec) -> tuple[int, ...] | None:
    """What SEAL takes where a request names no sizes; ``None`` at a ring dimension for which it has nothing."""
    return _SIZES.get(spec.ring_dimension)


def default_chain_for_128_bits(spec: ParameterSpec) -> tuple[int, ...] | None:
    """The same of a wrapper that has other chains for more security than 128 bits."""
    return default_chain(spec) if spec.security <= _BITS else None
