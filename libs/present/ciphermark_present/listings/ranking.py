"""The ranked variants of every case of a run. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_analysis.comparison import TRAITS, differences
from ciphermark_present import formats, parameters, subject
from ciphermark_present.catalogue import times
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import (
    Cells,
    Head,
    Printed,
    absent_last,
    grouped,
    of,
    present,
    printed,
)
from ciphermark_present.query import Row
from ciphermark_present.subject import Subject

UNPAIRED = "not in turns"
# Whatever has phases has its ranks here; operations in a row have a table of their own.
_EVERY = Subject(subject.REPETITION.experiments, is_rest=True)
RANKS, TIMES, SPEEDUPS = (
    replace(figure, subject=_EVERY) for figure in (times.MATRIX, times.LATENCY, times.SPEEDUP)
)
FIGURES = (RANKS, TIMES, SPEEDUPS)
_SAME_TIME = ("case_key", "phase", "repetitions")
_ASKED = ("scheme", "division", "asked_ring_dimension", "asked_modulus_bits", "chain_depth")
_MEASURED = (
    "scheme",
    "division",
    "experiment",
    "label",
    "phase",
    "repetitions",
    "size",
    "data_pattern",
    "data_set",
    "threads",
)
_VECTOR = ("data_pattern", "data_set", "threads")


def tables(answers: Sequence[Sequence[Row]], any_security: bool) -> Iterator[Printed]:
    """A table for what was asked for with the same parameters, data and threads, of one security level by the 2018
    table; with ``any_security`` of all levels. Vectors of several lengths are rows of it. ``answers`` are those of
    :data:`FIGURES`.
    """
    for same in contests(answers, any_security):
        yield _printed(headings.heading(same), about(same), same)


def contests(answers: Sequence[Sequence[Row]], any_security: bool) -> list[list[Row]]:
    """The rows of each table."""
    known = _told_apart(list(_joined(*answers)))
    rows = sorted(known, key=lambda row: (_table(row, any_security), row["apart"], *_order(row)))
    return grouped(rows, lambda row: (_table(row, any_security), row["apart"]))


def about(same: Sequence[Row]) -> str:
    """What the rows of a table time, and on what."""
    return f"time of phase {same[0]['phase']}, {headings.vector(same)}"


def _joined(ranks: Sequence[Row], timed: Sequence[Row], speedups: Sequence[Row]) -> Iterator[Row]:
    """Every rank with its time's interval and what HEXL brings."""
    times_of = {tuple(row[name] for name in _SAME_TIME): row for row in timed}
    speedup_of = {
        (row["comparison_key"], row["variant_on"], row["phase"], row["repetitions"]): row for row in speedups
    }
    for row in ranks:
        own = times_of.get(tuple(row[name] for name in _SAME_TIME))
        if own is not None and row["rank"] is not None:
            place = (row["comparison_key"], row["variant"], row["phase"], row["repetitions"])
            bounds = {"low": own["ci_low"], "high": own["ci_high"], "ciphertexts": own["ciphertexts"]}
            chain = None if row["modulus_bits"] is None else tuple(row["modulus_bits"])
            asked = {"asked_modulus_bits": chain, "modulus_bits": own["modulus_bits"]}
            yield {**row, **bounds, **asked, "hexl": speedup_of.get(place)}


def _table(row: Row, any_security: bool) -> tuple[Any, ...]:
    """What was asked for, and the level that came of it: libraries may choose other primes."""
    level = 0 if any_security or row["division"] == "best" else row["security_2018"]
    asked = absent_last(*(row[name] for name in _ASKED), first=True)
    return (
        *asked,
        absent_last(None if level is None else -level),
        *absent_last(*(row[n] for n in _VECTOR), first=True),
    )


def _told_apart(rows: Sequence[Row]) -> list[Row]:
    """The rows with what their tables' headings would not tell: the chain that a case came to stands there anyway."""
    chains: dict[str, tuple[Any, ...]] = {}
    for row in sorted(rows, key=lambda row: str(row["variant"])):
        chains.setdefault(row["comparison_key"], (row["ring_dimension"], tuple(row["modulus_bits"])))
    return parameters.with_apart(
        rows, lambda row: (*(row[name] for name in _MEASURED), chains[row["comparison_key"]])
    )


def _order(row: Row) -> tuple[Any, ...]:
    count = absent_last(row["repetitions"], first=True)
    return row["experiment"], row["label"], count, row["size"], row["comparison_key"], row["rank"]


def _printed(title: str, about: str, rows: Sequence[Row]) -> Printed:
    what = named(rows)
    columns = [
        *what,
        of(VARIANT),
        *map(of, headings.columns(rows)),
        (Head("median", True), lambda row: _time(row)[0]),
        (Head("95 % interval", True), lambda row: _time(row)[1]),
        (
            Head("× fastest", True),
            lambda row: "1" if row["rank"] == 1 else formats.brief_digits(row["ratio"]),
        ),
        (Head("95 % interval", True), _ratio_interval),
        *present(
            [
                (Head("HEXL speed-up", True), lambda row: _hexl(row)[0]),
                (Head("95 % interval", True), lambda row: _hexl(row)[1]),
                (Head("parameters", is_prose=True, is_remark=True), remark),
            ],
            rows,
        ),
    ]
    return printed(title, about, columns, rows, once=len(what))


def named(rows: Sequence[Row]) -> list[Cells]:
    """The columns that say what a row is about: the operation, and how long the vector is where lengths differ."""
    lengths: list[Cells] = [(Head("values", True), lambda row: f"{row['size']:,}")]
    return [(Head("operation"), name), *lengths * (len({row["size"] for row in rows}) > 1)]


def name(row: Row) -> str:
    """The operation; or the operation and the count that it was applied."""
    count = row["repetitions"]
    return str(row["label"]) if count is None else f"{row['label']} × {count}"


def _time(row: Row) -> tuple[str, str]:
    return formats.time_with_interval(row["median"], row["low"], row["high"])


def _ratio_interval(row: Row) -> str:
    return "" if row["rank"] == 1 else formats.interval(row["ci_low"], row["ci_high"])


def _hexl(row: Row) -> tuple[str, str]:
    """What HEXL brings, marked where the interval finds no difference, and the interval."""
    found = row["hexl"]
    if found is None:
        return "", ""
    mark = "≈" if found["verdict"] == "no difference" else ""
    return f"{mark}{formats.brief_digits(found['ratio'])}", formats.interval(
        found["ci_low"], found["ci_high"]
    )


def remark(row: Row) -> str:
    """How the row is unlike the fastest one beyond the variant, and whether they did not take turns."""
    fastest = {name: row[f"fastest_{name}"] for name in TRAITS}
    return ", ".join(filter(None, (differences(row, fastest), "" if row["is_paired"] else UNPAIRED)))
