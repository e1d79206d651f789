"""Charts in narrow pictures: labels of rows are above their marks, as ``stack`` in ``page.js`` has them. Pure."""

from __future__ import annotations

import copy
from typing import Any

from ciphermark_present.query import Row

_LABEL_PX = 20  # of a row's label above its marks
_MARK_PX = 14  # of one mark among those of a row
_MARKS_PX = 28  # of a row's marks on one line
_ASCENT_PX = 7  # from the middle of a label to its line


def stacked(specification: Row, width_px: float) -> dict[str, Any]:
    """The chart with the labels of its rows above their marks, so that its plot takes the whole width; as it is where
    it has no such rows, or cells of a table.
    """
    chart = copy.deepcopy(dict(specification))
    view = chart.get("spec", chart)
    parts = [part for part in view.get("layer", [view]) if "encoding" in part]
    rows = [part["encoding"]["y"] for part in parts if part["encoding"].get("y", {}).get("type") == "nominal"]
    if not rows or any(_kind(part) == "rect" and "y" in part["encoding"] for part in parts):
        return chart
    is_offset = any("yOffset" in part["encoding"] for part in parts)
    marks = (
        _MARK_PX * len({row.get("variant") for row in chart["data"]["values"]}) if is_offset else _MARKS_PX
    )
    padding = _LABEL_PX / (_LABEL_PX + marks)
    if isinstance(view.get("height", {}), dict):
        view["height"] = {"step": _MARK_PX if is_offset else _LABEL_PX + marks}
    else:
        view["height"] = (len(rows[0]["sort"]) + padding * is_offset) * (_LABEL_PX + marks)
    scale = (
        {f"bandWithNestedOffsetPadding{side}": padding for side in ("Inner", "Outer")} if is_offset else {}
    )
    above = (marks + _LABEL_PX) / 2 if is_offset else (_LABEL_PX + _MARKS_PX) / 2 - _ASCENT_PX
    config = chart["config"]
    labels = {"labelAlign": "left", "labelPadding": 0, "labelOffset": -above, "labelLimit": width_px}
    chart["config"] = {
        **config,
        "scale": {**config.get("scale", {}), **scale},
        "axisYBand": {**labels, "ticks": False, "domain": False, "tickSize": 0},
    }
    for row in rows:
        if row.get("axis"):
            row["axis"]["zindex"] = 1  # above bands
    if "facet" in chart:
        resolve = chart.get("resolve", {})
        chart["resolve"] = {**resolve, "axis": {**resolve.get("axis", {}), "y": "independent"}}
    return chart


def _kind(part: Row) -> str:
    mark = part["mark"]
    return str(mark["type"] if isinstance(mark, dict) else mark)
