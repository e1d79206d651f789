"""Two runs, case by case, at one security level or, where asked, at any. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from ciphermark_analysis.comparison import LEVELS
from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.comparing import GAINS, INCOMPARABLE, REGRESSIONS, counted, kind_of
from ciphermark_present.listings.headings import message, threads
from ciphermark_present.listings.printed import Head, Printed, grouped, of, printed
from ciphermark_present.query import Row

_HEADING = (
    "experiment",
    "scheme",
    "ring_dimension",
    "division",
    *LEVELS,
    "size",
    "data_pattern",
    "data_set",
    "threads",
)
_LARGEST = 5
_MOST_SHOWN = 20  # of rows at a glance
CHANGES = (*REGRESSIONS, "changed", *GAINS)
_MEASURED = ("experiment", "operation", "phase", "metric", "repetitions", "scheme")


def verdict(rows: Sequence[Row]) -> str:
    """How many were judged how, and whether run b has a regression."""
    regressions = sum(kind_of(row["verdict"]) in REGRESSIONS for row in rows)
    counts = ", ".join(counted(rows)) or "no figures"
    if not is_comparison(rows):
        reasons = Counter(row["verdict"].partition(": ")[2] for row in rows)
        why = "".join(f"; most often {reason}" for reason, _ in reasons.most_common(1))
        return f"nothing could be compared: {counts}{why}"
    if not regressions:
        return f"no regression: {counts}"
    return f"{regressions} regression{'' if regressions == 1 else 's'}: {counts}"


def is_comparison(rows: Sequence[Row]) -> bool:
    """Whether any figure of the two runs could be compared."""
    return any(kind_of(row["verdict"]) != INCOMPARABLE for row in rows)


def largest(rows: Sequence[Row]) -> list[Printed]:
    """A table of the five largest changes of each kind, regressions first; nothing where nothing changed."""
    found: list[Row] = []
    for kind in CHANGES:
        own = [row for row in rows if kind_of(row["verdict"]) == kind]
        found += sorted(own, key=_smallness)[:_LARGEST]
    if not found:
        return []
    columns = [
        (Head("verdict"), lambda row: kind_of(row["verdict"])),
        of(VARIANT),
        (Head("case", is_prose=True), _case),
        (Head("figure", is_prose=True), lambda row: f"{row['phase'] or ''} {row['metric'] or ''}".strip()),
        (Head("a", True), lambda row: formats.brief_quantity(row["a_median"], row["unit"] or "")),
        (Head("b", True), lambda row: formats.brief_quantity(row["b_median"], row["unit"] or "")),
        (Head("a/b", True), lambda row: formats.brief_digits(row["ratio"])),
        (Head("95 % interval", True), _interval),
    ]
    title = f"what changed, the {_LARGEST} largest of each kind"
    return [printed(title, "", columns, found[:_MOST_SHOWN], once=1)]


def changes(rows: Sequence[Row]) -> int:
    """How many rows changed."""
    return sum(kind_of(row["verdict"]) in CHANGES for row in rows)


def _smallness(row: Row) -> float:
    ratio = row["ratio"]
    return -abs(math.log(ratio)) if ratio else -math.inf


def _case(row: Row) -> str:
    levels = " best" if row["division"] == "best" else ""
    return f"{_name(row)}, {row['scheme']} {row['ring_dimension']}{levels}, {row['data_set'] or row['size']}"


def tables(rows: Sequence[Row]) -> Iterator[Printed]:
    """A table per parameters, level, vector and threads of judged rows, by column name."""
    known = parameters.with_apart(rows, lambda row: tuple(row[name] for name in _MEASURED))
    for same in grouped(known, lambda row: (*(row[name] for name in _HEADING), row["apart"])):
        columns = [
            (Head("operation", is_prose=True), _name),
            of(VARIANT),
            (Head("phase", is_prose=True), lambda row: row["phase"] or ""),
            (Head("metric", is_prose=True), lambda row: row["metric"] or ""),
            (Head("a", True), lambda row: formats.brief_quantity(row["a_median"], row["unit"] or "")),
            (Head("b", True), lambda row: formats.brief_quantity(row["b_median"], row["unit"] or "")),
            (Head("a/b", True), lambda row: formats.brief_digits(row["ratio"])),
            (Head("95 % interval", True), _interval),
            (Head("verdict", is_prose=True), _verdict),
        ]
        yield printed(_heading(same[0]), "", columns, same, once=1)


def _heading(row: Row) -> str:
    data = row["data_set"] or f"{row['data_pattern']} data"
    levels = [f"{_levels(row, year)} ({year})" for year in ("2018", "2024")]
    parts = (
        row["experiment"],
        row["scheme"],
        f"N = {row['ring_dimension']}",
        message([row]),
        f"security {', '.join(levels)}",
        f"{data}, {row['size']} values, {threads(row)}",
    )
    return " · ".join(filter(None, parts))


def _levels(row: Row, year: str) -> str:
    """The levels of the runs that resolved the parameters; of both where none did."""
    known = "".join(run for run in "ab" if row[f"{run}_security_2018"] is not None) or "ab"
    told = (formats.level_or_unknown(row[f"{run}_security_{year}"]) for run in known)
    return " against ".join(dict.fromkeys(told))


def _name(row: Row) -> str:
    count = row["repetitions"]
    return row["operation"] if count is None else f"{row['operation']} × {count}"


def _interval(row: Row) -> str:
    return "" if row["ratio_low"] is None else formats.interval(row["ratio_low"], row["ratio_high"])


def _verdict(row: Row) -> str:
    return "; ".join(filter(None, (row["verdict"], row["remark"])))
