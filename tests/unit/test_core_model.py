"""Identity of cases: keys of results that are stored already must never change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_core.model import Case, ParameterSpec

SPEC = ParameterSpec("bfv", 8192, None, 1032193)
CASE = Case("seal", "arithmetic", "mul", SPEC, 8192, "random")

# computed with the first version of these types, before chain and learning added fields
STORED = [
    (CASE, "fc381e012ddf065985dc9014430365c7", "bb673a29670b3a19b6549f30f4ed8c86"),
    (
        Case(
            "tenseal",
            "depth",
            "add",
            ParameterSpec("ckks", 8192, (60, 40, 40, 60), None, 40, 0),
            16,
            "same",
            cap=16384,
        ),
        "f4ffbdd210b1315b66352e10f0935341",
        "1aa8e5bc9c0150362536efe05e3e726e",
    ),
    (
        Case(
            "openfhe",
            "rotation",
            "rotate_left",
            ParameterSpec("bgv", 16384, None, 786433, None, 192),
            1000,
            "random",
            2,
        ),
        "2f9826dabecb5f53297978c720f5b1eb",
        "dfc4a2a738d4ee4fcb30962fbff989d2",
    ),
]


@pytest.mark.parametrize(("case", "key", "comparison_key"), STORED, ids=["bfv", "ckks", "bgv"])
def test_keys_of_stored_cases_stay(case: Case, key: str, comparison_key: str) -> None:
    assert (case.key, case.comparison_key) == (key, comparison_key)


@pytest.mark.parametrize(
    "other",
    [
        replace(CASE, repetitions=50),
        replace(CASE, repetitions=100),
        replace(CASE, data_set="boston"),
        replace(CASE, parameters=replace(SPEC, depth=3)),
        replace(CASE, parameters=replace(SPEC, is_least=True)),
        replace(CASE, cap=50),
    ],
    ids=lambda case: repr(case)[-60:],
)
def test_every_newer_field_that_is_set_is_part_of_the_key(other: Case) -> None:
    assert other.key != CASE.key


def test_newer_fields_do_not_pass_for_each_other() -> None:
    spec = replace(SPEC, depth=3)
    keys = {replace(CASE, parameters=spec).key, replace(CASE, repetitions=3).key, replace(CASE, cap=3).key}
    assert len(keys) == 3
