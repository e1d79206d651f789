"""Bootstrapping by OpenFHE: what it takes and consumes, its precomputation, its keys, and the call itself."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import openfhe

from ciphermark_adapters.openfhe import bootstrapping_keys
from ciphermark_contract.interfaces import Exhausted, Handle, Unsupported
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import (
    Bootstrapping,
    BootstrappingParameters,
    Parameters,
    ParameterSpec,
    SecretDistribution,
)

# The Hamming weight of OpenFHE's sparse secrets. With encapsulation, a second secret of weight 32 exists only inside
# bootstrapping (Bossuat et al., ePrint 2022/024), and the other one is sparse, too.
SECRETS: Mapping[SecretDistribution, int | None] = {
    "uniform ternary": None,
    "sparse ternary": 192,
    "sparse-encapsulated": 192,
}
# A failure is a coefficient outside the interval of the modular reduction. OpenFHE documents −log2 of the probability
# for 2^16 slots (its pull request 1318); half as many slots fail half as often. It documents none for dense secrets.
_FAILURE_BITS: Mapping[SecretDistribution, int] = {"sparse ternary": 22, "sparse-encapsulated": 137}
_LOG_DOCUMENTED_SLOTS = 16
# log2 of the error at scale 1 and correction 0, in units of N·√slots (slots first: of N). FIXEDMANUAL takes each prime
# for 2^scale_bits, and primes are the farther from it the larger N is. The largest of 21 measurements at N = 2048 to
# 65536, and 2.5 bits. Dense secrets have a larger interval of the modular reduction.
_ERROR_BITS: Mapping[SecretDistribution, float] = {
    "uniform ternary": 21.7,
    "sparse ternary": 16.5,
    "sparse-encapsulated": 15.5,
}
# Dense secrets with slots first, in units of N·√slots: their modular reduction multiplies the error of CoeffsToSlots.
# That of 4096 slots at N = 65536, and 2.5 bits; 32 slots stayed 3.2 bits below.
_DENSE_SLOTS_FIRST_BITS = 18.7
_LARGEST_ERROR = 2.0**-3
_CHUNK_BYTES = 1 << 26
# The parameters of the last precomputation of each context and number of slots: see :func:`set_up`.
_precomputed: dict[tuple[Any, ...], BootstrappingParameters] = {}


def require(spec: ParameterSpec) -> None:
    """Raise ``Unsupported`` for a bootstrapping that OpenFHE does not offer."""
    asked = spec.bootstrapping
    if asked is None:
        return
    if spec.scheme != "ckks":
        raise Unsupported(f"OpenFHE bootstraps ckks, not {spec.scheme}")
    if spec.slots & (spec.slots - 1) or not 2 <= spec.slots <= spec.ring_dimension // 2:
        raise Unsupported(
            f"OpenFHE bootstraps a power of two of slots from 2 to {spec.ring_dimension // 2}, not {spec.slots}"
        )
    layers = spec.slots.bit_length() - 1
    if max(asked.level_budget) > layers:
        raise Unsupported(
            f"the level budget is at most {layers} for {spec.slots} slots, not {max(asked.level_budget)}"
        )
    if asked.iterations > 2 or (asked.iterations == 2) != (asked.precision_bits is not None):
        raise Unsupported("OpenFHE has 1 iteration, or 2 with the precision_bits of the first")


def resolved(
    spec: ParameterSpec, moduli: tuple[int, ...], special: int, switching: KeySwitching | None
) -> Bootstrapping | None:
    """OpenFHE's bootstrapping depth, a bound on the error, and the bytes of its keys with so many special primes;
    ``None`` where no bootstrapping is requested.

    The error of the modular reduction grows with the bits by which the message is scaled down. A second iteration
    divides it by 2^precision_bits.
    """
    asked = spec.bootstrapping
    if asked is None:
        return None
    depth = openfhe.CryptoContext.GetBootstrapDepth(list(asked.level_budget), secret_distribution(spec))
    bits = _error_bits(spec, asked) + _log2(spec.ring_dimension) - (spec.scale_bits or 0)
    bits += _correction(spec, moduli) - (asked.precision_bits or 0)
    if 2.0**bits > _LARGEST_ERROR:
        raise Unsupported(
            f"bootstrapping with a scale of {spec.scale_bits} bits has errors up to 2^{bits:.1f}: request a larger "
            "scale, or a first prime closer to it"
        )
    decoding = asked.level_budget[1] if asked.slots_first else 0
    documented = _FAILURE_BITS.get(spec.secret_distribution)
    return Bootstrapping(
        asked,
        depth - decoding + asked.iterations - 1,
        2.0**bits,
        decoding + 1,  # scaling the message down takes one level
        key_bytes=None
        if switching is None
        else bootstrapping_keys.key_bytes(spec, len(moduli), special, switching),
        failure_bits=None if documented is None else documented + _LOG_DOCUMENTED_SLOTS - _log2(spec.slots),
    )


def set_up(context: Any, parameters: Parameters, *, is_to_compute: bool = True) -> None:
    """Set the parameters in a context, which does not serialize them, and precompute the plaintexts unless only keys
    are to be made.

    Equal parameter sets share a context within a process, which has one precomputation for a number of slots.
    """
    asked = parameters.require_bootstrapping().parameters
    correction = _correction(parameters.spec, parameters.moduli)
    context.EvalBootstrapSetup(
        list(asked.level_budget), [0, 0], parameters.slots, correction, is_to_compute, asked.slots_first
    )
    if is_to_compute:
        _precomputed[_place(parameters)] = asked
    else:
        _precomputed.pop(_place(parameters), None)


def bootstrapped(context: Any, parameters: Parameters, a: Handle) -> Handle:
    """EvalBootstrap, and the rescaling that FIXEDMANUAL leaves to the caller; the exact scale stays.

    An operand above the level of the result is brought below it, since OpenFHE returns such a one as it is. Raises
    ``Exhausted`` and ``ValueError`` for operands that it does not take: with three polynomials it ends the process.
    """
    own = parameters.require_bootstrapping()
    asked, level = own.parameters, len(parameters.moduli) - 1 - a.GetLevel()
    if (polynomials := a.NumberCiphertextElements()) > 2:
        raise ValueError(
            f"a ciphertext of {polynomials} polynomials cannot be bootstrapped: relinearize it first"
        )
    if (degree := a.GetNoiseScaleDeg()) > 1:
        raise ValueError(
            f"OpenFHE bootstraps at the default scale, and the operand has its power {degree}: rescale it first"
        )
    if level < own.operand_level:
        raise Exhausted(f"bootstrapping takes level {own.operand_level}, and the operand is at {level}")
    if _precomputed.get(_place(parameters)) != asked:
        set_up(context, parameters)
    if level > own.operand_level:
        a = context.LevelReduce(a, None, level - own.operand_level)
    result = context.EvalBootstrap(a, asked.iterations, asked.precision_bits or 0)
    if result.GetNoiseScaleDeg() > 1:
        result = context.Rescale(result)
    result.SetScalingFactor(a.GetScalingFactor())
    return result


def generate_keys(context: Any, parameters: Parameters, secret_key: Any) -> None:
    """Add all keys of bootstrapping to OpenFHE's map of the secret key's tag."""
    set_up(context, parameters, is_to_compute=False)
    context.EvalBootstrapKeyGen(secret_key, parameters.slots)


def dumped_keys(context: Any, parameters: Parameters, tag: str) -> Iterator[bytes]:
    """The keys in OpenFHE's BINARY format, in pieces: they exceed the memory that a copy may take."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "keys"
        if not openfhe.SerializeEvalBootstrapKey(str(path), openfhe.BINARY, context, tag, parameters.slots):
            raise OSError(f"OpenFHE could not write its bootstrapping keys to {folder}")
        with path.open("rb") as file:
            while piece := file.read(_CHUNK_BYTES):
                yield piece


def load_keys(context: Any, parameters: Parameters, tag: str, pieces: Iterable[bytes]) -> None:
    """Add keys from :func:`dumped_keys` to OpenFHE's map; the context has been set up. Raises ``ValueError`` for
    damaged ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "keys"
        with path.open("wb") as file:
            file.writelines(pieces)
        try:
            is_read = openfhe.DeserializeEvalBootstrapKey(
                str(path), openfhe.BINARY, context, tag, parameters.slots
            )
        except RuntimeError as error:
            raise ValueError(f"OpenFHE cannot read the bootstrapping keys: {error}") from error
        if not is_read:
            raise ValueError("OpenFHE cannot read the bootstrapping keys")


def secret_distribution(spec: ParameterSpec) -> Any:
    """OpenFHE's name for the distribution of secret keys."""
    names = {
        "uniform ternary": openfhe.UNIFORM_TERNARY,
        "sparse ternary": openfhe.SPARSE_TERNARY,
        "sparse-encapsulated": openfhe.SPARSE_ENCAPSULATED,
    }
    return names[spec.secret_distribution]


def _place(parameters: Parameters) -> tuple[Any, ...]:
    return parameters.moduli, parameters.special_moduli, parameters.secret_distribution, parameters.slots


def _error_bits(spec: ParameterSpec, asked: BootstrappingParameters) -> float:
    """log2 of the error at scale 1 and correction 0, in units of N."""
    of_slots = _log2(spec.slots) / 2
    if not asked.slots_first:
        return _ERROR_BITS[spec.secret_distribution] + of_slots
    if spec.secret_distribution == "uniform ternary":
        return _DENSE_SLOTS_FIRST_BITS + of_slots
    return _ERROR_BITS[spec.secret_distribution]


def _correction(spec: ParameterSpec, moduli: tuple[int, ...]) -> int:
    """The bits by which a message is scaled down before the modular reduction: OpenFHE's default for fixed scales
    (FHECKKSRNS::EvalBootstrapSetup), at least the bits of the first prime above the scale.
    """
    is_slots_first = spec.bootstrapping is not None and spec.bootstrapping.slots_first
    slope, start = (-0.0645, 13.855) if is_slots_first else (-0.1516, 14.284)
    usual = round(slope * (2 * _log2(spec.ring_dimension) + _log2(spec.slots)) + start)
    return max(min(max(usual, 6), 13), moduli[0].bit_length() - (spec.scale_bits or 0))


def _log2(power: int) -> int:
    return power.bit_length() - 1
