"""The figure of consecutive operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ciphermark_analysis.comparison import security_differences
from ciphermark_analysis.estimates import Estimate, ratio_of, verdict
from ciphermark_core.security import COMPARED_BY
from ciphermark_present import charting, formats, headings, parameters, sentences, subject
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    DISTURBED,
    INTERVAL,
    LOG_QP,
    PEAK,
    RANKED,
    REASON,
    SECURITY_2018,
    SIZE,
    STATUS,
    VARIANT,
    N,
    disturbance,
)
from ciphermark_present.catalogue.ranking import MARKS, MEANINGS, UNPAIRED
from ciphermark_present.catalogue.times import MATRIX
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import Column, Figure, Layout
from ciphermark_present.formats import seconds
from ciphermark_present.plots import Places, Value, lines
from ciphermark_present.printed import Cells, Head, Wanted, absent_last, of, present
from ciphermark_present.query import Row


def draw_repetitions(rows: Sequence[Row]) -> Chart | None:
    """Total time of consecutive operations on a full vector, one small chart per scheme, operation and tuning. Lines of
    one variant differ in the choice of N, by dashes.
    """
    measured = [row for row in rows if row["median"] is not None]
    full = [
        row
        for label in dict.fromkeys(row["label"] for row in measured)
        for row in charting.fullest([row for row in measured if row["label"] == label])
    ]
    cases = charting.with_ends(_named(full), "median")
    if not cases:
        return None
    has_choices = len({row["dash"] for row in cases}) > 1
    axis = charting.seconds(row[name] for row in cases for name in ("median", "from", "to"))
    x = alt.X(
        "repetitions:Q",
        title="Consecutive operations",
        scale=charting.count_scale(),
        axis=charting.whole_axis(),
    )
    value = Value(
        "median",
        None,
        axis,
        ["repetitions:Q", charting.text_tip("median", "Median"), "ring_dimension:O"],
        columns=("repetitions", "ring_dimension"),
        written={"median": formats.seconds},
        has_ends=True,
    )
    places = Places(
        "repetitions",
        x,
        lambda count: f"{count:,} operations",
        dash="Ring dimension" if has_choices else "",
        has_own_axes=True,
    )
    return lines(cases, value, places)


def find_longest(rows: Sequence[Row]) -> str:
    """The longest executed sequence, and its fastest variant by the median."""
    timed = [row for row in rows if row["median"] is not None and not _is_disturbed(row)]
    if not timed:
        return ""
    most = max(row["repetitions"] for row in timed)
    best = min((row for row in timed if row["repetitions"] == most), key=lambda row: float(row["median"]))
    return f"{most:,} consecutive {best['operation']} take {seconds(best['median'])} with {best['variant']}"


def _named(rows: Sequence[Row]) -> list[Row]:
    """The rows, with the name of each one's chart (``panel``), how its N was chosen (``dash``), and its line."""
    choose = _by_ring if _is_ring_varied(rows) else _by_rule
    labels = parameters.apart(rows, lambda row: (*_place(row), row["repetitions"], choose(row)))
    is_divided = len({row["tuning"] for row in rows}) > 1
    return [
        {
            **row,
            "panel": charting.joined(
                row["label"], row["scheme"], f"{row['tuning']} tuning" if is_divided else "", label
            ),
            "dash": choose(row),
            "series": f"{row['variant']}, {choose(row)}",
        }
        for row, label in zip(rows, labels, strict=True)
    ]


def _place(row: Row) -> tuple[str, str, str]:
    return row["label"], row["scheme"], row["tuning"]


def _is_ring_varied(rows: Sequence[Row]) -> bool:
    """Whether the suite gave a variant several ring dimensions for the same number of operations."""
    given = {
        (*_place(row), row["repetitions"], row["variant"], row["ring_dimension"])
        for row in rows
        if not row["ring_dimension_is_minimum"]
    }
    return len({place[:-1] for place in given}) < len(given)


def _by_ring(row: Row) -> str:
    return "smallest secure N" if row["ring_dimension_is_minimum"] else f"N = {row['ring_dimension']}"


def _by_rule(row: Row) -> str:
    return "smallest secure N" if row["ring_dimension_is_minimum"] else "given N"


def tell_repetitions(every: Sequence[Row], parameters: Row) -> Iterator[str]:
    """The longest executed sequence of each operation, and the fastest variant by its median."""
    timed = [row for row in every if row["median"] is not None and not _is_disturbed(row)]
    texts = []
    for rows in sentences.by(timed, "operation"):
        longest = max(row["repetitions"] for row in rows)
        best = min(
            (row for row in rows if row["repetitions"] == longest), key=lambda row: float(row["median"])
        )
        where = f"{best['variant']}, N = {best['ring_dimension']}"
        texts.append(f"{longest:,} {best['operation']} in {seconds(best['median'])} ({where})")
    if texts:
        yield (
            f"Longest sequence of consecutive operations, {sentences.place(parameters)}, fastest variant: "
            f"{'; '.join(texts)}."
        )


@dataclass(frozen=True, slots=True)
class Against:
    """A time as a multiple of the fastest one's; ``ratio`` is ``None`` without a time."""

    fastest: Row
    ratio: Estimate | None
    is_paired: bool


def contests(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of a table, in groups whose times are compared with each other. Pure.

    One group per number of operations. Where the suite gave a variant several ring dimensions for that number, each of
    them has a group of its own. The smallest ones are then a group, too.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for repetitions, group in groupby(rows, key=lambda row: row["repetitions"]):
        same = list(group)
        given = [
            (row["variant"], row["ring_dimension"]) for row in same if not row["ring_dimension_is_minimum"]
        ]
        is_varied = len({variant for variant, _ in given}) < len(set(given))
        for row in same:
            ring = row["ring_dimension"] if is_varied and not row["ring_dimension_is_minimum"] else None
            groups.setdefault((repetitions, ring), []).append(row)
    return [_fastest_first(group) for _, group in sorted(groups.items(), key=_in_order)]


def against_fastest(group: Sequence[Row]) -> list[Against]:
    """Every row of a group against its first. Pure.

    The ratio is the database's, pair by pair, where it compared the two; otherwise it has the interval of medians that
    were not interleaved.
    """
    fastest = group[0]
    return [_one_against(row, fastest) for row in group]


def _one_against(row: Row, fastest: Row) -> Against:
    if row["median"] is None:
        return Against(fastest, None, False)
    is_known = (
        row["comparison_group"] == fastest["comparison_group"]
        and row["fastest_variant"] == fastest["variant"]
    )
    if is_known and row["is_paired"]:
        estimate = Estimate(row["n"], row["ratio"], row["ratio_low"], row["ratio_high"])
        return Against(fastest, estimate, True)
    return Against(fastest, ratio_of(_estimate(row), _estimate(fastest)), False)


def _estimate(row: Row) -> Estimate:
    return Estimate(row["n"], row["median"], row["ci_low"], row["ci_high"])


def _fastest_first(rows: list[Row]) -> list[Row]:
    """The rows by their medians; rows with disturbed samples only, and rows without a time, come last."""
    return sorted(
        rows,
        key=lambda row: (row["median"] is None, _is_disturbed(row), row["median"] or 0.0, row["variant"]),
    )


def _is_disturbed(row: Row) -> bool:
    return row["undisturbed_share"] == 0 and row["slowdown"] is None


def _in_order(item: tuple[tuple[Any, ...], list[Row]]) -> tuple[int, int]:
    (repetitions, ring), _ = item
    return repetitions, ring or 0


def _joined(answers: Sequence[Sequence[Row]], _: Wanted) -> list[Row]:
    """Every row with parameters, with the database's ratio for its case."""
    rows, ranks = answers
    ratio_of_case = {row["case_key"]: row for row in ranks if row["rank"] is not None}
    return [
        {**row, **_ratio(ratio_of_case.get(row["case_key"], {}) if row["status"] == "ok" else {})}
        for row in rows
        if row["security_2018"] is not None
    ]


def _ratio(row: Row) -> Row:
    return {
        "fastest_variant": row.get("fastest_variant"),
        "ratio": row.get("ratio"),
        "ratio_low": row.get("ci_low"),
        "ratio_high": row.get("ci_high"),
        "is_paired": bool(row.get("is_paired")),
    }


def _in_table(row: Row) -> tuple[Any, ...]:
    is_given = not row["ring_dimension_is_minimum"]
    return row["repetitions"], is_given, absent_last(row["median"]), row["variant"]


def _contested(rows: Sequence[Row]) -> list[Row]:
    """The rows, group by group, the fastest first, each compared with the fastest."""
    return [
        {**row, "against": against}
        for group in contests(rows)
        for against, row in zip(against_fastest(group), group, strict=True)
    ]


def _time(row: Row) -> tuple[str, str]:
    if row["against"].ratio is None:
        return row["status"], ""
    time, interval = formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"])
    return disturbance(_is_disturbed(row)) + time, interval


def _against_fastest(row: Row) -> tuple[str, str]:
    against = row["against"]
    if against.ratio is None:
        return "", ""
    if _is_fastest(row):
        return formats.ratio(1.0), ""
    ratio = against.ratio
    return formats.ratio(ratio.median), formats.ratio_interval(ratio.low, ratio.high)


def _mark(row: Row) -> str:
    """The mark for the ratio's interval, where the interval is not printed."""
    ratio = row["against"].ratio
    return "" if ratio is None or _is_fastest(row) else MARKS.get(verdict(ratio), "")


def _is_fastest(row: Row) -> bool:
    fastest = row["against"].fastest
    return bool(row["case_key"] == fastest["case_key"])


def _remark(row: Row) -> str:
    """The remark on a row. Its parameters have columns; only unequal security, where levels are compared, and missing
    pairs need a remark.
    """
    against = row["against"]
    if against.ratio is None or _is_fastest(row):
        return ""
    parts = [] if against.is_paired else [UNPAIRED]
    if row["tuning"] != "recommended" and security_differences(row, against.fastest):
        parts.append("unequal security")
    return ", ".join(parts)


def _listed(rows: Sequence[Row], wanted: Wanted) -> Iterator[Cells]:
    has_intervals = wanted.is_detailed

    def times_fastest(row: Row) -> str:
        return ("" if has_intervals else _mark(row)) + _against_fastest(row)[0]

    yield Head("n", True), lambda row: str(row["repetitions"])
    yield of(VARIANT)
    yield of(N)
    yield Head(""), lambda row: "smallest-secure" if row["ring_dimension_is_minimum"] else "given"
    yield of(LOG_QP, drop=2)
    yield from (of(column) for column in headings.LEVELS if not headings.is_shared(column, rows))
    yield Head("time", True), lambda row: _time(row)[0]
    if has_intervals:
        yield Head("95% interval", True, drop=3), lambda row: _time(row)[1]
    yield Head("× fastest", True), times_fastest
    if has_intervals:
        yield Head("95% interval", True, drop=4), lambda row: _against_fastest(row)[1]
    yield of(PEAK, drop=1)
    yield Head("remaining", True, drop=1), lambda row: formats.brief_quantity(row["remaining_bits"], "bits")
    yield from present([(Head("note", is_prose=True), _remark)], _contested(rows))


def _about(rows: Sequence[Row], wanted: Wanted) -> str:
    own = (headings.vector(rows), headings.message(rows))
    about = ", ".join(filter(None, ("Total time of n consecutive operations", *own)))
    marks = {DISTURBED[0]} if any(map(_is_disturbed, rows)) else set()
    if not wanted.is_detailed:
        marks |= {_mark(row) for row in _contested(rows)}
    return ". ".join((about, *(meaning for meaning in MEANINGS if meaning[0] in marks)))


LAYOUT = Layout(
    others=(replace(MATRIX, subject=subject.REPETITION),),
    rows=_joined,
    table=("scheme", "label", "tuning", "data_pattern", "ciphertexts", "threads"),
    is_recommended_mixed=True,
    varied=lambda row: (
        row["repetitions"],
        None if row["ring_dimension_is_minimum"] else row["ring_dimension"],
    ),
    order=_in_table,
    title=lambda rows, _: (
        f"{rows[0]['scheme'].upper()}, consecutive {rows[0]['label']}. Security: {headings.levels(rows)}"
    ),
    about=_about,
    columns=_listed,
    shown=_contested,
    place=20,
    is_main=True,
)
REPETITIONS = Figure(
    name="repetitions",
    title="Time of consecutive operations",
    lead="Median total time of consecutive operations, by their number.",
    reading=(
        "N is the smallest that is secure for the modulus chain, and also the given N if the suite names one."
        " Time has a logarithmic axis once it spans a factor of 10."
    ),
    view="repetitions",
    subject=subject.REPETITION,
    may_lack=tuple(COMPARED_BY.values()),
    order="label, repetitions, vector_length, ring_dimension_is_minimum desc, median nulls last, variant",
    tell=tell_repetitions,
    finding=find_longest,
    chart=draw_repetitions,
    printed=(LAYOUT,),
    columns=(
        RANKED,
        columns.count("repetitions", "Operations"),
        VARIANT,
        N,
        replace(SIZE, detail=5),
        Column("ring_dimension_is_minimum", "Smallest secure N", formats.yes, detail=3),
        replace(STATUS, detail=4),
        columns.seconds("median", "Total time"),
        INTERVAL,
        PEAK,
        Column("remaining_bits", "Noise budget or precision", formats.bits, is_number=True),
        *columns.opened(LOG_QP, SECURITY_2018, REASON),
    ),
)
