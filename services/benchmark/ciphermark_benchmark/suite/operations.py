"""Operations as a suite writes them, and which of them an experiment takes: from the tables of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import WithJsonSchema

from ciphermark_contract.operations import OPERATIONS, read, where
from ciphermark_core import earlier
from ciphermark_core.nearest import did_you_mean
from ciphermark_measure.experiments import KINDS

PRODUCTS = where(lambda row: row.is_product)


def _texts(name: str) -> Iterator[str]:
    """One name as cases write it: with each of its default arguments, where it has arguments."""
    if name not in OPERATIONS:
        yield name
        return
    yield from (call.text for call in OPERATIONS[name].calls())


def defaults(kind: str) -> tuple[str, ...]:
    """The operations that an experiment takes where a suite names none."""
    return tuple(text for name in KINDS[kind].defaults for text in _texts(name))


def written(value: Any) -> Any:
    """The list of operations with one text per case: ``rotate: [1, 64]`` becomes ``rotate(1)`` and ``rotate(64)``."""
    if not isinstance(value, list):
        return value
    return [text for item in value for text in _written(item)]


def _written(item: Any) -> Iterator[Any]:
    if isinstance(item, Mapping):
        for name, arguments in item.items():
            yield from (_call(name, argument) for argument in _as_list(arguments))
    elif isinstance(item, str) and earlier.word(item) == item:
        yield from _texts(item)
    else:
        yield earlier.word(item) if isinstance(item, str) else item


def _as_list(arguments: Any) -> list[Any]:
    return arguments if isinstance(arguments, list) else [arguments]


def _call(name: Any, argument: Any) -> str:
    return f"{name}({', '.join(map(str, _as_list(argument)))})"


def kind_of(text: str, kind: str) -> str:
    """The kind of the cases that an operation makes in an experiment: another one where only that has it."""
    row = KINDS[kind]
    return kind if row.also is None or text.partition("(")[0] in row.operations else row.also


def require_known(text: str, kind: str) -> None:
    """Raise ``ValueError`` for an operation that an experiment does not take, or for wrong arguments."""
    row, name = KINDS[kind], text.partition("(")[0]
    known = row.operations if row.also is None else (*row.operations, *KINDS[row.also].operations)
    if name not in known:
        raise ValueError(
            f"unknown operation {name!r} for {kind}{did_you_mean(name, known)}; it knows {', '.join(known)}"
        )
    if name in OPERATIONS:
        read(text)


def _json_schema() -> dict[str, Any]:
    with_arguments = {
        row.name: {
            "description": f"{row.summary} Takes {row.argument.sentence}.",
            "anyOf": [{"type": ["array", "number"]}],
        }
        for row in OPERATIONS.values()
        if row.argument is not None
    }
    return {
        "anyOf": [
            {"type": "string", "description": "a name, or with its arguments: rotate(64)"},
            {"type": "object", "properties": with_arguments, "additionalProperties": False},
        ]
    }


OperationText = Annotated[str, WithJsonSchema(_json_schema())]
