"""Facts about OpenFHE without loading it: unsupported requests, and key switching. Pure.

With recommended tuning (docs/explanation/tuning.md), key switching is BV in bfv, else HYBRID with the fewest digits
that give the requested security level. Without a requested level, nothing bounds the special primes, and the number of
digits is :func:`default_decomposition_digits`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ciphermark_adapters.openfhe import bootstrapping_keys
from ciphermark_contract.footprint import Switching
from ciphermark_core import security
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec

SPECIAL_BITS = 60
# The largest size of a digit for which OpenFHE needs only one special prime.
MAX_DATA_BITS = SPECIAL_BITS - 4
SLOT_GENERATOR = 5  # slot c of a row is the value at ζ^(5^c)
# CryptoParametersBGVRNS keeps t in 32 bits; for a larger t, decryption is incorrect.
_BGV_PLAIN_BITS = 32


def refusal(spec: ParameterSpec) -> str | None:
    """Return why OpenFHE cannot take a request at its security level; ``None`` where no reason is known.

    In a search of the ring dimension, the level is checked for each dimension that is tried.
    """
    reason = reason_against(spec)
    if reason is not None or spec.modulus_bits is None or spec.ring_dimension_is_minimum:
        return reason
    return _refused_size(spec, spec.modulus_bits) if len(spec.modulus_bits) > 1 else None


def reason_against(spec: ParameterSpec) -> str | None:
    """Return why OpenFHE cannot take a request at any security level; ``None`` where no reason is known."""
    t = spec.plain_modulus or 0
    if spec.scheme == "bgv" and t.bit_length() > _BGV_PLAIN_BITS:
        return (
            f"OpenFHE's BGV supports plaintext moduli of at most {_BGV_PLAIN_BITS} bits and decrypts incorrectly with "
            f"more: t = {t} has {t.bit_length()}"
        )
    if spec.scheme == "ckks" and spec.scale_bits is not None:
        reason = _refused_scale(spec.scale_bits, spec.modulus_bits)
        if reason is not None:
            return reason
    is_default = spec.modulus_bits is None and spec.depth is None and not spec.ring_dimension_is_minimum
    if is_default and room_bits(spec) <= 0:
        return (
            f"no default modulus chain at N = {spec.ring_dimension}: {_level(spec)} bits of security leave no bits "
            f"next to OpenFHE's special prime of {SPECIAL_BITS} bits; write modulus_bits with `security: none`"
        )
    return None


def _refused_scale(scale_bits: int, chain: tuple[int, ...] | None) -> str | None:
    """Return why a ckks modulus chain with the requested sizes cannot have the scale."""
    first, *inner = (chain[:-1] or chain) if chain else (MAX_DATA_BITS,)
    if scale_bits >= MAX_DATA_BITS:
        return (
            f"OpenFHE's data primes have at most {MAX_DATA_BITS} bits here, as larger ones need a second special "
            f"prime of {SPECIAL_BITS} bits: a scale of {scale_bits} bits is too large. Request at most "
            f"{MAX_DATA_BITS - 1} bits"
        )
    if any(size != scale_bits for size in inner):
        return (
            f"OpenFHE's CKKS primes after the first have the scale's size, {scale_bits} bits, "
            f"not of {', '.join(map(str, inner))} bits"
        )
    if scale_bits >= first:
        return f"a scale of {scale_bits} bits does not fit into a first prime of {first} bits"
    return None


def _refused_size(spec: ParameterSpec, chain: tuple[int, ...]) -> str | None:
    """Return why no primes of a chain's sizes give the requested security level.

    OpenFHE takes none below 2^(b − 1); in ckks they lie on both sides of the scale.
    """
    if not spec.security or method(spec) == "bv":
        return None
    data = [min(size, MAX_DATA_BITS) for size in chain[:-1]]
    least = sum(data) - (1 if spec.scheme == "ckks" else len(data)) + SPECIAL_BITS - 1
    bound = security.limit(spec.security_table, spec.ring_dimension, spec.security)
    if bound is None or least <= bound:
        return None
    return (
        f"with OpenFHE's special prime of {SPECIAL_BITS} bits the chain has at least {least} bits, above {bound}, the "
        f"{spec.security_table} table's limit for {spec.security} bits at N = {spec.ring_dimension}; write "
        "`security: none` to allow it"
    )


def room_bits(spec: ParameterSpec) -> int:
    """Bits for the data primes of a default modulus chain: the security table's limit less one special prime."""
    bound = security.limit(spec.security_table, spec.ring_dimension, _level(spec))
    return 0 if bound is None else bound - SPECIAL_BITS


def _level(spec: ParameterSpec) -> int:
    return next((level for level in security.LEVELS if level >= spec.security), security.LEVELS[-1])


def method(spec: ParameterSpec) -> Literal["hybrid", "bv"]:
    """The method of key switching; bv has no special primes, so security depends on the ciphertext modulus only."""
    return "bv" if spec.tuning == "recommended" and spec.scheme == "bfv" else "hybrid"


def choices(spec: ParameterSpec, primes: int) -> list[KeySwitching]:
    """The settings to try for ``primes`` data primes; the first with the requested security is taken, or the last."""
    is_free = spec.tuning == "recommended" and method(spec) == "hybrid"
    fewest = 1 if spec.security else default_decomposition_digits(primes)
    least = fewest if is_free else primes
    counts = (
        decomposition_digits
        for decomposition_digits in range(least, primes + 1)
        if _is_possible(primes, decomposition_digits)
    )
    return [KeySwitching(method(spec), decomposition_digits) for decomposition_digits in counts]


def switching(parameters: Parameters) -> Switching:
    """Digits and special primes for data primes of these sizes, as far as OpenFHE takes them: the first choice with the
    requested security, else the last.
    """
    spec = parameters.spec
    bits = [min(prime.bit_length(), MAX_DATA_BITS) for prime in parameters.moduli]
    found = Switching(len(bits), 1)
    for choice in choices(spec, len(bits)):
        special = special_primes(bits, choice)
        found = Switching(choice.decomposition_digits, special)
        log_qp = parameters.log_q + special * SPECIAL_BITS
        if security.level(spec.security_table, spec.ring_dimension, log_qp) >= spec.security:
            break
    return found


def bootstrapping_rotations(parameters: Parameters) -> set[int]:
    """The steps, modulo N/2, that have a key of bootstrapping, by which programs rotate, too."""
    asked = parameters.require_bootstrapping().parameters
    return bootstrapping_keys.rotations(parameters.ring_dimension, parameters.slots, asked)


def special_primes(bits: Sequence[int], switching: KeySwitching) -> int:
    """The number of special primes: their product exceeds a digit by 4 bits."""
    if switching.method == "bv":
        return 0
    size = -(-len(bits) // switching.decomposition_digits)
    largest = max(sum(bits[start : start + size]) for start in range(0, len(bits), size))
    return -(-(largest + 4) // SPECIAL_BITS)


def default_decomposition_digits(primes: int) -> int:
    """OpenFHE's default number of digits: ComputeNumLargeDigits, for the depth ``primes`` − 1."""
    return 1 if primes == 1 else 2 if primes <= 4 else 3


def _is_possible(primes: int, decomposition_digits: int) -> bool:
    """Whether every digit has a prime; OpenFHE refuses others."""
    return -(-primes // decomposition_digits) * (decomposition_digits - 1) < primes
