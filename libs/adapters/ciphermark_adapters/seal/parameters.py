"""Resolution of requests by SEAL: chains come from SEAL, and SEAL checks everything except security."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ciphermark_adapters.bindings import NativeSlots
from ciphermark_adapters.seal.binding import SealContext, SealModule
from ciphermark_adapters.seal.declaration import DEFAULT_RINGS
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec

# SEAL_POLY_MOD_DEGREE_MIN and _MAX; default modulus chains exist for fewer.
SMALLEST_RING = 2
LARGEST_RING = 131072
LARGEST_PLAIN_MODULUS_BITS = 60
MAX_SIZES_LISTED = 20


def resolve(module: SealModule, spec: ParameterSpec) -> Parameters:
    """Resolve ``spec`` to SEAL's parameter set, prime by prime; raises ``Unsupported`` with the reason.

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
        return _created(module, n, primes.default_ckks_chain(n, spec.scale_bits or 0, spec.security_table))
    if n not in DEFAULT_RINGS:
        raise Unsupported(
            f"SEAL has a default modulus chain for N = {', '.join(map(str, DEFAULT_RINGS))}, none for {n}: "
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
            f"SEAL has no modulus chain of {_in_words(bits)} at N = {ring_dimension}: {error}. It takes at most "
            f"256 primes of at most {primes.LARGEST_PRIME_BITS} bits, all different and 1 modulo "
            f"{2 * ring_dimension}"
        ) from error


def _in_words(bits: Sequence[int]) -> str:
    if len(bits) > MAX_SIZES_LISTED:
        return f"{len(bits)} primes of {min(bits)} to {max(bits)} bits"
    return f"primes of {', '.join(map(str, bits))} bits"


_MOST = 2.0**62  # limit of a number in the native module, a 64-bit integer


@dataclass(frozen=True, slots=True)
class Slots(NativeSlots):
    """The slots of a parameter set, with SEAL's numbers."""

    def checked(self, values: Vector) -> Vector:
        """The vector in the native module's form; raises ``ValueError`` for values that do not fit."""
        vector = self.typed(values)
        if not self.are_real and len(vector) and not 0 <= vector.min() <= vector.max() < self._modulus:
            raise ValueError(f"values must lie in [0, {self._modulus})")
        return vector

    def numbers(self, values: Sequence[float]) -> list[int]:
        """Numbers for all slots in the native module's form: multiples of the scale, or residues of t around 0.

        Raises ``ValueError`` for numbers that do not fit.
        """
        if self.are_real:
            multiples = np.rint(np.asarray(values, dtype=np.float64) * (self.parameters.scale or 1.0))
            if not (np.abs(multiples) < _MOST).all():
                raise ValueError("numbers times the scale are below 2^62")
            return [int(multiple) for multiple in multiples]
        modulus = self._modulus
        if not all(float(value).is_integer() for value in values):
            raise ValueError("numbers of bfv and bgv are whole")
        return [(int(value) + modulus // 2) % modulus - modulus // 2 for value in values]

    @property
    def _modulus(self) -> int:
        """t (bfv, bgv)."""
        return self.parameters.plain_modulus or 0
