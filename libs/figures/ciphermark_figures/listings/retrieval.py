"""Retrieval: what a query costs, moves and brings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_figures import formats
from ciphermark_figures.answer import Row
from ciphermark_figures.catalogue.columns import VARIANT
from ciphermark_figures.catalogue.retrieval import COSTS, LINKS, RETRIEVALS
from ciphermark_figures.listings import headings
from ciphermark_figures.listings.printed import Head, Printed, absent_last, grouped, of, printed

FIGURES = (RETRIEVALS,)
_ABOUT = "answer: the server's, medians; at a rate: both parties and the bytes, without latency and keys"


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table for each scheme and security level by the 2018 table, or of all levels with ``any_security``, with the
    databases of each protocol below each other.
    """

    def place(row: Row) -> tuple[object, ...]:
        own = None if any_security or row["security_2018"] is None else -row["security_2018"]
        return (row["scheme"], *absent_last(own))

    (rows,) = answers
    for same in grouped(sorted(rows, key=place), place):
        columns = [
            (Head("protocol"), lambda row: row["operation"]),
            (Head("database", True), _database),
            of(VARIANT),
            *map(of, headings.columns(same)),
            *map(of, (*COSTS, *LINKS)),
        ]
        title = f"retrieval · {headings.heading(same)}"
        yield printed(title, _ABOUT, columns, same, once=2)


def _database(row: Row) -> str:
    """Its size, what a query brings of it, and how it was asked, where not by one query on one thread."""
    told = [formats.brief_size(row["database_size"]), f"{formats.brief_size(row['answered_size'])} got"]
    told += [f"{row['inputs']} queries"] * (row["inputs"] > 1) + [f"{row['threads']} threads"] * (
        row["threads"] > 1
    )
    return ", ".join(told)
