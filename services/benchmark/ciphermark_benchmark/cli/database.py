"""``sql`` and ``db``: the database behind the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import export, storage
from ciphermark_benchmark import home as homes
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.runner.recorder import caught_up

_db = typer.Typer(
    help="The database behind the results.",
    epilog='[bold]Example[/bold]  psql "$(ciphermark db url)"',
    no_args_is_help=True,
)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(
        "sql",
        epilog='[bold]Example[/bold]  ciphermark sql "select variant, operation, median from results limit 5"',
    )(sql)
    _db.command("url", epilog='[bold]Example[/bold]  psql "$(ciphermark db url)"')(url)
    _db.command("migrate", epilog="[bold]Example[/bold]  ciphermark db migrate")(migrate)
    _db.command("stop", epilog="[bold]Example[/bold]  ciphermark db stop")(stop)
    app.add_typer(_db, name="db")


def sql(
    query: Annotated[str, typer.Argument(help="One SQL statement; it can only read.")],
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=OUTPUT_HELP),
    ] = None,
) -> None:
    """Ask the database. The views are described in docs/sql.md."""
    form = export.form_of(format, output)
    with caught_up(homes.find()) as database:
        table = database.query(query)
    export.write(table, form, output)


def url() -> None:
    """Print the database's URL; starts the embedded server where it is the one."""
    typer.echo(storage.url(homes.find()))


def migrate() -> None:
    """Bring the schema to this version, and record what waits in journals."""
    caught_up(homes.find()).close()
    typer.echo("the schema is up to date")


def stop() -> None:
    """Stop the embedded server; the next command that needs it starts it again."""
    storage.stop(homes.find())
    typer.echo("the embedded server is stopped")
