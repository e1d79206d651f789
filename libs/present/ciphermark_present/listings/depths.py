"""How far operations go in a row, and what is left of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import formats, parameters, subject
from ciphermark_present.catalogue.columns import DATA, OPERATION, VARIANT
from ciphermark_present.catalogue.noise import DEPTH, NOISE
from ciphermark_present.listings.headings import LEVELS
from ciphermark_present.listings.printed import Head, Printed, grouped, of, present, printed
from ciphermark_present.notes import addition
from ciphermark_present.query import Row

FIGURES = (DEPTH, NOISE, replace(NOISE, subject=subject.DEPTH))
_ABOUT_DEPTH = "the most repetitions that still decrypt right"
_ABOUT_NOISE = (
    "noise budget (bfv, bgv) or precision (ckks), fresh and at the last count of 1, 2, 4, 8, … looked at"
)
_ORDER = ("scheme", "ring_dimension", "operation", "data_pattern", "comparison_key", "variant")


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table of depths, and one of noise. ``answers`` are those of :data:`FIGURES`."""
    depths, noise = measured(answers)
    if depths:
        yield _printed("depth", _ABOUT_DEPTH, depths)
    if noise:
        yield _printed("noise", _ABOUT_NOISE, noise)


def measured(answers: Sequence[Sequence[Row]]) -> tuple[list[Row], list[Row]]:
    """A row for each case and variant that has a depth, and one for each that has bits left; ``answers`` are those of
    :data:`FIGURES`. Each has what is ``fresh`` and what is left in the end (``last``), where it is known.
    """
    depths, noise, noise_of_depths = answers
    bits = {rows[0]["comparison_key"] + rows[0]["variant"]: _bits(rows) for rows in _cases(noise_of_depths)}
    found: list[Row] = [
        {**row, "fresh": None, "last": None, **bits.get(row["comparison_key"] + row["variant"], {})}
        for row in depths
        if row["depth"] is not None
    ]
    return found, [_noise(rows) for rows in _cases(noise)]


def _cases(rows: Sequence[Row]) -> list[list[Row]]:
    return grouped(rows, lambda row: (row["comparison_key"], row["variant"]))


def _bits(rows: Sequence[Row]) -> dict[str, Any]:
    """Bits left of fresh ciphertexts, and after the most operations that were looked at."""
    by_count = {row["repetitions"]: row["bits"] for row in rows if row["repetitions"] is not None}
    return {"fresh": by_count.get(0), "last": by_count[max(by_count)] if by_count else None}


def _noise(rows: Sequence[Row]) -> Row:
    most = max(row["repetitions"] for row in rows)
    return {**rows[0], "depth": most, "is_capped": False, **_bits(rows)}


def _printed(title: str, about: str, rows: Sequence[Row]) -> Printed:
    columns = [
        (Head("parameters", is_prose=True), _parameters),
        *map(of, (OPERATION, DATA, VARIANT, *LEVELS)),
        (Head("operations", True), lambda row: f"{row['depth']:.0f}{' (cap)' if row['is_capped'] else ''}"),
        *present(
            [
                (Head("fresh", True), lambda row: _written(row["fresh"])),
                (Head("last", True), lambda row: _written(row["last"])),
                (Head("added on purpose", is_prose=True, is_remark=True), _addition),
            ],
            rows,
        ),
    ]
    known = parameters.with_apart(rows, lambda row: (row["operation"], row["data_pattern"], _parameters(row)))
    ordered = sorted(known, key=lambda row: tuple(row[name] for name in _ORDER))
    return printed(title, about, columns, ordered, once=3)


def _parameters(row: Row) -> str:
    ring = f"{row['scheme']} {row['ring_dimension']} ({formats.chain(row['modulus_bits'])})"
    return ", ".join(filter(None, (ring, parameters.told(row, parameters.MESSAGE), row.get("apart"))))


def _addition(row: Row) -> str:
    """Of rows of precision; those of depth tell no metric."""
    return addition(row) if "meaning" in row else ""


def _written(bits: float | None) -> str:
    return "" if bits is None else f"{bits:.0f} bits"
