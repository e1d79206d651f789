"""``adapters`` and ``doctor``: what is here, and what spoils measurements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from ciphermark_benchmark.cli.output import wide_console
from ciphermark_benchmark.cli.suite import loaded
from ciphermark_benchmark.suite import description
from ciphermark_core import host as hosts
from ciphermark_measure import probes


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("adapters", epilog="[bold]Example[/bold]  ciphermark adapters --format json")(adapters)
    app.command("doctor", epilog="[bold]Example[/bold]  ciphermark doctor quick")(doctor)


def adapters(
    format: Annotated[Literal["table", "json"], typer.Option(help="Form of the output.")] = "table",
) -> None:
    """What is installed, with version, build and abilities; what is missing, why, and what installs it."""
    found = description.describe_all(frozenset(hosts.collect().cpu_flags))
    if format == "json":
        typer.echo(json.dumps([item.as_dict() for item in found], indent=2))
        return
    console = wide_console()
    for item in found:
        declared = item.availability.declaration
        state = "[green]installed[/green]" if item.problem is None else "[red]missing[/red]"
        console.print(f"[bold]{declared.variant}[/bold]  {state}  {escape(declared.license)}")
        for name, text in item.lines():
            console.print(f"  {name:<11} {escape(text)}", soft_wrap=True)


def doctor(
    suite: Annotated[
        Path | None, typer.Argument(help="Suite file, to check whether it suits the host.")
    ] = None,
) -> None:
    """Facts about this host, and what on it spoils measurements. Exit code 0 whatever it finds."""
    asked = loaded(suite).experiments if suite is not None else []
    facts = probes.host_facts()
    console = wide_console()
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in description.host_lines(facts):
        table.add_row(name, value)
    console.print(table)
    crowding = hosts.thread_warning({count for item in asked for count in item.threads}, facts.cores)
    found = [*facts.warnings, *([] if crowding is None else [crowding])]
    if not found:
        console.print("[green]Nothing found that spoils measurements.[/green]")
    for warning in found:
        console.print(f"[yellow]![/yellow] {escape(warning)}", soft_wrap=True)
