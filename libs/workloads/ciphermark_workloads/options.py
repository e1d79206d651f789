"""Options of workloads: declared as frozen structs, checked at the edge, varied by suites.

An option is a field of a ``msgspec.Struct`` with a default, a text or a number::

    class Options(msgspec.Struct, frozen=True):
        size: Annotated[int, msgspec.Meta(ge=2, le=64, description="rows and columns of both matrices")] = 32

One that a workload got after results were stored is marked ``extra={"is_newer": True}``: while it has its default, it
is no part of a case, and the keys of those results stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, get_args, get_origin

import msgspec

from ciphermark_core.descriptor import DATA_SET, DIMENSIONS, Dimension, Value, register
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean

NEWER = {"is_newer": True}
FILE = {"is_newer": True, "is_file": True}  # the ``extra`` of newer options, and of those that name files
INPUTS_PER_PASS = register(
    Dimension("inputs_per_pass", int, "Inputs that one program computes on in a pass (workloads).")
)


class NoOptions(msgspec.Struct, frozen=True):
    """The options of workloads that have none."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option, for the reader and for suites; ``sentence`` describes it. An ``is_file`` option is the name of a
    file: see :mod:`.user_workloads`.
    """

    name: str
    kind: type
    default: Any
    sentence: str
    is_newer: bool
    is_file: bool = False


def declared(options: type[msgspec.Struct]) -> tuple[Option, ...]:
    """The options of a type, in order."""
    return tuple(_declared(field) for field in msgspec.structs.fields(options))


def _declared(field: msgspec.structs.FieldInfo) -> Option:
    kind, *notes = get_args(field.type) if get_origin(field.type) is Annotated else (field.type,)
    sentence = next((note.description for note in notes if note.description), "")
    is_newer, is_file = (
        any((note.extra or {}).get(mark, False) for note in notes) for mark in ("is_newer", "is_file")
    )
    return Option(field.name, kind, field.default, sentence, is_newer, is_file)


def dimensions(options: type[msgspec.Struct]) -> list[Dimension[Any]]:
    """The dimensions of cases for the options of a type."""
    return [Dimension(option.name, option.kind, option.sentence) for option in declared(options)]


def faults(options: type[msgspec.Struct]) -> list[str]:
    """The faults of a type's options; names that suites or other options use must have the same meaning."""
    reasons = []
    for option, dimension in zip(declared(options), dimensions(options), strict=True):
        if option.kind not in (int, float, str, bool):
            reasons.append(f"option {option.name} is a {option.kind}: options are texts, numbers or flags")
        if option.default is msgspec.NODEFAULT:
            reasons.append(f"option {option.name} has no default")
        if DIMENSIONS.get(option.name, dimension) != dimension:
            reasons.append(
                f"its option {option.name!r} means something else in suites or in another workload: name it otherwise, "
                "or give it the same type and description"
            )
    return reasons


def read(options: type[msgspec.Struct], values: Mapping[str, Value], owner: str) -> msgspec.Struct:
    """The options with these values, and defaults for the rest; ``owner`` names their workload.

    Raises ``UserError`` for unknown names and for values that are out of range or of another type.
    """
    fields = options.__struct_fields__
    for name in values:
        if name not in fields:
            offered = f"it has {', '.join(fields)}" if fields else "it has none"
            raise UserError(f"{owner} has no option {name!r}{did_you_mean(name, fields)}; {offered}")
    try:
        return msgspec.convert(dict(values), options)
    except msgspec.ValidationError as error:
        raise UserError(f"{owner}: options: {error}") from None


def combinations(lists: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Every combination of the values of each option, the last option varied first."""
    for chosen in product(*lists.values()):
        yield dict(zip(lists, chosen, strict=True))


def to_case(options: msgspec.Struct) -> dict[str, Value]:
    """The options as dimensions of a case: all except newer ones at their default."""
    return {
        option.name: getattr(options, option.name)
        for option in declared(type(options))
        if not option.is_newer or getattr(options, option.name) != option.default
    }


def of_case(dimensions: Mapping[str, Value]) -> dict[str, Value]:
    """The options of a workload among the dimensions of its case."""
    return {
        name: value for name, value in dimensions.items() if name not in (DATA_SET.name, INPUTS_PER_PASS.name)
    }
