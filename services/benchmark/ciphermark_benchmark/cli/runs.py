"""Recorded runs: list, label, export, import, delete."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ciphermark_benchmark import archive, deletion, export, run_names
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.run_names import RUN_HELP
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core.errors import UserError
from ciphermark_db.database import Table as Answer
from ciphermark_present import formats
from ciphermark_present.printed import Head, Printed
from ciphermark_present.terminal import show

app = typer.Typer(add_completion=False, no_args_is_help=False)
_ID_SHOWN = 8
_NAMED = 5  # of the trials that a journal lacks
_ROOMY_LABEL = 16  # characters: with a longer one, time and host go below the table
_AGE = re.compile(r"(?P<number>[0-9]{1,6})(?P<unit>[dw])")
_OLDER_HELP = "Delete unlabeled runs that started longer ago than this, such as 90d or 12w."
_Run = Annotated[str, typer.Argument(help=RUN_HELP)]


@app.callback(
    invoke_without_command=True,
    epilog="[bold]Examples[/bold]  ciphermark runs --limit 50; ciphermark runs export last -o today.jsonl.xz",
)
def listed(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="Number of runs, latest first.", min=1, max=100_000)] = 20,
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=OUTPUT_HELP)] = None,
) -> None:
    """Recorded runs: list, label, export, import, delete."""
    if context.invoked_subcommand is not None:
        return
    with caught_up(data_directories.find()) as database:
        rows = database.report("runs", limit=limit)
        shipped = [row["label"] or row["id"] for row in database.report("reference_runs")]
    form = export.form_of(format, output)
    if form != "table" or output is not None:
        columns = tuple(rows[0]) if rows else ("run_id",)
        export.write(Answer(columns, [tuple(row.values()) for row in rows]), form, output)
        return
    console = console_for()
    if not rows:
        console.print("No run is recorded yet. Start one: ciphermark run quick")
    else:
        show(console, [table_of(rows)])
    if shipped:
        console.print(f"\nReference runs: {', '.join(shipped)}")


@app.command("label", epilog="[bold]Example[/bold]  ciphermark runs label last before-the-change")
def label(
    run: _Run,
    name: Annotated[str | None, typer.Argument(help="New label. Omit it to remove the label.")] = None,
) -> None:
    """Label a run. The label is usable in place of its id."""
    if name is not None:
        run_names.label(name)
    with caught_up(data_directories.find()) as database:
        run_id = run_names.resolved(database, run)
        database.label_run(run_id, name)
        note = None if name is None else run_names.note_on(database, name)
    typer.echo(f"run {run_id}: label {name}" if name else f"run {run_id}: label removed")
    if note is not None:
        typer.echo(note)


@app.command("export", epilog="[bold]Example[/bold]  ciphermark runs export last -o run.jsonl.xz")
def export_(
    run: _Run,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, such as run.jsonl.xz.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Write the intact part of a damaged journal.")
    ] = False,
) -> None:
    """Write a run with all its samples to one file, for another data directory or a colleague."""
    data_directory = data_directories.find()
    with caught_up(data_directory) as database:
        run_id = run_names.resolved(database, run)
        (facts,) = database.report("run", run_id=run_id)
        recorded = database.report("trials_of_run", run_id=run_id)
    header, outcomes = archive.held(data_directory, run_id)
    held = {outcome.trial.id for outcome in outcomes}
    lacking = _lacking([row["words"] for row in recorded if row["id"] not in held], len(recorded))
    if lacking and not partial:
        raise UserError(
            f"the journal of run {run_id} is damaged. Missing: {lacking}. Nothing was written; --partial writes the "
            "other trials"
        )
    archive.write(header, outcomes, facts["label"], output)
    left_out = f"; missing: {lacking}" if lacking else ""
    typer.echo(f"run {run_id}: {output}, {output.stat().st_size / 1000:,.0f} kB{left_out}")


def _lacking(trials: Sequence[str], recorded: int) -> str:
    """A text on the trials that a journal has lost; empty if it is complete. Pure."""
    if not trials:
        return ""
    several = [f"{words} × {count}" if count > 1 else words for words, count in Counter(trials).items()]
    names = [
        *several[:_NAMED],
        *([f"and {len(several) - _NAMED} other cases"] if len(several) > _NAMED else []),
    ]
    return f"{len(trials)} of {recorded} recorded trials: {', '.join(names)}"


@app.command("import", epilog="[bold]Example[/bold]  ciphermark runs import reference/*.jsonl.xz")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Archives written by `ciphermark runs export`.")],
) -> None:
    """Record runs from archives. Trials that are already recorded stay unchanged."""
    archives = [(path, *archive.read(path)) for path in files]  # all are checked before the first is recorded
    data_directory = data_directories.find()
    with caught_up(data_directory, is_to_record=True) as database:
        for path, header, outcomes in archives:
            try:
                new = database.import_run(header.run, outcomes)
            except UserError as error:
                raise UserError(f"{path}: {error}") from None
            archive.keep(data_directory, path, header, outcomes)
            what = f"{new:,} of {len(outcomes):,} trials are new"
            typer.echo(f"{path}: run {header.run.id} of suite {header.run.suite_name}, {what}")


@app.command(
    "delete",
    epilog="[bold]Examples[/bold]  ciphermark runs delete last~1; ciphermark runs delete --older-than 90d --yes",
)
def delete(
    run: Annotated[str | None, typer.Argument(help=RUN_HELP)] = None,
    older_than: Annotated[str | None, typer.Option(help=_OLDER_HELP)] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without confirmation.")] = False,
) -> None:
    """Delete a run, or old runs, with all their results."""
    if (run is None) == (older_than is None):
        raise UserError("name either a run or an age with --older-than")
    days = None if older_than is None else _days(older_than)
    data_directory = data_directories.find()
    with caught_up(data_directory) as database:
        if run is not None:
            run_ids = [run_names.resolved(database, run)]
        else:
            run_ids = [row["id"] for row in database.report("old_runs", days=days)]
        if not run_ids:
            typer.echo(f"No unlabeled run is older than {older_than}")
            return
        _require_consent(run_ids, yes)
        for run_id in run_ids:
            deletion.delete(data_directory, database, run_id)
            typer.echo(f"deleted: {run_id}")


def _days(text: str) -> int:
    matched = _AGE.fullmatch(text)
    if matched is None:
        raise UserError(f"--older-than {text}: enter days or weeks, such as 90d or 12w")
    return int(matched["number"]) * {"d": 1, "w": 7}[matched["unit"]]


def _require_consent(run_ids: Sequence[str], is_given: bool) -> None:
    """Raise ``UserError`` if there is no terminal for a confirmation; exit if the answer is no."""
    if is_given:
        return
    if not sys.stdin.isatty():
        raise UserError(f"no terminal to confirm the deletion of {', '.join(run_ids)}: add --yes")
    typer.confirm(f"Delete {', '.join(run_ids)}?", abort=True)


def table_of(rows: Sequence[Mapping[str, Any]]) -> Printed:
    """A row for each run. Pure."""
    has_progress = any(run["progress"] for run in rows)
    is_narrow = any(len(run["label"] or "") > _ROOMY_LABEL for run in rows)
    heads = (
        Head("run"),
        Head("label"),
        Head("suite", is_prose=is_narrow),
        Head("when (UTC)", is_prose=is_narrow),
        Head("host", is_prose=is_narrow),
        Head("trials", is_prose=True),
        *[Head("progress", is_prose=True)] * has_progress,
    )
    return Printed("", "", heads, tuple(_row(run, has_progress) for run in rows))


def _row(run: Mapping[str, Any], has_progress: bool) -> tuple[str, ...]:
    counts = {
        "ok": run["ok"],
        "not ok": run["other"],
        **{name: run[name] for name in ("unsupported", "refused")},
    }
    return (
        run["run_id"][:_ID_SHOWN],
        run["label"] or "",
        run["suite"],
        formats.minute(run["started_at"]),
        run["host"] + (" (imported)" if run["is_imported"] else ""),
        ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "none",
        *[run["progress"] or ""] * has_progress,
    )
