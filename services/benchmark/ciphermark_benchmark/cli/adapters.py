"""What is installed, with version, schemes and build; what is missing, why, and what installs it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from ciphermark_adapters import added, registry
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.suite import description
from ciphermark_benchmark.suite.description import Description
from ciphermark_core import host as hosts
from ciphermark_present import formats, terminal
from ciphermark_present.printed import Head, Printed

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark adapters

  ciphermark adapters seal-hexl

  ciphermark adapters --format json
"""
_WIDEST = 80  # a glance, also where a pipe has more room
_HEADS = (
    Head("variant"),
    Head("version"),
    Head("schemes"),
    Head("build"),
    Head("missing", is_prose=True),
)
_IN_BRACKETS = re.compile(r"\s*\([^)]*\)")
_OPTIMIZATION = re.compile(r"(?:^|\s)(-O\w*)")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("adapters", epilog=_EXAMPLES)(adapters)


def adapters(
    name: Annotated[str | None, typer.Argument(help="A variant, to tell all that is known of it.")] = None,
    format: Annotated[Literal["table", "json"], typer.Option(help="Form of the output.")] = "table",
) -> None:
    """What is installed, with version, schemes and build; what is missing, why, and what installs it.

    Of a variant that is named: how it was built, its operations, what its times include, what it lacks and why.
    """
    wanted = sorted(registry.declarations()) if name is None else [registry.declaration(name).variant]
    found = description.describe_all(wanted, frozenset(hosts.collect().cpu_flags))
    console = console_for()
    if format == "json":
        typer.echo(json.dumps([item.as_dict() for item in found], indent=2))
    elif name is None:
        for line in terminal.lines(table_of(found), min(console.width, _WIDEST)):
            console.print(Text(line), soft_wrap=True)
        console.print("\nBuild, operations, notes and what is lacking: ciphermark adapters VARIANT")
    else:
        _tell(console, found[0])


def table_of(found: Sequence[Description]) -> Printed:
    """A row for each variant. Pure, but for which builds are the user's own."""
    own = added.all_builds()
    return Printed(
        "", "", _HEADS, tuple(_row(item, item.availability.declaration.variant in own) for item in found)
    )


def _row(item: Description, is_own: bool) -> tuple[str, ...]:
    declared = item.availability.declaration
    schemes = " ".join(scheme for scheme, operations in declared.operations.items() if operations)
    if item.library is None:
        remedy = item.availability.remedy or declared.remedy
        return declared.variant, formats.NOTHING, schemes, "", f"{item.problem}: {remedy}"
    build = ", ".join(filter(None, (brief_build(item.library.build), "your own" if is_own else "")))
    debug = " (DEBUG BUILD)" if item.library.is_debug else ""
    return declared.variant, item.library.version, schemes, build + debug, ""


def brief_build(facts: dict[str, str]) -> str:
    """Compiler and optimization of a library's build, of what is told of it; empty where nothing is. Pure."""
    compiler = _IN_BRACKETS.sub("", facts.get("compiler", "")).partition(": ")[0]
    optimized = _OPTIMIZATION.findall(facts.get("flags", ""))
    return " ".join(filter(None, (compiler, *optimized[-1:])))


def _tell(console: Console, item: Description) -> None:
    """Everything that is known of a variant."""
    declared = item.availability.declaration
    state = "[green]installed[/green]" if item.problem is None else "[red]missing[/red]"
    console.print(f"[bold]{escape(declared.variant)}[/bold]  {state}  {escape(declared.license)}")
    for line in terminal.named(item.lines(), console.width, indent="  "):
        console.print(Text(line), soft_wrap=True)
