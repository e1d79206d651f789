"""Retrieval: what a query costs, moves and brings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ciphermark_present import formats
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.retrieval import COSTS, LINKS, RETRIEVALS, STORES
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, printed
from ciphermark_present.query import Row

FIGURES = (RETRIEVALS,)
_ABOUT = "answer: the server's, medians; at a rate: both parties and the bytes, without latency and keys"

_STORES = (
    "store: plaintexts that answers are made of; bandwidth: of memory, read by as many threads; of bandwidth: reading "
    "the store once at it, of the answer's time; rate: what is got, of what is returned"
)


@dataclass(frozen=True, slots=True)
class Prices:
    """What the server's host charges, in any currency: for an hour of a core, and for a GB (10^9 bytes) that leaves.
    The defaults are dollars, as assumed by Ali et al., "Communication–computation trade-offs in PIR", USENIX Security
    2021.
    """

    cpu_hour: float = 0.0195
    gb: float = 0.09

    def of_element(self, row: Row) -> float | None:
        """What it costs to answer, for each element that is got: the CPU time of the answer, and the bytes of it."""
        cpu_s, download, elements = (
            row["answer_cpu_s"],
            row["download"],
            row["inputs"] * (row["answers"] or 0),
        )
        if cpu_s is None or download is None or not elements:
            return None
        return float((cpu_s / 3600 * self.cpu_hour + download / 1e9 * self.gb) / elements)


def tables(answers: Sequence[Sequence[Row]], any_security: bool, prices: Prices) -> Iterator[Printed]:
    """Two tables for each scheme and security level by the 2018 table, or of all levels with ``any_security``, with the
    databases of each protocol below each other: of answers, and of what they are made of.
    """

    def place(row: Row) -> tuple[object, ...]:
        own = None if any_security or row["security_2018"] is None else -row["security_2018"]
        return (row["scheme"], *absent_last(own))

    (rows,) = answers
    for same in grouped(sorted(rows, key=place), place):
        asked = [
            (Head("protocol"), lambda row: row["operation"]),
            (Head("database", True), _database),
            of(VARIANT),
            *map(of, headings.columns(same)),
        ]
        cost = (Head("a million cost", True), lambda row: _million(prices.of_element(row)))
        title = f"retrieval · {headings.heading(same)}"
        charged = f"cost: of as many elements, by {prices.cpu_hour:g} an hour of a core, {prices.gb:g} a GB returned"
        yield printed(title, f"{_ABOUT}; {charged}", [*asked, *map(of, (*COSTS, *LINKS)), cost], same, once=2)
        yield printed("", _STORES, [*asked, *map(of, STORES)], same, once=2)


def _million(cost: float | None) -> str:
    return formats.brief_digits(None if cost is None else 1e6 * cost)


def _database(row: Row) -> str:
    """Its size, what a query brings of it, and how it was asked, where not by one query on one thread."""
    told = [formats.brief_size(row["database_size"]), f"{formats.brief_size(row['answered_size'])} got"]
    told += [f"{row['inputs']} queries"] * (row["inputs"] > 1) + [f"{row['threads']} threads"] * (
        row["threads"] > 1
    )
    return ", ".join(told)
