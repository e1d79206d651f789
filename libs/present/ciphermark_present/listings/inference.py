"""Inference: what the class of an encrypted image costs, moves and is worth. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.inference import COSTS, INFERENCES, QUALITY
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, printed
from ciphermark_present.query import Row

FIGURES = (INFERENCES,)
_ABOUT = "network: the server's time of a pass, medians; agreement: with the network in the clear"


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table for each scheme and security level by the 2018 table, or of all levels with ``any_security``."""

    def place(row: Row) -> tuple[object, ...]:
        own = None if any_security or row["security_2018"] is None else -row["security_2018"]
        return (row["scheme"], *absent_last(own))

    (rows,) = answers
    for same in grouped(sorted(rows, key=place), place):
        quality = [column for column in QUALITY if any(row[column.name] is not None for row in same)]
        columns = [
            (Head("workload"), _workload),
            of(VARIANT),
            *map(of, headings.columns(same)),
            *map(of, (*COSTS, *quality)),
        ]
        yield printed(f"inference · {headings.heading(same)}", _ABOUT, columns, same, once=1)


def _workload(row: Row) -> str:
    """With what a suite varied of it, images of a pass among them, and threads, where not one."""
    threads = f"{row['threads']} threads" if row["threads"] > 1 else ""
    return ", ".join(filter(None, (row["operation"], row["options"], threads)))
