"""What the first execution in a process, and the first touch of operands, took beside the warm time. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.first_executions import FIRST_EXECUTIONS
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, printed
from ciphermark_present.query import Row

FIGURES = (FIRST_EXECUTIONS,)
_ABOUT = (
    "cold: first execution in a process; first touch: of operands never touched; both beside the warm median"
)
_VECTOR = ("scheme", "division", "size", "data_pattern", "threads")


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table per parameters, vector and threads. ``answers`` are those of :data:`FIGURES`."""
    (rows,) = answers
    cold = [row for row in rows if row["cold_s"] is not None]
    known = parameters.with_apart(cold, lambda row: (_table(row), row["label"]))
    known.sort(
        key=lambda row: (_table(row), row["apart"], row["label"], row["comparison_key"], row["variant"])
    )
    for same in grouped(known, lambda row: (_table(row), row["apart"])):
        columns = [
            (Head("operation"), lambda row: str(row["label"])),
            of(VARIANT),
            (Head("cold", True), lambda row: formats.seconds(row["cold_s"])),
            (Head("n", True), lambda row: str(row["cold_n"])),
            (Head("first touch", True), lambda row: formats.seconds(row["first_touch_s"])),
            (Head("warm", True), lambda row: formats.seconds(row["warm_s"])),
            (Head("cold / warm", True), lambda row: formats.brief_digits(row["cold_ratio"])),
        ]
        yield printed(headings.heading(same), f"{_ABOUT}, {headings.vector(same)}", columns, same, once=1)


def _table(row: Row) -> tuple[Any, ...]:
    place = (row["ring_dimension"], row["log_qp"], row["security_2018"])
    return absent_last(*place), absent_last(*(row[name] for name in _VECTOR))
