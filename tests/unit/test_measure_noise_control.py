"""The control that tells errors from noise: how much longer its modulus chain is."""

from __future__ import annotations

import pytest

from ciphermark_core import primes
from ciphermark_core.model import Case, Parameters, ParameterSpec
from ciphermark_measure.experiments import base

SPEC = ParameterSpec("bfv", 4096, None, 65537)
PARAMETERS = Parameters(
    SPEC, 4096, primes.ntt_primes(49, 4096, 1), primes.ntt_primes(60, 4096, 1), 4096, 65537
)


def case(operation: str, repetitions: int | None = None) -> Case:
    return Case(
        "openfhe", "arithmetic", operation, SPEC, 16, "random", dimensions={"repetitions": repetitions}
    )


@pytest.mark.parametrize(
    ("operation", "repetitions", "bits"),
    [
        ("mul", None, 88),
        ("relinearize", None, 88),
        ("mul", 10, 484),
        ("add", None, 44),
        ("rotate(1)", None, 44),
    ],
)
def test_room_is_for_the_noise_of_all_operations(operation: str, repetitions: int | None, bits: int) -> None:
    """log2(t) + log2(N) + 16 = 44 bits: once for what is there already, and for every multiplication."""
    assert base.room_bits(PARAMETERS, case(operation, repetitions)) == pytest.approx(bits, abs=1)


def test_many_additions_need_little_more_than_one() -> None:
    """Noise grows by a factor of 300 at most: 8.2 bits."""
    more = base.room_bits(PARAMETERS, case("add", 300)) - base.room_bits(PARAMETERS, case("add", 1))
    assert 8 <= more <= 9


def test_every_longer_chain_has_the_room_and_needs_no_security() -> None:
    found = list(base.longer(PARAMETERS, 88))
    assert len(found) >= 3
    for spec in found:
        assert spec.modulus_bits is not None
        *data, special = spec.modulus_bits
        assert sum(bits - 1 for bits in data) >= 49 + 88
        assert len(set(data)) == 1  # OpenFHE makes primes of one size
        assert special >= max(data)
        assert (spec.security, spec.scheme, spec.ring_dimension, spec.plain_modulus) == (
            0,
            "bfv",
            4096,
            65537,
        )
