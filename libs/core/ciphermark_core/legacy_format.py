"""What earlier versions wrote, in the words of this one: journals that are older than the program that records them."""

from __future__ import annotations

from typing import Any

import msgspec

from ciphermark_core.case_keys import FIRST_WORDS
from ciphermark_core.key_switching import one_digit_per_prime
from ciphermark_core.model import Case, Outcome

_WORDS = {first: now for now, first in FIRST_WORDS.items()}
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
    return msgspec.convert(fields if "dimensions" in fields else _case(fields), Case)


def word(name: Any) -> Any:
    """Today's word for an experiment, operation or field: stored suites name the first ones. Others stay."""
    return _WORDS.get(name, name) if isinstance(name, str) else name


def place(phase: str) -> tuple[str, str | None, str | None]:
    """Stage, party and step of a sample in a phase, as :attr:`~ciphermark_core.model.Sample.phase` writes them."""
    stage, _, part = phase.partition(".")
    return (stage, part, None) if part in _PARTIES else (stage, None, part or None)


def _outcome(document: dict[str, Any]) -> dict[str, Any]:
    trial = document["trial"]
    document = {**document, "parameters": _parameters(document["parameters"])}
    if "dimensions" in trial["case"]:
        return document
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


def _parameters(fields: dict[str, Any] | None) -> dict[str, Any] | None:
    """Every library took one digit per prime before results said how keys are switched."""
    if fields is None:
        return None
    first = one_digit_per_prime(fields["moduli"], fields["special_moduli"])
    return {"key_switching": msgspec.to_builtins(first), **fields, "spec": _spec(fields["spec"])}


def _spec(fields: dict[str, Any]) -> dict[str, Any]:
    return {word(name): value for name, value in fields.items()}


def _sample(fields: dict[str, Any]) -> dict[str, Any]:
    """The unit is the metric's; the phase is cut into pieces."""
    stage, party, step = place(fields["phase"])
    return {**fields, "stage": stage, "party": party, "step": step}
