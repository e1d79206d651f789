"""Keys of cases: hashes that name a case across runs, hosts and versions, and that stay when words change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

# Words that were others when the first results were stored. Keys are made of the first, so that they stay.
# Names of fields and dimensions:
FIRST_NAMES: Mapping[str, str] = {
    "tuning": "division",
    "ring_dimension_is_minimum": "is_least",
    "vector_length": "size",
    "max_repetitions": "cap",
    "inputs_per_pass": "batch",
}
# Values, by the field that has them:
FIRST_VALUES: Mapping[str, Mapping[str, str]] = {
    "experiment": {"repetition": "chain"},
    "operation": {
        "rotate(1)": "rotate_left",
        "rotate(-1)": "rotate_right",
        "add_plain_ntt": "add_plain_prepared",
        "mul_plain_ntt": "mul_plain_prepared",
    },
    "tuning": {"matched": "equal", "recommended": "best"},
    "data_pattern": {"constant": "same"},
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


def operation(name: str) -> str:
    """The first name of an operation."""
    return FIRST_VALUES["operation"].get(name, name)


def parameters(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved parameter set, given as plain values, in the first words: as contents of programs are stored. There
    minimum ring dimensions have their name from the start.
    """
    switching = resolved["key_switching"]
    spec = {
        name if name == "ring_dimension_is_minimum" else FIRST_NAMES.get(name, name): _first_value(
            name, value
        )
        for name, value in resolved["spec"].items()
    }
    return {
        **resolved,
        "key_switching": None if switching is None else key_switching(switching),
        "spec": spec,
    }


def key_switching(value: Mapping[str, Any]) -> dict[str, Any]:
    """How keys are switched, in the first words: as identities of parameter sets are made."""
    return {"digits" if name == "decomposition_digits" else name: item for name, item in value.items()}


def _fields(case: Mapping[str, Any], defaults: Mapping[str, object]) -> dict[str, Any]:
    """What a key is made of: first words in their first order; ``cap`` always, newer dimensions sorted by name."""
    fields = {name: value for name, value in case.items() if name != "dimensions"}
    dimensions = _in_first_words(case["dimensions"])
    spec = {
        name: value
        for name, value in fields["parameters"].items()
        if name in _FIRST_OF_SPEC or value != defaults[name]
    }
    return {
        **_in_first_words(fields),
        "parameters": _in_first_words(spec),
        "cap": dimensions.pop("cap", None),
        **{name: dimensions.pop(name) for name in _FIRST_DIMENSIONS if name in dimensions},
        **dict(sorted(dimensions.items())),
    }


def _in_first_words(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Names and values in their first words, in the order of the fields."""
    return {FIRST_NAMES.get(name, name): _first_value(name, value) for name, value in fields.items()}


def _first_value(name: str, value: Any) -> Any:
    values = FIRST_VALUES.get(name)
    return value if values is None else values.get(value, value)
