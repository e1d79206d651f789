"""Keys of cases: hashes that identify a case across runs, hosts and versions, stable when names change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

# Names that have changed since the first results were stored. Keys use the first names, so that they do not change.
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
_CURRENT_OPERATIONS = {first: now for now, first in FIRST_VALUES["operation"].items()}
# Fields that parameter sets had when the first keys were computed. Other fields enter a key only where they differ from
# their defaults.
_FIRST_OF_SPEC = ("scheme", "ring_dimension", "modulus_bits", "plain_modulus", "scale_bits", "security")
# Dimensions that were fields when the first keys were computed, in their order.
_FIRST_DIMENSIONS = ("repetitions", "data_set")


def key(case: Mapping[str, Any], defaults: Mapping[str, object]) -> str:
    """Return the key of a case given as plain values, with its parameters and dimensions as mappings.

    ``defaults`` are the default values of the parameters' fields.
    """
    return hashlib.sha256(msgspec.json.encode(_fields(case, defaults))).hexdigest()[:32]


def operation(name: str) -> str:
    """The first name of an operation."""
    return FIRST_VALUES["operation"].get(name, name)


def parameters(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved parameter set (plain values) with first names, as contents of programs store it.

    There, minimum ring dimensions have had their name from the start.
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


def current_operation(first: str) -> str:
    """The current name of an operation with this first name."""
    return _CURRENT_OPERATIONS.get(first, first)


def current_parameters(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`parameters`."""
    switching = stored["key_switching"]
    names = {first: now for now, first in FIRST_NAMES.items()}
    spec = {names.get(first, first): value for first, value in stored["spec"].items()}
    tunings = {first: now for now, first in FIRST_VALUES["tuning"].items()}
    return {
        **stored,
        "key_switching": switching
        and {"decomposition_digits" if name == "digits" else name: item for name, item in switching.items()},
        "spec": {**spec, "tuning": tunings[spec["tuning"]]},
    }


def key_switching(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key-switching settings with first names, as identities of parameter sets use them."""
    return {"digits" if name == "decomposition_digits" else name: item for name, item in value.items()}


def _fields(case: Mapping[str, Any], defaults: Mapping[str, object]) -> dict[str, Any]:
    """The hashed fields: first names in their first order; ``cap`` always, newer dimensions sorted by name."""
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
    """The fields with first names and values, in their order."""
    return {FIRST_NAMES.get(name, name): _first_value(name, value) for name, value in fields.items()}


def _first_value(name: str, value: Any) -> Any:
    values = FIRST_VALUES.get(name)
    return value if values is None else values.get(value, value)
