"""Parameters in words: nothing is told that all cases share, and no two cases of one place are told alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_present import parameters
from ciphermark_present.catalogue.columns import OF_CASE, PARAMETERS, SIZE, VARIANT, N, with_differing
from ciphermark_present.catalogue.memory import OBJECTS
from ciphermark_present.printed import Wanted

CASE: dict[str, Any] = {
    "variant": "seal",
    "comparison_group": "abcdef0123",
    "ring_dimension": 8192,
    "modulus_bits": (50, 40, 60),
    "plain_modulus": None,
    "scale": 2.0**40,
    "ring_dimension_is_minimum": False,
    "security_bits": 128,
    "tuning": "matched",
    "dimensions": {},
    "data_pattern": "random",
    "vector_length": 4096,
    "threads": 1,
    "key_switching": "hybrid",
    "decomposition_digits": 2,
    "special_primes": 1,
    "scaling": "exact",
    "secret_distribution": "uniform ternary",
    "encryption": "public key",
}


def case(key: str, **changes: Any) -> dict[str, Any]:
    return {**CASE, "comparison_group": key, **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scale": 2.0**30}, ["scale 2^40", "scale 2^30"]),
        ({"modulus_bits": (50, 30, 60)}, ["150 bits", "140 bits"]),
        ({"modulus_bits": (40, 50, 60)}, ["50, 40, 60", "40, 50, 60"]),  # as many bits: the sizes tell it
        ({"tuning": "recommended"}, ["matched tuning", "recommended tuning"]),
        ({"threads": 4}, ["1 thread", "4 threads"]),
        ({"dimensions": {"inputs_per_pass": 3}}, ["", "inputs_per_pass 3"]),
        ({"security_bits": 0}, ["at least 128 bits requested", "at least 0 bits requested"]),
        ({}, ["case abcdef", "case 123456"]),
    ],
)
def test_cases_of_a_place_are_told_by_what_differs(changes: dict[str, Any], words: list[str]) -> None:
    rows = [case("abcdef0123"), case("1234567890", **changes)]
    told = parameters.apart(rows, lambda row: "here")
    assert told == words
    assert parameters.apart(rows, lambda row: row["comparison_group"]) == ["", ""]


def test_what_a_library_makes_of_a_case_tells_no_cases_apart() -> None:
    rows = [CASE, {**CASE, "variant": "openfhe", "decomposition_digits": 3, "modulus_bits": (50, 40, 60, 60)}]
    assert parameters.apart(rows, lambda row: "here") == ["", ""]


@given(st.lists(st.tuples(st.integers(20, 60), st.integers(1, 4), st.booleans()), min_size=1, unique=True))
def test_no_two_cases_are_told_alike(cases: list[tuple[int, int, bool]]) -> None:
    rows = [
        case(f"{place:010}", scale=2.0**scale, threads=threads, ring_dimension_is_minimum=is_minimum)
        for place, (scale, threads, is_minimum) in enumerate(cases)
    ]
    told = parameters.apart(rows, lambda row: "here")
    assert len(set(told)) == len(rows)


def test_every_parameter_of_a_row_is_told() -> None:
    assert parameters.told(CASE) == (
        "N = 8192, 150 bits, scale 2^40, matched tuning, hybrid key switching, 2 decomposition digits, 1 special "
        "prime, exact scaling, secret uniform ternary, encrypted with the public key"
    )
    assert parameters.told({"ring_dimension": 8192, "decomposition_digits": None}) == "N = 8192"


def test_a_table_gets_the_columns_in_which_its_rows_differ() -> None:
    columns = (VARIANT, N, SIZE)
    rows = [
        CASE,
        {
            **CASE,
            "decomposition_digits": 3,
            "scale": 2.0**30,
            "vector_length": 16,
            "dimensions": {"repetitions": 3},
        },
    ]
    assert [column.name for column in with_differing(columns, rows, PARAMETERS)] == [
        *("variant", "ring_dimension", "vector_length", "scale", "decomposition_digits")
    ]
    assert [column.name for column in with_differing(columns, rows, OF_CASE)][3:] == ["scale"]
    unresolved = [CASE, {**CASE, "decomposition_digits": None, "key_switching": None}]
    assert with_differing(columns, unresolved, PARAMETERS) == columns


@pytest.mark.parametrize(
    ("size", "words"), [(1000, "the 1,000 values in it (it holds 4,096)"), (4096, "its 4,096 values")]
)
def test_an_expansion_says_how_full_the_ciphertext_is(size: int, words: str) -> None:
    row = {"vector_length": size, "slots": 4096, "data_pattern": "random"}
    assert OBJECTS.about([row], Wanted()).endswith(f"Expansion: multiple of the bytes of {words}")
