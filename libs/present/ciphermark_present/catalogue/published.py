"""Values that others published, next to ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import SCHEME, opened
from ciphermark_present.figure import Column, Figure
from ciphermark_present.printed import Head, Printed, grouped, told_once
from ciphermark_present.query import Row

PUBLISHED = Figure(
    name="published",
    title="Published results next to this run",
    lead="Results from papers, each with its host. They are never ranked.",
    reading=("Hosts differ, and parameters may differ: published results do not compare libraries."),
    view="published",
    narrowed_by=(),
    order="id, operation, ring_dimension, ring_dimension_is_minimum, median",
    printed=(),
    columns=(
        Column("result", "Result", is_prose=True),
        SCHEME,
        Column("system", "System"),
        Column("published_value", "Published", is_number=True, unit="unit"),
        Column("median", "Ours", is_number=True, unit="unit"),
        Column("variant", "Our variant", formats.text),
        Column("operation", "Our case", formats.text),
        Column("source", "Source", is_prose=True),
        *opened(
            Column("ring_dimension", "Our N", formats.text, is_number=True),
            Column("year", "Year", formats.text, is_number=True),
            Column("published_host", "Measured on", is_prose=True),
            Column("note", "Note", formats.text, is_prose=True),
        ),
    ),
)


ABOUT = "Hosts differ, and parameters may differ: do not compare libraries by these values."
_UNSTATED = "unstated"
_HEADS = (
    Head("system"),
    Head("scheme"),
    Head("result", is_prose=True, min_width=24),
    Head("published", True),
    Head("note", is_prose=True, drop=2),
    Head("ours", True),
    Head("95% interval", True, drop=1),
    Head("our case", is_prose=True, min_width=24),
)
_NAMES = 3  # columns that name the published value
_STATED = 5  # columns of the published value, printed once for all of ours


def tables(rows: Sequence[Row]) -> Iterator[Printed]:
    """A table per source and host of the rows of the figure ``published``."""
    for same in grouped(told_apart(rows), lambda row: (row["source"], row["year"], row["published_host"])):
        source, year, host = same[0]["source"], same[0]["year"], same[0]["published_host"]
        place = "on an unstated host" if host == _UNSTATED else f"on {host}"
        texts = [(*_published(row), *_ours(row)) for row in same]
        filled = [index for index, cells in enumerate(zip(*texts, strict=True)) if any(cells)]
        rows_shown = tuple(tuple(row[index] for index in filled) for row in told_once(texts, _STATED))
        heads = tuple(_HEADS[index] for index in filled)
        yield Printed(f"{source}, {year}, measured {place}", "", heads, rows_shown, keys=_NAMES)


def told_apart(rows: Sequence[Row]) -> list[Row]:
    """The rows. A row with a case of ours has the words that distinguish it from others next to the same published
    value.
    """
    measured = [row for row in rows if row["median"] is not None]
    labels = parameters.apart(measured, lambda row: (row["id"], row["variant"], row["operation"]))
    of_case = {(row["id"], row["case_key"]): label for row, label in zip(measured, labels, strict=True)}
    return [{**row, "apart": of_case.get((row["id"], row["case_key"]), "")} for row in rows]


def _published(row: Row) -> tuple[str, ...]:
    value = formats.brief_quantity(row["published_value"], row["unit"])
    return row["system"], row["scheme"], row["result"], value, row["note"] or ""


def _ours(row: Row) -> tuple[str, str, str]:
    """Our result, its interval, and its parameters."""
    if row["median"] is None:
        return formats.NOTHING, "", ""
    place = case(row)
    if row["unit"] == "s":
        return (*formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"]), place)
    bounds = "" if row["ci_low"] is None else formats.interval(row["ci_low"], row["ci_high"], 1e-6)
    return formats.brief_quantity(row["median"], row["unit"]), bounds, place


def case(row: Row) -> str:
    """Our case in words: variant, operation and parameters."""
    ring = f"N {row['ring_dimension']}{' (smallest)' if row['ring_dimension_is_minimum'] else ''}"
    level = f"{formats.security(row['security_2018'])} (2018)"
    own = parameters.told(row, (*parameters.MESSAGE, *parameters.TUNING))
    parts = (f"{row['variant']} {row['operation']}", ring, level, own, row["apart"])
    return ", ".join(dict.fromkeys(part for text in parts for part in text.split(", ") if part))
