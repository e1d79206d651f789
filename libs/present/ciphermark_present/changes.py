"""Two runs as a page shows them: the verdict in a sentence, and a row for each result that changed. Pure.

Rows are those of the figure ``two-runs``, with merged operations (``comparing.said_once``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ciphermark_present import answers, formats, parameters, ratio_axis
from ciphermark_present.catalogue import comparing
from ciphermark_present.catalogue.comparing import GAINS, OPEN, REGRESSIONS, kind_of
from ciphermark_present.query import Row
from ciphermark_present.questions import words
from ciphermark_present.ratio_axis import THRESHOLD, Axis

_ON_THE_AXIS = ("s", "bytes")  # units of which less is better, and a ratio is a cost
_PILLS = {
    "regression": "▼ regression",
    "no regression": "no regression",
    "undecided": "undecided",
    "nothing compared": "not compared",
}
_SECTIONS = (("regression", REGRESSIONS), ("gain", GAINS), ("other change", ("changed",)))


@dataclass(frozen=True, slots=True)
class Change:
    """A result in both runs. ``ratio`` is run B to run A, with its ``interval``: above 1, B takes more. It is ``None``
    for results that have no place on an axis of costs, such as a noise budget or a failure.
    """

    row: Row
    apart: str = ""

    @property
    def variant(self) -> str:
        """Its library."""
        return str(self.row["variant"])

    @property
    def name(self) -> str:
        """The computation."""
        return computation(self.row)

    @property
    def place(self) -> str:
        """The conditions and the measure."""
        measure = " ".join(filter(None, (self.row["phase"], comparing.metric_label(self.row))))
        return ", ".join(filter(None, (conditions(self.row), self.apart, measure)))

    @property
    def kind(self) -> str:
        """The verdict without its reason."""
        return kind_of(self.row["verdict"])

    @property
    def reason(self) -> str:
        """The reason of the verdict, and the differences of parameters and hosts."""
        return "; ".join(filter(None, (self.row["verdict"].partition(": ")[2], self.row["remark"])))

    @property
    def values(self) -> str:
        """Both values."""
        a, b = (_value(self.row[f"{side}_median"], self.row["unit"] or "") for side in "ab")
        return f"{a} → {b}"

    @property
    def ratio(self) -> float | None:
        """Run B divided by run A."""
        is_cost = self.row["unit"] in _ON_THE_AXIS and (self.row["ratio"] or 0) > 0
        return float(self.row["ratio"]) if is_cost else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The simultaneous interval of the ratio; ``None`` where there is none."""
        low, high = self.row["ratio_low"], self.row["ratio_high"]
        return (low, high) if self.ratio is not None and low and high else None

    @property
    def is_hollow(self) -> bool:
        """Whether the runs resolved the case to other parameters."""
        return bool(self.row["a_parameter_set_id"] != self.row["b_parameter_set_id"])


@dataclass(frozen=True, slots=True)
class Section:
    """The results that changed in one direction, the largest change first."""

    title: str
    items: Sequence[Change]


def pill(rows: Sequence[Row]) -> tuple[str, bool]:
    """The conclusion in a word or two, and whether it is good."""
    conclusion = comparing.conclusion(rows)
    return _PILLS[conclusion], conclusion == "no regression"


def power(rows: Sequence[Row]) -> str:
    """The slowdowns that the comparison would find; empty without an interval."""
    whole = comparing.summary(rows)
    if whole.detectable_median is None or whole.detectable_largest is None:
        return ""
    typical, largest = map(comparing.percent, (whole.detectable_median, whole.detectable_largest))
    if typical == largest:
        return f"A slowdown of {typical} would be found."
    return f"A slowdown of {typical} would be found in half of the times, one of {largest} in all."


def sections(rows: Sequence[Row]) -> list[Section]:
    """The results that changed: regressions, then gains, then changes without a better direction."""
    changed = [(noun, of_kinds(rows, kinds)) for noun, kinds in _SECTIONS]
    return [
        Section(f"{len(items):,} {noun}{'' if len(items) == 1 else 's'}", items)
        for noun, items in changed
        if items
    ]


def of_kinds(rows: Sequence[Row], kinds: Sequence[str]) -> list[Change]:
    """The results with one of these verdicts, those without a ratio first, then by the size of the change."""
    own = [row for row in rows if kind_of(row["verdict"]) in kinds]
    labels = parameters.apart(own, lambda row: (row["operation"], row["repetitions"], conditions(row)))
    return sorted(map(Change, own, labels), key=_smallness)


def undecided(rows: Sequence[Row]) -> list[Change]:
    """The results without a decision."""
    return of_kinds(rows, OPEN)


def axis(items: Sequence[Change], threshold: float = THRESHOLD) -> Axis:
    """The common axis of rows; the band has the ``threshold``, a factor."""
    marks = [(each.ratio, *(each.interval or (None, None))) for each in items if each.ratio is not None]
    return ratio_axis.of_changes(marks, threshold)


def computation(row: Row) -> str:
    """The computation of a result in words."""
    times = "" if row["repetitions"] is None else f" × {row['repetitions']}"
    return words(row["operation"]).short + times


def conditions(row: Row) -> str:
    """Scheme, ring dimension, tuning and data of a result."""
    values = formats.values(row["vector_length"])
    parts = (
        row["scheme"].upper(),
        "recommended" if row["tuning"] == "recommended" else "",
        f"N = {row['ring_dimension']}",
        f"{values} of {row['data_set']}" if row["data_set"] else values,
        "" if row["data_pattern"] in (None, "random") or row["data_set"] else f"{row['data_pattern']} data",
        "" if row["threads"] == 1 else f"{row['threads']} threads",
    )
    return ", ".join(filter(None, parts))


def _value(value: float | None, unit: str) -> str:
    """A value with three significant digits; a dash for none."""
    if value is None:
        return formats.NOTHING
    write = {"s": answers.seconds, "bytes": answers.size}.get(unit)
    return write(value) if write else formats.brief_quantity(value, unit)


def _smallness(change: Change) -> tuple[bool, float, str]:
    ratio = change.row["ratio"] if change.row["ratio"] and change.row["ratio"] > 0 else None
    return ratio is not None, -abs(math.log(ratio or 1.0)), f"{change.name} {change.variant} {change.place}"
