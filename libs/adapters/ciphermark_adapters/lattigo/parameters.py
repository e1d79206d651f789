"""Resolution of requests by Lattigo: the requested primes, which Lattigo checks; Ciphermark checks security."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ciphermark_adapters.lattigo import binding, bootstrapping, declaration
from ciphermark_adapters.lattigo.binding import Handle, ParametersLiteral
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_contract.operations.meaning import smallest_root
from ciphermark_core import primes
from ciphermark_core.model import Parameters, ParameterSpec

# rlwe.MinLogN and MaxLogN
SMALLEST_RING = 1 << 4
LARGEST_RING = 1 << 20
# Lattigo takes larger scales as those of two primes.
LARGEST_SCALE_BITS = 60


def resolve(spec: ParameterSpec) -> Parameters:
    """Resolve ``spec`` to the primes that it requests; raises ``Unsupported`` with the reason."""
    requests.require_ring(spec, "Lattigo", SMALLEST_RING, LARGEST_RING)
    requests.require_scale(spec)
    requests.require_slots(spec)
    if (spec.scale_bits or 0) > LARGEST_SCALE_BITS:
        raise Unsupported(
            f"a scale of {spec.scale_bits} bits takes two primes per level in Lattigo: this adapter takes at most "
            f"{LARGEST_SCALE_BITS} bits"
        )
    bits = _bits(spec)
    circuit = bootstrapping.circuit(spec, bits)
    if circuit is not None:
        outside = bootstrapping.levels_outside(spec, bits) + 1
        bits = [*bits[:outside], *[bits[-1]] * bootstrapping.special_outside(outside)]
    chain = requests.chosen_primes(spec, bits, "Lattigo")
    data = max(1, len(chain) - 1) if circuit is None else outside
    context = _context(spec, chain[:data], chain[data:])
    resolved = (
        bootstrapping.resolved(spec, binding.circuit(context), circuit.modular_bits) if circuit else None
    )
    parameters = requests.resolved(spec, chain[:data], chain[data:], bootstrapping.SECRETS, resolved)
    requests.require_room(spec, parameters.log_q)
    digits = declaration.switching(parameters).digits
    switching = parameters.key_switching and replace(parameters.key_switching, decomposition_digits=digits)
    return replace(parameters, slot_generator=declaration.SLOT_GENERATOR, key_switching=switching)


def _bits(spec: ParameterSpec) -> Sequence[int]:
    if spec.modulus_bits is not None:
        return spec.modulus_bits
    if spec.scheme == "ckks":
        return primes.default_ckks_chain(spec.ring_dimension, spec.scale_bits or 0, spec.security_table)
    chain = declaration.default_chain_for_128_bits(spec)
    if chain is None:
        raise Unsupported(
            f"there is no default modulus chain for N = {spec.ring_dimension} and {spec.security} bits of security: "
            "write modulus_bits"
        )
    return chain


def context_of(parameters: Parameters) -> Handle:
    """Lattigo's parameters."""
    return _context(parameters.spec, parameters.moduli, parameters.special_moduli)


def _context(spec: ParameterSpec, moduli: Sequence[int], special_moduli: Sequence[int]) -> Handle:
    """Lattigo's parameters; raises ``Unsupported`` with its reason against them."""
    literal = ParametersLiteral(
        spec.scheme,
        spec.ring_dimension,
        tuple(moduli),
        tuple(special_moduli),
        spec.plain_modulus or 0,
        spec.scale_bits or 0,
        bootstrapping.SECRET_WEIGHTS[spec.secret_distribution],
        bootstrapping.circuit(spec, _bits(spec)),
    )
    try:
        return binding.context(literal)
    except (ValueError, RuntimeError) as error:
        sizes = ", ".join(str(prime.bit_length()) for prime in literal.moduli + literal.special_moduli)
        raise Unsupported(
            f"Lattigo refuses {spec.scheme} at N = {spec.ring_dimension} with primes of {sizes} bits: {error}"
        ) from error


# Automorphisms X → X^(5^s) rotate each row left by s; X → X^(−1) swaps the rows, or conjugates.
def rotation(ring_dimension: int, steps: int) -> int:
    """The exponent of the automorphism that rotates rows left by ``steps``."""
    return pow(declaration.SLOT_GENERATOR, steps % (ring_dimension // 2), 2 * ring_dimension)


def exponent(ring_dimension: int, element: int) -> int:
    """The exponent, modulo 2N, of the automorphism X → X^k."""
    return element % (2 * ring_dimension)


def turn(parameters: Parameters, root: int) -> int:
    """The k for which the k-th power of Lattigo's root of unity is the contract's; in bfv and bgv."""
    assert parameters.plain_modulus is not None, "ckks has no such roots"
    modulus = parameters.plain_modulus
    wanted, power, element = smallest_root(parameters.ring_dimension, modulus), root, 1
    while power != wanted:
        power, element = power * root * root % modulus, element + 2
    return element


def turned(parameters: Parameters, coefficients: Vector, element: int) -> Vector:
    """The polynomial after X → X^k, modulo t."""
    n, modulus = parameters.ring_dimension, parameters.plain_modulus
    places = np.arange(len(coefficients)) * element % (2 * n)
    result: Vector = np.zeros(n, dtype=np.int64)
    result[places % n] = np.where(places < n, coefficients, -coefficients % modulus)
    return result
