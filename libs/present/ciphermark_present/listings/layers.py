"""Where the time of a network goes, layer by layer: a line for each case. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.layers import LAYERS
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, printed
from ciphermark_present.query import Row

FIGURES = (LAYERS,)
_ABOUT = "executed one by one, medians; times, operations, bytes and errors of each: ciphermark figure layers"


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table for each scheme and security level by the 2018 table, or of all levels with ``any_security``."""

    def place(row: Row) -> tuple[object, ...]:
        own = None if any_security or row["security_2018"] is None else -row["security_2018"]
        return (row["scheme"], *absent_last(own))

    (rows,) = answers
    cases = [_case(same) for same in grouped(rows, lambda row: (row["case_key"], row["parameter_set_id"]))]
    labels = parameters.apart(cases, lambda row: (place(row), row["workload"]))
    cases = [
        {**row, "workload": ", ".join(filter(None, (row["workload"], label)))}
        for row, label in zip(cases, labels, strict=True)
    ]
    cases.sort(key=lambda row: (place(row), row["workload"], _together(row)))
    for same in grouped(cases, place):
        columns = [
            (Head("workload"), lambda row: str(row["workload"])),
            of(VARIANT),
            *map(of, headings.columns(same)),
            (Head("together", is_number=True), lambda row: formats.brief_seconds(_together(row))),
            (Head("layers", is_prose=True), _layers),
        ]
        yield printed(f"layers · {headings.heading(same)}", _ABOUT, columns, same, once=1)


def _case(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows of a case's layers as one, with their times by name."""
    first = rows[0]
    threads = f"{first['threads']} threads" if first["threads"] > 1 else ""
    workload = ", ".join(filter(None, (first["operation"], first["options"], threads)))
    return {**first, "workload": workload, "times": {row["layer"]: row["layer_time"] for row in rows}}


def _together(row: Row) -> float:
    return float(sum(row["times"].values()))


def _layers(row: Row) -> str:
    return ", ".join(f"{name} {seconds / _together(row):.0%}" for name, seconds in row["times"].items())
