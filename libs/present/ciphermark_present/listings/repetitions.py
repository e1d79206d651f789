"""Operations in a row: how long n of them take, each library at a ring that is secure for them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ciphermark_analysis.estimates import Estimate, ratio_of, verdict
from ciphermark_present import formats, parameters, subject
from ciphermark_present.catalogue.columns import LOG_QP, PEAK, VARIANT, N
from ciphermark_present.catalogue.repetitions import REPETITIONS
from ciphermark_present.catalogue.times import MATRIX
from ciphermark_present.listings import headings
from ciphermark_present.listings.overview import MARKS
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, printed
from ciphermark_present.listings.ranking import UNPAIRED
from ciphermark_present.query import Row

FIGURES = (REPETITIONS, replace(MATRIX, subject=subject.REPETITION))
_ABOUT_MARKS = "≈ no difference"
_VECTOR = ("data_pattern", "ciphertexts", "threads")


@dataclass(frozen=True, slots=True)
class Against:
    """A time as a multiple of the fastest one's; ``ratio`` is ``None`` where there is no time."""

    fastest: Row
    ratio: Estimate | None
    is_paired: bool


def tables(
    answers: Sequence[Sequence[Row]], any_security: bool, has_intervals: bool = True
) -> Iterator[Printed]:
    """A table per scheme, operation, division, vector and security level by the 2018 table; of all levels in *best*,
    where what was asked for is compared, and with ``any_security``. ``answers`` are those of :data:`FIGURES`.
    """
    known = parameters.with_apart(
        list(_joined(*answers)), lambda row: (_table(row, any_security), *_given(row))
    )
    rows = sorted(known, key=lambda row: (_table(row, any_security), row["apart"], *_in_table(row)))
    for same in grouped(rows, lambda row: (_table(row, any_security), row["apart"])):
        first = same[0]
        title = f"{first['label']} in a row · {first['scheme']} · security {headings.levels(same)}"
        own = headings.message(same)
        marks = "" if has_intervals else _ABOUT_MARKS
        about = ", ".join(
            filter(None, ("total time of n operations in a row", headings.vector(same), own, marks))
        )
        yield _printed(title, about, same, has_intervals)


def contests(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of a table, in groups whose times are compared with each other. Pure.

    One group per number of operations. Where the suite gave some variant several ring dimensions for it, the ring
    dimension is what it varies: then each that was given has a group of its own, and so have the smallest ones.
    """
    found: dict[tuple[Any, ...], list[Row]] = {}
    for repetitions, group in groupby(rows, key=lambda row: row["repetitions"]):
        same = list(group)
        given = [
            (row["variant"], row["ring_dimension"]) for row in same if not row["ring_dimension_is_minimum"]
        ]
        is_varied = len({variant for variant, _ in given}) < len(set(given))
        for row in same:
            ring = row["ring_dimension"] if is_varied and not row["ring_dimension_is_minimum"] else None
            found.setdefault((repetitions, ring), []).append(row)
    return [_fastest_first(group) for _, group in sorted(found.items(), key=_order)]


def against_fastest(group: Sequence[Row]) -> list[Against]:
    """Every row of a group against its first. Pure.

    The ratio is the database's, pair by pair, where it compared the two; otherwise it has the conservative interval
    of medians that were not taken in turns.
    """
    fastest = group[0]
    return [_one_against(row, fastest) for row in group]


def _one_against(row: Row, fastest: Row) -> Against:
    if row["median"] is None:
        return Against(fastest, None, False)
    is_known = (
        row["comparison_key"] == fastest["comparison_key"] and row["fastest_variant"] == fastest["variant"]
    )
    if is_known and row["is_paired"]:
        known = Estimate(row["n"], row["ratio"], row["ratio_low"], row["ratio_high"])
        return Against(fastest, known, True)
    return Against(fastest, ratio_of(_estimate(row), _estimate(fastest)), False)


def _estimate(row: Row) -> Estimate:
    return Estimate(row["n"], row["median"], row["ci_low"], row["ci_high"])


def _fastest_first(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["median"] is None, row["median"] or 0.0, row["variant"]))


def _order(item: tuple[tuple[Any, ...], list[Row]]) -> tuple[int, int]:
    (repetitions, ring), _ = item
    return repetitions, ring or 0


def _joined(rows: Sequence[Row], ranks: Sequence[Row]) -> Iterator[Row]:
    """Every row that has parameters, with the ratio that the database has of its case."""
    ratio_of_case = {row["case_key"]: row for row in ranks if row["rank"] is not None}
    for row in rows:
        if row["security_2018"] is not None:
            found = ratio_of_case.get(row["case_key"]) if row["status"] == "ok" else None
            yield {**row, **_ratio(found or {})}


def _ratio(row: Row) -> Row:
    return {
        "fastest_variant": row.get("fastest_variant"),
        "ratio": row.get("ratio"),
        "ratio_low": row.get("ci_low"),
        "ratio_high": row.get("ci_high"),
        "is_paired": bool(row.get("is_paired")),
    }


def _table(row: Row, any_security: bool) -> tuple[Any, ...]:
    level = 0 if any_security or row["division"] == "best" else -row["security_2018"]
    return row["scheme"], row["label"], row["division"], level, *(row[name] for name in _VECTOR)


def _given(row: Row) -> tuple[Any, ...]:
    """What cases of one table are varied by."""
    is_minimum = row["ring_dimension_is_minimum"]
    return row["repetitions"], None if is_minimum else row["ring_dimension"]


def _in_table(row: Row) -> tuple[Any, ...]:
    return (
        row["repetitions"],
        not row["ring_dimension_is_minimum"],
        absent_last(row["median"]),
        row["variant"],
    )


def _printed(title: str, about: str, rows: Sequence[Row], has_intervals: bool) -> Printed:
    """Contest by contest, the fastest first."""
    found = [
        {**row, "against": against}
        for group in contests(rows)
        for against, row in zip(against_fastest(group), group, strict=True)
    ]
    columns = [
        (Head("n", True), lambda row: str(row["repetitions"])),
        of(VARIANT),
        of(N),
        (Head(""), lambda row: "smallest" if row["ring_dimension_is_minimum"] else "given"),
        of(LOG_QP),
        *(of(column) for column in headings.LEVELS if not headings.is_shared(column, rows)),
        (Head("time", True), lambda row: _time(row)[0]),
        *[(Head("95 % interval", True), lambda row: _time(row)[1])] * has_intervals,
        (Head("× fastest", True), lambda row: _mark(row, has_intervals) + _against_fastest(row)[0]),
        *[(Head("95 % interval", True), lambda row: _against_fastest(row)[1])] * has_intervals,
        of(PEAK),
        (Head("left", True), lambda row: formats.brief_quantity(row["bits_left"], "bits")),
        (Head("", is_prose=True, is_remark=True), _remark),
    ]
    return printed(title, about, columns, found, once=1)


def _time(row: Row) -> tuple[str, str]:
    if row["against"].ratio is None:
        return row["status"], ""
    return formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"])


def _against_fastest(row: Row) -> tuple[str, str]:
    against = row["against"]
    if against.ratio is None:
        return "", ""
    if _is_fastest(row):
        return "1", ""
    ratio = against.ratio
    return formats.brief_digits(ratio.median), formats.interval(ratio.low, ratio.high)


def _mark(row: Row, has_intervals: bool) -> str:
    """Where no interval stands beside it, what it says of a difference."""
    ratio = row["against"].ratio
    if has_intervals or ratio is None or _is_fastest(row):
        return ""
    return MARKS.get(verdict(ratio), "")


def _is_fastest(row: Row) -> bool:
    fastest = row["against"].fastest
    return bool(row["case_key"] == fastest["case_key"])


def _remark(row: Row) -> str:
    """Parameters stand in the row; only unequal security has to be said where levels are compared, and that pairs are
    missing.
    """
    against = row["against"]
    if against.ratio is None or _is_fastest(row):
        return ""
    told = [] if against.is_paired else [UNPAIRED]
    if row["division"] != "best" and row["security_2018"] != against.fastest["security_2018"]:
        told.append("unequal security")
    return ", ".join(told)
