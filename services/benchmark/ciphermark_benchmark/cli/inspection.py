"""``adapters``, ``doctor`` and ``suite``: what is here, and what a suite means, before anything runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape
from rich.table import Table

from ciphermark_benchmark import home as homes
from ciphermark_benchmark.cli.output import wide_console
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.suite import description, estimate, files, form, plan
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core import host as hosts
from ciphermark_core.dimensions import DATA_SET, REPETITIONS
from ciphermark_core.model import Case
from ciphermark_measure import probes

_OWN_COLUMNS = (DATA_SET.name, REPETITIONS.name)
_suite = typer.Typer(help="The suite form, and what a suite file means.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("adapters", epilog="[bold]Example[/bold]  ciphermark adapters --format json")(adapters)
    app.command("doctor", epilog="[bold]Example[/bold]  ciphermark doctor suites/quick.yaml")(doctor)
    _suite.command("schema", epilog="[bold]Example[/bold]  ciphermark suite schema > suite.schema.json")(
        schema
    )
    _suite.command("explain", epilog="[bold]Example[/bold]  ciphermark suite explain suites/quick.yaml")(
        explain
    )
    app.add_typer(_suite, name="suite")


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
    asked = _loaded(suite).experiments if suite is not None else []
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


def schema() -> None:
    """JSON Schema of suite files."""
    typer.echo(json.dumps(form.json_schema(), indent=2))


def explain(
    file: Annotated[Path, typer.Argument(help="Suite file.")],
    format: Annotated[Literal["table", "json"], typer.Option(help="Form of the output.")] = "table",
) -> None:
    """The cases a suite expands to, what is skipped and why, and an estimate of the time."""
    suite = _loaded(file)
    facts = hosts.collect()
    planned = plan.cases(suite, runs.available(suite, facts))
    seconds = estimate.run_s(planned, suite.budget.budget)
    if format == "json":
        cases = [_case_dict(item) for item in planned]
        typer.echo(json.dumps({"suite": suite.name, "estimated_s": round(seconds), "cases": cases}, indent=2))
        return
    console = wide_console()
    console.print(_cases_table(planned))
    possible = sum(item.reason is None for item in planned)
    console.print(
        f"{possible * suite.budget.processes} trials of {possible} cases, "
        f"{len(planned) - possible} cases unsupported; a guess: {estimate.in_words(seconds)} on an idle host"
    )
    crowding = hosts.thread_warning({item.case.threads for item in planned}, facts.cores)
    if crowding is not None:
        console.print(f"[yellow]![/yellow] {escape(crowding)}", soft_wrap=True)


def _loaded(path: Path) -> form.Suite:
    catalogue = Catalogue(homes.find(), os.environ, files.spelled_out(path).parent)
    return files.load(path, catalogue)[0]


def _cases_table(planned: list[PlannedCase]) -> Table:
    """A row per case; the division where any is not equal."""
    has_divisions = any(item.case.parameters.division != "equal" for item in planned)
    columns = {name: value for name, value in _COLUMNS.items() if has_divisions or name != "division"}
    table = Table(box=None, pad_edge=False)
    for name in (*columns, "skipped"):
        table.add_column(name, overflow="fold")
    for item in planned:
        table.add_row(*(str(value(item.case)) for value in columns.values()), escape(item.reason or ""))
    return table


def _ring(case: Case) -> str:
    return "smallest" if case.parameters.ring_dimension_is_minimum else str(case.parameters.ring_dimension)


def _operation(case: Case) -> str:
    """With how often, or with the options of a workload."""
    count = REPETITIONS.of(case.dimensions)
    options = {name: value for name, value in case.dimensions.items() if name not in _OWN_COLUMNS}
    text = case.operation if count is None else f"{case.operation} × {count}"
    return f"{text} ({', '.join(f'{name} {value}' for name, value in options.items())})" if options else text


def _chain(case: Case) -> str:
    bits = case.parameters.modulus_bits
    if case.parameters.depth is not None:
        return f"for depth {case.parameters.depth}"
    return "default" if bits is None else ",".join(map(str, bits))


def _scale(case: Case) -> str:
    """The scale of ckks; t of bfv and bgv by its value."""
    scale_bits, modulus = case.parameters.scale_bits, case.parameters.plain_modulus
    return str(modulus or "") if scale_bits is None else f"2^{scale_bits}"


def _case_dict(item: PlannedCase) -> dict[str, object]:
    case = item.case
    return {
        "experiment": case.experiment,
        "variant": case.variant,
        "scheme": case.parameters.scheme,
        "ring_dimension": case.parameters.ring_dimension,
        "modulus_bits": case.parameters.modulus_bits,
        "plain_modulus": case.parameters.plain_modulus,
        "scale_bits": case.parameters.scale_bits,
        "depth": case.parameters.depth,
        "ring_dimension_is_minimum": case.parameters.ring_dimension_is_minimum,
        "division": case.parameters.division,
        "operation": case.operation,
        "repetitions": REPETITIONS.of(case.dimensions),
        "size": case.size,
        "data_pattern": case.data_pattern,
        "data_set": DATA_SET.of(case.dimensions),
        "dimensions": dict(case.dimensions),
        "threads": case.threads,
        "skipped": item.reason,
    }


_COLUMNS: dict[str, Callable[[Case], object]] = {
    "experiment": lambda case: case.experiment,
    "variant": lambda case: case.variant,
    "scheme": lambda case: case.parameters.scheme,
    "division": lambda case: case.parameters.division,
    "N": _ring,
    "chain": _chain,
    "scale, t": _scale,
    "operation": _operation,
    "size": lambda case: case.size,
    "data": lambda case: DATA_SET.of(case.dimensions) or case.data_pattern,
    "threads": lambda case: case.threads,
}
