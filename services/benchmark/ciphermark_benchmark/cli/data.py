"""``results`` and ``compare``: the recorded figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import export, run_names
from ciphermark_benchmark import home as homes
from ciphermark_benchmark.cli import tables
from ciphermark_benchmark.cli.output import wide_console
from ciphermark_benchmark.export import Format
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_db.gateway import Database

_FORMAT = Annotated[Format, typer.Option(help="Form of the output.")]
_OUTPUT = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file (parquet needs one, or a pipe).")
]

_ANY_SECURITY = Annotated[
    bool, typer.Option("--any-security", help="Form ratios across security levels, too; rows say where.")
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("results", epilog="[bold]Example[/bold]  ciphermark results last --format csv > results.csv")(
        results
    )
    app.command("compare", epilog="[bold]Example[/bold]  ciphermark compare 6f1c… last")(compare)


def results(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    run: Annotated[str, typer.Argument(help=RUN_HELP)] = "last",
    format: _FORMAT = "table",
    phase: Annotated[
        str, typer.Option(help="Phase that the table ranks: encrypt, operation, decrypt.")
    ] = "operation",
    output: _OUTPUT = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Published figures, beside the run's where it has the same case."),
    ] = False,
    any_security: _ANY_SECURITY = False,
) -> None:
    """Results of one run: the ranked table, or every row of the view `results` in another form."""
    with caught_up(homes.find()) as database:
        if published:
            _published(
                database, run_names.found(database, run) if database.run_ids() else None, format, output
            )
            return
        run_id = run_names.found(database, run)
        if format == "table":
            tables.show_results(wide_console(output), database, run_id, phase, any_security)
            return
        export.write(database.query("select * from results where run_id = %s", [run_id]), format, output)


def _published(database: Database, run_id: str | None, format: Format, output: Path | None) -> None:
    if format == "table":
        tables.show_published(wide_console(output), database, run_id)
    else:
        export.write(tables.published_table(database, run_id), format, output)


def compare(
    run_a: Annotated[str, typer.Argument(help=f"The run that ratios are relative to. {RUN_HELP}")],
    run_b: Annotated[str, typer.Argument(help="The run that is judged.")],
    format: _FORMAT = "table",
    output: _OUTPUT = None,
    any_security: _ANY_SECURITY = False,
) -> None:
    """Two runs, case by case: changed, unchanged, or not comparable and why."""
    with caught_up(homes.find()) as database:
        ids = run_names.found(database, run_a), run_names.found(database, run_b)
        if format == "table":
            tables.show_comparison(wide_console(output), database, ids, any_security)
            return
        export.write(tables.compared(database, ids, any_security), format, output)
