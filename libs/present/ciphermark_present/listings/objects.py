"""What objects take on the wire, and what making keys takes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.memory import KEY_GENERATION, SIZES
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, present, printed
from ciphermark_present.query import Row

FIGURES = (SIZES, KEY_GENERATION)
_ABOUT_SIZES = "exact bytes; expansion: of a ciphertext by the data inside"
_ABOUT_KEYS = "median time to make one key; n: how many were made"


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table of sizes and one of times to make keys for each scheme, parameters and vector; ``answers`` are those of
    :data:`FIGURES`.
    """
    sizes, keys = answers
    for same in _grouped(sizes, ("object", "compression")):
        columns = [
            (Head("object"), lambda row: str(row["object"])),
            *present([(Head("compression"), _compression)], same),
            of(VARIANT),
            (Head("bytes", True), lambda row: formats.digits(row["bytes"])),
            (Head("", True), lambda row: formats.brief_quantity(row["bytes"], "bytes")),
            *present([(Head("expansion", True), _expansion)], same),
        ]
        about = f"{_ABOUT_SIZES}; {same[0]['data_pattern']} data, {same[0]['size']} values"
        yield printed(_heading(same), about, columns, same, once=1)
    for same in _grouped(keys, ("operation",)):
        columns = [
            (Head("key"), lambda row: str(row["operation"])),
            of(VARIANT),
            (Head("median", True), lambda row: " ".join(formats.duration(row["median"]))),
            (Head("95 % interval", True), _interval),
            (Head("n", True), lambda row: str(row["n"])),
        ]
        yield printed(_heading(same), _ABOUT_KEYS, columns, same, once=1)


def _grouped(rows: Sequence[Row], what: Sequence[str]) -> list[list[Row]]:
    """By parameters and vector; within a group by what was measured, then by variant."""
    known = parameters.with_apart(
        rows, lambda row: (*_table(row), *(row[name] for name in what), row["variant"])
    )
    order = {tuple(row[name] for name in what): place for place, row in reversed(list(enumerate(rows)))}
    ordered = sorted(
        known,
        key=lambda row: (
            _table(row),
            row["apart"],
            order[tuple(row[name] for name in what)],
            row["variant"],
        ),
    )
    return grouped(ordered, lambda row: (_table(row), row["apart"]))


def _table(row: Row) -> tuple[Any, ...]:
    names = ("scheme", "division", "ring_dimension", "size", "data_pattern")
    return (*absent_last(*(row[name] for name in names), first=True), tuple(row["modulus_bits"]))


def _heading(rows: Sequence[Row]) -> str:
    """Scheme and parameters."""
    first = rows[0]
    chain = f"primes of {formats.chain(first['modulus_bits'])} bits"
    level = f"security {formats.level_or_unknown(first['security_2018'])} (2018)"
    found = [first["scheme"], f"N = {first['ring_dimension']}", chain, headings.message(rows), level]
    return " · ".join(filter(None, found))


def _compression(row: Row) -> str:
    """Empty where nothing is compressed."""
    return "" if row["compression"] == "none" else str(row["compression"])


def _expansion(row: Row) -> str:
    return "" if row["expansion"] is None else formats.times(row["expansion"])


def _interval(row: Row) -> str:
    return formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"])[1]
