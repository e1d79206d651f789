"""The parameters of cases in words: which of them tell the cases of a figure apart, and all of a row. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ciphermark_present import formats
from ciphermark_present.query import Row

Write = Callable[[Any], str]
_KEY_DIGITS = 6  # of a case's key, where nothing else tells it


def _bits(chain: Sequence[int]) -> str:
    return f"{sum(chain)} bits"


def _dimensions(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(values.items()))


# In the order in which they are told. Of several ways to write one, the first counts that tells the values apart.
_WRITTEN: Mapping[str, tuple[Write, ...]] = {
    "ring_dimension": (lambda n: f"N = {n}",),
    "modulus_bits": (_bits, formats.chain),
    "plain_modulus": (lambda t: f"t = {t}",),
    "scale": (lambda scale: f"scale {formats.scale(scale)}",),
    "ring_dimension_is_minimum": (lambda is_minimum: "smallest secure N" if is_minimum else "given N",),
    "security_bits": (lambda bits: f"at least {bits} bits asked for",),
    "division": (lambda division: f"division {division}",),
    "dimensions": (_dimensions,),
    "data_pattern": (lambda data: f"{data} data",),
    "size": (formats.values,),
    "threads": (lambda threads: f"{threads} thread{'' if threads == 1 else 's'}",),
}
# What a library makes of a case: no part of what tells cases apart.
_OF_LIBRARY: Mapping[str, Write] = {
    "key_switching": lambda method: f"{method} key switching",
    "digits": lambda digits: f"{digits} digit{'' if digits == 1 else 's'}",
    "special_primes": lambda count: f"{count} special prime{'' if count == 1 else 's'}",
    "scaling": lambda scaling: f"{scaling} scaling",
    "secret_distribution": lambda distribution: f"secret {distribution}",
    "encryption": lambda key: f"encrypted with the {key}",
}
_WRITERS: Mapping[str, Write] = {**{name: ways[0] for name, ways in _WRITTEN.items()}, **_OF_LIBRARY}
MESSAGE = ("plain_modulus", "scale")  # what messages are encoded with
DIVISION = ("division", "key_switching", "digits")
_ALWAYS = ("ring_dimension", "modulus_bits", *MESSAGE, "division", *_OF_LIBRARY)


def told(row: Row, names: Sequence[str] = _ALWAYS) -> str:
    """All parameters of a row in words, or those that are named, as far as it has them."""
    return ", ".join(_WRITERS[name](row[name]) for name in names if row.get(name) is not None)


def apart(rows: Sequence[Row], place: Callable[[Row], Any]) -> list[str]:
    """For each row what tells its case from the others at its place; empty where a place has one case alone.

    Cases are told by what differs between any of one place, so that one case has the same words at all places. A case
    is what variants are compared in (``comparison_key``): libraries may change a chain, and the first variant's
    parameters name it. Where no parameter differs, the key does.
    """
    places: dict[Any, dict[str, Row]] = {}
    for row in sorted(rows, key=lambda row: str(row["variant"])):
        places.setdefault(place(row), {}).setdefault(row["comparison_key"], row)
    several = [cases for cases in places.values() if len(cases) > 1]
    names = [name for name in _WRITTEN if any(_differs(name, cases.values()) for cases in several)]
    writers = {name: _writer(name, several) for name in names}
    return [_label(places[place(row)], row["comparison_key"], writers) for row in rows]


def with_apart(rows: Sequence[Row], place: Callable[[Row], Any]) -> list[Row]:
    """The rows, each with its words of :func:`apart` as ``apart``."""
    return [{**row, "apart": label} for row, label in zip(rows, apart(rows, place), strict=True)]


def _label(cases: Mapping[str, Row], key: str, writers: Mapping[str, Write]) -> str:
    texts = {
        each: ", ".join(write(row[name]) for name, write in writers.items() if row.get(name) is not None)
        for each, row in cases.items()
    }
    is_told = len(set(texts.values())) == len(texts)
    return texts[key] if is_told else ", ".join(filter(None, (texts[key], f"case {key[:_KEY_DIGITS]}")))


def _differs(name: str, rows: Iterable[Row]) -> bool:
    return len({_identity(row.get(name)) for row in rows}) > 1


def _writer(name: str, places: Sequence[Mapping[str, Row]]) -> Write:
    values = [[row[name] for row in cases.values() if row.get(name) is not None] for cases in places]
    ways = _WRITTEN[name]
    return next((way for way in ways if all(_tells(way, found) for found in values)), ways[-1])


def _tells(way: Write, values: Sequence[Any]) -> bool:
    return len({way(value) for value in values}) == len({_identity(value) for value in values})


def _identity(value: Any) -> str:
    return json.dumps(value, default=str, sort_keys=True)
