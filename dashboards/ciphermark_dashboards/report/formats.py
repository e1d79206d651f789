"""Writing a report: HTML, Markdown, PDF. Every format is one file that needs nothing else; a Markdown file that is
written has its pictures in a folder beside it.
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import typst
from jinja2 import Environment, PackageLoader

from ciphermark_core.errors import UserError
from ciphermark_dashboards import __version__, hosts, rendering
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.report import limits
from ciphermark_dashboards.report.content import Report, needed
from ciphermark_dashboards.report.limits import Limits, Table
from ciphermark_present import formats as written
from ciphermark_present.notes import Note

_TEMPLATES = files("ciphermark_dashboards.report") / "templates"
_METHOD = " ".join((_TEMPLATES / "method.txt").read_text().split())
_PICTURE = re.compile(rb"\]\(data:image/png;base64,([A-Za-z0-9+/=]+)\)")
_MARKUP = re.compile(r"([\\`*\[\]|])")
_MOST_SUITE_CHARACTERS = 50_000
_SCALE_PNG = 1.0


@dataclass(frozen=True, slots=True)
class _Chart:
    """A chart as the address of a picture: inside a page, identifiers of two SVG would clash."""

    kind: str
    data: bytes

    @property
    def address(self) -> str:
        return f"data:image/{self.kind};base64,{base64.b64encode(self.data).decode()}"


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure as it is printed; ``rows`` are its rows one by one where ``table`` is a grid, ``notes`` the numbers of
    those it needs.
    """

    title: str
    lead: str
    chart: _Chart | None
    is_grid: bool
    is_open: bool
    table: Table
    rows: Table
    sql: str
    notes: list[int]


def html(report: Report) -> bytes:
    """One HTML file: style and charts inside, no script."""
    style = (files("ciphermark_dashboards") / "assets" / "style.css").read_text()
    return _rendered("report.html", report, _svg, style=style)


def markdown(report: Report) -> bytes:
    """One Markdown file; charts are PNG pictures inside it."""
    return _rendered("report.md", report, _png)


def pdf(report: Report) -> bytes:
    """One PDF file, set by Typst, whose template takes the texts as data: nothing in them is markup."""
    charts = _charts(report, _svg)
    with tempfile.TemporaryDirectory(prefix="ciphermark-report-") as name:
        folder = Path(name)
        source = folder / "report.typ"
        source.write_bytes((_TEMPLATES / "report.typ").read_bytes())

        def at(step: Limits) -> bytes:
            data = _context(report, step, charts)
            (folder / "data.json").write_text(json.dumps(_plain(data, folder), default=str))
            result: Any = typst.compile(str(source))
            return bytes(result)

        return _small_enough(at)


FORMATS: dict[str, Callable[[Report], bytes]] = {"html": html, "md": markdown, "pdf": pdf}


def write(report: Report, path: Path, name: str) -> None:
    """Write a report; raises ``UserError`` where the file cannot be written."""
    data = FORMATS[name](report)
    try:
        for place, content in (_BESIDE[name](path, data) if name in _BESIDE else {path: data}).items():
            if place != path:
                place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def pictures_beside(path: Path, text: bytes) -> dict[Path, bytes]:
    """What to write for a Markdown file with pictures inside: the file, and the pictures that it refers to instead."""
    folder = path.with_name(f"{path.stem}-figures")
    found: dict[Path, bytes] = {}

    def refer(match: re.Match[bytes]) -> bytes:
        place = folder / f"{len(found) + 1:02}.png"
        found[place] = base64.b64decode(match[1])
        return f"]({quote(folder.name)}/{place.name})".encode()

    return {path: _PICTURE.sub(refer, text), **found}


_BESIDE = {"md": pictures_beside}


def marked_down(text: object) -> str:
    """A foreign text as Markdown shows it: no markup, no HTML, no end of a cell or a line in it."""
    safe = str(text).replace("&", "&amp;").replace("<", "&lt;")
    return " ".join(_MARKUP.sub(r"\\\1", safe).splitlines())


def fenced(text: str, language: str) -> str:
    """A text as a block of code in Markdown, whatever backticks it has."""
    longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _rendered(template: str, report: Report, draw: Callable[[Filled], _Chart | None], **more: str) -> bytes:
    charts = _charts(report, draw)
    made = _templates.get_template(template)
    return _small_enough(lambda step: made.render(_context(report, step, charts), **more).encode())


def _small_enough(made: Callable[[Limits], bytes]) -> bytes:
    """The file under the first limits that keep it small; under the last ones, whatever it takes."""
    data = b""
    for step in limits.STEPS:
        data = made(step)
        if len(data) < limits.LARGEST_BYTES:
            break
    return data


def _charts(report: Report, draw: Callable[[Filled], _Chart | None]) -> list[_Chart | None]:
    """The charts of all figures, in their order."""
    return [draw(item) for section in report.sections for item in section.figures]


def _svg(item: Filled) -> _Chart | None:
    specification = item.specification
    return None if specification is None else _Chart("svg+xml", rendering.svg(specification).encode())


def _png(item: Filled) -> _Chart | None:
    specification = item.specification
    return None if specification is None else _Chart("png", rendering.png(specification, _SCALE_PNG))


def _context(report: Report, step: Limits, charts: list[_Chart | None]) -> dict[str, Any]:
    """What templates print."""
    drawn = iter(charts if step.is_drawn else [None] * len(charts))
    notes = _numbered(report)
    return _appendix(report, step) | {
        "title": report.title,
        "version": __version__,
        "run": report.facts["run_id"],
        "started": written.moment(report.facts["started_at"]),
        "headline": report.headline,
        "summary": report.summary,
        "caveats": report.caveats,
        "note": step.note,
        "has_sql": report.has_sql,
        "sections": [
            {
                "title": section.title,
                "scope": section.scope,
                "figures": [
                    _figure(item, step, next(drawn), [notes[note] for note in needed(report, item)])
                    for item in section.figures
                ],
            }
            for section in report.sections
        ],
        "notes": [(number, str(note)) for note, number in notes.items()],
    }


def _numbered(report: Report) -> dict[Note, int]:
    """The notes that figures need, numbered in the order in which they do."""
    figures = (item for section in report.sections for item in section.figures)
    cited = dict.fromkeys(note for item in figures for note in needed(report, item))
    return {note: number for number, note in enumerate(cited, 1)}


def _appendix(report: Report, step: Limits) -> dict[str, Any]:
    """What stands below the figures."""
    return {
        "failures": limits.failures(report.failures, step),
        "whole": _whole(report),
        "method": _METHOD,
        "facts": [("Run", report.facts["run_id"]), *hosts.facts(report.facts)],
        "builds": [
            (
                row["variant"],
                row["library"],
                row["version"],
                limits.cut(_build(row["facts"]), step.characters),
            )
            for row in report.builds
        ],
        "suite": limits.cut(report.facts["suite_text"], _MOST_SUITE_CHARACTERS),
    }


def _figure(item: Filled, step: Limits, chart: _Chart | None, notes: list[int]) -> _Figure:
    is_grid = item.figure.grid is not None
    return _Figure(
        title=item.figure.title,
        lead=item.figure.lead,
        chart=chart,
        is_grid=is_grid,
        is_open=item.figure.is_table_open or not (chart or is_grid),
        table=limits.narrow(item, step),
        rows=limits.one_by_one(item, step),
        sql=item.sql,
        notes=notes,
    )


def _whole(report: Report) -> str:
    """The command that shows what was cut of the reasons; nothing where nothing can have been."""
    longest = max((row["error_characters"] for row in report.failures), default=0)
    if longest <= min(step.characters for step in limits.STEPS):
        return ""
    return (
        'ciphermark sql "select variant, operation, status, error from results '
        f"where run_id = '{report.facts['run_id']}' and error is not null\""
    )


def _plain(context: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same as JSON, its charts as files beside it."""
    charts: Iterator[Path] = (folder / f"{number}.svg" for number in range(10_000))
    sections = []
    for section in context["sections"]:
        figures = []
        for item in section["figures"]:
            chart = None
            if item.chart:
                chart = next(charts)
                chart.write_bytes(item.chart.data)
            figures.append(
                {
                    "title": item.title,
                    "lead": item.lead,
                    "chart": chart and chart.name,
                    "table": asdict(item.table),
                    "sql": item.sql,
                    "notes": item.notes,
                }
            )
        sections.append(section | {"figures": figures})
    return context | {"sections": sections, "failures": asdict(context["failures"])}


def _build(found: dict[str, str]) -> str:
    return "; ".join(f"{name}: {text}" for name, text in sorted(found.items()))


_templates = Environment(
    loader=PackageLoader("ciphermark_dashboards.report"),
    autoescape=lambda name: bool(name and name.endswith(".html")),
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals.update(zip=zip)
_templates.filters.update(plain=marked_down, fenced=fenced)
