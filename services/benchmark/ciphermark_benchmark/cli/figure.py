"""Write a figure as a picture, Vega-Lite or CSV. Without a name, list all figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, storage
from ciphermark_benchmark.cli._output import console_for, form_of
from ciphermark_benchmark.cli._result_tables import UNCORRECTED_HELP
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_present.console import Terminal
from ciphermark_present.query import UNCORRECTED

if TYPE_CHECKING:  # charts take a second to load
    from ciphermark_dashboards.filters import Selection
    from ciphermark_dashboards.rendering import Filled
    from ciphermark_dashboards.store import Store
    from ciphermark_present.page import Page

Theme = Literal["light", "dark"]
_EXAMPLES = """[bold]Examples[/bold]

  ciphermark figure                        list all figures

  ciphermark figure latency last -o latency.pdf

  ciphermark figure speedup last:quick -o hexl.svg --filter scheme=ckks --filter n=8192

  ciphermark figure two-runs last -o change.png --filter a=last~1

  ciphermark figure latency last -o column.pdf --width 89mm
"""
_OUTPUT_HELP = "File to write: .svg, .pdf, .png, .json (Vega-Lite), .csv, .sql; or - for standard output."
_FORMAT_HELP = "Default: by the file's ending."
_WIDTH_HELP = "Width of the picture in mm or px, such as 89mm. Default: 800px."
_THEME_HELP = "Theme of the picture."
_FILTER_HELP = "NAME=VALUE as in the page's address, such as scheme=ckks. Repeatable."


app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def figure(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    name: Annotated[str | None, typer.Argument(help="Name of a figure.")] = None,
    run: Annotated[str, typer.Argument(help=RUN_HELP)] = "last",
    output: Annotated[Path | None, typer.Option("--output", "-o", help=_OUTPUT_HELP)] = None,
    format: Annotated[str | None, typer.Option(help=_FORMAT_HELP)] = None,
    filter: Annotated[list[str] | None, typer.Option("--filter", "-f", help=_FILTER_HELP)] = None,
    uncorrected: Annotated[bool, typer.Option("--uncorrected", help=UNCORRECTED_HELP)] = False,
    width: Annotated[str | None, typer.Option(help=_WIDTH_HELP)] = None,
    theme: Annotated[Theme, typer.Option(help=_THEME_HELP)] = "light",
) -> None:
    """Write a figure as a picture, Vega-Lite or CSV. Without a name, list all figures.

    Default file: NAME.svg in this folder, or NAME.csv for a table. A picture has its title, run, host, parameters,
    security levels and source inside.
    """
    from ciphermark_dashboards import pictures
    from ciphermark_dashboards.pages import FIGURE_PAGES, FIGURES

    if name is None:
        _list(console_for())
        return
    if name not in FIGURES:
        raise UserError(f"no figure {name!r}{did_you_mean(name, FIGURES) or '; see `ciphermark figure`'}")
    usual = "svg" if FIGURES[name].chart else "csv"
    form = form_of(pictures.FORMS, format, output, "figures") or usual
    look = pictures.look(width, theme)
    chosen = [*map(_pair, filter or []), *([("times", UNCORRECTED)] if uncorrected else [])]
    with _open_store() as store:
        item = _filled(store, name, [*chosen, (FIGURE_PAGES[name].run_parameter, run)])
        content = pictures.written(store, item, form, look)
    path = output or Path(f"{name}.{form}")
    export.write_bytes(content, path)
    for line in (*item.selection.notes, *_shown(item.selection)):
        typer.echo(line, err=True)
    if path != export.STANDARD_OUTPUT:
        typer.echo(f"figure: {path.resolve()}", err=True)  # standard output may be the figure


def _open_store() -> Store:
    from ciphermark_dashboards.store import Store

    data_directory = data_directories.find()
    caught_up(data_directory).close()
    return Store(storage.url(data_directory))


def _filled(store: Store, name: str, parameters: list[tuple[str, str]]) -> Filled:
    """The figure with its rows; raises ``UserError`` if there are none."""
    from ciphermark_dashboards.filters import CARRIED
    from ciphermark_dashboards.pages import FIGURES
    from ciphermark_dashboards.rendering import Figures
    from ciphermark_dashboards.selections import Selections

    figures = Figures(store)
    selection = Selections(store, figures).of_figure(name, parameters)
    for choice in selection.choices:
        if (
            choice.let_go and choice.filter.name in CARRIED
        ):  # a page shows another value, and a file would hide it
            there = ", ".join(map(str, choice.values))
            raise UserError(f"{choice.filter.label} {choice.let_go[0]!r}: this run has {there}")
    item = figures.filled(FIGURES[name], selection)
    if not item.rows:
        filters = "".join(f"\n{line}" for line in _shown(selection))
        raise UserError(f"{name}: {item.figure.empty} Run {' and '.join(selection.runs)}.{filters}")
    return item


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise UserError(
            f"--filter {text}: write filters as NAME=VALUE, such as scheme=ckks; see `ciphermark figure`"
        )
    return name, value


def _shown(selection: Selection) -> Iterator[str]:
    """The values of the single-value filters that are shown, and the other possible values, in the syntax of the
    command line.
    """
    filters = []
    for choice in selection.choices:
        if not choice.filter.many and choice.chosen:
            others = [str(value) for value in choice.values if value not in choice.chosen]
            filters.append(
                f"{choice.filter.name}={choice.chosen[0]}" + (f" (or {', '.join(others)})" if others else "")
            )
    if filters:
        yield f"Shown: {', '.join(filters)}"


def _list(console: Terminal) -> None:
    """Print all figures, grouped by the page that shows them."""
    from ciphermark_dashboards.pages import ALL_PAGES

    for page in ALL_PAGES:
        for line in _of_page(page, console.width):
            console.print(line, soft_wrap=True)
        console.print()
    console.print("Write a figure of the latest run: ciphermark figure NAME last -o FILE")


def _of_page(page: Page, width: int) -> Iterator[str]:
    yield from textwrap.wrap(f"{page.title}: {page.lead}", width)
    for figure in page.figures:
        kind = "" if figure.chart else " (table, csv)"
        yield f"  {figure.name:<20} {figure.title}{kind}"
    names = ", ".join((*page.parameters, *(item.name for item in page.filters)))
    yield from textwrap.wrap(f"filters: {names}", width, initial_indent="  ", subsequent_indent="    ")
