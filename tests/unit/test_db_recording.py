"""Identities of rows: those that are stored already stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec
from ciphermark_db.recording import parameter_set_id

SWITCHED = Parameters(ParameterSpec("bfv", 8192, None, 65537), 8192, (97, 193), (257,), 8192, 65537)
PER_PRIME = replace(SWITCHED, key_switching=KeySwitching("hybrid", 2))
BARE = Parameters(
    ParameterSpec("ckks", 8192, (60,), scale_bits=30), 8192, (2**63 + 29,), (), 4096, None, 2.0**30
)


@pytest.mark.parametrize(
    ("parameters", "stored"),
    [(PER_PRIME, "9d85f7a9372971fc2091aafc4021292c"), (BARE, "0e0aaa811f2c3bd652d5e70161571ce5")],
)
def test_ids_of_stored_parameter_sets_stay_whatever_was_asked_for(parameters, stored) -> None:
    assert parameter_set_id(parameters) == stored
    assert (
        parameter_set_id(replace(parameters, spec=replace(parameters.spec, tuning="recommended"))) == stored
    )


def test_whatever_a_library_does_otherwise_is_another_parameter_set() -> None:
    others = [
        replace(PER_PRIME, key_switching=KeySwitching("hybrid", 1)),
        replace(PER_PRIME, key_switching=KeySwitching("bv", 2)),
        replace(PER_PRIME, scaling="fixed"),
        replace(PER_PRIME, scaling="managed"),
        replace(PER_PRIME, secret_distribution="sparse ternary"),
        replace(PER_PRIME, encryption="secret key"),
    ]
    assert len({parameter_set_id(item) for item in [PER_PRIME, *others]}) == 1 + len(others)
