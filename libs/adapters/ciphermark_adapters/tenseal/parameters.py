"""Resolution of requests by TenSEAL: the primes come from the SEAL context that it builds."""

from __future__ import annotations

from typing import Any

import tenseal as ts
import tenseal.sealapi  # registers the types of a context's primes

from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec


def resolve(spec: ParameterSpec) -> Parameters:
    """Resolve ``spec`` to the parameter set of a TenSEAL context, prime by prime.

    Raises ``Unsupported`` with the reason.
    """
    chain = requested_chain(spec)
    context = _checked(_seal_context(spec, chain), spec)
    moduli = tuple(modulus.value() for modulus in context.key_context_data().parms().coeff_modulus())
    return requests.resolved(spec, moduli[:-1], moduli[-1:])


def requested_chain(spec: ParameterSpec) -> list[int]:
    """Prime sizes for TenSEAL; an empty list makes it take SEAL's default for bfv."""
    if spec.modulus_bits == ():
        raise Unsupported("TenSEAL needs two primes or more: write modulus_bits with their sizes")
    requests.require_plain_modulus(spec)
    requests.require_scale(spec)
    if spec.scheme == "bfv":
        return list(spec.modulus_bits or ())
    if spec.scheme == "ckks":
        n, scale_bits = spec.ring_dimension, spec.scale_bits or 0
        return list(spec.modulus_bits or primes.default_ckks_chain(n, scale_bits, spec.security_table))
    raise Unsupported(f"TenSEAL offers bfv and ckks, not {spec.scheme}")


def _seal_context(spec: ParameterSpec, chain: list[int]) -> Any:
    make = ts._ts_cpp
    try:
        if spec.scheme == "ckks":
            return make.context(make.ckks_parameters(spec.ring_dimension, chain))
        return make.context(make.bfv_parameters(spec.ring_dimension, spec.plain_modulus, chain))
    except (ValueError, RuntimeError) as error:
        sizes = chain or "SEAL's default modulus chain"
        raise Unsupported(
            f"TenSEAL refuses N = {spec.ring_dimension} with {sizes} and t = {spec.plain_modulus}: {error}"
        ) from error


def _checked(context: Any, spec: ParameterSpec) -> Any:
    if not context.parameters_set():
        advice = ""
        if context.parameters_error_name() == "invalid_parameters_insecure":
            advice = ": TenSEAL enforces 128 bits of security: use fewer or smaller primes, or a larger N"
        raise Unsupported(f"TenSEAL refuses the parameters: {context.parameters_error_message()}{advice}")
    if not context.using_keyswitching():
        raise Unsupported(
            "TenSEAL always generates relinearization keys, which need a modulus chain of at least two primes: "
            "use N = 4096 or more, or write modulus_bits with two primes"
        )
    qualifiers = context.first_context_data().qualifiers()
    if spec.scheme == "bfv" and not qualifiers.using_batching:
        raise requests.no_slots(spec)
    requests.require_room(spec, context.first_context_data().total_coeff_modulus_bit_count())
    return context
