"""``resolve``: what is requested is what comes, prime by prime, or ``Unsupported`` says why not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Adapter, KeyRequest
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_core.primes import default_ckks_chain

from . import cells, harness
from .cells import Cell
from .checks import parameters
from .checks.refusals import attempted, unsupported
from .checks.values import right
from .harness import DEEP_SPECS, PLAIN_MODULUS, SPECS

# SEAL's default primes for 128 bits (native/src/seal/util/globals.cpp, default_coeff_modulus_128), special prime
# last; their product has 27, 54, 109, 218, 438 and 881 bits. TenSEAL and Pyfhel take them over.
SEAL_FAMILY = ("SEAL", "TenSEAL", "Pyfhel")
SEAL_DEFAULT_BITS = {1024: 27, 2048: 54, 4096: 109, 8192: 218, 16384: 438, 32768: 881}
SEAL_DEFAULTS = {
    1024: (0x7E00001,),
    2048: (0x3FFFFFFF000001,),
    4096: (0xFFFFEE001, 0xFFFFC4001, 0x1FFFFE0001),
    8192: (0x7FFFFFD8001, 0x7FFFFFC8001, 0xFFFFFFFC001, 0xFFFFFF6C001, 0xFFFFFEBC001),
}


def _with(scheme: Scheme, **changes: object) -> ParameterSpec:
    return replace(SPECS[scheme], **changes)


def _chooses_primes(variant: str) -> bool:
    return registry.declaration(variant).chooses_primes


CHAINS = {
    "three sizes": (4096, (30, 40, 35)),
    "one size": (4096, (36, 36, 36)),
    "long": (8192, (50, 30, 30, 30, 50)),
    "largest primes": (8192, (60, 60, 60)),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_requested_primes(variant: str, adapter: Adapter, scheme: Scheme, chain: str) -> None:
    """A library that chooses the primes itself may refuse a chain that it cannot come near to."""
    ring, bits = CHAINS[chain]
    spec = _with(scheme, ring_dimension=ring, modulus_bits=bits)
    found, reason = attempted(lambda: adapter.resolve(spec))
    assert found is not None or _chooses_primes(variant), reason
    if found is not None:
        parameters.resolved(found, spec, chooses_primes=_chooses_primes(variant))


def test_both_rings_of_this_suite(variant: str, adapter: Adapter, scheme: Scheme) -> None:
    for spec in (SPECS[scheme], DEEP_SPECS[scheme]):
        parameters.resolved(adapter.resolve(spec), spec, chooses_primes=_chooses_primes(variant))


@pytest.mark.schemes("bfv", "bgv")
@pytest.mark.parametrize("plain_modulus", [40961, 65537, 1032193])
def test_the_plaintext_modulus_is_honoured(
    variant: str, adapter: Adapter, scheme: Scheme, plain_modulus: int
) -> None:
    """By the arithmetic, not by what ``Parameters`` claims: (t − 1) + 2 is 1. A library that chooses the primes itself
    may refuse the modulus, with a reason."""
    spec = _with(scheme, plain_modulus=plain_modulus)
    found, reason = attempted(lambda: adapter.resolve(spec))
    if found is None:
        assert _chooses_primes(variant), reason
        return
    assert found.plain_modulus == plain_modulus
    subject = harness.subject_of(registry.declaration(variant), adapter, spec)
    values = subject.vector(0)
    values[:2] = plain_modulus - 1
    total = subject.evaluator.apply("add", subject.encrypted(values), subject.encrypted(values))
    right(subject, total, 2 * values % plain_modulus)


def _rings(cell: Cell) -> list[int]:
    """Contexts of the longest chains take seconds: in bgv they are those of bfv, and in ckks Ciphermark's own. Those
    that take over SEAL's have the longest but one.
    """
    largest = 32768 if cell.declared.variant == "seal" else 16384
    return [ring for ring in SEAL_DEFAULT_BITS if ring <= (largest if cell.scheme == "bfv" else 8192)]


@cells.each("ring", _rings)
def test_default_chain(variant: str, adapter: Adapter, scheme: Scheme, ring: int) -> None:
    spec = _with(scheme, ring_dimension=ring, modulus_bits=None)
    found, reason = attempted(lambda: adapter.resolve(spec))
    is_seal = adapter.info().library in SEAL_FAMILY
    if found is None:
        assert ring < 4096 or not is_seal, f"no default modulus chain at N = {ring}: {reason}"
        return
    parameters.resolved(found, spec, chooses_primes=_chooses_primes(variant))
    assert found.security_2018 >= 128
    if scheme == "ckks":
        assert _chooses_primes(variant) or found.modulus_bits == default_ckks_chain(ring, spec.scale_bits)
    elif is_seal:
        chain = found.moduli + found.special_moduli
        assert math.prod(chain).bit_length() == SEAL_DEFAULT_BITS[ring]
        assert chain == SEAL_DEFAULTS.get(ring, chain)


IMPOSSIBLE = {
    "no power of two": {"ring_dimension": 5000},
    "a prime of 61 bits": {"modulus_bits": (61, 61, 61)},
    "primes that do not exist": {"modulus_bits": (14, 14, 14, 14)},
    "primes too small for the ring": {"modulus_bits": (10, 10)},
    "an empty chain": {"modulus_bits": ()},
}
IMPOSSIBLE_EXACT = {
    "no plaintext modulus": {"plain_modulus": None},
    "t without slots": {"plain_modulus": 65536},
    "t prime, but not 1 modulo 2N": {"plain_modulus": 65539},
    "t = 1 modulo 2N, but no prime": {"plain_modulus": 3 * 8192 + 1},
}
IMPOSSIBLE_APPROXIMATE = {
    "no scale": {"scale_bits": None},
    "a scale larger than the modulus": {"scale_bits": 70, "modulus_bits": (30, 36)},
}


def test_impossible_requests_are_refused(adapter: Adapter, scheme: Scheme) -> None:
    impossible = IMPOSSIBLE | (IMPOSSIBLE_APPROXIMATE if scheme == "ckks" else IMPOSSIBLE_EXACT)
    for name, changes in impossible.items():
        try:
            unsupported(lambda changes=changes: adapter.resolve(_with(scheme, **changes)))
        except AssertionError as failure:
            raise AssertionError(f"{name}: {failure}") from failure


REQUESTS = {
    "relinearization": KeyRequest.of(relinearization=True),
    "rotations": KeyRequest.of(rotations=(1,)),
    "automorphisms": KeyRequest.of(automorphisms=(-1,)),
}


@pytest.mark.parametrize("wanted", REQUESTS)
def test_one_prime_is_too_few_for_evaluation_keys(adapter: Adapter, scheme: Scheme, wanted: str) -> None:
    spec = _with(scheme, modulus_bits=(54,))
    found, _ = attempted(lambda: adapter.resolve(spec))
    if found is None:
        return  # not even resolved: TenSEAL always makes evaluation keys
    parameters.resolved(found, spec)
    unsupported(lambda: adapter.key_owner(found, REQUESTS[wanted]))


def test_one_prime_is_enough_for_additions(variant: str, adapter: Adapter, scheme: Scheme) -> None:
    """Or the library says why it cannot: TenSEAL always makes relinearization keys."""
    spec = _with(scheme, modulus_bits=(54,))
    found, _ = attempted(lambda: adapter.resolve(spec))
    if found is None:
        return
    subject = harness.subject_with(variant, spec, NO_KEYS)
    evaluator, values = subject.evaluator, subject.vector(0)
    ciphertext = subject.encrypted(values)
    assert evaluator.level(ciphertext) == 0
    total = evaluator.apply("add", ciphertext, subject.encrypted(values))
    right(subject, total, 2 * values % PLAIN_MODULUS if scheme != "ckks" else 2 * values)
