"""OpenFHE's key switching in each tuning, against the keys that it makes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_contract.operations import where
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import ParameterSpec
from ciphermark_measure.parameter_selection import resolved

from . import examples, harness
from .checks import operations
from .checks.parameters import data_primes_of_both_tunings

pytestmark = pytest.mark.variants("openfhe")

T = 65537
KEYED = where(lambda row: bool(row.calls()[0].keys))
PRODUCTS = where(lambda row: row.is_product)
FREE = ParameterSpec("ckks", 1024, scale_bits=40, security=0, tuning="recommended")
CHAINS = {
    # the largest digit: 50 + 40 + 40 bits, so 3 special primes of 60
    "three-digits": (replace(FREE, modulus_bits=(50, *[40] * 7, 60)), "hybrid", 3, 3),
    # 50 + 43 + 43 + 43 = 179 bits and a little more: within 4 bits of 180, one more special prime
    "at-the-edge": (replace(FREE, modulus_bits=(50, *[43] * 11, 60), scale_bits=43), "hybrid", 3, 4),
    "two-digits": (replace(FREE, modulus_bits=(50, 40, 40, 40, 60)), "hybrid", 2, 2),
    "one-digit": (replace(FREE, modulus_bits=(50, 60)), "hybrid", 1, 1),
    "bgv": (ParameterSpec("bgv", 1024, (50,) * 7, T, security=0, tuning="recommended"), "hybrid", 3, 2),
    "bfv": (ParameterSpec("bfv", 1024, (50,) * 5, T, security=0, tuning="recommended"), "bv", 4, 0),
}


@pytest.mark.parametrize("name", CHAINS)
def test_parameters_tell_the_keys_that_are_made(variant: str, name: str) -> None:
    """Handing over the public material compares the primes and digits of the key with what is told."""
    spec, method, digits, special = CHAINS[name]
    parameters = harness.adapter(variant).resolve(spec)
    assert parameters.key_switching == KeySwitching(method, digits)
    assert len(parameters.special_moduli) == special
    subject = harness.subject_of(registry.declaration(variant), harness.adapter(variant), spec)
    assert subject.parameters == parameters


@pytest.mark.parametrize("name", ["at-the-edge", "bgv", "bfv"])
def test_every_operation_that_takes_a_key_is_right(variant: str, name: str) -> None:
    """Managed products take one, too. All else has nothing to do with the tuning."""
    spec = CHAINS[name][0]
    subject = harness.subject_of(registry.declaration(variant), harness.adapter(variant), spec)
    for operation in subject.able(KEYED):
        operations.works(subject, subject.evaluator, operation, examples.primitive)
    for operation in {*PRODUCTS} & {*subject.declared.managed[subject.scheme]}:
        operations.works(subject, subject.managed, operation, examples.managed)


def test_data_primes_are_those_of_the_equal_tuning(variant: str) -> None:
    for spec, *_ in CHAINS.values():
        data_primes_of_both_tunings(harness.adapter(variant), spec)


@pytest.mark.parametrize(
    ("primes", "digits", "special"),
    [
        (15, 8, 2),  # 756 bits leave room for 120
        (13, 5, 3),  # 656 bits leave room for 225: a digit of 3 primes has 156 and takes 180
        (9, 2, 5),  # 456 bits leave room for 425: a digit of 5 primes has 256 and takes 300
    ],
)
def test_the_fewest_digits_are_taken_that_are_secure(
    variant: str, primes: int, digits: int, special: int
) -> None:
    resolve = harness.adapter(variant).resolve
    bits = (56, *[50] * (primes - 1), 60)
    spec = ParameterSpec("ckks", 32768, bits, scale_bits=50, tuning="recommended")
    secure, free = resolve(spec), resolve(replace(spec, security=0))
    assert free.key_switching == KeySwitching("hybrid", 3)
    assert (secure.key_switching, secure.security_2018) == (KeySwitching("hybrid", digits), 128)
    assert len(secure.special_moduli) == special


@pytest.mark.parametrize(
    ("bits", "ring_dimension", "digits"),
    [
        ((50, 40, 40, 40, 60), 16384, 1),  # at 8192 170 of 218 bits leave no room for a special prime of 60
        ((56, *[50] * 8, 60), 32768, 2),  # 456 bits are more than the 438 of 16384
        (
            (56, *[50] * 14, 60),
            32768,
            8,
        ),  # a larger ring would do with fewer digits: the smallest comes first
    ],
)
def test_the_smallest_ring_comes_before_the_fewest_digits(
    variant: str, bits: tuple[int, ...], ring_dimension: int, digits: int
) -> None:
    least = ParameterSpec(
        "ckks", 1024, bits, scale_bits=bits[1], ring_dimension_is_minimum=True, tuning="recommended"
    )
    found = resolved(harness.adapter(variant), least)
    assert (found.ring_dimension, found.security_2018) == (ring_dimension, 128)
    assert found.key_switching == KeySwitching("hybrid", digits)
