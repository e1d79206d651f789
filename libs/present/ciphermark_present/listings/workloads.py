"""Workloads of families that have no table of their own: every metric of stages, and where their time goes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ciphermark_present import formats, parameters
from ciphermark_present.catalogue.columns import VARIANT
from ciphermark_present.catalogue.inference import INFERENCES
from ciphermark_present.catalogue.layers import LAYERS
from ciphermark_present.catalogue.retrieval import RETRIEVALS
from ciphermark_present.catalogue.workloads import MEDIAN, METRIC, WORKLOADS
from ciphermark_present.listings import headings
from ciphermark_present.listings.printed import Head, Printed, absent_last, grouped, of, printed, told_once
from ciphermark_present.query import Row

FIGURES = (WORKLOADS,)
PARTS = "where the time goes: each party, each of its steps, and the transfer; what is checked is in no sum"
_OWN = (RETRIEVALS, INFERENCES, LAYERS)  # of families with a table of their own beside these
_PLACE = ("experiment", "operation", "options", "data_set", "size", "threads", "scheme")


def tables(
    answers: Sequence[Sequence[Row]], any_security: bool, titles: Mapping[str, str]
) -> Iterator[Printed]:
    """Two tables per workload, options, data, threads, scheme and security level by the 2018 table, or of all levels
    with ``any_security``: the metrics of stages, and the times of their parts. ``answers`` are those of
    :data:`FIGURES`; ``titles`` tell workloads in words.
    """
    (rows,) = answers
    measured = parameters.with_apart(
        [row for row in rows if row["metric"] is not None and not _is_told(row)],
        lambda row: (_table(row, any_security), row["ring_dimension"]),
    )
    known = sorted(measured, key=lambda row: (_table(row, any_security), row["apart"]))
    for same in grouped(known, lambda row: (_table(row, any_security), row["apart"])):
        name = same[0]["operation"]
        title = f"{name}: {titles[name]}" if name in titles else name
        told = f"{headings.heading(same)} · {_input(same[0])}, {headings.threads(same[0])}"
        columns = [
            (Head("stage"), lambda row: row["stage"]),
            (of(METRIC)[0], _metric),
            of(VARIANT),
            *map(of, headings.columns(same)),
            of(MEDIAN),
            (Head("95 % interval", True), _interval),
        ]
        yield printed(f"{title} · {same[0]['experiment']}", told, columns, _whole(same), once=2)
        parts = [row for row in same if row["part"] and row["metric"] == "time"]
        if parts:
            yield _parts(parts)


def _is_told(row: Row) -> bool:
    """Whether a metric of its family is in the family's own table."""
    return any(
        figure.subject is not None
        and figure.subject.covers(row["experiment"])
        and row["metric"] in {column.name for column in figure.columns}
        for figure in _OWN
    )


def _whole(rows: Sequence[Row]) -> list[Row]:
    """Of each metric the value of the whole stage; where it has none, as of peaks, those of its parts."""
    whole = {(row["stage"], row["metric"]) for row in rows if not row["part"]}
    return [row for row in rows if not row["part"] or (row["stage"], row["metric"]) not in whole]


def _metric(row: Row) -> str:
    return f"{METRIC.brief_cell(row)}, {row['part']}" if row["part"] else METRIC.brief_cell(row)


def _parts(rows: Sequence[Row]) -> Printed:
    """A line per part, the longest first, and a column per variant, or case where a variant has several."""
    cases = {row["case_key"]: row for row in rows}
    several = {row["variant"] for row in cases.values()}
    lines = {(row["stage"], row["part"]): dict[str, Row]() for row in rows}
    for row in rows:
        lines[row["stage"], row["part"]][row["case_key"]] = row
    ordered = sorted(
        lines, key=lambda place: (place[0], -max(row["median"] for row in lines[place].values()))
    )
    heads = [
        Head(
            row["variant"] if len(several) == len(cases) else f"{row['variant']} {row['ring_dimension']}",
            True,
        )
        for row in cases.values()
    ]
    texts = [
        (*place, *(formats.seconds(line[key]["median"]) if key in line else "" for key in cases))
        for place in ordered
        for line in [lines[place]]
    ]
    return Printed("", PARTS, (Head("stage"), Head("part"), *heads), told_once(texts, 1), keys=2)


def _input(row: Row) -> str:
    """What is computed on: the options; without any, how many numbers."""
    return str(row["options"]) if row["options"] else formats.values(row["size"])


def _table(row: Row, any_security: bool) -> tuple[Any, ...]:
    level = None if any_security or row["security_2018"] is None else -row["security_2018"]
    return (*absent_last(*(row[name] for name in _PLACE), first=True), *absent_last(level))


def _interval(row: Row) -> str:
    """Of times, in the unit of the median."""
    if row["unit"] != "s":
        return ""
    return formats.time_with_interval(row["median"], row["ci_low"], row["ci_high"])[1]
