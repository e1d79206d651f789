"""Templates as pages, and their assets. Browsers cache assets permanently, since a new text has a new address."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from threading import Lock
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from ciphermark_core.controls import visible
from ciphermark_dashboards import __version__, fonts, page_tables
from ciphermark_dashboards.pages import RUNS_PATH, SECTIONS
from ciphermark_dashboards.rendering import case_address
from ciphermark_present import answers, formats, theme
from ciphermark_present.query import Row

RUNS: dict[str, Any] = {"path": RUNS_PATH, "title": "Runs"}
SORTS = {"time": "Time", "memory": "Memory", "bytes": "Bytes", "parameters": "Parameters"}  # of the overview
_SHOWN_ROWS = 250
_SHOWN_CHARACTERS = 300
_LINE_CHARACTERS = 40  # that a cell does not wrap
LONGEST_CHARACTERS = 2_000  # of a text; the whole is in the CSV and in SQL
_UNKNOWN = "unknown"

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "woff2": "font/woff2"}
_VEGA = "vega.js"
_PACKAGE = "vl-convert-python"
_EXPOSED = "window.vegaEmbed = vegaEmbed;"
_BUNDLING = f"import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle({_EXPOSED!r}))"
_bundling = Lock()


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it is sent; ``read`` returns its text, compressed by gzip."""

    name: str
    digest: str
    read: Callable[[], bytes]

    @property
    def content_type(self) -> str:
        """Its media type."""
        return _TYPES[self.name.rpartition(".")[2]]

    @property
    def path(self) -> str:
        """Its address, which changes with its text."""
        return f"/assets/{self.digest}/{self.name}"


@cache
def assets() -> Mapping[str, Asset]:
    """The stylesheet, our scripts, the icon, the font, and Vega with Vega-Lite from the installed package."""
    ours = {file.name: file.read_bytes() for file in (files(__package__) / "assets").iterdir()}
    if fonts.WEB.exists():
        ours[fonts.WEB.name] = fonts.WEB.read_bytes()
    # The digest covers the bundle's origin, not its text: pages are served before the bundle exists.
    origin = f"{_PACKAGE} {version(_PACKAGE)} {_EXPOSED}".encode()
    return {name: Asset(name, _digest(text), _packed(text)) for name, text in ours.items()} | {
        _VEGA: Asset(_VEGA, _digest(origin), bundled)
    }


def bundled() -> bytes:
    """Vega with Vega-Lite, bundled once, at the first request; concurrent callers wait."""
    with _bundling:
        return _bundled()


@cache
def _bundled() -> bytes:
    """Bundle in another process: it takes seconds, in which a process cannot answer requests."""
    done = subprocess.run([sys.executable, "-c", _BUNDLING], stdout=subprocess.PIPE, check=True)
    return gzip.compress(done.stdout, mtime=0)


def _packed(text: bytes) -> Callable[[], bytes]:
    data = gzip.compress(text, mtime=0)
    return lambda: data


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def host_facts(row: Row) -> list[tuple[str, str]]:
    """The host's properties that affect times, as label and text; ``row`` is one of the block ``run_facts``."""

    def switch(value: bool | None) -> str:
        return _UNKNOWN if value is None else ("on" if value else "off")

    return [
        ("Started (UTC)", formats.moment(row["started_at"])),
        ("Host", row["hostname"]),
        ("CPU", f"{row['cpu_model']}, {row['cores']} cores"),
        ("AVX512-IFMA", formats.yes("avx512ifma" in row["cpu_flags"])),
        ("Memory", formats.size(row["memory_bytes"])),
        ("System", f"{row['operating_system']}, {row['kernel']}"),
        ("Container", formats.text(row["container"])),
        ("Governor", row["governor"] or _UNKNOWN),
        ("Turbo", switch(row["turbo"])),
        ("SMT", switch(row["smt"])),
        ("Clock source", row["clock_source"] or _UNKNOWN),
        ("Clock noise", formats.share(row["host_clock_noise"])),
        ("Load at the start", formats.digits(row["host_load_1min"])),
        ("Ciphermark", row["software_version"]),
        ("Seed", str(row["seed"])),
    ]


def _security(level: int | None) -> Markup:
    """A level as short as possible; a level below the tables is emphasized."""
    return Markup("<em>&lt;128</em>") if level == 0 else Markup("–") if level is None else Markup(level)


def _finalized(value: Any) -> Any:
    """A value as a page writes it: markup unchanged, text without characters that change its order."""
    return visible(value) if type(value) is str else value


TEMPLATES = Environment(
    loader=PackageLoader(__package__),
    autoescape=lambda name: bool(name and name.endswith(".html")),
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
    finalize=_finalized,
)
TEMPLATES.filters.update(
    moment=formats.moment,
    day=formats.day,
    seconds=formats.seconds,
    size=formats.size,
    share=formats.share,
    digits=formats.digits,
    interval=answers.interval,
    three_bytes=answers.size,
    three_digits=formats.three_digits,
    three_seconds=answers.seconds,
    three_times=answers.times,
    tick_seconds=formats.tick_seconds,
    tick_size=formats.tick_size,
    in_the_dark=theme.in_the_dark,
)
ACTOR: ContextVar[str | None] = ContextVar("actor", default=None)
"""Who asks for the page that is made, where one has to log in."""
TEMPLATES.globals.update(
    actor=ACTOR.get,
    host_facts=host_facts,
    asset=lambda name: assets()[name].path,
    case_address=case_address,
    page_table=page_tables.of,
    page_grid=page_tables.grid_of,
    max_columns=page_tables.MAX_COLUMNS,
    font=lambda: assets().get(fonts.WEB.name),
    font_face=fonts.face,
    font_inside=fonts.embedded,
    sections=SECTIONS,
    sorts=SORTS,
    security=_security,
    version=__version__,
    max_rows=_SHOWN_ROWS,
    short=_SHOWN_CHARACTERS,
    line=_LINE_CHARACTERS,
    longest=LONGEST_CHARACTERS,
)


def text(template: str, **context: Any) -> str:
    """A template as text."""
    return TEMPLATES.get_template(template).render(**context)


def page(template: str, status_code: int = 200, **context: Any) -> HTMLResponse:
    """A template as a page."""
    return HTMLResponse(text(template, **context), status_code)


def message(title: str, text: str, status_code: int = 200, **context: Any) -> HTMLResponse:
    """A page with a short message."""
    return page("message.html", status_code, title=title, text=text, **context)
