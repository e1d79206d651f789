"""``doctor``: what on this host spoils measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ciphermark_benchmark.cli.output import wide_console
from ciphermark_benchmark.cli.suite import loaded
from ciphermark_benchmark.suite import description
from ciphermark_core import host as hosts
from ciphermark_measure import probes


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("doctor", epilog="[bold]Example[/bold]  ciphermark doctor quick")(doctor)


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
