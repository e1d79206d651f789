"""What earlier versions wrote, in the words of this one: journals that are older than the program that records them."""

from __future__ import annotations

from typing import Any

import msgspec

from ciphermark_core.case_keys import FIRST_WORDS
from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.model import Case, Outcome

_WORDS = {first: now for now, first in FIRST_WORDS.items()}
_OPERATIONS = {first: now for first, now in _WORDS.items() if first.endswith("_plain_prepared")}
# Facts of trials by the names that they had first.
_FACTS = {
    "anchor_kernel": "reference_kernel_version",
    "anchor_gain": "reference_kernel_gain",
    "anchor_s": "reference_kernel_s",
    "anchor_spread": "reference_kernel_spread",
    "anchor_readings": "reference_kernel_readings",
    "anchor_cost_s": "reference_kernel_cost_s",
    "quiet_samples": "undisturbed_samples",
    "is_short_of_quiet": "is_short_of_undisturbed",
    "slow_down": "slowdown",
}
_DIMENSIONS = ("cap", "repetitions", "data_set")
_PARTIES = ("client", "server")


def outcome(line: bytes) -> Outcome:
    """The outcome in a line of a journal of any version; raises ``ValueError`` where it is none."""
    document = msgspec.json.decode(line, type=dict[str, Any])
    try:
        return msgspec.convert(_outcome(document), Outcome)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no outcome: {error!r}") from None


def case(fields: dict[str, Any]) -> Case:
    """The case in the fields of any version; raises ``ValueError`` where it is none."""
    return msgspec.convert(_named(fields) if "dimensions" in fields else _case(fields), Case)


def word(name: Any) -> Any:
    """Today's word for an experiment, operation or field: stored suites name the first ones. Others stay."""
    return _WORDS.get(name, name) if isinstance(name, str) else name


def operation(name: Any) -> Any:
    """Today's name of an operation of the contract; others stay, such as those of workloads."""
    return _OPERATIONS.get(name, name) if isinstance(name, str) else name


def parameters(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a resolved parameter set in the words of this version.

    Every library took one digit per prime before results said how keys are switched.
    """
    first = msgspec.to_builtins(one_digit_per_prime(fields["moduli"], fields["special_moduli"]))
    switching = fields.get("key_switching", first)
    if switching is not None and "digits" in switching:
        switching = {"method": switching["method"], "decomposition_digits": switching["digits"]}
    return {**fields, "key_switching": switching, "spec": _spec(fields["spec"])}


def place(phase: str) -> tuple[str, str | None, str | None]:
    """Stage, party and step of a sample in a phase, as :attr:`~ciphermark_core.model.Sample.phase` writes them."""
    stage, _, part = phase.partition(".")
    return (stage, part, None) if part in _PARTIES else (stage, None, part or None)


def _outcome(document: dict[str, Any]) -> dict[str, Any]:
    trial = document["trial"]
    resolved = document["parameters"]
    document = {
        **document,
        "parameters": None if resolved is None else parameters(resolved),
        "samples": [_corrected(sample) for sample in document.get("samples", ())],
        "facts": {_FACTS.get(name, name): value for name, value in document.get("facts", {}).items()},
        "programs": [_program(program) for program in document.get("programs", ())],
    }
    if "dimensions" in trial["case"]:
        return {**document, "trial": {**trial, "case": _named(trial["case"])}}
    return {
        **document,
        "trial": {**trial, "case": _case(trial["case"])},
        "samples": [_sample(sample) for sample in document["samples"]],
    }


def _case(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        **fields,
        "experiment": word(fields["experiment"]),
        "operation": word(fields["operation"]),
        "parameters": _spec(fields["parameters"]),
        "dimensions": {name: fields[name] for name in _DIMENSIONS if fields.get(name) is not None},
    }


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "operation": operation(fields["operation"])}


def _corrected(fields: dict[str, Any]) -> dict[str, Any]:
    if "slow_down" not in fields:
        return fields
    return {("slowdown" if name == "slow_down" else name): value for name, value in fields.items()}


def _program(fields: dict[str, Any]) -> dict[str, Any]:
    """The content stays, and so does its digest."""
    return {
        **fields,
        "counts": _counts(fields["counts"]),
        "layers": [{**layer, "counts": _counts(layer["counts"])} for layer in fields.get("layers", ())],
    }


def _counts(counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**count, "operation": operation(count["operation"])} for count in counts]


def _spec(fields: dict[str, Any]) -> dict[str, Any]:
    return {word(name): value for name, value in fields.items()}


def _sample(fields: dict[str, Any]) -> dict[str, Any]:
    """The unit is the metric's; the phase is cut into pieces."""
    stage, party, step = place(fields["phase"])
    return {**fields, "stage": stage, "party": party, "step": step}
