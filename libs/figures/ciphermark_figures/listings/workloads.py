"""Workloads of families that have no table of their own: every metric of whole stages. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ciphermark_figures import formats
from ciphermark_figures.answer import Row
from ciphermark_figures.catalogue.columns import VARIANT
from ciphermark_figures.catalogue.workloads import MEDIAN, METRIC, WORKLOADS
from ciphermark_figures.listings import headings
from ciphermark_figures.listings.printed import Head, Printed, absent_last, grouped, of, printed

FIGURES = (WORKLOADS,)
_PLACE = ("experiment", "operation", "options", "data_set", "size", "threads", "scheme")


def tables(
    answers: Sequence[Sequence[Row]], any_security: bool, titles: Mapping[str, str]
) -> Iterator[Printed]:
    """A table per workload, options, data, threads, scheme and security level by the 2018 table, or of all levels with
    ``any_security``. ``answers`` are those of :data:`FIGURES`; ``titles`` tell workloads in words.
    """
    (rows,) = answers
    whole = [row for row in rows if row["metric"] is not None and not row["part"]]
    for same in grouped(
        sorted(whole, key=lambda row: _table(row, any_security)), lambda row: _table(row, any_security)
    ):
        name = same[0]["operation"]
        title = f"{name}: {titles[name]}" if name in titles else name
        told = f"{headings.heading(same)} · {_input(same[0])}, {headings.threads(same[0])}"
        columns = [
            (Head("stage"), lambda row: row["stage"]),
            of(METRIC),
            of(VARIANT),
            *map(of, headings.columns(same)),
            of(MEDIAN),
            (Head("95 % interval", True), _interval),
        ]
        yield printed(f"{title} · {same[0]['experiment']}", told, columns, same, once=2)


def _input(row: Row) -> str:
    """What is computed on: the options; without any, how many numbers."""
    return str(row["options"]) if row["options"] else f"{row['size']} values"


def _table(row: Row, any_security: bool) -> tuple[Any, ...]:
    level = None if any_security or row["security_2018"] is None else -row["security_2018"]
    return (*absent_last(*(row[name] for name in _PLACE), first=True), *absent_last(level))


def _interval(row: Row) -> str:
    """Of times, in the unit of the median."""
    if row["unit"] != "s":
        return ""
    return formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"])[1]
