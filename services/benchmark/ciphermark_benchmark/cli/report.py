"""Write a report of a run as one file: answers, then figures, method, host, builds, warnings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import run_names, run_notes, storage
from ciphermark_benchmark.cli._output import form_of
from ciphermark_benchmark.cli._result_tables import UNCORRECTED_HELP
from ciphermark_benchmark.export import STANDARD_OUTPUT
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up

Form = Literal["html", "md", "pdf"]
_FORMS: tuple[Form, ...] = ("html", "md", "pdf")


app = typer.Typer(add_completion=False)


@app.command(epilog="[bold]Example[/bold]  ciphermark report last -o report.html")
def report(
    run: Annotated[str, typer.Argument(help=RUN_HELP)] = "last",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write, or - for standard output. Default: report-RUN.html, or the ending of --format.",
        ),
    ] = None,
    format: Annotated[Form | None, typer.Option(help="Default: by the file's ending, else html.")] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Include the SQL of every figure.")] = False,
    uncorrected: Annotated[bool, typer.Option("--uncorrected", help=UNCORRECTED_HELP)] = False,
) -> None:
    """Write a report of a run as one file: answers, then figures, method, host, builds, warnings.

    HTML has the look of the pages, and PDF has its answers on one page.

    Markdown pictures go to a folder next to the file; on standard output they are embedded.
    """
    from ciphermark_dashboards import report as reports  # its charts take a second to load
    from ciphermark_dashboards.store import Store

    chosen = form_of(_FORMS, format, output, "reports") or "html"
    data_directory = data_directories.find()
    with caught_up(data_directory) as database:
        run_id = run_names.resolved(database, run)
        notes = run_notes.notes(database.report("run_measured", run_id=run_id))
    with Store(storage.url(data_directory), is_uncorrected=uncorrected) as store:
        document = reports.made(store, run_id, has_sql=sql, notes=notes)
    if output == STANDARD_OUTPUT:
        sys.stdout.buffer.write(reports.FORMATS[chosen](document))
        return
    path = output or Path(f"report-{document.facts['run_id'][:8]}.{chosen}")
    reports.write(document, path, chosen)
    typer.echo(f"report: {path.resolve()}", err=True)  # standard output may be the report
