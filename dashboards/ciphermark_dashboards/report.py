"""A run as one file: questions with their answers, then figures, method, host, builds and suite.

The answers are those of the overview, and the figures those of the pages, for each scheme, level and data set. HTML,
Markdown and PDF are one file each, which needs nothing else. A written Markdown file has its pictures in a folder next
to it.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ciphermark_core import security
from ciphermark_core.controls import visible_in
from ciphermark_core.errors import UserError
from ciphermark_dashboards import __version__, fonts, overview, pages, pictures, rendering, verdicts
from ciphermark_dashboards.filters import CONDITIONS, Choice, Selection, selected
from ciphermark_dashboards.rendering import Cell, Filled, Table
from ciphermark_dashboards.store import Store
from ciphermark_dashboards.templating import TEMPLATES, host_facts
from ciphermark_present import answers, formats, host_state, query, theme
from ciphermark_present.answers import Standing
from ciphermark_present.notes import Note
from ciphermark_present.page import SCHEME, TIMES, Page
from ciphermark_present.query import AS_MEASURED, UNCORRECTED, Row
from ciphermark_present.questions import words
from ciphermark_present.sentences import at_level

_FILES = files(__package__)
_METHOD = " ".join((_FILES / "templates" / "method.txt").read_text().split())
_PICTURE = re.compile(rb"\]\(data:image/png;base64,([A-Za-z0-9+/=]+)\)")
_MARKUP = re.compile(r"([\\`*\[\]|])")
_IDENTIFIER = re.compile(r'(\bid="|url\(#|href="#)')
_TAG = re.compile(r"<[^>]*>")
# Texts of marks, as the report names the whole chart; empty paths; and digits beyond a hundredth of a pixel.
_NEEDLESS = re.compile(
    r'<path class="(?:back|fore)ground" d="(?:M0,0h0v0h0Z)?"[^>]*>'
    r'| (?:aria-[a-z]+|role|class|stroke-miterlimit)="[^"]*"|(?<=\.\d\d)\d+'
)
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_MAX_SUITE_CHARACTERS = 50_000
_SCALE_PNG = 1.0
_WIDTHS_PX = {"wide": 860, "narrow": 340}  # of charts in HTML
_PDF_PX = 420  # of a chart in one of two columns
_WIDE, _WIDE_PX, _WIDE_COLUMNS = "wide", 1000, 4  # of several small charts, across the page
_MOST_PANELS = 2  # small charts of a chart in a column
_TALLEST = 3.5  # height of a chart in a column, as a multiple of its width
_OMITTED = "Not shown"
_ABOUT_OMITTED = (
    "To show omitted values, use the dashboard's filters or `ciphermark figure --filter`. Some figures do not depend "
    "on these."
)
_LARGEST_BYTES = 5_000_000
_OF_ANSWERS = (pages.RANKING_PAGE, pages.OPERATIONS_PAGE)


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one page for one place; none of them is empty. ``scope`` lists the page's values that are not
    shown. ``is_about_answers``: the answers state its results.
    """

    title: str
    scope: str
    figures: tuple[Filled, ...]
    is_about_answers: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """``facts`` is the run with its host; ``outcomes`` states how its trials ended. ``answers`` are contexts of the
    overview's templates, one for each scheme that compares libraries; ``findings`` are sentences about other subjects,
    by the title of their page. ``caveats`` lists sources of measurement error; ``notes`` are measurement notes;
    ``has_sql``: the figures show their SQL.
    """

    title: str
    facts: Row
    outcomes: tuple[str, ...]
    answers: tuple[Mapping[str, Any], ...]
    findings: tuple[tuple[str, str], ...]
    caveats: tuple[str, ...]
    failures: Sequence[Row]
    builds: Sequence[Row]
    sections: tuple[Section, ...]
    notes: tuple[Note, ...] = ()
    has_sql: bool = False


def made(store: Store, run: str, has_sql: bool = False, notes: Iterable[Note] = ()) -> Report:
    """The report of a run, named by its id, the beginning of it, or ``last``. Raises ``UserError`` where there is no
    such run. Where the store is uncorrected, times are not corrected for host interference.

    ``has_sql``: include each figure's query. ``notes`` are measurement notes.
    """
    times = UNCORRECTED if store.is_uncorrected else TIMES.preferred or ""
    run_id = str(store.run(run)["run_id"])
    (facts,) = store.ask("run_facts", {"run_id": run_id}).mappings
    outcomes = store.ask("outcomes", {"parts": [run_id]}).mappings
    builds = store.ask("builds", {"parts": [run_id]}).mappings
    states = store.ask("host_state", {"run_id": run_id}).mappings
    choices = store.ask("choices", {"run_id": run_id}).mappings
    sections = tuple(_sections(store, run_id, choices, times))
    return Report(
        title=f"{facts['suite']} on {facts['hostname']}",
        facts=facts,
        outcomes=(*([AS_MEASURED] if store.is_uncorrected else []), *counted(outcomes)),
        answers=tuple(_answers(store, run_id, choices)),
        findings=tuple(_findings(sections)),
        caveats=tuple(_caveats(facts, builds, states)),
        failures=store.ask("failures", {"parts": [run_id]}).mappings,
        builds=builds,
        sections=sections,
        notes=tuple(notes),
        has_sql=has_sql,
    )


def counted(outcomes: Sequence[Row]) -> Iterator[str]:
    """The number of trials by outcome, and the variants with trials without results."""
    counts: Counter[str] = Counter()
    failed: dict[str, list[str]] = {}
    for row in outcomes:
        counts[row["status"]] += row["trials"]
        if row["status"] != "ok":
            failed.setdefault(row["variant"], []).append(f"{row['trials']} {row['status']}")
    total = sum(counts.values())
    noun = "trial" if total == 1 else "trials"
    by_status = ", ".join(f"{count:,} {status}" for status, count in counts.most_common())
    yield f"{total:,} {noun}: {by_status}. Only trials with correct results have times."
    if failed:
        variants = "; ".join(f"{variant}: {', '.join(own)}" for variant, own in sorted(failed.items()))
        yield f"Not measured: {variants}. The reasons are under Failed and unsupported trials."


def sentences(item: Filled) -> list[str]:
    """A figure in sentences."""
    tell = item.figure.tell
    return [] if tell is None else list(tell(item.rows, item.selection.parameters))


def _answers(store: Store, run_id: str, choices: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The answers of the overview from this run, one for each of its schemes."""
    schemes = {row["scheme"] for row in choices}
    for scheme in sorted(schemes, key=lambda name: (name not in answers.SCHEMES, name)):
        shown = overview.page(store, {"run": run_id, "scheme": scheme})
        if shown is None or shown["is_other_run"] or shown["question"].place.scheme != scheme:
            continue
        own = [each for each in shown["computations"] if str(each.libraries[0].row["run_id"]) == run_id]
        yield {**shown, "computations": own, "wins": answers.wins(each.libraries for each in own)}


def _findings(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    """The first sentence about every other subject, with the title of its page."""
    titles: set[str] = set()
    for section in sections:
        title = section.title.partition(":")[0]
        first = next((text for item in section.figures for text in _told(item)), "")
        if first and not section.is_about_answers and title not in titles:
            titles.add(title)
            yield title, first


def _told(item: Filled) -> list[str]:
    """A figure in sentences, the finding first."""
    return [*[item.title] * (item.title != item.figure.title), *sentences(item)]


def _caveats(facts: Row, builds: Sequence[Row], states: Sequence[Row]) -> Iterator[str]:
    """Warnings about the host at the run's start, its state during samples, and debug builds."""
    yield from facts["host_warnings"]
    for row in states:
        yield from host_state.told(row)
    for build in builds:
        if build["is_debug"]:
            yield f"{build['variant']} is a debug build: its times are not meaningful"


def _sections(store: Store, run_id: str, choices: Sequence[Row], times: str) -> Iterator[Section]:
    of_answers = {page.path for page in _OF_ANSWERS}
    for page in pages.PAGES:
        statements: set[str] = set()
        for selection in _selections(run_id, page, page.choices(choices), times):
            figures = [rendering.filled(store, figure, selection) for figure in page.figures]
            new = tuple(item for item in figures if item.rows and item.sql not in statements)
            # A figure that does not depend on the data set appears once.
            statements |= {item.sql for item in figures}
            # Published values exist for every run.
            if any(item.figure.subject is not None for item in new):
                yield Section(_heading(page, selection), _scope(selection), new, page.path in of_answers)


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
    """The shown values of filters with one value, and the omitted ones."""

    def said(choice: Choice, values: Sequence[Any]) -> str:
        return f"{choice.filter.label.lower()} {' and '.join(map(choice.filter.write, values))}"

    single = [choice for choice in selection.choices if choice.filter in CONDITIONS and choice.chosen]
    shown = ", ".join(said(choice, choice.chosen) for choice in single)
    left_out = [
        said(choice, [value for value in choice.values if value not in choice.chosen])
        for choice in single
        if len(choice.values) > 1
    ]
    if not left_out:
        return f"Shown: {shown}." if shown else ""
    return f"Shown: {shown}. {_OMITTED}: {', '.join(left_out)}."


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
    """One HTML file with the look of the pages: style, font and charts inside, no script."""
    style = (_FILES / "assets" / "style.css").read_text()
    number = iter(range(1_000_000))
    colours: dict[str, str] = {}

    def draw(chart: Row) -> str:
        colours.update(_in_the_dark(chart))
        return "".join(
            _inline(pictures.drawn(chart, width), name, f"f{next(number)}-", colours)
            for name, width in _WIDTHS_PX.items()
        )

    text = TEMPLATES.get_template("report.html")
    return _small_enough(
        report,
        draw,
        lambda context: text.render(
            context,
            boards=report.answers,
            style=f"{fonts.embedded()}\n{style}",
            colours=colours,
            is_printed=True,
        ).encode(),
    )


def _in_the_dark(chart: Row) -> dict[str, str]:
    """The colors of a chart in the light theme, lower case, with those of the dark theme."""
    pairs = {getattr(theme.LIGHT, each.name): getattr(theme.DARK, each.name) for each in fields(theme.Ground)}
    return {light.lower(): dark for light, dark in (pairs | chart["usermeta"]["dark"]["colours"]).items()}


def _inline(chart: pictures.Drawing, name: str, prefix: str, colours: Mapping[str, str]) -> str:
    """A chart inside a page: its colors follow the page's theme, and its identifiers are unique."""

    def variable(match: re.Match[str]) -> str:
        colour = match[0].lower()
        return f"var(--x{colour[1:]})" if colour in colours else colour

    content = _TAG.sub(lambda tag: _NEEDLESS.sub("", tag[0]), chart.content)
    content = _COLOUR.sub(variable, _IDENTIFIER.sub(rf"\1{prefix}", content))
    return (
        f'<svg class="{name}" aria-hidden="true" width="{chart.width:g}" viewBox="0 0 {chart.width:g} '
        f'{chart.height:g}">{content}</svg>'
    )


def markdown(report: Report) -> bytes:
    """One Markdown file; charts are PNG pictures inside it."""
    text = TEMPLATES.get_template("report.md")
    return _small_enough(
        report,
        lambda chart: _inside("png", rendering.png(chart, _SCALE_PNG)),
        lambda context: text.render(context).encode(),
    )


def pdf(report: Report) -> bytes:
    """One PDF file, set by Typst, whose template takes the texts as data: none of them is markup."""
    source = (_FILES / "templates" / "report.typ").read_bytes()
    drawings: dict[str, bytes] = {}

    def draw(chart: Row) -> str:
        drawing = pictures.drawn(chart, _PDF_PX, most_columns=1)
        is_wide = rendering.panels(chart) > _MOST_PANELS or drawing.height > _TALLEST * _PDF_PX
        if is_wide:
            drawing = pictures.drawn(chart, _WIDE_PX, most_columns=_WIDE_COLUMNS)
        name = f"{_WIDE * is_wide}{len(drawings)}.svg"
        drawings[name] = drawing.alone.encode()
        return name

    def write(context: dict[str, Any]) -> bytes:
        data = json.loads(json.dumps(context, default=_as_data))
        return rendering.pdf(source, {"data.json": json.dumps(visible_in(data)).encode(), **drawings})

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
        "host": f"{report.facts['cpu_model']}, {report.facts['cores']} cores",
        "outcomes": report.outcomes,
        "answers": [_answer(shown) for shown in report.answers],
        "findings": report.findings,
        "caveats": report.caveats,
        "note": step.note,
        "omitted": _ABOUT_OMITTED if any(_OMITTED in section.scope for section in report.sections) else "",
        "has_sql": report.has_sql,
        "sections": [_section(section, step, drawn, report, numbers) for section in report.sections],
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


def _section(
    section: Section, step: Limits, drawn: Iterator[str | None], report: Report, numbers: Mapping[Note, int]
) -> dict[str, Any]:
    """A section as templates print it; ``drawn`` has the charts of its figures, ``numbers`` those of the notes."""
    figures = [
        _figure(item, step, next(drawn), [numbers[note] for note in _needed(report, item)])
        for item in section.figures
    ]
    return {"title": section.title, "scope": section.scope, "figures": figures}


def _answer(shown: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as templates print it: sentences, the libraries side by side, and all computations of the scheme."""
    place, answer = shown["question"].place, shown["answer"]
    scheme, level = place.scheme.upper(), formats.level(place.level)
    return {
        "question": (
            f"Which library is best to {words(place.operation).question} in {scheme} at {level} by the "
            f"{overview.TABLES[place.table]}?"
        ),
        "headline": answers.plain(answer.headline),
        "certainty": answer.certainty,
        "reason": " ".join(answers.plain(part) for part in (answer.reason, *answer.facts) if part),
        "about": shown["about"],
        "scheme": scheme,
        "wins": shown["wins"],
        "table": _libraries(shown),
        "computations": _computations(shown["computations"]),
    }


_OTHER_PARAMETERS = "* other parameters than the fastest, or not interleaved with it"
_TIED = "≈ no significant difference"


def _libraries(shown: Mapping[str, Any]) -> Table:
    """The libraries of an answer, one in a row."""
    columns = shown["columns"]
    head = [
        ("Library", False),
        ("Time", True),
        ("× fastest", True),
        (columns["memory"][0], True),
        (columns["bytes"][0], True),
        ("N · log QP", True),
        ("Security 2018 · 2024", True),
        (columns["quality"][0], True),
    ]
    rows = [
        [Cell(text, "number" if place else "") for place, text in enumerate(_library(each, columns))]
        for each in shown["libraries"]
    ]
    there = [
        place for place in range(len(head)) if any(cells[place].text != formats.NOTHING for cells in rows)
    ]
    texts = " ".join(cell.text for cells in rows for cell in cells)
    legend = [meaning for meaning in (_TIED, _OTHER_PARAMETERS) if meaning[0] in texts]
    return Table(
        [head[place] for place in there],
        [[cells[place] for place in there] for cells in rows],
        legend="; ".join(legend),
    )


def _library(item: Standing, columns: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    row = item.row
    quality = formats.NOTHING
    if item.quality is not None:
        is_share = columns["quality"][0] == "Agreement"
        quality = formats.share(item.quality) if is_share else f"{formats.digits(item.quality)} bits"
    levels = (row["security_2018"], row["security_2024"])
    return (
        f"{item.variant}{'*' * item.is_hollow}",
        answers.seconds(item.time),
        _ratio(item),
        formats.NOTHING if item.memory is None else answers.size(item.memory),
        formats.NOTHING if item.size is None else answers.size(item.size),
        f"{row['ring_dimension']} · {row['log_qp']:.0f} bits",
        " · ".join("<128" if bits == 0 else formats.text(bits) for bits in levels),
        quality,
    )


def _ratio(item: Standing) -> str:
    """The ratio to the fastest with its interval, marked where it is no significant difference."""
    bounds = f" {answers.interval(item.interval)}" if item.interval else ""
    return f"{'≈ ' * item.is_tied}{answers.times(item.ratio)}{bounds}"


def _computations(computations: Sequence[overview.Computation]) -> Table:
    """The answers of all computations of a scheme, one in a row."""
    head = [("Computation", False), ("Fastest", False), ("Time", True), ("Next", False), ("× fastest", True)]
    rows = []
    for each in computations:
        first, *others = each.libraries
        following = others[0] if others else None
        texts = (
            each.name,
            first.variant,
            answers.seconds(first.time),
            f"{following.variant}{'*' * following.is_hollow}" if following else formats.NOTHING,
            _ratio(following) if following else formats.NOTHING,
            answers.answer(each.libraries).certainty,
        )
        rows.append([Cell(text, "number" if place in (2, 4) else "") for place, text in enumerate(texts)])
    return Table([*head, ("Certainty", False)], rows)


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
    measure = "" if item.title == item.figure.title else f"{item.figure.title}."
    return {
        "title": item.title,
        "lead": " ".join(filter(None, (measure, item.figure.lead))),
        "sentences": sentences(item),
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
