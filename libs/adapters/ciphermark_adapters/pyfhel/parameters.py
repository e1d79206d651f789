"""What Pyfhel makes of a request: the primes come from the context that it generates."""

from __future__ import annotations

import warnings
from typing import Any

from Pyfhel import Pyfhel

from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes, security
from ciphermark_core.model import Parameters, ParameterSpec

# What Pyfhel raises: assertions of its own, and C++ exceptions of SEAL.
LIBRARY_ERRORS = (ValueError, RuntimeError, AssertionError, OverflowError)


def resolve(spec: ParameterSpec) -> Parameters:
    """The parameter set that Pyfhel generates for ``spec``, prime by prime.

    Raises ``Unsupported`` with the reason.
    """
    if spec.scheme == "ckks" and not spec.scale_bits:
        raise Unsupported("ckks needs a scale: write scale_bits")
    if spec.scheme != "ckks" and spec.plain_modulus is None:
        raise Unsupported(f"{spec.scheme} needs a plaintext modulus: write plain_modulus")
    context = _generated(spec, **_chain(spec))
    _require_room(spec, context)
    chain = tuple(int(prime) for prime in context.qi)
    data_primes = max(1, len(chain) - 1)
    return Parameters(
        spec=spec,
        ring_dimension=spec.ring_dimension,
        moduli=chain[:data_primes],
        special_moduli=chain[data_primes:],
        slots=spec.slots,
        plain_modulus=None if spec.scheme == "ckks" else spec.plain_modulus,
        scale=2.0**spec.scale_bits if spec.scheme == "ckks" and spec.scale_bits else None,
    )


def context_of(parameters: Parameters) -> Any:
    """A Pyfhel object with exactly the primes of ``parameters`` and no keys."""
    return _generated(parameters.spec, sec=0, qi=[*parameters.moduli, *parameters.special_moduli])


def _chain(spec: ParameterSpec) -> dict[str, Any]:
    """Arguments that choose the primes; ``sec=0`` keeps Pyfhel from judging the security itself."""
    if spec.modulus_bits is not None:
        return {"sec": 0, "qi_sizes": list(spec.modulus_bits)}
    if spec.scheme == "ckks":
        return {
            "sec": 0,
            "qi_sizes": list(primes.default_ckks_chain(spec.ring_dimension, spec.scale_bits or 0)),
        }
    return {"sec": next((level for level in security.LEVELS if level >= spec.security), 256)}


def _generated(spec: ParameterSpec, **chain: Any) -> Any:
    context = Pyfhel()
    if spec.scheme == "ckks":
        chain["scale"] = 2.0 ** (spec.scale_bits or 0)
    else:
        chain["t"] = spec.plain_modulus
    try:
        with warnings.catch_warnings():  # about Pyfhel's automatic alignment, which is not used here
            warnings.simplefilter("ignore")
            verdict = context.contextGen(spec.scheme, spec.ring_dimension, **chain)
    except LIBRARY_ERRORS as error:
        raise Unsupported(_refusal(spec, str(error))) from error
    text = verdict.decode() if isinstance(verdict, bytes) else str(verdict)
    if not text.startswith("success"):
        raise Unsupported(_refusal(spec, text))
    return context


def _refusal(spec: ParameterSpec, text: str) -> str:
    if "not valid for batching" in text:
        return (
            f"t = {spec.plain_modulus} gives no slots at N = {spec.ring_dimension}: "
            f"it must be a prime that is 1 modulo {2 * spec.ring_dimension}"
        )
    sizes = list(spec.modulus_bits) if spec.modulus_bits else "the default chain"
    return f"Pyfhel refuses N = {spec.ring_dimension} with {sizes} and t = {spec.plain_modulus}: {text}"


def _require_room(spec: ParameterSpec, context: Any) -> None:
    log_q = context.total_coeff_modulus_bit_count
    if spec.scheme == "ckks" and (spec.scale_bits or 0) + 1 >= log_q:
        raise Unsupported(f"a scale of {spec.scale_bits} bits does not fit into a modulus of {log_q} bits")
