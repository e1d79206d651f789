"""Requests that OpenFHE has no parameters for, as far as that is known without loading it. Pure."""

from __future__ import annotations

from ciphermark_core import security
from ciphermark_core.model import ParameterSpec

SPECIAL_BITS = 60
SLOT_GENERATOR = 5  # slot c of a row is the value at ζ^(5^c)
# CryptoParametersBGVRNS keeps t in 32 bits, and decrypts nothing right where it has more.
_BGV_PLAIN_BITS = 32


def refusal(spec: ParameterSpec) -> str | None:
    """Why OpenFHE cannot take a request; ``None`` where nothing is known against it."""
    t = spec.plain_modulus or 0
    if spec.scheme == "bgv" and t.bit_length() > _BGV_PLAIN_BITS:
        return (
            f"OpenFHE's bgv keeps {_BGV_PLAIN_BITS} bits of the plaintext modulus, and decrypts wrongly where it has "
            f"more: t = {t} has {t.bit_length()}"
        )
    is_default = spec.modulus_bits is None and spec.depth is None and not spec.ring_dimension_is_minimum
    if is_default and room_bits(spec) <= 0:
        return (
            f"no default chain at N = {spec.ring_dimension}: {_level(spec)} bits of security leave nothing beside "
            f"OpenFHE's special prime of {SPECIAL_BITS} bits; write modulus_bits with `security: none`"
        )
    return None


def room_bits(spec: ParameterSpec) -> int:
    """What the 2018 table leaves for the data primes of a default chain beside one special prime."""
    bound = security.limit("2018", spec.ring_dimension, _level(spec))
    return 0 if bound is None else bound - SPECIAL_BITS


def _level(spec: ParameterSpec) -> int:
    return next((level for level in security.LEVELS if level >= spec.security), security.LEVELS[-1])
