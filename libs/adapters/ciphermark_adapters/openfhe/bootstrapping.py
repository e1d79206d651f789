"""OpenFHE's bootstrapping of ckks: its levels and its error, and the precomputation that both sides share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import openfhe

from ciphermark_adapters.openfhe import contexts
from ciphermark_contract.interfaces import Handle, Unsupported
from ciphermark_core.model import Bootstrapping, Parameters, ParameterSpec, SecretDistribution

# The Hamming weight of OpenFHE's sparse secrets; the encapsulated one has 32 (Bossuat et al., ePrint 2022/024).
SECRETS: Mapping[SecretDistribution, int | None] = {
    "uniform ternary": None,
    "sparse ternary": 192,
    "sparse-encapsulated": 32,
}
# Bits that a message is scaled down by before the modular reduction, at least: OpenFHE's own choice at N = 4096.
_CORRECTION_BITS = 9
# log2 of the error at scale 1 and correction 0, in units of N^1.5: 16 times the largest measured of 2,048 slots at
# N = 4096, with level budgets (2, 2) and (3, 3). Dense secrets have a larger interval of the modular reduction.
_ERROR_BITS = {"uniform ternary": 23.5, "sparse ternary": 16.5, "sparse-encapsulated": 16.5}
_LARGEST_ERROR = 2.0**-3
_OPERAND_LEVEL = 1  # scaling the message down takes one


def require_possible(spec: ParameterSpec) -> None:
    """Raise ``Unsupported`` for a bootstrapping that OpenFHE does not have."""
    asked = spec.bootstrapping
    if asked is None:
        return
    if spec.scheme != "ckks":
        raise Unsupported(f"OpenFHE bootstraps ckks, not {spec.scheme}")
    if asked.slots not in (None, spec.slots):
        raise Unsupported(f"this adapter packs and bootstraps all {spec.slots} slots: leave slots out")
    if asked.iterations > 2 or (asked.iterations == 2) != (asked.precision_bits is not None):
        raise Unsupported("OpenFHE has 1 iteration, or 2 with the precision_bits of the first")


def resolved(spec: ParameterSpec, moduli: tuple[int, ...]) -> Bootstrapping | None:
    """The depth by OpenFHE's own account, and a bound on the error; ``None`` where no bootstrapping is asked for.

    The error of the modular reduction grows with the ratio of the first prime to the scale, and with the bits that the
    message is scaled down by: together the correction factor. A second iteration divides it by 2^precision_bits.
    """
    asked = spec.bootstrapping
    if asked is None:
        return None
    depth = openfhe.CryptoContext.GetBootstrapDepth(
        list(asked.level_budget), contexts.secret_distribution(spec)
    )
    bits = _ERROR_BITS[spec.secret_distribution] + 1.5 * (spec.ring_dimension.bit_length() - 1)
    bits += _correction(spec, moduli) - (spec.scale_bits or 0)
    error = 2.0**bits
    if asked.iterations == 2 and asked.precision_bits is not None:
        error *= 2.0**-asked.precision_bits
    if error > _LARGEST_ERROR:
        raise Unsupported(
            f"bootstrapping with a scale of {spec.scale_bits} bits errs up to 2^{bits:.1f}: ask for a larger scale, "
            "or a first prime nearer to it"
        )
    return Bootstrapping(asked, depth + asked.iterations - 1, error, _OPERAND_LEVEL)


def set_up(context: Any, parameters: Parameters) -> None:
    """Precompute what OpenFHE encodes once; an evaluator's context does not hold it."""
    asked = parameters.require_bootstrapping().parameters
    correction = _correction(parameters.spec, parameters.moduli)
    context.EvalBootstrapSetup(list(asked.level_budget), [0, 0], parameters.slots, correction)


def bootstrapped(context: Any, parameters: Parameters, a: Handle) -> Handle:
    """EvalBootstrap, and the rescaling that FIXEDMANUAL leaves to the caller; the exact scale stays."""
    asked = parameters.require_bootstrapping().parameters
    result = context.Rescale(context.EvalBootstrap(a, asked.iterations, asked.precision_bits or 0))
    result.SetScalingFactor(a.GetScalingFactor())
    return result


def _correction(spec: ParameterSpec, moduli: tuple[int, ...]) -> int:
    """It may not be less than the bits of the first prime above the scale."""
    return max(_CORRECTION_BITS, moduli[0].bit_length() - (spec.scale_bits or 0))
