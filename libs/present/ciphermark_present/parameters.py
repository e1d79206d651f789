"""The parameters of cases in words: those that distinguish the cases of a figure, and all of a row. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ciphermark_core import descriptor
from ciphermark_core.descriptor import Dimension
from ciphermark_present import formats
from ciphermark_present.query import Row

Write = Callable[[Any], str]
_KEY_DIGITS = 6  # of a case's key, where no parameter distinguishes it


def _bits(chain: Sequence[int]) -> str:
    return f"{sum(chain)} bits"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


_OWN = ("level", "residency")  # dimensions with words of their own


def _dimensions(values: Mapping[str, Any]) -> str:
    own = (name for name in sorted(values) if name not in _OWN)
    return ", ".join(f"{name} {values[name]}" for name in own)


# Of several formats of a value, the first that distinguishes the values is used.
_PHRASES: Mapping[str, tuple[Write, ...]] = {
    "chain": (_bits, formats.chain),
    "scale": (lambda scale: f"scale {formats.scale(scale)}",),
    "smallest_secure": (lambda is_minimum: "smallest secure N" if is_minimum else "given N",),
    "options": (_dimensions,),
    "values": (formats.values,),
    "threads": (lambda threads: _counted(threads, "thread"),),
    "decomposition_digits": (lambda digits: _counted(digits, "decomposition digit"),),
    "special_primes": (lambda count: _counted(count, "special prime"),),
}


def _ways(dimension: Dimension[Any]) -> tuple[Write, ...]:
    return _PHRASES.get(dimension.phrase) or (dimension.phrase.format,)


# In the order of output; parameters that a library chooses for a case do not distinguish cases.
_OF_CASE = {dimension.name: _ways(dimension) for dimension in descriptor.tells_apart()}
_OF_LIBRARY = {dimension.name: _ways(dimension) for dimension in descriptor.of_library()}
_WRITERS: Mapping[str, Write] = {name: ways[0] for name, ways in (_OF_CASE | _OF_LIBRARY).items()}
MESSAGE = ("plain_modulus", "scale")  # the encoding parameters of messages
TUNING = ("tuning", "key_switching", "decomposition_digits")
# Charts and tables state these themselves, or they are requests whose outcome is stated.
_ELSEWHERE = (
    *("ring_dimension_is_minimum", "security_bits", "security_table"),
    *("dimensions", "data_pattern", "vector_length", "threads"),
)
_ALWAYS = tuple(name for name in _WRITERS if name not in _ELSEWHERE)


def told(row: Row, names: Sequence[str] = _ALWAYS) -> str:
    """All parameters of a row in words, or the named ones, as far as it has them."""
    return ", ".join(_WRITERS[name](row[name]) for name in names if row.get(name) is not None)


def apart(rows: Sequence[Row], place: Callable[[Row], Any]) -> list[str]:
    """For each row, the words that distinguish its case from the others at its place; empty where a place has only one
    case.

    The words state the parameters that differ within any place, so that a case has the same words at all places. A case
    is the unit in which variants are compared (``comparison_group``): libraries may change a chain, and the first
    variant's parameters name it. Where no parameter differs, the words state the key.
    """
    places: dict[Any, dict[str, Row]] = {}
    for row in sorted(rows, key=lambda row: str(row["variant"])):
        places.setdefault(place(row), {}).setdefault(row["comparison_group"], row)
    several = [cases for cases in places.values() if len(cases) > 1]
    names = [name for name in _OF_CASE if any(_differs(name, cases.values()) for cases in several)]
    writers = {name: _writer(name, several) for name in names}
    return [_label(places[place(row)], row["comparison_group"], writers) for row in rows]


def with_apart(rows: Sequence[Row], place: Callable[[Row], Any]) -> list[Row]:
    """The rows, each with its words of :func:`apart` as ``apart``."""
    return [{**row, "apart": label} for row, label in zip(rows, apart(rows, place), strict=True)]


def _label(cases: Mapping[str, Row], key: str, writers: Mapping[str, Write]) -> str:
    texts = {
        each: ", ".join(
            filter(None, (write(row[name]) for name, write in writers.items() if row.get(name) is not None))
        )
        for each, row in cases.items()
    }
    is_told = len(set(texts.values())) == len(texts)
    return texts[key] if is_told else ", ".join(filter(None, (texts[key], f"case {key[:_KEY_DIGITS]}")))


def _differs(name: str, rows: Iterable[Row]) -> bool:
    return len({_identity(row.get(name)) for row in rows}) > 1


def _writer(name: str, places: Sequence[Mapping[str, Row]]) -> Write:
    values = [[row[name] for row in cases.values() if row.get(name) is not None] for cases in places]
    ways = _OF_CASE[name]
    return next((way for way in ways if all(_tells(way, group) for group in values)), ways[-1])


def _tells(way: Write, values: Sequence[Any]) -> bool:
    return len({way(value) for value in values}) == len({_identity(value) for value in values})


def _identity(value: Any) -> str:
    return json.dumps(value, default=str, sort_keys=True)
