"""Identity of cases: keys of results that are stored already must never change."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ciphermark_core.model import Case, ParameterSpec

SPEC = ParameterSpec("bfv", 8192, None, 1032193)
CASE = Case("seal", "arithmetic", "mul", SPEC, 8192, "random")

# With the keys that earlier versions computed.
STORED = json.loads((Path(__file__).parent / "keys_of_cases.json").read_text())


@pytest.mark.parametrize("stored", STORED, ids=lambda item: item["key"][:8])
def test_keys_of_stored_cases_stay(stored: dict[str, Any]) -> None:
    case = msgspec.convert(stored["case"], Case)
    assert (case.key, case.comparison_group) == (stored["key"], stored["comparison_group"])


@pytest.mark.parametrize(
    "other",
    [
        replace(CASE, dimensions={"repetitions": 50}),
        replace(CASE, dimensions={"repetitions": 100}),
        replace(CASE, dimensions={"data_set": "boston"}),
        replace(CASE, parameters=replace(SPEC, depth=3)),
        replace(CASE, parameters=replace(SPEC, ring_dimension_is_minimum=True)),
        replace(CASE, parameters=replace(SPEC, tuning="recommended")),
        replace(CASE, dimensions={"max_repetitions": 50}),
    ],
    ids=lambda case: repr(case)[-60:],
)
def test_every_newer_field_that_is_set_is_part_of_the_key(other: Case) -> None:
    assert other.key != CASE.key


def test_newer_fields_do_not_pass_for_each_other() -> None:
    spec = replace(SPEC, depth=3)
    keys = {
        replace(CASE, parameters=spec).key,
        replace(CASE, dimensions={"repetitions": 3}).key,
        replace(CASE, dimensions={"max_repetitions": 3}).key,
    }
    assert len(keys) == 3
