"""The figure of the cost of operations against the level of their operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ciphermark_present import charting, formats, labels, parameters, plots, sentences, subject
from ciphermark_present.catalogue import columns
from ciphermark_present.catalogue.columns import (
    BUILD,
    CHAIN,
    INTERVAL,
    LEVEL,
    LOG_QP,
    RANKED,
    SECURITY_2018,
    SECURITY_2024,
)
from ciphermark_present.charting import Chart, alt
from ciphermark_present.figure import FILTERS, Column, Figure
from ciphermark_present.plots import Places, Value
from ciphermark_present.printed import Cells, Head, Printed, printed
from ciphermark_present.query import Row, is_disturbed

_WIDTH = 480
_MOST_ROOM = 0.5  # of the width, for names
_WRITTEN = dict.fromkeys(("median", "from", "to"), formats.seconds)


def draw_costs(rows: Sequence[Row]) -> Chart | None:
    """Time against level, one small chart for each operation, the slowest first. A line joins the levels of a variant
    and ends with its name at the top level.
    """
    points = charting.with_ends(_paneled(rows), "median")
    if not points:
        return None
    axis = charting.seconds(row[name] for row in points for name in ("median", "from", "to"))
    labeled = [
        alt.Tooltip("level:Q", title="Level"),
        charting.text_tip("median", "Median"),
        charting.text_tip("from", "95% from"),
        charting.text_tip("to", "to"),
    ]
    value = Value("median", None, axis, labeled, written=_WRITTEN, has_ends=True)
    return plots.lines(points, value, Places("level", _x(points), _at_level, width=_WIDTH))


def _paneled(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows with a time, each with the name of its small chart: the operation, and what else differs."""
    timed = [row for row in rows if row["median"]]
    words = parameters.apart(timed, lambda row: (row["label"], row["level"], row["variant"]))
    named = [
        {**row, "panel": charting.joined(row["label"], text)} for row, text in zip(timed, words, strict=True)
    ]
    slowest = {
        row["panel"]: max(each["median"] for each in named if each["panel"] == row["panel"]) for row in named
    }
    return sorted(named, key=lambda row: (-slowest[row["panel"]], row["panel"], row["variant"], row["level"]))


def _x(points: Sequence[Row]) -> alt.X:
    """An axis of levels, linear and with room for names on its right."""
    top = max(row["level"] for row in points) or 1
    share = min(_MOST_ROOM, (max(len(row["variant"]) for row in points) + 1) * labels.CHARACTER / _WIDTH)
    return alt.X(
        "level:Q",
        title="Level",
        scale=alt.Scale(domain=[0, top / (1 - share)], nice=False, padding=12),
        axis=alt.Axis(values=[*range(0, top + 1, -(-top // 10))], format="d", grid=False),
    )


def _at_level(level: int) -> str:
    return f"level {level}"


def _ends(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """The lowest and the highest level of each operation and variant, the most expensive first."""
    timed = sentences.undisturbed(rows, "median")
    series = sentences.by(
        timed, "label", "variant", "ring_dimension", "modulus_bits", "tuning", "threads", "residency"
    )
    pairs = [tuple(choose(own, key=lambda row: int(row["level"])) for choose in (min, max)) for own in series]
    return sorted(
        ((low, high) for low, high in pairs if low["level"] < high["level"]),
        key=lambda pair: -pair[1]["median"],
    )


def finding(rows: Sequence[Row]) -> str:
    """The cost at both ends of the chain: of one operation in the fastest variant, of several the most expensive."""
    pairs = _ends(rows)
    if not pairs:
        return ""
    is_one = len({high["label"] for _, high in pairs}) == 1
    low, high = pairs[-1 if is_one else 0]
    return (
        f"{high['label']} takes {formats.seconds(high['median'])} at level {high['level']} and "
        f"{formats.seconds(low['median'])} at level {low['level']} ({high['variant']})"
    )


def tell(rows: Sequence[Row], chosen: Row) -> Iterator[str]:
    """The decrease from the top level to the lowest one, over operations and variants."""
    pairs = _ends(rows)
    if pairs:
        ratios = sorted(float(high["median"]) / float(low["median"]) for low, high in pairs)
        extent = " to ".join(dict.fromkeys(formats.ratio(each) for each in (ratios[0], ratios[-1])))
        yield f"{sentences.place(chosen)}: the highest level costs {extent} as much as the lowest."


def _cell(row: Row) -> str:
    if row["median"] is None:
        return str(row["status"])
    return columns.disturbance(is_disturbed(row, "median")) + formats.seconds(row["median"])


def _of_top(row: Row) -> str:
    top = row.get("top_level")
    return str(row["level"]) if top is None else f"{row['level']} of {top}"


_PLACE = ("label", "scheme", "ring_dimension", "level", "threads", "residency")
_HEADS = {
    "label": (Head("operation"), lambda row: row["label"]),
    "scheme": (Head("scheme"), lambda row: row["scheme"].upper()),
    "ring_dimension": (Head("N", is_number=True), lambda row: str(row["ring_dimension"])),
    "level": (Head("level", is_number=True), _of_top),
    "threads": (Head("threads", is_number=True), lambda row: str(row["threads"])),
    "residency": (Head("operands"), lambda row: row["residency"] or "by turns"),
}
_STATED: Mapping[str, Callable[[Row], str]] = {
    "ring_dimension": lambda row: f"N = {row['ring_dimension']}",
    "level": lambda row: f"level {_of_top(row)}",
    "threads": lambda row: f"{row['threads']} thread{'s' if row['threads'] > 1 else ''}",
    "residency": lambda row: f"{row['residency']} operands",
}


def place(row: Row) -> str:
    """What a cost is of, in words, as far as the row has it."""
    named = (name for name in _PLACE if row.get(name) is not None)
    return ", ".join(_STATED.get(name, _HEADS[name][1])(row) for name in named)


def table(rows: Sequence[Row]) -> Printed:
    """Costs for a terminal or a paper: the title states what all rows share. Pure."""
    own = [name for name in _PLACE if len({_HEADS[name][1](row) for row in rows}) > 1]
    title = place({name: value for name, value in rows[0].items() if name not in own})
    heads = [_HEADS[name] for name in own]
    words = parameters.apart(rows, lambda row: tuple(row[name] for name in (*_PLACE, "variant")))
    labeled = [{**row, "apart": text} for row, text in zip(rows, words, strict=True)]
    cells: list[Cells] = [
        *heads,
        (Head("library"), lambda row: row["variant"]),
        (Head("median", is_number=True), _cell),
        (Head("95% interval", is_number=True), _bounds),
        (Head("security (2018)", drop=1), lambda row: formats.level(row["security_2018"])),
        (Head("(2024)", drop=1), lambda row: formats.level(row["security_2024"])),
        (Head("log QP", is_number=True, drop=2), lambda row: formats.rounded(row["log_qp"])),
    ]
    if any(words):
        cells.append((Head("parameters", is_prose=True), lambda row: row["apart"]))
    marks = (columns.DISTURBED,) * any(is_disturbed(row, "median") for row in rows)
    return replace(printed(title, "", cells, labeled, max(0, len(own) - 1)), legend=marks)


def _bounds(row: Row) -> str:
    if row["ci_low"] is None:
        return "too few samples"
    return formats.interval_of(row["median"], row["ci_low"], row["ci_high"])


def nearest(rows: Sequence[Row], wanted: Row, most: int = 6) -> list[Row]:
    """The measured costs nearest to what was wanted: equal columns first, then N, then level."""

    def distance(row: Row) -> tuple[float, float, float]:
        others = sum(wanted.get(name) not in (None, row[name]) for name in ("scheme", "threads", "residency"))
        ring = (
            abs(math.log2(row["ring_dimension"] / wanted["ring_dimension"]))
            if wanted.get("ring_dimension")
            else 0
        )
        level = abs(row["level"] - wanted["level"]) if wanted.get("level") is not None else 0
        return others, ring, level

    return sorted(rows, key=distance)[:most]


COSTS = Figure(
    name="costs",
    title="Cost against level",
    lead="Median time of one execution by the level of its operands; whiskers are 95% intervals.",
    reading=(
        "A level is the number of data primes left, less one: a rescaling or modulus switch takes one. Fresh "
        "ciphertexts have the top level. An operation at a lower level computes with fewer primes, and circuits spend "
        "most of their time there. Operations that consume a level have no time at level 0. Cached operands are the "
        "same in each execution; streamed ones come from a pool of four times the last-level cache. All levels of a "
        "variant share one chain, and thus its security."
    ),
    on_page="For the table of one library, choose its variant and download CSV.",
    view="costs",
    subject=subject.OPERATION,
    narrowed_by=FILTERS,
    may_lack=("residency",),
    order="label, ring_dimension, level desc, median, variant",
    tell=tell,
    finding=finding,
    chart=draw_costs,
    is_table_open=True,
    printed=(),
    covers_levels=True,
    columns=(
        RANKED,
        BUILD,
        LEVEL,
        Column("top_level", "Top level", formats.text, is_number=True, detail=5),
        columns.compared(columns.seconds("median", "Median")),
        INTERVAL,
        *columns.opened(
            CHAIN, columns.count("n", "Samples"), columns.UNDISTURBED, LOG_QP, SECURITY_2018, SECURITY_2024
        ),
    ),
    empty="No operation has a time at chosen levels: the suite primitives has.",
)
