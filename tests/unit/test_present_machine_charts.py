"""The charts of accelerators name their marks, and no name covers another one."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pytest

from ciphermark_benchmark import machine_comparison
from ciphermark_present import charting, labels
from ciphermark_present.catalogue import machine_charts

_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
PUBLISHED = machine_comparison.stored()


def specification(chart: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    made = chart.to_dict()
    return made["data"]["values"], made["spec"]


def axes(spec: dict[str, Any], x: str, y: str) -> list[dict[str, Any]]:
    encodings = [layer["encoding"] for layer in spec["layer"]]
    return [
        next(each[channel] for each in encodings if each.get(channel, {}).get("field") == column)
        for channel, column in (("x", x), ("y", y))
    ]


class Axis:
    """A scale of a specification, as charts have it."""

    def __init__(self, scale: dict[str, Any]) -> None:
        self.to_dict = lambda: scale


@pytest.mark.parametrize(
    ("chart", "x", "y"),
    [
        (machine_charts.compared(PUBLISHED["rows"]), "published_s", "predicted_s"),
        (machine_charts.roofline(PUBLISHED["rows"]), "balance", "share"),
    ],
)
def test_no_label_of_a_mark_covers_another(chart: Any, x: str, y: str) -> None:
    values, spec = specification(chart)
    across, up = ({"scale": Axis(each["scale"])} for each in axes(spec, x, y))
    boxes = []
    for row in values:
        if row.get("label"):
            at = (
                charting.from_left(row[x], across, spec["width"]) + row["dx"],
                charting.from_top(row[y], up, spec["height"]) + row["dy"],
            )
            boxes.append(labels.box((*at, _ANCHORS[row["align"]]), row["label"]))
    named = {row["name"] for row in values if row["name"]}
    assert len(boxes) >= 0.8 * len(named), "few marks are without a label"
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_the_roof_has_no_gap() -> None:
    values, _ = specification(machine_charts.roofline(PUBLISHED["rows"]))
    assert {row["roof"] == min(1.0, row["balance"]) for row in values} == {True}


def test_names_at_the_ends_of_sweeps_are_lines_apart() -> None:
    values, spec = specification(machine_charts.sweeps(PUBLISHED["sweeps"]))
    (up,) = {str(layer["encoding"]["y"]["scale"]): layer["encoding"]["y"] for layer in spec["layer"]}.values()
    ends = [row for row in values if row["label"]]
    assert len(ends) == len({(row["panel"], row["program"]) for row in values})
    for panel in {row["panel"] for row in values}:
        heights = sorted(
            charting.from_top(row["time_s"], {"scale": Axis(up["scale"])}) + row["dy"]
            for row in ends
            if row["panel"] == panel
        )
        assert all(low - high >= labels.LINE - 0.2 for high, low in pairwise(heights))


def test_every_mark_has_a_tooltip_with_its_name() -> None:
    for chart in (machine_charts.compared(PUBLISHED["rows"]), machine_charts.roofline(PUBLISHED["rows"])):
        _, spec = specification(chart)
        tips = [layer["encoding"]["tooltip"] for layer in spec["layer"] if "tooltip" in layer["encoding"]]
        assert [several[0]["field"] for several in tips] == ["name"]
