"""Predictions of workloads and stored programs on accelerators, for the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ciphermark_adapters import registry
from ciphermark_benchmark import export, machine_files, on_machines
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.program import measured, setting
from ciphermark_benchmark.export import Format
from ciphermark_benchmark.on_machines import Row, Task
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Scheme
from ciphermark_db.database import Table
from ciphermark_model.machines.graph import Words
from ciphermark_model.machines.machine import Machine
from ciphermark_present import markup, terminal
from ciphermark_present.catalogue import machines
from ciphermark_workloads.parameters import Override

Machines = Annotated[
    list[str] | None,
    typer.Option(help="Accelerator, by name or YAML file. Repeatable. See `ciphermark machines`."),
]
Security = Annotated[
    int | None,
    typer.Option(help="With --machine: security level of its key-switching digits. Default: its first."),
]
WordsOption = Annotated[
    Words | None,
    typer.Option(
        help="With --machine: words by the program's primes, or by its whole modulus. "
        "Default: per prime, unless all primes are smaller than a word."
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="With --machine: change a value of it. Repeatable."),
]


def require_none(*options: Any) -> None:
    """Raise ``UserError`` for options of accelerators without one."""
    if any(option is not None for option in options):
        raise UserError("--security, --words and --set are for --machine")


def changed(changes: Sequence[str] | None) -> Mapping[str, Any]:
    """The changed values of machines by key; raises ``UserError`` for a text without a key."""
    pairs = [text.partition("=") for text in changes or ()]
    for key, sign, _ in pairs:
        if not sign:
            raise UserError(f"{key}: write changes as KEY=VALUE, such as --set bandwidth=2TB/s")
    return {key: machine_files.value_of(value) for key, _, value in pairs}


def tasks(
    wanted: Sequence[str],
    variants: Sequence[str] | None,
    scheme: Scheme | None,
    n: int | None,
    security: int | None,
) -> list[Task]:
    """What a command line names: a program that CraterLake reports, a run's stored programs, or a workload as the first
    variant traces it that can.
    """
    if wanted[0].startswith(on_machines.PUBLISHED):
        return [on_machines.of_published(wanted[0].removeprefix(on_machines.PUBLISHED), security or 80)]
    stored = measured(wanted)
    if stored is not None:
        try:
            return [*on_machines.of_run(stored)]
        except Unsupported as error:
            raise UserError(str(error)) from None
    name, *settings = wanted
    options: Mapping[str, Any] = dict(setting(text) for text in settings)
    workload = chosen(name).with_options(options)
    return [
        on_machines.of_workload(
            name, workload, variants or [*registry.declarations()], scheme, Override(ring_dimension=n)
        )
    ]


def rows(
    several: Sequence[Task], on: Sequence[Machine], security: int | None, words: Words | None
) -> list[Row]:
    """The rows of all tasks, the fastest first. Prints the reasons for missing ones; raises ``UserError`` for none."""
    answers, reasons = list[Row](), list[str]()
    for task in several:
        found, against = on_machines.rows(task, on, security, words)
        answers.extend(sorted(found, key=lambda row: row["time_s"]))
        reasons.extend(against)
    if not answers:
        raise UserError("\n".join(reasons))
    for reason in reasons:
        typer.echo(reason, err=True)
    return answers


def write(answers: Sequence[Row], form: Format, output: Path | None) -> None:
    """Write the rows as tables for people, or as one table for programs."""
    title = answers[0]["program"] if len({row["program"] for row in answers}) == 1 else "On accelerators"
    if form == "table":
        terminal.show(console_for(output), [*machines.tables(answers, title)])
    elif form in markup.FORMATS:
        text = markup.FORMATS[form]([*machines.tables(answers, title)])
        export.write_bytes(text.encode(), output)
    else:
        columns = [name for name, value in answers[0].items() if not isinstance(value, dict | list)]
        export.write(
            Table(tuple(columns), [tuple(row[name] for name in columns) for row in answers]), form, output
        )
