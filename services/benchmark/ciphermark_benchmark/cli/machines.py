"""List accelerators that programs can be predicted on, and show their data."""

from __future__ import annotations

import gc
import json
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from ciphermark_benchmark import machine_comparison, machine_files
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.machine_files import MachineText
from ciphermark_core.errors import UserError
from ciphermark_model.machines.machine import Machine
from ciphermark_present import formats, markup, terminal
from ciphermark_present.catalogue.machines import UNVERIFIED, comparison
from ciphermark_present.printed import Head, Printed

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark machines

  ciphermark machines craterlake

  ciphermark machines ./mine.yaml --format json

  ciphermark machines craterlake --published

  ciphermark machines --schema
"""

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def machines(
    name: Annotated[
        str | None, typer.Argument(help="Show the data of this machine: a name, or a YAML file.")
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the keys of machine files.")] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Compare its published times with predictions.")
    ] = False,
    format: Annotated[Literal["table", "md", "json"], typer.Option(help="Output format.")] = "table",
) -> None:
    """List accelerators that programs can be predicted on, and show their data.

    Machines are YAML files. Yours is checked and used like a shipped one.
    """
    if schema and name is not None:
        raise UserError("--schema shows the keys of all machine files: leave out the name")
    if published:
        _compare(name, format)
        return
    if schema:
        terminal.show(console_for(), [_keys()])
        return
    several = [machine_files.machine(each) for each in ([name] if name else machine_files.names())]
    if format == "json":
        typer.echo(json.dumps([asdict(machine) for machine in several], indent=2))
    else:
        terminal.show(console_for(), [_one(several[0]) if name else _all(several)])


def _compare(name: str | None, form: str) -> None:
    """Published against predicted times; all programs take about ten seconds."""
    if name is None:
        raise UserError("--published needs the name of a machine")
    gc.disable()  # graphs of a million tuples without cycles: searching them takes a quarter of the time
    whole = machine_comparison.whole(machine_files.machine(name), has_sweeps=form == "json")
    if form == "json":
        typer.echo(json.dumps(whole, indent=1))
    elif form in markup.FORMATS:
        typer.echo(markup.FORMATS[form]([*comparison(whole)]))
    else:
        terminal.show(console_for(), [*comparison(whole)])


def _all(several: list[Machine]) -> Printed:
    heads = (
        Head("machine"),
        Head("title"),
        Head("word", is_number=True),
        Head("lanes", is_number=True),
        Head("GHz", is_number=True),
        Head("register file", is_number=True),
        Head("bandwidth", is_number=True),
    )
    rows = tuple(
        (
            machine.name,
            machine.title + UNVERIFIED * (not machine.is_verified),
            str(machine.word_bits),
            f"{machine.lanes:g}",
            f"{machine.ghz:g}",
            formats.size(machine.register_file_bytes),
            f"{formats.size(machine.bandwidth)}/s",
        )
        for machine in several
    )
    legend = (f"{UNVERIFIED} not compared with its publication",)
    return Printed("Machines", "", heads, rows, legend=legend)


def _one(machine: Machine) -> Printed:
    """Every value of a machine, with the origin of those that are not published."""
    rows, marks = [], dict(machine.marks)
    for key, value in asdict(machine).items():
        if key != "marks" and value not in (None, {}):
            rows.append((key, json.dumps(value) if isinstance(value, dict) else str(value)))
    rows.extend((f"mark: {key}", text) for key, text in marks.items())
    return Printed(machine.title, "", (Head("key"), Head("value", is_prose=True)), tuple(rows))


def _keys() -> Printed:
    rows = []
    for key, field in MachineText.model_fields.items():
        need = "required" if field.is_required() else ""
        rows.append((key, need, field.description or ""))
    heads = (Head("key"), Head(""), Head("meaning", is_prose=True))
    return Printed("Keys of machine files", "", heads, tuple(rows))
