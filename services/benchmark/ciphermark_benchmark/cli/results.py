"""Print the results of a run: variants ranked by case, and every other figure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, run_names
from ciphermark_benchmark.cli import _result_tables as result_tables
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._result_tables import MAIN_PHASE, UNCORRECTED_HELP
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.figure_rows import asked
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core import security
from ciphermark_core.errors import UserError
from ciphermark_core.names import LATEST
from ciphermark_db.database import Database, Table
from ciphermark_present import formats, links, markup
from ciphermark_present.catalogue.published import PUBLISHED
from ciphermark_present.formats import BYTE_UNITS, TIME_UNITS, Notation
from ciphermark_present.printed import Prices, Wanted
from ciphermark_present.query import AS_MEASURED
from ciphermark_workloads.catalogue import WORKLOADS

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark results last

  ciphermark results last --all

  ciphermark results last --details --notes

  ciphermark results last -o paper.tex --unit ms --unit kB

  ciphermark results last -o ranks.tex --table matrix --relative-to seal

  ciphermark results last:tenseal-ml --table whole-cost --bandwidth 10Mbit/s

  ciphermark results last:retrieval --price-cpu-hour 0.04 --price-gb 0.08

  ciphermark results last --columns variant,operation,median,ci_low,ci_high -o times.csv
"""
_PROGRAMS = ("csv", "json", "parquet")  # machine-readable forms: numbers in seconds and bytes
_ORDER = "scheme, tuning, operation, vector_length, phase, metric, variant"
# Columns of the view `results` in the unit of their row.
_MEASURED = ("median", "ci_low", "ci_high", "mad", "min", "max")


_COLUMNS_HELP = "Columns of the view `results`, separated by commas."
_UNIT_HELP = f"Unit of all times ({', '.join(TIME_UNITS)}) or bytes ({', '.join(BYTE_UNITS)})."
_DETAILS_HELP = "Print every interval, all parameters and first executions."
_ALL_HELP = "Print every table. Default: two screens."
_PUBLISHED_HELP = "Print published values next to the run's values of the same case."
_NAME_HELP = "Only this table: the name of a figure, or that of one of its tables, such as matrix-2."
_BASELINE_HELP = "Rank by multiples of this variant's time. Default: the fastest variant of each case."
_ASSUMED = Prices()
_CPU_HOUR_HELP = "Price of a core hour, for the cost per retrieved element."
_GB_HELP = "Price per GB (10^9 bytes) of outgoing traffic, in the same currency."
BANDWIDTH_HELP = "Bandwidth between client and server, for end-to-end times, such as 10Mbit/s."
_TABLE_HELP = "Rank by the security levels of this table. Default: that of the suite."
_ACROSS = "Also compare across security levels; such rows are marked."


@dataclass(frozen=True, slots=True)
class _Where:
    """The output form and the output file."""

    form: Format
    output: Path | None


app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def results(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    run: Annotated[str, typer.Argument(help=RUN_HELP)] = "last",
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    phase: Annotated[str, typer.Option(help="Phase to rank: encrypt, evaluate or decrypt.")] = MAIN_PHASE,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=OUTPUT_HELP)] = None,
    columns: Annotated[str | None, typer.Option(help=_COLUMNS_HELP)] = None,
    unit: Annotated[list[str] | None, typer.Option(help=_UNIT_HELP)] = None,
    scientific: Annotated[bool, typer.Option("--scientific", help="Print numbers with exponents.")] = False,
    details: Annotated[bool, typer.Option("--details", help=_DETAILS_HELP)] = False,
    all: Annotated[bool, typer.Option("--all", help=_ALL_HELP)] = False,
    notes: Annotated[bool, typer.Option("--notes", help="Print measurement notes by library.")] = False,
    published: Annotated[bool, typer.Option("--published", help=_PUBLISHED_HELP)] = False,
    across_security_levels: Annotated[bool, typer.Option("--across-security-levels", help=_ACROSS)] = False,
    security_table: Annotated[security.Table | None, typer.Option(help=_TABLE_HELP)] = None,
    table: Annotated[str, typer.Option(help=_NAME_HELP)] = "",
    relative_to: Annotated[str, typer.Option(metavar="VARIANT", help=_BASELINE_HELP)] = "",
    uncorrected: Annotated[bool, typer.Option("--uncorrected", help=UNCORRECTED_HELP)] = False,
    price_cpu_hour: Annotated[float, typer.Option(min=0, help=_CPU_HOUR_HELP)] = _ASSUMED.cpu_hour,
    price_gb: Annotated[float, typer.Option(min=0, help=_GB_HELP)] = _ASSUMED.gb,
    bandwidth: Annotated[str, typer.Option(help=BANDWIDTH_HELP)] = links.USUAL,
) -> None:
    """Print the results of a run: variants ranked by case, and every other figure.

    The formats csv, json and parquet contain all rows of the view `results`, in seconds and bytes.
    """
    where = _Where(export.form_of(format, output), output)
    notation, prices = _notation(unit or [], scientific), _prices(price_cpu_hour, price_gb)
    speed = links.rate(links.bits_per_second(bandwidth))
    if where.form in _PROGRAMS and notation != Notation():
        raise UserError(f"{where.form} has seconds and bytes: omit --unit and --scientific")
    with caught_up(data_directories.find()) as database, formats.written(notation):
        database.is_uncorrected = uncorrected
        if published:
            _published(database, run, where)
            return
        run_id = run_names.resolved(database, run)
        _require_phase(database, run_id, phase)
        if columns is not None:
            _columns(database, run_id, [name.strip() for name in columns.split(",")], where)
        else:
            levels = security_table or result_tables.table_of(database, run_id)
            wanted = Wanted(phase, across_security_levels, details, notes, prices, _titles(), levels)
            wanted = replace(wanted, name=table, baseline=relative_to, bandwidth=speed)
            _whole(database, run_id, replace(wanted, is_whole=all or bool(table)), where)


def _titles() -> dict[str, str]:
    return {name: workload.title for name, workload in WORKLOADS.items()}


def _require_phase(database: Database, run_id: str, phase: str) -> None:
    """Raise ``UserError`` for a phase that the run has no time of. The phase of operations is the
    default for any run.
    """
    query = "select distinct phase from results where run_id = %s and metric = 'time' order by phase"
    phases = [row[0] for row in database.query(query, [run_id]).rows]
    if phase not in {MAIN_PHASE, *phases}:
        raise UserError(f"--phase {phase}: phases of this run are {', '.join(phases) or 'no times'}")


def _whole(database: Database, run_id: str, wanted: Wanted, where: _Where) -> None:
    """Write all results of a run in one form."""
    if where.form in _PROGRAMS:
        answer = database.query("select * from results where run_id = %s", [run_id])
        export.write(answer, where.form, where.output)
    elif where.form in markup.FORMATS:
        tables = result_tables.of_run(database, run_id, wanted)
        if database.is_uncorrected:
            tables = (
                replace(table, about=". ".join(filter(None, (table.about, AS_MEASURED)))) for table in tables
            )
        text = markup.FORMATS[where.form](tables)
        export.write_bytes(text.encode(), where.output)
    else:
        result_tables.show_results(console_for(where.output), database, run_id, wanted)


def _prices(cpu_hour: float, gb: float) -> Prices:
    for name, price in (("--price-cpu-hour", cpu_hour), ("--price-gb", gb)):
        if not isfinite(price):
            raise UserError(f"{name} {price}: enter a finite number")
    return Prices(cpu_hour, gb)


def _notation(units: list[str], is_scientific: bool) -> Notation:
    for unit in units:
        if unit not in (*TIME_UNITS, *BYTE_UNITS):
            raise UserError(f"--unit {unit}: use one of {', '.join((*TIME_UNITS, *BYTE_UNITS))}")
    times = [unit for unit in units if unit in TIME_UNITS]
    sizes = [unit for unit in units if unit in BYTE_UNITS]
    if max(len(times), len(sizes)) > 1:
        raise UserError(f"--unit {' --unit '.join(units)}: give at most one unit of time and one of bytes")
    return Notation(times[0] if times else None, sizes[0] if sizes else None, is_scientific)


def _columns(database: Database, run_id: str, names: list[str], where: _Where) -> None:
    """Write the chosen columns; forms for people include units."""
    columns = database.query("select * from results limit 0").columns
    for name in names:
        if name not in columns:
            raise UserError(f"--columns {name}: columns of the view `results` are {', '.join(columns)}")
    chosen = ", ".join((*names, "unit"))  # checked above: each is a column of the view
    answer = database.query(f"select {chosen} from results where run_id = %s order by {_ORDER}", [run_id])
    rows = [row[:-1] if where.form in _PROGRAMS else _with_units(names, row) for row in answer.rows]
    export.write(Table(tuple(names), rows), where.form, where.output)


def _with_units(names: list[str], row: tuple[object, ...]) -> tuple[object, ...]:
    *values, unit = row
    return tuple(
        formats.brief_quantity(value, str(unit or ""))
        if name in _MEASURED and isinstance(value, int | float)
        else value
        for name, value in zip(names, values, strict=True)
    )


def _published(database: Database, run: str, where: _Where) -> None:
    """Write published values next to those of the run, or alone where no run is recorded."""
    is_any_named = any(map(database.runs_named, (run, LATEST)))
    run_id = run_names.resolved(database, run) if is_any_named else None
    if where.form == "table":
        result_tables.show_published(console_for(where.output), database, run_id)
    else:
        export.write(asked(database, PUBLISHED, run_id), where.form, where.output)
