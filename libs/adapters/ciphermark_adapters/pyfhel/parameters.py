"""Resolution of requests by Pyfhel: the primes come from the context that it generates."""

from __future__ import annotations

import warnings
from typing import Any

from Pyfhel import Pyfhel

from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes, security
from ciphermark_core.model import Parameters, ParameterSpec

# Raised by Pyfhel: its own assertions, and C++ exceptions of SEAL.
LIBRARY_ERRORS = (ValueError, RuntimeError, AssertionError, OverflowError)


def resolve(spec: ParameterSpec) -> Parameters:
    """Resolve ``spec`` to the parameter set that Pyfhel generates, prime by prime.

    Raises ``Unsupported`` with the reason.
    """
    requests.require_scale(spec)
    requests.require_plain_modulus(spec)
    context = _generated(spec, **_chain(spec))
    requests.require_room(spec, context.total_coeff_modulus_bit_count)
    chain = tuple(int(prime) for prime in context.qi)
    data_primes = max(1, len(chain) - 1)
    return requests.resolved(spec, chain[:data_primes], chain[data_primes:])


def context_of(parameters: Parameters) -> Any:
    """A Pyfhel object with exactly the primes of ``parameters`` and no keys."""
    return _generated(parameters.spec, sec=0, qi=[*parameters.moduli, *parameters.special_moduli])


def _chain(spec: ParameterSpec) -> dict[str, Any]:
    """Arguments that choose the primes; ``sec=0`` disables Pyfhel's own security check."""
    if spec.modulus_bits is not None:
        return {"sec": 0, "qi_sizes": list(spec.modulus_bits)}
    if spec.scheme == "ckks":
        return {
            "sec": 0,
            "qi_sizes": list(
                primes.default_ckks_chain(spec.ring_dimension, spec.scale_bits or 0, spec.security_table)
            ),
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
        raise _refusal(spec, str(error)) from error
    text = verdict.decode() if isinstance(verdict, bytes) else str(verdict)
    if not text.startswith("success"):
        raise _refusal(spec, text)
    return context


def _refusal(spec: ParameterSpec, text: str) -> Unsupported:
    if "not valid for batching" in text:
        return requests.no_slots(spec)
    sizes = list(spec.modulus_bits) if spec.modulus_bits else "the default modulus chain"
    return Unsupported(
        f"Pyfhel refuses N = {spec.ring_dimension} with {sizes} and t = {spec.plain_modulus}: {text}"
    )
