"""The look of all charts: one configuration of Vega-Lite for light and one for dark. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FONT = "Inter, system-ui, sans-serif"
LEAST_PX = 12  # of texts
_LABEL_LIMIT_PX = 420
# Colours of libraries on a light ground, and their counterparts on a dark one.
IN_THE_DARK = {
    "#0072B2": "#4FA8E8",
    "#D55E00": "#F58B44",
    "#009E73": "#30C297",
    "#CC79A7": "#E79FC8",
    "#8C6D00": "#C9A63A",
    "#0E8A9E": "#45BFD0",
    "#5B4FC4": "#A79FF2",
    "#0B5CAD": "#7AB8FF",
    "#C9CED5": "#3A424B",
    "#B4BBC4": "#4A535D",
    "#FFFFFF": "#101317",
    "#16191D": "#E9EBEE",
}
# Parts of a stack: the one that matters, and the others in turn.
ACCENT, GREYS = "#0B5CAD", ("#C9CED5", "#B4BBC4")
ON_ACCENT, ON_GREY = "#FFFFFF", "#16191D"  # texts on them
INSIDE = "#FFFFFF"  # of a hollow mark: of a case with other parameters, or not sampled alternately
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_PALE = 0.45  # the share of white that the dark theme adds to a colour without a counterpart


@dataclass(frozen=True, slots=True)
class Ground:
    """The colours of a theme that belong to no library."""

    ground: str
    text: str
    muted: str
    grid: str
    line: str
    band: str


LIGHT = Ground("#ffffff", "#16191d", "#5b636d", "#eceef1", "#c9ced5", "#eef0f3")
DARK = Ground("#101317", "#e9ebee", "#a5adb7", "#20262c", "#3a424b", "#1c2229")
# Marks of these styles have the theme's colours.
UNITY = "unity"  # a line at the ratio 1
BAND = "band"  # the range without a significant difference
TEXT = "label"  # a text next to a mark
COUNT = "count"  # the ground of a number, as dark as the number is large
ADDRESS = "href"  # the column with the address of a row's case
VARIANTS = "Variant"  # the title of colours and shapes of libraries
PART = "part"  # a part of a whole
REST = "rest"  # the rest of a whole


def configuration(ground: Ground) -> dict[str, Any]:
    """The configuration of Vega-Lite for a theme."""
    texts = {"labelColor": ground.text, "titleColor": ground.muted, "titleFontWeight": 500}
    sizes = {"labelFontSize": LEAST_PX, "titleFontSize": LEAST_PX}
    lines = {"gridColor": ground.grid, "domainColor": ground.line, "tickColor": ground.line}
    # Vega's default of 5 pixels between the title of a legend and its first symbol is too narrow.
    legend = {"orient": "top", "titleOrient": "left", "titlePadding": 12, "symbolLimit": 0}
    title = {"color": ground.text, "fontSize": 13, "fontWeight": 500, "anchor": "start"}
    return {
        "background": ground.ground,
        "font": FONT,
        "axis": {**texts, **sizes, **lines, "labelLimit": _LABEL_LIMIT_PX},
        "legend": {**texts, **sizes, **legend},
        "header": {
            "labelColor": ground.text,
            "labelFontSize": 13,
            "labelFontWeight": 600,
            "labelAnchor": "start",
        },
        "title": {**title, "subtitleColor": ground.muted, "subtitleFontSize": LEAST_PX},
        "text": {"color": ground.text, "fontSize": LEAST_PX},
        "view": {"stroke": "transparent", "continuousWidth": 300, "continuousHeight": 300},
        "style": {
            UNITY: {"color": ground.muted, "strokeDash": [4, 3]},
            BAND: {"color": ground.band},
            TEXT: {"color": ground.text, "fontSize": LEAST_PX},
            COUNT: {"color": ground.muted},
            PART: {"color": ground.band, "stroke": ground.line, "strokeWidth": 1},
            REST: {"color": ground.ground, "stroke": ground.line, "strokeWidth": 1, "strokeDash": [3, 3]},
        },
    }


def linked(specification: dict[str, Any]) -> dict[str, Any]:
    """A chart whose marks lead to their cases: those with a tooltip, where rows have addresses."""
    values = specification.get("data", {}).get("values", [])
    if not any(ADDRESS in row for row in values):
        return specification
    return {name: part if name == "data" else _with_links(part) for name, part in specification.items()}


def _with_links(part: Any) -> Any:
    if isinstance(part, list):
        return [_with_links(each) for each in part]
    if not isinstance(part, dict):
        return part
    changed = {name: _with_links(each) for name, each in part.items()}
    if "tooltip" in changed:
        changed[ADDRESS] = {"field": ADDRESS, "type": "nominal"}
    return changed


def legend(part: Any) -> list[str]:
    """The variants that a chart distinguishes by its legend alone; empty where marks or lines have names."""
    if isinstance(part, list):
        return next(filter(None, map(legend, part)), [])
    if not isinstance(part, dict):
        return []
    colour = part.get("encoding", {}).get("color", {})
    if colour.get("title") == VARIANTS and "legend" not in colour:
        return list(colour["scale"]["domain"])
    return legend([each for name, each in part.items() if name not in ("data", "config", "usermeta")])


def dressed(specification: dict[str, Any]) -> dict[str, Any]:
    """A chart in the light theme, with the dark theme in its ``usermeta``: the configuration, and the dark colours by
    the light ones. ``usermeta`` also has the ``legend`` that pages show once for all their charts.
    """
    drawn = {name: part for name, part in specification.items() if name not in ("config", "data")}
    colours = {colour: in_the_dark(colour) for colour in sorted(set(_colours(drawn)))}
    dark = {"config": configuration(DARK), "colours": colours}
    meta = {"dark": dark, "legend": legend(drawn)}
    return {**specification, "config": configuration(LIGHT), "usermeta": meta}


def in_the_dark(colour: str) -> str:
    """The dark counterpart of a colour on a light ground."""
    if colour.upper() in IN_THE_DARK:
        return IN_THE_DARK[colour.upper()]
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * _PALE):02X}" for part in parts)


def _colours(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _colours(each)
    elif isinstance(part, str) and _COLOUR.fullmatch(part):
        yield part
