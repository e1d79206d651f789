"""HElib's key switching in each tuning, against the contexts and keys that it makes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_adapters.helib import binding, limits
from ciphermark_adapters.helib import parameters as helib_parameters
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import ParameterSpec

from . import harness
from .checks import operations
from .checks.parameters import data_primes_of_both_tunings

pytestmark = pytest.mark.variants("helib")

CKKS = ParameterSpec("ckks", 1024, scale_bits=40, security=0, tuning="recommended")
BGV = ParameterSpec("bgv", 1024, plain_modulus=12289, security=0, tuning="recommended")
CHAINS = {
    # the largest digit has 50 + 40 + 40 bits: three special primes
    "three-digits": (replace(CKKS, modulus_bits=(50, *[40] * 7, 60)), 3, 3),
    "two-digits": (replace(CKKS, modulus_bits=(50, 40, 60)), 2, 1),
    "one-digit": (replace(CKKS, modulus_bits=(50, 60)), 1, 1),
    "bgv": (replace(BGV, modulus_bits=(54,) * 7), 3, 2),
    "bgv-few": (replace(BGV, modulus_bits=(54,) * 3), 2, 1),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_primes_are_those_foretold(variant: str, name: str) -> None:
    """The context that keys are made in is compared with what is told; a key has a part for each digit."""
    spec, digits, special = CHAINS[name]
    parameters = harness.adapter(variant).resolve(spec)
    assert parameters.key_switching == KeySwitching("hybrid", digits)
    assert len(parameters.special_moduli) == special
    made = helib_parameters.context_of(parameters)
    assert tuple(made.special_primes) == parameters.special_moduli


@pytest.mark.parametrize("digits", [1, 2, 3, 6])
def test_special_primes_of_ckks_are_of_the_number_and_size_that_helib_takes_by_itself(
    variant: str, digits: int
) -> None:
    """Beside HElib's own context of six primes, whose special primes nobody asked a size for."""
    own = binding.module().foretell_context(2 * CKKS.ring_dimension, 350, digits, 0)
    logs = [math.log2(prime) for prime in own.ciphertext_primes]
    count, size = limits.special(CKKS, logs, digits)
    assert [prime.bit_length() for prime in own.special_primes] == [size] * count


@pytest.mark.parametrize("name", ["three-digits", "bgv"])
def test_every_operation_is_right(variant: str, name: str) -> None:
    spec = CHAINS[name][0]
    subject = harness.subject_of(registry.declaration(variant), harness.adapter(variant), spec)
    operations.all_work(subject)


def test_data_primes_are_those_of_the_equal_tuning(variant: str) -> None:
    for spec, *_ in CHAINS.values():
        data_primes_of_both_tunings(harness.adapter(variant), spec)


def test_where_the_default_is_not_secure_the_next_number_of_digits_is(variant: str) -> None:
    resolve = harness.adapter(variant).resolve
    spec = ParameterSpec("ckks", 8192, (50, *[40] * 3, 38), scale_bits=40, tuning="recommended")
    secure, free = resolve(spec), resolve(replace(spec, security=0))
    assert (free.key_switching, free.security_2018) == (KeySwitching("hybrid", 3), 0)
    assert (secure.key_switching, secure.security_2018) == (KeySwitching("hybrid", 4), 128)
