"""The table of commands, and the one place that turns failures into exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from ciphermark_benchmark import __version__
from ciphermark_core import loading
from ciphermark_core.errors import UserError
from ciphermark_db.errors import DatabaseUnavailable

# Each command and the module beside this one that has it, in the order that help lists them.
_MODULES = {
    "run": "execution",
    "build": "build",
    "bisect": "bisect",
    "adapters": "adapters",
    "doctor": "inspection",
    "suite": "suite",
    "results": "results",
    "summary": "summary",
    "compare": "comparing",
    "sql": "database",
    "db": "database",
    "program": "program",
    "report": "report",
    "figure": "figure",
    "runs": "runs",
    "serve": "service",
    "worker": "service",
    "workload": "workload",
}


class _Commands(Mapping[str, Any]):
    """Loads the module of a command when it is asked for: one command needs little of what all of them import."""

    def __getitem__(self, name: str) -> Any:
        owner = typer.Typer()
        with loading.undisturbed():
            import_module(f"ciphermark_benchmark.cli.{_MODULES[name]}").add_to(owner)
        return typer.main.get_group(owner).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


class _OnDemand(TyperGroup):
    """The commands of the table."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()  # type: ignore[assignment] # nothing is added to it


app = typer.Typer(
    cls=_OnDemand,
    name="ciphermark",
    help="Measure homomorphic-encryption libraries side by side, and keep every number in PostgreSQL.",
    epilog="Begin with: ciphermark run quick",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


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
