"""Predict the programs of a suite from frozen cost tables, measure them, and print every error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, predicting, run_names, storage, validating
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.run import progress_of, say_that_it_waits
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_model.validation import proof
from ciphermark_present import markup, terminal
from ciphermark_present.printed import Printed

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark validate-model --freeze

  ciphermark validate-model --table seal:3f1c… -o validation.md

  ciphermark validate-model mine.yaml --run last:mine
"""

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def validate_model(
    suite: Annotated[Path, typer.Argument(help="Name or file of a suite of workloads.")] = Path("validation"),
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Print the digests of the cost tables and the predictions only.")
    ] = False,
    table: Annotated[
        list[str] | None,
        typer.Option(help="Digest that a cost table must have, as VARIANT:DIGEST. Repeatable."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(help="Compare with this run of the suite, instead of measuring."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write: .md, .tex or .txt.")
    ] = None,
) -> None:
    """Predict the programs of a suite from frozen cost tables, measure them, and print every error.

    Predictions are complete before the first program is measured. The cost tables hold times of single operations
    alone. Rows count by a criterion that is printed before they are measured.
    """
    form = export.form_of(None, output)
    if form not in ("table", *markup.FORMATS):
        raise UserError(f"{output}: a validation is written as .md, .tex or .txt")
    data_directory, console = data_directories.find(), console_for()
    read, _, _, facts = runs.read(data_directory, suite)
    planned = runs.cases(read, facts, ())
    with caught_up(data_directory) as database:
        run_id = None if run is None else run_names.resolved(database, run)
        tables = {
            name: predicting.cost_table(database, facts, name, but_of=run_id)
            for name in sorted(set(read.variants))
        }
        validating.frozen(tables, table or ())
    predictions = validating.forecasts(planned, tables)
    terminal.show(console, [validating.printed_tables(tables), validating.printed_forecasts(predictions)])
    if freeze:
        return
    run_id = run_id or _run(data_directory, suite)
    with storage.connected(data_directory) as database:
        measured = validating.measured(database, run_id)
    result = proof(validating.rows(predictions, measured), validating.CRITERION)
    frozen = [validating.printed_tables(tables), validating.printed_held_out(tables)]
    _write([*frozen, *validating.printed(result)], form, output)


def _run(data_directory: DataDirectory, suite: Path) -> str:
    """Measure the suite, and return the id of its run. Raises ``UserError`` while the database is unavailable."""
    with runs.alone_on_host(data_directory, lambda: say_that_it_waits(data_directory)):
        prepared = runs.new(data_directory, suite)
        with progress_of(prepared) as on_outcome:
            ended = runs.execute(data_directory, prepared, on_outcome)
    if ended.waiting is not None:
        raise UserError(
            f"PostgreSQL is unavailable: {ended.waiting}. Compare later: "
            f"ciphermark validate-model {suite} --run {ended.run.id}"
        )
    return ended.run.id


def _write(tables: Sequence[Printed], form: export.Format, output: Path | None) -> None:
    if form in markup.FORMATS:
        export.write_bytes(markup.FORMATS[form](tables).encode(), output)
    else:
        terminal.show(console_for(output), tables)
