"""Predictions of workloads and stored programs on accelerators, for the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ciphermark_adapters import registry
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, machine_files, on_machines, stored_programs
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.program import measured, setting
from ciphermark_benchmark.export import Format
from ciphermark_benchmark.on_machines import Row, Task
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_db.database import Database, Table
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
        several = [*stored_programs.tasks(stored)]
        reasons = [item for item in several if isinstance(item, str)]
        if len(reasons) == len(several):
            raise UserError("\n".join(reasons) or "the run has no program")
        typer.echo("".join(f"{reason}\n" for reason in reasons), nl=False, err=True)
        return [item for item in several if not isinstance(item, str)]
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


def measured_times(database: Database, answers: Sequence[Row]) -> list[Row]:
    """The latest measured times of the predicted programs: see ``reports.sql``."""
    programs = {row["program"]: row for row in answers}
    names = {program: row["measured_by"] for program, row in programs.items()}
    return [
        time
        for time in database.report("measured_programs", names=json.dumps(names))
        if programs[time["program"]]["case"].items() <= time.items()
    ]


def write(answers: Sequence[Row], form: Format, output: Path | None) -> None:
    """Write the rows and measured times as tables for people, or the rows as one table for programs."""
    with caught_up(data_directories.find()) as database:
        times = measured_times(database, answers)
    tables = [*machines.tables(answers, _title(answers)), *machines.measured_beside(answers, times)]
    if form == "table":
        terminal.show(console_for(output), tables)
    elif form in markup.FORMATS:
        export.write_bytes(markup.FORMATS[form](tables).encode(), output)
    elif form == "json":
        whole = [
            {**row, "measured": [time for time in times if time["program"] == row["program"]]}
            for row in answers
        ]
        export.write_bytes(f"{json.dumps(whole, indent=1)}\n".encode(), output)
    else:
        columns = [name for name, value in answers[0].items() if not isinstance(value, dict | list)]
        export.write(
            Table(tuple(columns), [tuple(row[name] for name in columns) for row in answers]), form, output
        )


def _title(answers: Sequence[Row]) -> str:
    return answers[0]["program"] if len({row["program"] for row in answers}) == 1 else "On accelerators"
