"""The table of commands, and the one place that turns failures into exit codes."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from ciphermark_benchmark import __version__
from ciphermark_benchmark.cli import (
    bisect,
    build,
    data,
    execution,
    inspection,
    program,
    report,
    runs,
    service,
    workload,
)
from ciphermark_core.errors import UserError
from ciphermark_db.errors import DatabaseUnavailable

app = typer.Typer(
    name="ciphermark",
    help="Measure homomorphic-encryption libraries side by side, and keep every number in PostgreSQL.",
    epilog="Begin with: ciphermark run suites/quick.yaml",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
execution.add_to(app)
build.add_to(app)
bisect.add_to(app)
inspection.add_to(app)
data.add_to(app)
program.add_to(app)
report.add_to(app)
runs.add_to(app)
service.add_to(app)
workload.add_to(app)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and end."),
) -> None:
    if version:
        typer.echo(f"ciphermark {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def execute() -> None:
    """Execute the command that was given; ends the process with the exit code of a failure."""
    errors = Console(stderr=True, highlight=False)
    try:
        app()
    except UserError as error:
        errors.print(str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(2)
    except DatabaseUnavailable as error:
        errors.print(str(error), style="red", markup=False, soft_wrap=True)
        sys.exit(1)
    except OSError as error:
        errors.print(
            f"{error.filename or 'the system'}: {error.strerror}", style="red", markup=False, soft_wrap=True
        )
        sys.exit(1)
