"""Writing a report: HTML, Markdown, PDF. Every format is one file that needs nothing else."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import typst
from jinja2 import Environment, PackageLoader

from ciphermark_core.errors import UserError
from ciphermark_dashboards import __version__, rendering
from ciphermark_dashboards import formats as written
from ciphermark_dashboards.rendering import Filled
from ciphermark_dashboards.report.content import Report

_MOST_ROWS = 200  # of a table in a report; the rest is in the database

_templates = Environment(
    loader=PackageLoader("ciphermark_dashboards.report"),
    autoescape=lambda name: bool(name and name.endswith(".html")),
    trim_blocks=True,
    lstrip_blocks=True,
)
_METHOD = " ".join((files("ciphermark_dashboards.report") / "templates" / "method.txt").read_text().split())
_templates.globals.update(version=__version__, most_rows=_MOST_ROWS, method=_METHOD, zip=zip)
_templates.filters.update(
    moment=written.moment, cell=lambda text: str(text).replace("|", "\\|").replace("\n", " ")
)


def html(report: Report) -> bytes:
    """One HTML file: style and charts inside, no script."""
    style = (files("ciphermark_dashboards") / "assets" / "style.css").read_text()
    template = _templates.get_template("report.html")
    return template.render(report=report, style=style, picture=_svg_picture).encode()


def markdown(report: Report) -> bytes:
    """One Markdown file; charts are PNG pictures inside it."""
    return _templates.get_template("report.md").render(report=report, picture=_png_picture).encode()


def pdf(report: Report) -> bytes:
    """One PDF file, set by Typst, whose template takes the texts as data: nothing in them is markup."""
    with tempfile.TemporaryDirectory(prefix="ciphermark-report-") as name:
        folder = Path(name)
        (folder / "data.json").write_text(json.dumps(_plain(report, folder), default=str))
        source = folder / "report.typ"
        source.write_bytes((files("ciphermark_dashboards.report") / "templates" / "report.typ").read_bytes())
        result: Any = typst.compile(str(source))
        return bytes(result)


FORMATS: dict[str, Callable[[Report], bytes]] = {"html": html, "md": markdown, "pdf": pdf}


def write(report: Report, path: Path, name: str) -> None:
    """Write a report; raises ``UserError`` where the file cannot be written."""
    data = FORMATS[name](report)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def _svg(item: Filled) -> str:
    specification = item.specification
    return "" if specification is None else rendering.svg(specification)


def _svg_picture(item: Filled) -> str:
    """A chart as the address of a picture: inside a page, identifiers of two SVG would clash."""
    chart = _svg(item)
    return "data:image/svg+xml;base64," + base64.b64encode(chart.encode()).decode() if chart else ""


def _png_picture(item: Filled) -> str:
    specification = item.specification
    if specification is None:
        return ""
    return "data:image/png;base64," + base64.b64encode(rendering.png(specification, scale=1)).decode()


def _plain(report: Report, folder: Path) -> dict[str, Any]:
    """The report as JSON, its charts as files beside it."""
    sections = []
    for section_index, section in enumerate(report.sections):
        figures = []
        for index, item in enumerate(section.figures):
            chart = _svg(item)
            name = f"{section_index}-{index}.svg"
            if chart:
                (folder / name).write_text(chart)
            figures.append(
                {
                    "title": item.figure.title,
                    "lead": item.figure.lead,
                    "chart": name if chart else None,
                    "head": [column.label for column in item.figure.columns],
                    "rows": item.written(_MOST_ROWS),
                    "left_out": max(0, len(item.rows) - _MOST_ROWS),
                }
            )
        sections.append({"title": section.title, "figures": figures})
    return {
        "title": report.title,
        "version": __version__,
        "method": _METHOD,
        "run": report.facts["run_id"],
        "started": written.moment(report.facts["started_at"]),
        "summary": report.summary,
        "caveats": report.caveats,
        "facts": [[label, value] for label, value in facts(report)],
        "failures": [
            [row["variant"], row["status"], row["operation"], str(row["error"])] for row in report.failures
        ],
        "builds": [
            [row["variant"], row["library"], row["version"], _build(row["facts"])] for row in report.builds
        ],
        "suite_text": report.facts["suite_text"],
        "sections": sections,
    }


def facts(report: Report) -> list[tuple[str, str]]:
    """Run and host, as label and text."""
    row = report.facts
    return [
        ("Run", row["run_id"]),
        ("Started (UTC)", written.moment(row["started_at"])),
        ("Ciphermark", row["software_version"]),
        ("Host", row["hostname"]),
        ("CPU", f"{row['cpu_model']}, {row['cores']} cores"),
        ("Memory", written.size(row["memory_bytes"])),
        ("System", f"{row['operating_system']}, {row['kernel']}"),
        ("Governor", written.text(row["governor"])),
        ("Container", written.text(row["container"])),
        ("Variation of equal work", written.share(row["host_clock_noise"])),
        ("Load at the start", written.digits(row["host_load_1min"])),
    ]


def _build(found: dict[str, str]) -> str:
    return "; ".join(f"{name}: {text}" for name, text in sorted(found.items()))


_templates.globals.update(facts=facts, build=_build)
