"""Write a figure as a picture, Vega-Lite or CSV. Without a name, list all figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ciphermark_benchmark import export
from ciphermark_benchmark.cli._output import console_for, form_of
from ciphermark_benchmark.cli._result_tables import UNCORRECTED_HELP
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_core.errors import UserError
from ciphermark_present.console import Terminal
from ciphermark_present.query import UNCORRECTED

if TYPE_CHECKING:  # charts take a second to load
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
    from ciphermark_benchmark import run_figures
    from ciphermark_dashboards import pictures
    from ciphermark_dashboards.pages import FIGURES

    if name is None:
        _list(console_for())
        return
    run_figures.require_known(name)
    usual = "svg" if FIGURES[name].chart else "csv"
    form = form_of(pictures.FORMS, format, output, "figures") or usual
    look = pictures.look(width, theme)
    chosen = [*map(_pair, filter or []), *([("times", UNCORRECTED)] if uncorrected else [])]
    with run_figures.opened() as store:
        item = run_figures.filled(store, name, run, chosen)
        content = pictures.written(store, item, form, look)
    path = output or Path(f"{name}.{form}")
    export.write_bytes(content, path)
    for line in (*item.selection.notes, *run_figures.shown(item.selection)):
        typer.echo(line, err=True)
    if path != export.STANDARD_OUTPUT:
        typer.echo(f"figure: {path.resolve()}", err=True)  # standard output may be the figure


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise UserError(
            f"--filter {text}: write filters as NAME=VALUE, such as scheme=ckks; see `ciphermark figure`"
        )
    return name, value


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
