"""Operation graphs of workloads: show, count, draw."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ciphermark_adapters import registry
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import run_names
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_contract import drawing
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.program import Program
from ciphermark_core import host as hosts
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Parameters, Scheme
from ciphermark_core.nearest import did_you_mean
from ciphermark_db.database import StoredProgram
from ciphermark_present.console import styled
from ciphermark_present.printed import Head, Printed
from ciphermark_present.terminal import show as show_tables
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import recommended
from ciphermark_workloads.programs import all_traced

app = typer.Typer(
    add_completion=False,
    help="Operation graphs of workloads: show, count, draw.",
    epilog="[bold]Examples[/bold]  ciphermark program counts lr-k3-encrypted; ciphermark program counts last",
    no_args_is_help=True,
)
_EXAMPLE = "[bold]Example[/bold]  ciphermark program {} lr-k3-encrypted --stage train"
_DATA_SET, _SEED = "boston", 1  # of workloads that take data; of inputs
_RUN = re.compile(r"last([:~].*)?|[0-9a-f]+(-[0-9a-f]*)*")
Named = Annotated[
    list[str],
    typer.Argument(
        metavar="WORKLOAD [OPTION=VALUE] | RUN",
        help=f"Workload by name or file, and non-default options. Or {RUN_HELP[0].lower()}{RUN_HELP[1:]}",
    ),
]
InScheme = Annotated[Scheme | None, typer.Option(help="Scheme. Default: the workload's first.")]
Variant = Annotated[str, typer.Option(help="Variant whose primes and operations it uses.")]
OfStage = Annotated[str | None, typer.Option(help="Only this stage. Default: all.")]
Form = Annotated[Literal["table", "json"], typer.Option(help="Output format.")]


@app.command(epilog=_EXAMPLE.format("show"))
def show(
    wanted: Named,
    scheme: InScheme = None,
    variant: Variant = "seal",
    stage: OfStage = None,
) -> None:
    """Show each stage's program: its properties, then one node per line."""
    console = console_for()
    for name, program in _programs(wanted, scheme, variant, stage).items():
        console.print(styled("[bold]{}, {}[/bold]", wanted[0], name))
        for fact, value in drawing.facts(program).items():
            console.print(f"  {fact:<26} {value}", soft_wrap=True)
        for line in drawing.lines(program):
            console.print(f"  {line}", soft_wrap=True)


@app.command(epilog=_EXAMPLE.format("counts"))
def counts(
    wanted: Named,
    scheme: InScheme = None,
    variant: Variant = "seal",
    stage: OfStage = None,
    format: Form = "table",
) -> None:
    """Count the executions of each operation by level."""
    programs = _programs(wanted, scheme, variant, stage)
    if format == "json":
        typer.echo(json.dumps({name: _as_rows(program) for name, program in programs.items()}, indent=2))
        return
    console = console_for()
    show_tables(console, [_table(f"{wanted[0]}, {name}", program) for name, program in programs.items()])


@app.command(epilog=_EXAMPLE.format("draw"))
def draw(
    wanted: Named,
    scheme: InScheme = None,
    variant: Variant = "seal",
    stage: OfStage = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Output folder.")] = Path(),
) -> None:
    """Draw one SVG file per stage. Bands are levels; boxes are operations, grouped if there are more than 300."""
    for name, program in _programs(wanted, scheme, variant, stage).items():
        path = output / f"{Path(wanted[0]).stem}-{name.replace(' ', '-')}.svg"
        try:
            path.write_text(drawing.svg(program, f"{wanted[0]}, {name}"), encoding="utf-8")
        except OSError as error:
            raise UserError(f"{path}: cannot write: {error.strerror}") from None
        typer.echo(str(path))


def _programs(
    wanted: list[str], scheme: Scheme | None, variant: str, stage: str | None
) -> dict[str, Program]:
    workload, *settings = wanted
    if (stored := measured(wanted)) is not None:
        return of_run(stored, stage)
    options = dict(setting(text) for text in settings)
    return _chosen(_traced(workload, options, scheme, variant), stage)


def measured(wanted: Sequence[str]) -> list[StoredProgram] | None:
    """The programs of the run that a command line denotes; ``None`` for a workload, and for a text that denotes no run
    and is not in the form of an id.
    """
    run, *settings = wanted
    if run in WORKLOADS or user_workloads.is_own(run) or settings:
        return None
    is_id = _RUN.fullmatch(run) is not None
    if not is_id and did_you_mean(run, WORKLOADS):  # a misspelled workload: the database need not be queried
        return None
    with caught_up(data_directories.find()) as database:
        if not is_id and not database.runs_named(run):
            return None
        return database.programs(run_names.resolved(database, run))


def setting(text: str) -> tuple[str, object]:
    """``size=32`` as a name and a JSON value; a value that is no JSON is text."""
    name, sign, value = text.partition("=")
    if not sign:
        raise UserError(f"{text}: write workload options as OPTION=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _as_rows(program: Program) -> list[dict[str, object]]:
    return [
        {"operation": operation, "level": level, "count": count}
        for (operation, level), count in sorted(program.counts.items())
    ]


def _table(title: str, program: Program) -> Printed:
    levels = sorted({level for _, level in program.counts}, reverse=True)
    rows = []
    for operation in sorted({name for name, _ in program.counts}):
        of_levels = [program.counts.get((operation, level), 0) for level in levels]
        rows.append((operation, *(str(count or "") for count in of_levels), str(sum(of_levels))))
    heads = (*(f"level {level}" for level in levels), "all")
    return Printed(
        title, "", (Head("operation"), *(Head(name, is_number=True) for name in heads)), tuple(rows)
    )


def _traced(name: str, options: Mapping[str, Any], scheme: Scheme | None, variant: str) -> dict[str, Program]:
    """The program of each stage, as a variant would execute it. Raises ``UserError`` for unknown names and for
    combinations that do not fit.
    """
    workload = chosen(name).with_options(options)
    scheme = scheme or workload.schemes[0]
    declared = registry.declaration(variant)
    require_installed(variant)
    if not registry.is_loadable_here(variant):
        raise UserError(
            f"{variant} chooses its primes in a separate interpreter: name a run that measured it, or another variant"
        )
    try:
        parameters = registry.load(variant).resolve(recommended(workload, scheme, declared))
        if not user_workloads.is_own(name):
            return _programs_of(workload, parameters, declared)
        ask = partial(_programs_of, workload, parameters, declared)
        return user_workloads.asked(Path(name.partition(":")[0]), ask).value
    except Unsupported as error:
        raise UserError(f"no program of {name} for {variant} in {scheme}: {error}") from None


def _programs_of(workload: AnyWorkload, parameters: Parameters, declared: Declaration) -> dict[str, Program]:
    data = DATA_SETS[_DATA_SET]() if workload.takes_data else None
    traced = all_traced(workload, workload.input(_SEED, data), parameters, declared)
    return {stage: item.program for stage, item in traced.items()}


def of_run(stored: Iterable[StoredProgram], stage: str | None) -> dict[str, Program]:
    """The programs that a run measured, each by workload, variant, scheme, dimensions and stage.

    ``stored`` is what :meth:`ciphermark_db.database.Database.programs` returns. Raises ``UserError`` for none.
    """
    programs = {
        f"{item.case}, {item.stage}": Program.from_bytes(item.content)
        for item in stored
        if stage in (None, item.stage)
    }
    if not programs:
        raise UserError("the run has no program" + (f" of a stage {stage!r}" if stage else ""))
    return programs


def _chosen(programs: dict[str, Program], stage: str | None) -> dict[str, Program]:
    if stage is None:
        return programs
    if stage not in programs:
        raise UserError(f"no stage {stage!r}; stages: {', '.join(programs)}")
    return {stage: programs[stage]}


def require_installed(variant: str) -> None:
    """Raise ``UserError`` for a variant that cannot be used here, with the remedy."""
    availability = registry.availability(variant, frozenset(hosts.collect().cpu_flags))
    if not availability.is_installed:
        raise UserError(f"{variant}: {availability.reason}; {availability.remedy}")
