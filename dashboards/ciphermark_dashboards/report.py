"""A run as one file: results in sentences, charts, tables, method, host, builds and caveats.

The figures are those of the pages, for each scheme, level and data set. HTML, Markdown and PDF are one file each, which
needs nothing else. A written Markdown file has its pictures in a folder next to it.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ciphermark_core import security
from ciphermark_core.controls import visible_in
from ciphermark_core.errors import UserError
from ciphermark_dashboards import __version__, pages, rendering, verdicts
from ciphermark_dashboards.filters import Choice, Selection, selected
from ciphermark_dashboards.rendering import Cell, Filled, Table
from ciphermark_dashboards.store import Store
from ciphermark_dashboards.templating import TEMPLATES, host_facts
from ciphermark_present import formats, host_state, query
from ciphermark_present.notes import Note
from ciphermark_present.page import DATA, PHASE, SCHEME, THREADS, TIMES, Page
from ciphermark_present.query import AS_MEASURED, UNCORRECTED, Row
from ciphermark_present.sentences import at_level

_SINGLE = (PHASE, DATA, THREADS)  # a section shows one value of each
_FILES = files(__package__)
_METHOD = " ".join((_FILES / "templates" / "method.txt").read_text().split())
_PICTURE = re.compile(rb"\]\(data:image/png;base64,([A-Za-z0-9+/=]+)\)")
_MARKUP = re.compile(r"([\\`*\[\]|])")
_MAX_SUITE_CHARACTERS = 50_000
_SCALE_PNG = 1.0
_LARGEST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one page for one place; none of them is empty. ``scope`` lists the page's values that are not
    shown.
    """

    title: str
    scope: str
    figures: tuple[Filled, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """``facts`` is the run with its host; ``headline`` has the most important results; ``caveats`` lists sources of
    measurement error; ``notes`` are measurement notes; ``has_sql``: the figures show their SQL.
    """

    title: str
    facts: Row
    headline: tuple[str, ...]
    summary: tuple[str, ...]
    caveats: tuple[str, ...]
    failures: Sequence[Row]
    builds: Sequence[Row]
    sections: tuple[Section, ...]
    notes: tuple[Note, ...] = ()
    has_sql: bool = False


def made(
    store: Store, run: str, has_sql: bool = False, notes: Iterable[Note] = (), is_uncorrected: bool = False
) -> Report:
    """The report of a run, named by its id, the beginning of it, or ``last``. Raises ``UserError`` where there is no
    such run.

    ``has_sql``: include each figure's query. ``notes`` are measurement notes. ``is_uncorrected``: times are not
    corrected for host interference.
    """
    times = UNCORRECTED if is_uncorrected else TIMES.preferred or ""
    run_id = str(store.run(run)["run_id"])
    (facts,) = store.ask("run_facts", {"run_id": run_id}).mappings
    outcomes = store.ask("outcomes", {"parts": [run_id]}).mappings
    builds = store.ask("builds", {"parts": [run_id]}).mappings
    states = store.ask("host_state", {"run_id": run_id}, is_uncorrected).mappings
    sections = tuple(_sections(store, run_id, times))
    figures = [item for section in sections for item in section.figures]
    return Report(
        title=f"{facts['suite']} on {facts['hostname']}",
        facts=facts,
        headline=(
            *([AS_MEASURED] if is_uncorrected else []),
            *headline(outcomes, verdicts.leaders(store, run_id, times)),
        ),
        summary=tuple(sentences(outcomes, figures)),
        caveats=tuple(_caveats(facts, builds, states)),
        failures=store.ask("failures", {"parts": [run_id]}).mappings,
        builds=builds,
        sections=sections,
        notes=tuple(notes),
        has_sql=has_sql,
    )


def headline(outcomes: Sequence[Row], verdicts: Iterable[str]) -> Iterator[str]:
    """The most important results: the number of trials, and how often each variant is the fastest."""
    counted: Counter[str] = Counter()
    for row in outcomes:
        counted[row["status"]] += row["trials"]
    total = sum(counted.values())
    counts = ", ".join(f"{count:,} {status}" for status, count in counted.most_common())
    noun = "trial" if total == 1 else "trials"
    yield f"{total:,} {noun}: {counts}. Only trials with correct results have times."
    yield from verdicts


def sentences(outcomes: Sequence[Row], figures: Sequence[Filled]) -> Iterator[str]:
    """The sentences of each figure, and the variants with trials without results. The reasons have a table of their
    own.
    """
    for name in dict.fromkeys(item.figure.name for item in figures):
        for item in figures:
            if item.figure.name == name and item.figure.tell is not None:
                yield from item.figure.tell(item.rows, item.selection.parameters)
    failed: dict[str, list[str]] = {}
    for row in outcomes:
        if row["status"] != "ok":
            failed.setdefault(row["variant"], []).append(f"{row['trials']} {row['status']}")
    if failed:
        counts = "; ".join(f"{variant}: {', '.join(counts)}" for variant, counts in sorted(failed.items()))
        yield f"Not measured: {counts}. The reasons are under Failed and unsupported trials."


def _caveats(facts: Row, builds: Sequence[Row], states: Sequence[Row]) -> Iterator[str]:
    """Warnings about the host at the run's start, its state during samples, and debug builds."""
    yield from facts["host_warnings"]
    for row in states:
        yield from host_state.told(row)
    for build in builds:
        if build["is_debug"]:
            yield f"{build['variant']} is a debug build: its times are not meaningful"


def _sections(store: Store, run_id: str, times: str) -> Iterator[Section]:
    rows = store.ask("choices", {"run_id": run_id}).mappings
    for page in pages.PAGES:
        statements: set[str] = set()
        for selection in _selections(run_id, page, page.choices(rows), times):
            figures = [rendering.filled(store, figure, selection) for figure in page.figures]
            new = tuple(item for item in figures if item.rows and item.sql not in statements)
            # A figure that does not depend on the data set appears once.
            statements |= {item.sql for item in figures}
            if new:
                yield Section(_heading(page, selection), _scope(selection), new)


def _selections(run_id: str, page: Page, rows: Sequence[Row], times: str) -> Iterator[Selection]:
    """A selection for each scheme and security level that the page's subjects have, else for each value of its first
    filter.
    """
    subject = (("run", run_id),)
    if SCHEME not in page.filters:
        first = page.filters[0]
        for value in sorted({row[first.column] for row in rows if row[first.column] is not None}):
            yield selected(subject, page.filters, rows, [(first.name, value), ("times", times)])
        return
    table = verdicts.table(rows)
    level = security.COMPARED_BY[table]
    places = sorted({(row["scheme"], row[level]) for row in rows if row[level] is not None})
    for place in places:
        scheme, bits = place
        criteria = [("scheme", scheme), (query.TABLE, table), ("security", str(bits)), ("times", times)]
        here = [row for row in rows if (row["scheme"], row[level]) == place]
        yield selected(subject, page.filters, here, criteria)


def _heading(page: Page, selection: Selection) -> str:
    parameters: dict[str, Any] = selection.parameters
    if "scheme" not in parameters:
        first = page.filters[0]
        return f"{page.title}: {first.label.lower()} {parameters[first.column]}"
    return f"{page.title}: {parameters['scheme'].upper()}, {at_level(parameters)}"


def _scope(selection: Selection) -> str:
    """The shown values of filters with one value, the omitted ones, and how to get these."""

    def said(choice: Choice, values: Sequence[Any]) -> str:
        return f"{choice.filter.label.lower()} {' and '.join(map(choice.filter.write, values))}"

    single = [choice for choice in selection.choices if choice.filter in _SINGLE and choice.chosen]
    shown = ", ".join(said(choice, choice.chosen) for choice in single)
    left_out = [
        said(choice, [value for value in choice.values if value not in choice.chosen])
        for choice in single
        if len(choice.values) > 1
    ]
    if not left_out:
        return f"Shown: {shown}." if shown else ""
    return (
        f"Shown: {shown}. Not shown: {', '.join(left_out)}. To show them, use the dashboard's filters or "
        "`ciphermark figure --filter`. Some figures do not depend on these filters."
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on a run's tables and texts in a report, so that the file stays small enough to send: ``rows`` of a table,
    ``characters`` of a text, ``cell_characters`` of a text in a figure's table.
    """

    rows: int
    characters: int
    cell_characters: int
    is_drawn: bool = True
    note: str = ""


_SHORTER = "Tables and texts are shortened{} to keep this file below 5 MB."
_STEPS = (
    Limits(200, 2_000, 300),
    Limits(40, 300, 100, note=_SHORTER.format("")),
    Limits(10, 100, 60, is_drawn=False, note=_SHORTER.format(" and charts omitted")),
)


def html(report: Report) -> bytes:
    """One HTML file: style and charts inside, no script. Each chart is an image: identifiers of inline SVGs would
    clash.
    """
    style = (_FILES / "assets" / "style.css").read_text()
    return _rendered(
        "report.html", report, lambda chart: _inside("svg+xml", rendering.svg(chart).encode()), style=style
    )


def markdown(report: Report) -> bytes:
    """One Markdown file; charts are PNG pictures inside it."""
    return _rendered("report.md", report, lambda chart: _inside("png", rendering.png(chart, _SCALE_PNG)))


def pdf(report: Report) -> bytes:
    """One PDF file, set by Typst, whose template takes the texts as data: none of them is markup."""
    source = (_FILES / "templates" / "report.typ").read_bytes()
    pictures: dict[str, bytes] = {}

    def draw(chart: Row) -> str:
        name = f"{len(pictures)}.svg"
        pictures[name] = rendering.svg(chart).encode()
        return name

    def write(context: dict[str, Any]) -> bytes:
        data = json.loads(json.dumps(context, default=_as_data))
        return rendering.pdf(source, {"data.json": json.dumps(visible_in(data)).encode(), **pictures})

    return _small_enough(report, draw, write)


FORMATS: dict[str, Callable[[Report], bytes]] = {"html": html, "md": markdown, "pdf": pdf}


def write(report: Report, path: Path, name: str) -> None:
    """Write a report; raises ``UserError`` where the file cannot be written."""
    data = FORMATS[name](report)
    try:
        for place, content in (_with_pictures(path, data) if name == "md" else {path: data}).items():
            if place != path:
                place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
    except OSError as error:
        raise UserError(f"{path}: cannot write: {error.strerror}") from None


def _with_pictures(path: Path, text: bytes) -> dict[Path, bytes]:
    """The files to write for a Markdown text with pictures inside: the text, and the pictures that it refers to."""
    folder = path.with_name(f"{path.stem}-figures")
    pictures: dict[Path, bytes] = {}

    def refer(match: re.Match[bytes]) -> bytes:
        place = folder / f"{len(pictures) + 1:02}.png"
        pictures[place] = base64.b64decode(match[1])
        return f"]({quote(folder.name)}/{place.name})".encode()

    return {path: _PICTURE.sub(refer, text), **pictures}


def _inside(kind: str, data: bytes) -> str:
    """A picture as an address that needs no file."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _rendered(template: str, report: Report, draw: Callable[[Row], str], **more: str) -> bytes:
    text = TEMPLATES.get_template(template)
    return _small_enough(report, draw, lambda context: text.render(context, **more).encode())


def _small_enough(
    report: Report, draw: Callable[[Row], str], write: Callable[[dict[str, Any]], bytes]
) -> bytes:
    """The file under the first limits that keep it small enough; under the last limits, at any size."""
    charts = [
        draw(item.specification) if item.specification else None
        for section in report.sections
        for item in section.figures
    ]
    data = b""
    for step in _STEPS:
        data = write(_context(report, step, charts))
        if len(data) < _LARGEST_BYTES:
            break
    return data


def _context(report: Report, step: Limits, charts: Sequence[str | None]) -> dict[str, Any]:
    """The context of the templates."""
    drawn = iter(charts if step.is_drawn else [None] * len(charts))
    figures = [item for section in report.sections for item in section.figures]
    cited = dict.fromkeys(note for item in figures for note in _needed(report, item))
    numbers = {note: number for number, note in enumerate(cited, 1)}
    return {
        "title": report.title,
        "version": __version__,
        "run": report.facts["run_id"],
        "started": formats.moment(report.facts["started_at"]),
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
                    _figure(item, step, next(drawn), [numbers[note] for note in _needed(report, item)])
                    for item in section.figures
                ],
            }
            for section in report.sections
        ],
        "reading": _readings(figures),
        "notes": [(number, str(note)) for note, number in numbers.items()],
        "failures": rendering.failures(report.failures).first(step.rows, step.characters),
        "whole": rendering.whole(
            report.failures, report.facts["run_id"], min(limits.characters for limits in _STEPS)
        ),
        "method": _METHOD,
        "facts": [("Run", report.facts["run_id"]), *host_facts(report.facts)],
        "builds": [
            (row["variant"], row["library"], row["version"], _cut(_build(row["facts"]), step.characters))
            for row in report.builds
        ],
        "suite": _cut(report.facts["suite_text"], _MAX_SUITE_CHARACTERS),
    }


def _readings(figures: Iterable[Filled]) -> list[tuple[str, str]]:
    """Title and explanation of each figure that has one, once."""
    return list({item.figure.title: item.figure.reading for item in figures if item.figure.reading}.items())


def _needed(report: Report, item: Filled) -> list[Note]:
    """The notes that a figure needs, given its rows."""
    about, column = item.figure.noted_by
    return [note for note in report.notes if note.about == about and note.is_needed(column, item.rows)]


def _figure(item: Filled, step: Limits, chart: str | None, notes: list[int]) -> dict[str, Any]:
    """A figure as templates print it. ``rows`` are its rows one by one where ``table`` is a grid; ``notes`` are the
    numbers of its notes.
    """
    is_grid = item.figure.grid is not None
    return {
        "title": item.figure.title,
        "lead": item.figure.lead,
        "chart": chart,
        "is_grid": is_grid,
        "is_open": item.figure.is_table_open or not (chart or is_grid),
        "table": item.narrow.first(step.rows, step.cell_characters),
        "rows": item.table(step.rows).first(step.rows, step.cell_characters),
        "sql": item.sql,
        "notes": notes,
    }


def _as_data(value: object) -> Any:
    """A JSON value for a type that JSON lacks: a table, its cells, a time."""
    if isinstance(value, Table):
        return {name: getattr(value, name) for name in ("head", "rows", "same", "legend", "left_out")}
    return value.text if isinstance(value, Cell) else str(value)


def _build(facts: dict[str, str]) -> str:
    return "; ".join(f"{name}: {text}" for name, text in sorted(facts.items()))


def _cut(text: str, most: int) -> str:
    return Cell(text).cut(most).text


def _plain(text: object) -> str:
    """A foreign text escaped for Markdown: no markup, no HTML, no end of a cell or a line in it."""
    safe = str(text).replace("&", "&amp;").replace("<", "&lt;")
    return " ".join(_MARKUP.sub(r"\\\1", safe).splitlines())


def _fenced(text: str, language: str) -> str:
    """A text as a code block in Markdown, whatever backticks it contains."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


TEMPLATES.filters.update(plain=_plain, fenced=_fenced)
