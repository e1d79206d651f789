"""Compare two runs: number of regressions and improvements, and the largest changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ciphermark_analysis import comparison, two_runs
from ciphermark_analysis.comparison import COLUMNS, Rule, paired, settled, with_judgement
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, run_names
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._result_tables import MIXED, UNCORRECTED_HELP, run_in_words
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.figure_rows import rows
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_core.percentages import factor
from ciphermark_db.database import Database, DatabaseUnavailable, Table
from ciphermark_present import host_state
from ciphermark_present.catalogue import comparing
from ciphermark_present.catalogue.comparing import TWO_RUNS, said_once
from ciphermark_present.console import Terminal
from ciphermark_present.query import AS_MEASURED, Row
from ciphermark_present.terminal import show, wrapped

_EPILOG = """[bold]Examples[/bold]

  ciphermark compare last~1 last

  ciphermark compare before after --metric time --relative-to seal

  ciphermark compare before after --threshold 10% --require-power 25%

[bold]Exit code[/bold]  0: no regression. 1: run B has a regression. 2: nothing could be compared.
3: no regression, but undecided results.
"""
_REFERENCE_HELP = "Normalize times by a variant with the same build in both runs, or by `reference_kernel`."
_THRESHOLD_HELP = "Smaller differences count as unchanged, such as 10%. Default: by metric, 5% for most."
POWER_HELP = "Accept undecided results whose interval excludes this slowdown, such as 20%."
_ACROSS_SECURITY_LEVELS_HELP = "Also compare across security levels; such rows are marked."
_CAVEATS = 3  # caveats of a run that are shown


@dataclass(frozen=True, slots=True)
class _How:
    """Options of a comparison: across security levels, reference variant, every case, threshold, and the slowdown that
    an undecided result has to rule out. Threshold and slowdown are factors.
    """

    across_security_levels: bool
    reference: str | None
    is_whole: bool
    threshold: float | None
    power: float | None


app = typer.Typer(add_completion=False)


@app.command(epilog=_EPILOG)
def compare(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    run_a: Annotated[str, typer.Argument(help=f"Baseline, run A. {RUN_HELP}")],
    run_b: Annotated[str, typer.Argument(help="Run B, compared with run A.")],
    all: Annotated[bool, typer.Option("--all", help="List every case, not only changes.")] = False,
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric. Repeatable.")] = None,
    phase: Annotated[list[str] | None, typer.Option(help="Only this phase. Repeatable.")] = None,
    variant: Annotated[list[str] | None, typer.Option(help="Only this variant. Repeatable.")] = None,
    relative_to: Annotated[str | None, typer.Option(help=_REFERENCE_HELP)] = None,
    threshold: Annotated[str | None, typer.Option(metavar="PERCENT", help=_THRESHOLD_HELP)] = None,
    require_power: Annotated[str | None, typer.Option(metavar="PERCENT", help=POWER_HELP)] = None,
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=OUTPUT_HELP)] = None,
    across_security_levels: Annotated[
        bool, typer.Option("--across-security-levels", help=_ACROSS_SECURITY_LEVELS_HELP)
    ] = False,
    uncorrected: Annotated[bool, typer.Option("--uncorrected", help=UNCORRECTED_HELP)] = False,
) -> None:
    """Compare two runs: number of regressions and improvements, and the largest changes."""
    form = export.form_of(format, output)
    factors = factor("--threshold", threshold), factor("--require-power", require_power)
    how = _How(across_security_levels, relative_to, all, *factors)
    chosen = {"metric": metric or [], "phase": phase or [], "variant": variant or []}
    try:
        with caught_up(data_directories.find()) as database:
            database.is_uncorrected = uncorrected
            ids = run_names.resolved(database, run_a), run_names.resolved(database, run_b)
            results = _compared(database, ids, how, chosen)
            if form == "table":
                _show(console_for(output), database, ids, said_once(results), how)
            else:
                table = Table(COLUMNS, [tuple(row.values()) for row in results])
                export.write(table, form, output)
    except DatabaseUnavailable as error:  # exit code 1 would mean a regression
        raise UserError(str(error)) from None
    if code := comparing.EXIT_CODES[comparing.conclusion(results, how.power)]:
        raise typer.Exit(code)


def _compared(
    database: Database, runs: tuple[str, str], how: _How, chosen: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """One row per chosen case, phase and metric of either run. Ratios are within one security level, by the 2018 table,
    unless ``how`` crosses levels. Times are relative to the reference if there is one. The chosen rows are judged
    together; host-wide shifts are detected among all rows.
    """
    of_runs = [rows(database, TWO_RUNS, run_id) for run_id in runs]
    pairs = settled(paired(*of_runs))
    if how.reference is not None:
        pairs = two_runs.relative(pairs, how.reference)
        if not any(row["unit"] == "s" and row["a_median"] and row["b_median"] for row in pairs):
            raise UserError(f"--relative-to {how.reference}: both runs need a time of it")
    _require_names(pairs, chosen)
    rule = Rule.over(
        [row for row in pairs if _is_chosen(row, chosen)], how.across_security_levels, how.threshold
    )
    is_relative = how.reference is not None
    judged = [with_judgement(row, rule) for row in pairs] if is_relative else two_runs.judgements(pairs, rule)
    results = (dict(zip(COLUMNS, row, strict=True)) for row in judged)
    return [row for row in results if _is_chosen(row, chosen)]


def _require_names(pairs: Sequence[Row], chosen: Mapping[str, Sequence[str]]) -> None:
    """Raise ``UserError`` for a chosen name that no row has."""
    for column, names in chosen.items():
        values = sorted({row[column] for row in pairs if row[column]})
        for name in names:
            if name not in values:
                raise UserError(f"--{column} {name}: these runs contain {', '.join(values) or 'none'}")


def _is_chosen(row: Row, chosen: Mapping[str, Sequence[str]]) -> bool:
    return all(not names or row[column] in names for column, names in chosen.items())


def _show(
    console: Terminal, database: Database, runs: tuple[str, str], found: Sequence[Row], how: _How
) -> None:
    _say(console, comparing.verdict_of_runs(found, how.power), "bold")
    for sentence in comparing.certainty(found, how.power):
        _say(console, sentence)
    of_runs = [database.report("run", run_id=run_id)[0] for run_id in runs]
    for name, run in zip("AB", of_runs, strict=True):
        _say(console, f"Run {name}: {run_in_words(run)}")
    notes = [AS_MEASURED] if database.is_uncorrected else []
    for sentence in (*notes, *_beside(of_runs, found, how)):
        _say(console, sentence, "yellow")
    if how.is_whole:
        show(console, comparing.tables(found))
    else:
        largest = comparing.largest(found)
        show(console, largest)
        left = comparing.changes(found) - sum(len(table.rows) for table in largest)
        if left:
            console.print(f"{left:,} more changes: --all")
    console.print()
    _show_caveats(console, database, runs)


def _say(console: Terminal, text: str, style: str = "") -> None:
    for line in wrapped(text, console.width, style):
        console.print(line, soft_wrap=True)


def _beside(runs: Sequence[dict[str, Any]], found: Sequence[Row], how: _How) -> list[str]:
    """Remarks on the comparison as a whole."""
    notes = []
    if len({run["fingerprint"] for run in runs}) > 1:
        notes.append("Warning: the hosts differ, and so may their times")
    if how.across_security_levels:
        notes.append(MIXED)
    if how.reference is not None:
        notes.append(_normalized(how.reference))
    drift = comparison.drift(found)
    if drift is not None:
        notes.append(f"Host: {drift}.")
    shared = two_runs.shared(found)
    if shared is not None:
        notes.append(f"{shared}.")
    return notes


def _normalized(reference: str) -> str:
    of_build = "" if reference == two_runs.REFERENCE_KERNEL else ", whose build is the same in both runs"
    return f"Times of run B are normalized by {reference.replace('_', ' ')}{of_build}"


def _show_caveats(console: Terminal, database: Database, runs: tuple[str, str]) -> None:
    a, b = (database.report("host_state", run_id=run_id) for run_id in runs)
    unlike = host_state.unlike_corrections(a, b)
    if unlike is not None:
        _say(console, unlike)
    for name, states in (("A", a), ("B", b)):
        for row in states:
            for sentence in [*host_state.told(row)][:_CAVEATS]:
                _say(console, f"Run {name}. {sentence}")
