"""Database of results: URL, schema, backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import recovery, reference_runs, run_names, storage, track_record
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_db import backup as backups

app = typer.Typer(
    add_completion=False,
    help=__doc__,
    epilog='[bold]Example[/bold]  psql "$(ciphermark db url)"',
    no_args_is_help=True,
)
_REFERENCE_HELP = "Add the runs that Ciphermark ships, once. Pages show them where no other run answers."


@app.command("url", epilog='[bold]Example[/bold]  psql "$(ciphermark db url)"')
def url() -> None:
    """Print the database URL. Starts the embedded server if it is in use."""
    typer.echo(storage.url(data_directories.find()))


@app.command("migrate", epilog="[bold]Example[/bold]  ciphermark db migrate --reference-runs")
def migrate(
    reference: Annotated[bool, typer.Option("--reference-runs", help=_REFERENCE_HELP)] = False,
) -> None:
    """Update the schema to this version, and record pending journals."""
    with caught_up(data_directories.find(), is_to_record=reference) as database:
        typer.echo("The schema is up to date.")
        for label in reference_runs.add(database) if reference else ():
            typer.echo(f"added: {label}")


@app.command("backup", epilog="[bold]Example[/bold]  ciphermark db backup ciphermark.backup")
def backup(
    file: Annotated[Path, typer.Argument(help="File to write, for `ciphermark db restore`.")],
) -> None:
    """Write the whole database to a file: runs, results, labels and jobs. Journals are not included."""
    data_directory = data_directories.find()
    caught_up(data_directory).close()
    backups.write(storage.url(data_directory), file)
    typer.echo(f"{file}: {file.stat().st_size / 1000:,.0f} kB")


@app.command("restore", epilog="[bold]Example[/bold]  ciphermark db restore ciphermark.backup")
def restore(file: Annotated[Path, typer.Argument(help="File written by `ciphermark db backup`.")]) -> None:
    """Restore a backup into an empty database."""
    data_directory = data_directories.find()
    storage.connected(data_directory).close()
    backups.restore(storage.url(data_directory), file)
    caught_up(data_directory, is_to_record=True).close()
    typer.echo(f"restored: {file}")


@app.command("rebuild", epilog="[bold]Example[/bold]  ciphermark db rebuild last")
def rebuild(
    run: Annotated[str | None, typer.Argument(help=f"{run_names.RUN_HELP} Default: every run.")] = None,
) -> None:
    """Record missing runs from local journals and archives, and recompute results, ratios and predictions.

    Recording, importing and migrating recompute them if needed. Only backups contain later labels and jobs.
    """
    data_directory = data_directories.find()
    with caught_up(data_directory, is_to_record=run is None) as database:
        if run is None:
            for run_id in recovery.record_kept(data_directory, database):
                typer.echo(f"recorded: {run_id}")
        runs = database.run_ids() if run is None else [run_names.resolved(database, run)]
        for run_id in database.rebuild(runs):
            typer.echo(f"rebuilt: {run_id}")
        for run_id in runs:
            if count := track_record.renewed(data_directory, database, run_id):
                typer.echo(f"predicted: {count} cases of {run_id}")


@app.command("stop", epilog="[bold]Example[/bold]  ciphermark db stop")
def stop() -> None:
    """Stop the embedded server. The next command that needs it restarts it."""
    storage.stop(data_directories.find())
    typer.echo("The embedded server is stopped.")
