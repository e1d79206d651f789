"""Two runs, case by case, at one security level or, where asked, at any. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ciphermark_db.comparison import LEVELS
from ciphermark_figures import formats, parameters
from ciphermark_figures.answer import Row
from ciphermark_figures.catalogue.columns import VARIANT
from ciphermark_figures.listings.headings import message, threads
from ciphermark_figures.listings.printed import Head, Printed, grouped, of, printed

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
_MEASURED = ("experiment", "operation", "phase", "metric", "repetitions", "scheme")


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
