"""Saved figures: charts as SVG, PNG and PDF with their title, measure and provenance inside; rows as CSV; SQL."""

from __future__ import annotations

import json
import math
import re
import subprocess
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import vl_convert
from markupsafe import escape

from ciphermark_core.controls import visible
from ciphermark_core.errors import UserError
from ciphermark_core.security import COMPARED_BY, LEVEL_BY
from ciphermark_dashboards import __version__, fonts, narrow, rendering
from ciphermark_dashboards.filters import Selection
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.store import NotFoundError, Store
from ciphermark_present import formats, theme
from ciphermark_present.query import Row

OPTIONS = ("width", "theme")  # of a picture, in its address
THEMES = ("light", "dark")
_WIDTH = re.compile(r"(\d+(?:\.\d+)?)(mm|px)")
_PX_PER_MM = 96 / 25.4
_USUAL_PX = 800
_WIDTHS_PX = (200, 4000)
_PT_PER_PX = 0.75
_PPI = {"px": 192.0, "mm": 300.0}  # of PNG: twice the pixels of a page, or those of a print
_MARGIN_PX = 14
_LINE = 1.35  # height of a line, as a multiple of the size of its text
_GAP_PX = 8
_ATTEMPTS = 3  # to give a chart its width
_SMALL_CHART_PX = 250  # the minimum width of a small chart with its axis
_NARROW_PX, _SYMBOL_PX = (
    640,
    110,
)  # the width below which a legend has lines, and that of its symbols with names
_MOST_COLUMNS = 2  # of small charts
_LEAST_SHARE = 4  # a plot takes at least this part of the width
_MAX_N = 4  # values of N in a caption
_ROOT = re.compile(r"<svg\b[^>]*?>(.*)</svg>\s*", re.DOTALL)
_SIZE = re.compile(r'<svg\b[^>]*?\bwidth="([\d.]+)"[^>]*?\bheight="([\d.]+)"')
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_DOCUMENT = b"""#let data = json("data.json")
#set document(title: data.title)
#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image("picture.svg", width: data.width * 1pt, alt: data.alt)"""


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a saved picture: its whole width, in CSS pixels or millimeters, and its theme."""

    width: float = _USUAL_PX
    unit: str = "px"
    is_dark: bool = False

    @property
    def width_px(self) -> float:
        """The width in CSS pixels, in which texts have their usual sizes."""
        return self.width * (_PX_PER_MM if self.unit == "mm" else 1.0)

    @property
    def ground(self) -> theme.Ground:
        """The colors of the theme."""
        return theme.DARK if self.is_dark else theme.LIGHT


def look(width: str | None = None, theme: str | None = None) -> Look:
    """The look that texts ask for, by default 800 pixels and light. Raises ``UserError`` for an invalid text."""
    if theme not in (None, *THEMES):
        raise UserError(f"theme {theme}: use {' or '.join(THEMES)}")
    wanted = Look(is_dark=theme == "dark")
    if width is None:
        return wanted
    match = _WIDTH.fullmatch(width)
    if match is None:
        raise UserError(f"width {width}: write a number with its unit, such as 89mm or 640px")
    wanted = Look(float(match[1]), match[2], wanted.is_dark)
    low, high = _WIDTHS_PX
    if not low <= wanted.width_px <= high:
        raise UserError(
            f"width {width}: use {low} to {high} px, or {low / _PX_PER_MM:.0f} to {high / _PX_PER_MM:.0f} mm"
        )
    return wanted


@dataclass(frozen=True, slots=True)
class Caption:
    """The texts in a picture: the title, the measure below it, and the provenance below the chart."""

    title: str
    measure: str
    provenance: tuple[str, ...]


def caption(item: Filled, runs: Sequence[Row]) -> Caption:
    """The caption of a figure's chart; ``runs`` are rows of the block ``run_facts``, in the order of the selection."""
    is_finding = item.title != item.figure.title
    measure = [item.figure.title] * is_finding + [item.figure.lead.rstrip("."), item.selection.conditions]
    return Caption(
        title=item.title,
        measure=". ".join(filter(None, measure)) + ".",
        provenance=tuple(
            filter(
                None,
                (*_runs(item.selection, runs), _parameters(item), _security(item), _source(runs)),
            )
        ),
    )


def _runs(selection: Selection, runs: Sequence[Row]) -> Iterator[str]:
    for (name, _), run in zip(selection.subject, runs, strict=True):
        label = "Run" if len(runs) == 1 else f"Run {name}:"
        yield (
            f"{label} {str(run['run_id'])[:8]} of suite {run['suite']}, {formats.minute(run['started_at'])} UTC, "
            f"{run['cpu_model']}, {run['cores']} cores"
        )


def _values(item: Filled, column: str) -> list[Any]:
    """The values of the rows; without such a column, those that the selection chose them by."""
    chosen = item.selection.parameters.get(column)
    values = {row[column] for row in item.rows if row.get(column) is not None}
    return sorted(values or (chosen if isinstance(chosen, list) else [] if chosen is None else [chosen]))


def _parameters(item: Filled) -> str:
    """Schemes and ring dimensions."""
    schemes = ", ".join(str(scheme).upper() for scheme in _values(item, "scheme"))
    dimensions = _values(item, "ring_dimension")
    several = (
        f"{dimensions[0]} to {dimensions[-1]}"
        if len(dimensions) > _MAX_N
        else ", ".join(map(str, dimensions))
    )
    return ", ".join(filter(None, (schemes, f"N = {several}" if dimensions else "")))


def _security(item: Filled) -> str:
    """The security levels by both tables."""
    levels = []
    for table, column in LEVEL_BY.items():
        own = _values(item, column) or _values(item, COMPARED_BY[table])
        if own:
            levels.append(f"{', '.join(map(formats.level, own))} ({table})")
    return f"Security: {'; '.join(levels)}" if levels else ""


def _source(runs: Sequence[Row]) -> str:
    """The versions that measured and drew, with the commit of a clone."""
    measured = sorted({str(run["software_version"]) for run in runs} - {__version__})
    before = f"Measured by Ciphermark {', '.join(measured)}. " if measured else ""
    commit = f" (revision {revision()})" if revision() else ""
    return f"{before}Source: Ciphermark {__version__}{commit}"


@cache
def revision() -> str:
    """The commit of the clone that this file belongs to; empty for an installed package."""
    git = ("git", "-C", str(Path(__file__).parent))
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", __file__], capture_output=True, check=True)
        done = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, check=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart as the content of an SVG, whose width and height are in pixels."""

    content: str
    width: float
    height: float

    @property
    def alone(self) -> str:
        """The SVG."""
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{theme.FONT}">{self.content}</svg>'
        )


@dataclass(frozen=True, slots=True)
class _Style:
    """The size of a text in pixels, its weight, and the mean width of its characters as a multiple of the size."""

    size: int
    weight: int
    em: float

    def wrapped(self, text: str, room_px: float) -> list[str]:
        """A text in lines that fit the room."""
        most = max(10, int(room_px / (self.size * self.em)))
        return textwrap.wrap(visible(text), most, break_on_hyphens=False)


_TITLE, _TEXT = _Style(15, 700, 0.57), _Style(theme.LEAST_PX, 400, 0.52)


def svg(specification: Row, texts: Caption, wanted: Look) -> str:
    """A chart with its caption as SVG, with the font inside for browsers."""
    room = wanted.width_px - 2 * _MARGIN_PX
    chart = drawn(specification, room, wanted.is_dark)
    scale = min(1.0, room / chart.width)
    ground = wanted.ground
    parts: list[str] = []
    y = _put(parts, _TITLE.wrapped(texts.title, room), _MARGIN_PX, _TITLE, ground.text)
    y = _put(parts, _TEXT.wrapped(texts.measure, room), y, _TEXT, ground.muted) + _GAP_PX
    parts.append(
        f'<svg x="{_MARGIN_PX}" y="{y:g}" width="{chart.width * scale:g}" height="{chart.height * scale:g}" '
        f'viewBox="0 0 {chart.width:g} {chart.height:g}">{chart.content}</svg>'
    )
    y += chart.height * scale + _GAP_PX
    lines = [line for text in texts.provenance for line in _TEXT.wrapped(text, room)]
    total = math.ceil(_put(parts, lines, y, _TEXT, ground.muted) + _MARGIN_PX / 2)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{wanted.width:g}{wanted.unit}" '
        f'height="{total * wanted.width / wanted.width_px:g}{wanted.unit}" '
        f'viewBox="0 0 {wanted.width_px:g} {total}" role="img" font-family="{theme.FONT}">'
        f"<title>{_escaped(texts.title)}</title><desc>{_escaped(described(texts))}</desc>"
        f"<style>{fonts.embedded()}</style>"
        f'<rect width="{wanted.width_px:g}" height="{total}" fill="{ground.ground}"/>{"".join(parts)}</svg>'
    )


def described(texts: Caption) -> str:
    """All texts of a caption below its title."""
    return " ".join((texts.measure, *(f"{text}." for text in texts.provenance)))


def png(picture: str, unit: str = "px") -> bytes:
    """A picture as PNG, with twice the pixels of its width in pixels, or 300 pixels per inch of its millimeters."""
    fonts.register()
    # The converter counts 72 pixels to an inch, and SVG counts 96.
    return bytes(vl_convert.svg_to_png(picture, scale=_PT_PER_PX, ppi=_PPI[unit]))


def pdf(picture: str, title: str, description: str, width_px: float) -> bytes:
    """A picture as PDF, with the font embedded."""
    data = {"title": title, "alt": description, "width": width_px * _PT_PER_PX}
    return rendering.pdf(_DOCUMENT, {"data.json": json.dumps(data).encode(), "picture.svg": picture.encode()})


def _put(parts: list[str], lines: Iterable[str], y: float, style: _Style, color: str) -> float:
    """Add lines of text below ``y``; return the end of the last one."""
    for line in lines:
        y += style.size * _LINE
        parts.append(
            f'<text x="{_MARGIN_PX}" y="{y - style.size * (_LINE - 1):g}" font-size="{style.size}" '
            f'font-weight="{style.weight}" fill="{color}">{_escaped(line)}</text>'
        )
    return y


def _escaped(text: str) -> str:
    return str(escape(visible(text)))


def drawn(
    specification: Row, width_px: float, is_dark: bool = False, most_columns: int = _MOST_COLUMNS
) -> Drawing:
    """A chart as wide as ``width_px``, or as near to it as it can be, on a transparent ground."""
    columns = max(1, min(most_columns, int(width_px // _SMALL_CHART_PX)))
    chart = dict(_themed(specification, is_dark))
    if width_px < _NARROW_PX:
        chart = narrow.stacked(chart, width_px)
        legend = {**chart["config"]["legend"], "columns": int(width_px // _SYMBOL_PX), "titleOrient": "top"}
        chart["config"]["legend"] = legend
    if isinstance(chart.get("title"), list):  # a note above the chart
        chart["title"] = _TEXT.wrapped(" ".join(chart["title"]), width_px)
    inner = width_px
    for _ in range(_ATTEMPTS):
        text = rendering.svg(chart, inner, columns)
        match, root = _SIZE.match(text), _ROOT.fullmatch(text)
        assert match is not None
        assert root is not None
        content, width, height = root[1], float(match[1]), float(match[2])
        # The widths of labels are known only after drawing.
        if abs(width_px - width) < 1 or inner + width_px - width < width_px / _LEAST_SHARE:
            break
        inner += width_px - width
    return Drawing(content, width, height)


def _themed(specification: Row, is_dark: bool) -> Row:
    """The chart in one of the themes that it has, on the ground of the picture."""
    dark = specification["usermeta"]["dark"]
    config = dark["config"] if is_dark else specification["config"]
    chart: Row = specification
    if is_dark:
        text = json.dumps(specification)
        chart = json.loads(_COLOUR.sub(lambda match: dark["colours"].get(match[0], match[0]), text))
    return {**chart, "config": {**config, "background": "transparent"}}


_TEXTS: Mapping[str, Callable[[Filled], bytes]] = {
    "json": lambda item: json.dumps(_specification(item)).encode(),
    "csv": lambda item: item.csv.encode(),
    "sql": lambda item: item.sql.encode(),
}
MEDIA_TYPES: Mapping[str, str] = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "json": "application/json",
    "csv": "text/csv",
    "sql": "text/plain",
}
FORMS = tuple(MEDIA_TYPES)


def written(store: Store, item: Filled, form: str, wanted: Look) -> bytes:
    """A figure in one of :data:`FORMS`; only pictures have a look. Raises :class:`NotFoundError` where there is nothing
    to draw.
    """
    if form in _TEXTS:
        return _TEXTS[form](item)
    runs = [store.ask("run_facts", {"run_id": run_id}).mappings[0] for run_id in item.selection.runs]
    texts = caption(item, runs)
    picture = svg(_specification(item), texts, wanted)
    if form == "png":
        return png(picture, wanted.unit)
    if form == "pdf":
        return pdf(picture, texts.title, described(texts), wanted.width_px)
    return picture.encode()


def _specification(item: Filled) -> Row:
    if not item.figure.chart:
        raise NotFoundError(f"Figure {item.figure.name} is a table without a chart: use csv.")
    if item.specification is None:
        raise NotFoundError(
            f"Figure {item.figure.name} has no chart for this run and these filters: use csv."
        )
    return item.specification
