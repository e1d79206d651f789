"""The database behind the results."""

from __future__ import annotations

from typing import Annotated

import typer

from ciphermark_benchmark import home as homes
from ciphermark_benchmark import run_names, storage
from ciphermark_benchmark.runner.recorder import caught_up

app = typer.Typer(
    add_completion=False,
    help=__doc__,
    epilog='[bold]Example[/bold]  psql "$(ciphermark db url)"',
    no_args_is_help=True,
)


@app.command("url", epilog='[bold]Example[/bold]  psql "$(ciphermark db url)"')
def url() -> None:
    """Print the database's URL; starts the embedded server where it is the one."""
    typer.echo(storage.url(homes.find()))


@app.command("migrate", epilog="[bold]Example[/bold]  ciphermark db migrate")
def migrate() -> None:
    """Bring the schema to this version, and record what waits in journals."""
    caught_up(homes.find()).close()
    typer.echo("the schema is up to date")


@app.command("rebuild", epilog="[bold]Example[/bold]  ciphermark db rebuild last")
def rebuild(
    run: Annotated[str | None, typer.Argument(help=f"{run_names.RUN_HELP} By default: every run.")] = None,
) -> None:
    """Compute results and ratios anew from the recorded samples.

    Recording, importing and migrating do so by themselves where it is needed.
    """
    with caught_up(homes.find()) as database:
        runs = database.run_ids() if run is None else [run_names.resolved(database, run)]
        for run_id in database.rebuild(runs):
            typer.echo(f"rebuilt: {run_id}")


@app.command("stop", epilog="[bold]Example[/bold]  ciphermark db stop")
def stop() -> None:
    """Stop the embedded server; the next command that needs it starts it again."""
    storage.stop(homes.find())
    typer.echo("the embedded server is stopped")
