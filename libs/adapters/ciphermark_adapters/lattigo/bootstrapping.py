"""Lattigo's bootstrapping circuit for a requested modulus chain, and what it resolves to.

A request lists the primes outside bootstrapping, then those of SlotsToCoeffs, EvalMod and CoeffsToSlots in Lattigo's
order, then the special prime outside. Special primes inside are Lattigo's: 61 bits each, as many as the root of the
others. Its parameter set N16QP1546H192H32 is 60, 9 × 40, 3 × 39, 8 × 60, 4 × 56 bits, and a special prime, at N = 2^16
with the level budget [4, 3]. Ciphertexts outside bootstrapping have the primes outside only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ciphermark_adapters.lattigo.binding import Circuit, CircuitFacts
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core.model import Bootstrapping, BootstrappingParameters, ParameterSpec, SecretDistribution

# The Hamming weight of sparse secrets, and of the ephemeral ones of bootstrapping: Lattigo's defaults. Bootstrapping
# encapsulates both kinds (Bossuat et al., ePrint 2022/024).
_SPARSE_WEIGHT = 192
_EPHEMERAL_WEIGHT = 32
SECRETS: Mapping[SecretDistribution, int | None] = {
    "uniform ternary": None,
    "sparse ternary": _SPARSE_WEIGHT,
    "sparse-encapsulated": _EPHEMERAL_WEIGHT,
}
# Of the secret outside bootstrapping; 0 is a uniform one.
SECRET_WEIGHTS: Mapping[SecretDistribution, int] = {
    "uniform ternary": 0,
    "sparse ternary": _SPARSE_WEIGHT,
    "sparse-encapsulated": 0,
}
# Lattigo's default: a polynomial of degree 30, and 3 doublings of the angle.
_MODULAR_DEPTH = 8
# A prime of this size carries two matrices, as in N15QP768H192H32, where the scale has at most half of its bits.
_SHARED_BITS = 60
# Lattigo scales values to 2^-8 of the first prime and takes a sine for the identity: Taylor's next term, relative to
# the value. Coefficients of values in [−1, 1] have cubes whose absolute sum is at most 1, so it bounds every slot.
_SINE_ERROR = (2 * math.pi / 2**8) ** 2 / 6
# log2 of the noise with primes of 2^0 in EvalMod, in units of N^1.25: 4 times the largest measured of 2,048 slots at
# N = 4096, and of 512 at N = 1024. Rounding at the scale adds less than 8·N.
_NOISE_BITS = 18.7
_ROUNDING_BITS = 3.0
_LARGEST_ERROR = 2.0**-3
# Lattigo documents −log2 of the probability of a failure for 2^15 slots; half as many slots fail half as often.
_FAILURE_BITS, _LOG_DOCUMENTED_SLOTS = 138.7, 15


def levels_outside(spec: ParameterSpec, bits: Sequence[int]) -> int:
    """The level of a bootstrapped ciphertext; raises ``Unsupported`` where the chain leaves none."""
    assert spec.bootstrapping is not None, "only bootstrapping has primes of its own"
    encoding, decoding = spec.bootstrapping.level_budget
    depth = encoding + _MODULAR_DEPTH + decoding
    levels = len(bits) - 2 - depth
    if levels < 1:
        raise Unsupported(
            f"bootstrapping consumes {depth} levels, and the modulus chain has {max(0, len(bits) - 2)}: write "
            f"modulus_bits with at least {depth + 3} sizes, the special prime included"
        )
    return levels


def special_outside(primes: int) -> int:
    """Special primes outside for so many ciphertext primes: as inside, where a digit per prime would take gigabytes."""
    return round(math.sqrt(primes))


def circuit(spec: ParameterSpec, bits: Sequence[int]) -> Circuit | None:
    """The circuit that a request describes, ``None`` for one without; raises ``Unsupported`` with the reason."""
    asked = spec.bootstrapping
    if asked is None:
        return None
    _require_offered(spec, asked)
    encoding, decoding = asked.level_budget
    sizes = bits[levels_outside(spec, bits) + 1 : -1]
    last, modular, first = sizes[:decoding], sizes[decoding:-encoding], sizes[-encoding:]
    if len({*modular}) > 1:
        raise Unsupported(
            f"Lattigo reduces modulo 1 with primes of one size, not {', '.join(map(str, modular))} bits"
        )
    return Circuit(
        spec.slots.bit_length() - 1,
        tuple((size,) for size in first),
        tuple(_decoding(size, spec.scale_bits or 0) for size in last),
        modular[0],
        _EPHEMERAL_WEIGHT,
    )


def _decoding(size: int, scale_bits: int) -> tuple[int, ...]:
    """What to ask for so that a prime of SlotsToCoeffs has this size: Lattigo adds the scale up to 60 bits."""
    if size >= _SHARED_BITS and 2 * scale_bits <= size:
        return (size // 2, size - size // 2)
    return (size if size + scale_bits > _SHARED_BITS else size - scale_bits,)


def _require_offered(spec: ParameterSpec, asked: BootstrappingParameters) -> None:
    slots = spec.slots
    if spec.scheme != "ckks":
        raise Unsupported(f"Lattigo bootstraps ckks, not {spec.scheme}")
    if slots & (slots - 1) or not 2 <= slots <= spec.ring_dimension // 2:
        raise Unsupported(f"Lattigo bootstraps a power of two of slots, from 2 to {spec.ring_dimension // 2}")
    if asked.iterations > 1:
        raise Unsupported(
            "this adapter sets up one iteration of Lattigo's bootstrapping: leave iterations out"
        )
    if asked.slots_first:
        raise Unsupported("this adapter sets up Lattigo's default order: leave slots_first out")
    if spec.secret_distribution == "uniform ternary":
        raise Unsupported(
            "Lattigo's bootstrapping takes a sparse ternary or a sparse-encapsulated secret: write secret_distribution"
        )
    if max(asked.level_budget) > slots.bit_length() - 1:
        raise Unsupported(f"{slots} slots have level budgets of at most {slots.bit_length() - 1}")


def resolved(spec: ParameterSpec, facts: CircuitFacts, modular_bits: int) -> Bootstrapping:
    """The resolved bootstrapping; raises ``Unsupported`` where its error is too large."""
    assert spec.bootstrapping is not None, "only requests with bootstrapping have a circuit"
    log_n = math.log2(spec.ring_dimension)
    noise = 2.0 ** (_NOISE_BITS + 1.25 * log_n - modular_bits)
    error = _SINE_ERROR + noise + 2.0 ** (_ROUNDING_BITS + log_n - (spec.scale_bits or 0))
    if error > _LARGEST_ERROR:
        raise Unsupported(
            f"bootstrapping with a scale of {spec.scale_bits} bits and a modular reduction of {modular_bits} bits has "
            f"errors up to 2^{math.log2(error):.1f}: request larger primes"
        )
    failure_bits = _FAILURE_BITS + _LOG_DOCUMENTED_SLOTS - math.log2(spec.slots)
    return Bootstrapping(
        spec.bootstrapping,
        depth=0,
        error=error,
        operand_level=facts.operand_level,
        moduli=facts.moduli,
        special_moduli=facts.special_moduli,
        key_bytes=_key_bytes(spec.ring_dimension, facts),
        failure_bits=failure_bits,
    )


def _key_bytes(ring_dimension: int, facts: CircuitFacts) -> int:
    """Two polynomials of all primes for each digit: relinearization, the way back from the ephemeral secret, rotations.

    The way there has one prime and one special prime.
    """
    special = len(facts.special_moduli)
    digits = -(-len(facts.moduli) // special)
    polynomials = digits * (len(facts.moduli) + special) * (2 + len(facts.elements)) + 2
    return 2 * 8 * ring_dimension * polynomials
