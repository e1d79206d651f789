"""The commands, found by their files, and the single place that turns failures into exit codes.

Every module of this package is the command of its name, with hyphens for underscores, except `main` and names with a
leading underscore. The first line of its docstring describes the command in the list. Only the executed command is
loaded.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ciphermark_benchmark import __version__
from ciphermark_core import loading
from ciphermark_core.errors import UserError
from ciphermark_present.console import Terminal


def names() -> list[str]:
    """The names of all commands, sorted."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    return [stem.replace("_", "-") for stem in stems if stem != "main" and not stem.startswith("_")]


def loaded(name: str) -> Any:
    """A command, or group of commands, with its arguments and options: `app` of its module."""
    with loading.undisturbed():
        module = import_module(f"{__package__}.{_stem(name)}")
    command = typer.main.get_command(module.app)
    command.name = name
    return command


def summary(name: str) -> str:
    """The first line of the docstring of a command's module, read without executing the module."""
    text = Path(__file__).with_name(f"{_stem(name)}.py").read_text(encoding="utf-8")
    return text.partition('"""')[2].partition("\n")[0].removesuffix('"""')


def _stem(name: str) -> str:
    return name.replace("-", "_")


class _OnDemand(TyperGroup):
    """Lists commands by their files, and loads only the executed one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=summary(name)) for name in names()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and loaded(str(name)), rest


app = typer.Typer(
    cls=_OnDemand,
    name="ciphermark",
    help="Benchmark homomorphic-encryption libraries side by side. Results are stored in PostgreSQL.",
    epilog="First run: ciphermark run quick",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        typer.echo(f"ciphermark {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def execute() -> None:
    """Execute the given command. On failure, end the process with its exit code."""
    try:
        app()
    except UserError as error:
        _fail(str(error), 2)
    except OSError as error:
        _fail(f"{error.filename or 'the system'}: {error.strerror}", 1)
    except Exception as error:
        from ciphermark_db.database import DatabaseUnavailable  # large; loaded already where it was raised

        if not isinstance(error, DatabaseUnavailable):
            raise
        _fail(str(error), 1)


def _fail(reason: str, code: int) -> None:
    Terminal(stderr=True, highlight=False).print(reason, style="red", soft_wrap=True)
    sys.exit(code)
