"""Readers for the formats of earlier versions: journals that are older than the program that records them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ciphermark_core.case_keys import FIRST_NAMES, FIRST_VALUES
from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.model import Case, Outcome

# From a first name to the current one.
_NAMES: Mapping[str, str] = {
    **{first: now for now, first in FIRST_NAMES.items()},
    "wrong_slots": "incorrect_slots",
    "is_composed": "is_composite",
    "loops_operation": "loops_evaluate",
    "half_width_operation": "half_width_evaluate",
    "slow_down": "slowdown",
    "anchor_kernel": "reference_kernel_version",
    "anchor_gain": "reference_kernel_gain",
    "anchor_s": "reference_kernel_s",
    "anchor_spread": "reference_kernel_spread",
    "anchor_readings": "reference_kernel_readings",
    "anchor_cost_s": "reference_kernel_cost_s",
    "quiet_samples": "undisturbed_samples",
    "is_short_of_quiet": "is_short_of_undisturbed",
}
_NAMES_OF_BUDGETS: Mapping[str, str] = {
    "samples": "min_samples",
    "precision": "max_ci_half_width",
    "most_samples": "max_samples",
    "most_time_s": "max_time_s",
}
_VALUES: Mapping[str, Mapping[str, str]] = {
    **{name: {first: now for now, first in words.items()} for name, words in FIRST_VALUES.items()},
    "status": {"wrong": "incorrect", "exhausted": "budget_exhausted", "timed_out": "timeout"},
    "metric": {"is_capped": "is_at_max_repetitions"},
    "stage": {"operation": "evaluate", "keys": "keygen"},
}
_KEYS_STEP, _KEYGEN_STEP, _PREPARE = "keys", "keygen", "prepare"
# Dimensions that were fields of a case.
_DIMENSIONS = ("cap", "repetitions", "data_set")
_PARTIES = ("client", "server")


def outcome(line: bytes) -> Outcome:
    """Return the outcome in a journal line of any version; raises ``ValueError`` for any other line."""
    document = msgspec.json.decode(line, type=dict[str, Any])
    try:
        return msgspec.convert(_outcome(document), Outcome)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no outcome: {error!r}") from None


def case(fields: dict[str, Any]) -> Case:
    """Return the case in the fields of any version; raises ``ValueError`` for other fields."""
    return msgspec.convert(fields if "vector_length" in fields else _case(fields), Case)


def operation(name: str) -> str:
    """Return the current name of an operation of the contract; other names, such as a workload's, are unchanged."""
    return _VALUES["operation"].get(name, name)


def parameters(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a resolved parameter set in the format of this version.

    Before results recorded key switching, every library used one digit per prime.
    """
    first = msgspec.to_builtins(one_digit_per_prime(fields["moduli"], fields["special_moduli"]))
    switching = fields.get("key_switching", first)
    if switching is not None and "digits" in switching:
        switching = {"method": switching["method"], "decomposition_digits": switching["digits"]}
    return {**fields, "key_switching": switching, "spec": _renamed(fields["spec"])}


def place(phase: str) -> tuple[str, str | None, str | None]:
    """Split :attr:`~ciphermark_core.model.Sample.phase` into stage, party and step."""
    stage, _, part = phase.partition(".")
    return (stage, part, None) if part in _PARTIES else (stage, None, part or None)


def _outcome(document: dict[str, Any]) -> dict[str, Any]:
    trial = document["trial"]
    if "vector_length" in trial["case"]:
        return document
    resolved, accuracy = document.get("parameters"), document.get("accuracy")
    return {
        **_renamed(document),
        "trial": {
            **trial,
            "case": _case(trial["case"]),
            "budget": _renamed(trial["budget"], _NAMES_OF_BUDGETS),
        },
        "parameters": None if resolved is None else parameters(resolved),
        "samples": [_sample(sample) for sample in document.get("samples", ())],
        "accuracy": None if accuracy is None else _renamed(accuracy),
        "facts": _renamed(document.get("facts", {})),
        "programs": [_program(program) for program in document.get("programs", ())],
    }


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str] = _NAMES) -> dict[str, Any]:
    """Fields with current names and values."""
    today = ((names.get(first, first), value) for first, value in fields.items())
    return {name: _VALUES[name].get(value, value) if name in _VALUES else value for name, value in today}


def _case(fields: dict[str, Any]) -> dict[str, Any]:
    dimensions = fields.get("dimensions")
    if dimensions is None:
        dimensions = {name: fields[name] for name in _DIMENSIONS if fields.get(name) is not None}
    return {
        **_renamed({name: value for name, value in fields.items() if name not in _DIMENSIONS}),
        "parameters": _renamed(fields["parameters"]),
        "dimensions": _renamed(dimensions),
    }


def _sample(fields: dict[str, Any]) -> dict[str, Any]:
    """The unit is the metric's; a phase is split into stage, party and step."""
    if "stage" not in fields:
        stage, party, step = place(fields["phase"])
        fields = {**fields, "stage": stage, "party": party, "step": step}
    if (fields["stage"], fields.get("step")) == (_PREPARE, _KEYS_STEP):
        fields = {**fields, "step": _KEYGEN_STEP}
    return _renamed(fields)


def _program(fields: dict[str, Any]) -> dict[str, Any]:
    """The content stays, and so does its digest."""
    return {
        **_renamed(fields),
        "counts": [_renamed(count) for count in fields["counts"]],
        "layers": [
            {**layer, "counts": [_renamed(count) for count in layer["counts"]]}
            for layer in fields.get("layers", ())
        ],
    }
