"""Print what an operation costs at each level of the modulus chain, per library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, run_names
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.figure_rows import rows
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_benchmark.suite import files, shipped
from ciphermark_benchmark.suite.fields import defaults
from ciphermark_benchmark.suite.form import ExperimentText
from ciphermark_contract.operations import OPERATIONS
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_core.nearest import did_you_mean
from ciphermark_db.database import Database, Table
from ciphermark_present import markup, terminal
from ciphermark_present.catalogue import costs

Residency = Literal["cached", "streamed"]
_EXAMPLES = """[bold]Examples[/bold]

  ciphermark cost rotate --n 16384 --level 5

  ciphermark cost mul_full --scheme ckks --n 16384 --variant seal --variant openfhe

  ciphermark cost rotate --n 16384 --residency streamed -o rotate.csv
"""
_COLUMNS = (
    *(
        "run_id",
        "variant",
        "operation",
        "is_composite",
        "scheme",
        "ring_dimension",
        "level",
        "top_level",
        "threads",
    ),
    *(
        "residency",
        "median",
        "ci_low",
        "ci_high",
        "n",
        "security_2018",
        "security_2024",
        "log_qp",
        "modulus_bits",
    ),
)
_RUNS = """
select run_id from costs
where operation = any (%s)
group by run_id order by max(started_at) desc
"""
_OPERATIONS = "select distinct operation from case_info where level is not null order by operation"
_WIDTH = 120  # of the nearest costs in a message

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def cost(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    operation: Annotated[str, typer.Argument(help="Operation, such as rotate, or rotate(4).")],
    n: Annotated[int | None, typer.Option("--n", help="Ring dimension. Default: all.")] = None,
    level: Annotated[
        int | None,
        typer.Option(min=0, help="Level of the operands: data primes left, less one. Default: all."),
    ] = None,
    scheme: Annotated[Scheme | None, typer.Option(help="Scheme. Default: all.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the library.")] = 1,
    residency: Annotated[
        Residency, typer.Option(help="Operands in the cache, or streamed from memory.")
    ] = "cached",
    variant: Annotated[list[str] | None, typer.Option(help="Only this variant. Repeatable.")] = None,
    run: Annotated[str | None, typer.Option(help=f"{RUN_HELP} Default: the latest with this cost.")] = None,
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=OUTPUT_HELP)] = None,
) -> None:
    """Print what an operation costs at each level of the modulus chain, per library.

    Only measured costs are printed. Without one, the command names the nearest measured ones, and the suite to run.
    """
    form = export.form_of(format, output)
    wanted: dict[str, Any] = {"ring_dimension": n, "level": level, "scheme": scheme, "threads": threads}
    wanted |= {"residency": residency, "variant": variant or None}
    chosen = {name: value for name, value in wanted.items() if value is not None}
    with caught_up(data_directories.find()) as database:
        operations = _operations(database, operation)
        runs = _runs(database, operations, run)
        found = next(filter(None, (_costs(database, each, operations, chosen) for each in runs)), [])
        if not found:
            near = _costs(database, runs[0], operations, {}) if runs else []
            raise UserError(_not_measured(operation, wanted, near))
    if form in markup.FORMATS:
        export.write_bytes(markup.FORMATS[form]([costs.table(found)]).encode(), output)
    elif form == "table":
        terminal.show(console_for(output), [costs.table(found)])
    else:
        export.write(Table(_COLUMNS, [tuple(row[name] for name in _COLUMNS) for row in found]), form, output)


def _operations(database: Database, name: str) -> list[str]:
    """The measured operations that a name denotes: with any arguments unless it has some."""
    plain = name.partition("(")[0]
    if plain not in OPERATIONS:
        raise UserError(f"unknown operation {name!r}{did_you_mean(plain, OPERATIONS)}")
    measured = [row[0] for row in database.query(_OPERATIONS).rows]
    return [each for each in measured if name in (each, each.partition("(")[0])]


def _runs(database: Database, operations: Sequence[str], run: str | None) -> list[str]:
    """The run, else all with a cost of the operations, the latest first."""
    if run is not None:
        return [run_names.resolved(database, run)]
    return [row[0] for row in database.query(_RUNS, [list(operations)]).rows]


def _costs(
    database: Database, run_id: str, operations: Sequence[str], chosen: Mapping[str, Any]
) -> list[dict[str, Any]]:
    return rows(database, costs.COSTS, run_id, {"operation": list(operations), **chosen})


def _not_measured(operation: str, wanted: Mapping[str, Any], near: Sequence[Mapping[str, Any]]) -> str:
    """A message on a cost that no run has: the suites that measure it, and the nearest measured ones."""
    suites = " or ".join(f"`ciphermark run {name}`" for name in _suites(operation, wanted))
    measure = (
        f"{suites} measures it" if suites else "no shipped suite measures it: write one with `levels: all`"
    )
    lines = [f"{costs.place({**wanted, 'label': operation})}: not measured; {measure}"]
    if near:
        table = costs.table(costs.nearest(near, wanted))
        lines += [f"Nearest measured costs: {table.title}", *terminal.lines(table, _WIDTH)]
    return "\n".join(lines)


def _suites(operation: str, wanted: Mapping[str, Any]) -> list[str]:
    """The shipped suites with an experiment that measures the cost."""
    n, threads, scheme = (wanted[name] for name in ("ring_dimension", "threads", "scheme"))
    plain = operation.partition("(")[0]

    def measures(item: object) -> bool:
        return (
            isinstance(item, ExperimentText)
            and item.levels is not None
            and plain in (each.partition("(")[0] for each in item.operations or defaults(item.kind))
            and (n is None or item.ring_dimension == "smallest-secure" or n in item.ring_dimension)
            and threads in item.threads
            and scheme in (None, *item.schemes)
        )

    suites = ((name, files.load(shipped.path(name))[0]) for name in shipped.names())
    return [name for name, suite in suites if any(map(measures, suite.experiments))]
