"""Resolved parameters are what was requested."""

from __future__ import annotations

from dataclasses import replace

from ciphermark_contract.interfaces import Adapter
from ciphermark_core import primes
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec


def resolved(parameters: Parameters, spec: ParameterSpec, *, chooses_primes: bool = False) -> None:
    """Every prime is there, of the requested size, in the requested order, the special one last.

    A library that chooses the primes itself keeps to their number.
    """
    chain = parameters.moduli + parameters.special_moduli
    for prime in chain:
        assert primes.is_prime(prime), f"{prime} is not prime"
        assert prime % (2 * spec.ring_dimension) == 1, f"{prime} is not 1 modulo 2N"
    assert len(set(chain)) == len(chain), f"a prime occurs twice in {chain}"
    assert len(parameters.special_moduli) == (1 if len(chain) > 1 else 0)
    if spec.modulus_bits is not None and chooses_primes:
        assert len(chain) == len(spec.modulus_bits), "another number of primes than requested"
    elif spec.modulus_bits is not None:
        assert parameters.modulus_bits == spec.modulus_bits, "the primes have other sizes than requested"
    assert parameters.spec == spec
    assert parameters.ring_dimension == spec.ring_dimension
    assert parameters.slots == spec.slots
    assert parameters.plain_modulus == (None if spec.scheme == "ckks" else spec.plain_modulus)
    assert parameters.scale == (2.0 ** (spec.scale_bits or 0) if spec.scheme == "ckks" else None)


def data_primes_of_both_tunings(adapter: Adapter, spec: ParameterSpec) -> None:
    """Both tunings have the same data primes; in *matched* there is a digit for each."""
    best, equal = (adapter.resolve(replace(spec, tuning=name)) for name in ("recommended", "matched"))
    assert best.moduli == equal.moduli
    assert equal.key_switching == KeySwitching("hybrid", len(equal.moduli))
