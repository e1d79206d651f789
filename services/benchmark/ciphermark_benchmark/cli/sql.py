"""Query the database. The views are described in docs/reference/sql."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.runner.recorder import caught_up

_EXAMPLE = '[bold]Example[/bold]  ciphermark sql "select variant, operation, median from results limit 5"'


_MAX_ROWS = 1_000_000  # an answer is in memory as a whole


app = typer.Typer(add_completion=False)


@app.command(help=__doc__, epilog=_EXAMPLE)
def sql(
    query: Annotated[str, typer.Argument(help="One read-only SQL statement.")],
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=OUTPUT_HELP),
    ] = None,
) -> None:
    """Print or write the answer."""
    form = export.form_of(format, output)
    with caught_up(data_directories.find()) as database:
        table = database.query(query, max_rows=_MAX_ROWS)
    export.write(table, form, output)
