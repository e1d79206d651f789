"""Keys of cases: hashes that name a case across runs, hosts and versions, and that stay when words change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

# Words that were others when the first results were stored. Keys are made of the first, so that they stay.
FIRST_WORDS: Mapping[str, str] = {
    "repetition": "chain",
    "ring_dimension_is_minimum": "is_least",
    "rotate(1)": "rotate_left",
    "rotate(-1)": "rotate_right",
    "add_plain_ntt": "add_plain_prepared",
    "mul_plain_ntt": "mul_plain_prepared",
}
# Fields that parameter sets had when keys were made first. The others are no part of a key while they have their
# defaults.
_FIRST_OF_SPEC = ("scheme", "ring_dimension", "modulus_bits", "plain_modulus", "scale_bits", "security")
# Dimensions that were fields when keys were made first, in their order.
_FIRST_DIMENSIONS = ("repetitions", "data_set")


def key(case: Mapping[str, Any], defaults: Mapping[str, object]) -> str:
    """The key of a case that is given as plain values: field by field, the parameters and dimensions as mappings.
    ``defaults`` are those of fields of the parameters.
    """
    return hashlib.sha256(msgspec.json.encode(_fields(case, defaults))).hexdigest()[:32]


def parameters(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved parameter set, given as plain values, in the first words: as contents of programs are stored."""
    switching = resolved["key_switching"]
    return {**resolved, "key_switching": None if switching is None else key_switching(switching)}


def key_switching(value: Mapping[str, Any]) -> dict[str, Any]:
    """How keys are switched, in the first words: as identities of parameter sets are made."""
    return {"digits" if name == "decomposition_digits" else name: item for name, item in value.items()}


def _fields(case: Mapping[str, Any], defaults: Mapping[str, object]) -> dict[str, Any]:
    """What a key is made of: first words in their first order; ``cap`` always, newer dimensions sorted by name."""
    fields = {name: value for name, value in case.items() if name != "dimensions"}
    dimensions = dict(case["dimensions"])
    spec = {
        FIRST_WORDS.get(name, name): value
        for name, value in fields["parameters"].items()
        if name in _FIRST_OF_SPEC or value != defaults[name]
    }
    return {
        **fields,
        "experiment": FIRST_WORDS.get(case["experiment"], case["experiment"]),
        "operation": FIRST_WORDS.get(case["operation"], case["operation"]),
        "parameters": spec,
        "cap": dimensions.pop("cap", None),
        **{name: dimensions.pop(name) for name in _FIRST_DIMENSIONS if name in dimensions},
        **dict(sorted(dimensions.items())),
    }
