"""Facts about this host, and what on it spoils measurements. Exit code 0 whatever it finds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.text import Text

from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.suite import loaded
from ciphermark_benchmark.suite import description
from ciphermark_core import host as hosts
from ciphermark_measure import probes
from ciphermark_present import terminal


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
    console = console_for()
    for line in terminal.named(description.host_lines(facts), console.width):
        console.print(Text(line), soft_wrap=True)
    crowding = hosts.thread_warning({count for item in asked for count in item.threads}, facts.cores)
    found = [*facts.warnings, *([] if crowding is None else [crowding])]
    if not found:
        console.print("[green]Nothing found that spoils measurements.[/green]")
    for warning in found:
        console.print(f"[yellow]![/yellow] {escape(warning)}", soft_wrap=True)
