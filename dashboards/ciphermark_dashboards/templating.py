"""Templates as pages."""

from __future__ import annotations

from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader

from ciphermark_dashboards import __version__, hosts
from ciphermark_dashboards.pages import COMPARE_PAGE, PAGES
from ciphermark_dashboards.serving import assets
from ciphermark_present import formats

RUNS: dict[str, Any] = {"path": "/runs", "title": "Runs"}
_SHOWN_ROWS = 250
_SHOWN_CHARACTERS = 300
_LINE_CHARACTERS = 40  # that a cell does not break
_LONGEST_CHARACTERS = 2_000  # of a text; the whole is in the CSV and in SQL

_environment = Environment(
    loader=PackageLoader(__package__),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_environment.filters.update(
    moment=formats.moment,
    seconds=formats.seconds,
    size=formats.size,
    share=formats.share,
    digits=formats.digits,
)
_environment.globals.update(
    host_facts=hosts.facts,
    asset=lambda name: assets()[name].path,
    pages=[*PAGES, RUNS, COMPARE_PAGE],
    version=__version__,
    zip=zip,
    most_rows=_SHOWN_ROWS,
    short=_SHOWN_CHARACTERS,
    line=_LINE_CHARACTERS,
    longest=_LONGEST_CHARACTERS,
)


def page(template: str, status_code: int = 200, **context: Any) -> HTMLResponse:
    """A template as a page."""
    return HTMLResponse(_environment.get_template(template).render(**context), status_code)


def message(title: str, text: str, status_code: int = 200, **context: Any) -> HTMLResponse:
    """A page of a few words."""
    return page("message.html", status_code, title=title, text=text, **context)
