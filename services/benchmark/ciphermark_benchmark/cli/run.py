"""Execute a suite, record every sample, and print the ranked results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Annotated, Protocol

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ciphermark_analysis import correction
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import run_names, run_notes, storage
from ciphermark_benchmark.cli import _result_tables as result_tables
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import of_file
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.runs import Ended, Prepared
from ciphermark_benchmark.runner.two_parties import Advance
from ciphermark_core import wire
from ciphermark_core.descriptor import REPETITIONS
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, Outcome
from ciphermark_present import formats, terminal
from ciphermark_present.console import Terminal, styled
from ciphermark_present.printed import Printed, Wanted
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS

_INTERRUPTED = 130  # as shells report it
_BETWEEN_LINES_S = 10.0  # of stages of a trial
EXIT_CODES: dict[run_notes.Conclusion, int] = {"as planned": 0, "failures": 1, "nothing executed": 2}
_EPILOG = """[bold]Examples[/bold]

  ciphermark run quick

  ciphermark run quick --variant seal --variant seal-hexl

  ciphermark run --resume 6f1c…            resume an interrupted run

  ciphermark run smoke --json outcomes.jsonl

  ciphermark run mine.py                   a computation, with every installed library

[bold]Exit code[/bold]  0: every trial ended as planned. 1: a trial ended as incorrect, crashed, timeout,
out_of_memory, or above level 0 as budget_exhausted. 2: no trial could be executed, or the command line or the suite is
invalid. 130: interrupted.
"""


app = typer.Typer(add_completion=False)


@app.command(epilog=_EPILOG)
def run(
    suite: Annotated[
        Path | None,
        typer.Argument(
            help="Name of a suite (see `ciphermark suite list`), a suite file, or a file with a computation. "
            "Optional with --resume."
        ),
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option("--variant", help="Execute only this variant. Repeatable.")
    ] = None,
    resume: Annotated[
        str | None, typer.Option(help="Resume this run. Completed trials are not repeated.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Label of the run, usable in place of its id.")] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Also write every outcome to this file, one JSON object per line."),
    ] = None,
) -> None:
    """Execute a suite, record every sample, and print the ranked results."""
    data_directory, console = data_directories.find(), console_for()
    path, text = suite_of(suite, partial(terminal.show, console))
    request = asked(data_directory, path, text, variant or [], resume, label)

    def begin() -> Prepared:
        if json is not None:
            _write_outcomes(json, ())  # reported before hours of measuring
        return request.begin()

    try:
        ended = executed(data_directory, replace(request, begin=begin), partial(_announce, console))
    except KeyboardInterrupt:
        raise typer.Exit(_INTERRUPTED) from None
    if json is not None:
        _write_outcomes(json, ended.outcomes)
    _conclude(console, data_directory, ended)
    if code := EXIT_CODES[run_notes.conclusion(ended.outcomes)]:
        raise typer.Exit(code)


def suite_of(
    suite: Path | None, show: Callable[[Sequence[Printed]], object]
) -> tuple[Path | None, str | None]:
    """The path of a suite, and its text where the path is a file with a workload, whose choices are shown."""
    if suite is None or not user_workloads.is_own(str(suite)):
        return suite, None
    path, text, decisions = of_file(str(suite))
    show(decisions)
    return path, text


def executed(
    data_directory: data_directories.DataDirectory,
    request: Request,
    on_begin: Callable[[Prepared], None] = lambda _: None,
) -> Ended:
    """Execute and record a request, with its progress on standard error. Waits for another run to end."""

    def wait() -> None:
        request.look()  # mistakes are reported before hours of waiting
        say_that_it_waits(data_directory)

    with runs.alone_on_host(data_directory, wait):
        prepared = request.begin()
        on_begin(prepared)
        with progress_of(prepared) as on_outcome:
            try:
                return runs.execute(data_directory, prepared, on_outcome, on_outcome.on_stage)
            except KeyboardInterrupt:
                _print_how_to_resume(prepared)
                raise


def say_that_it_waits(data_directory: data_directories.DataDirectory) -> None:
    """Report that another run, of a command or a worker, uses the data directory."""
    Terminal(stderr=True).print(
        f"Another run is active in {data_directory.folder}.\n"
        "Waiting for it to finish: concurrent runs disturb each other. Ctrl-C to cancel.",
        soft_wrap=True,
    )


@dataclass(frozen=True, slots=True)
class Request:
    """A run to execute: ``look`` checks for mistakes, ``begin`` begins it. Both raise ``UserError``."""

    look: Callable[[], object]
    begin: Callable[[], Prepared]


def asked(  # noqa: PLR0913, PLR0917 - the arguments of the command
    data_directory: data_directories.DataDirectory,
    suite: Path | None,
    text: str | None,
    variants: list[str],
    resume: str | None = None,
    label: str | None = None,
) -> Request:
    """The request for a new run of a suite, or for the rest of an interrupted run; ``text`` replaces the suite's.
    Raises ``UserError`` for arguments that exclude each other.
    """
    if resume is None:
        if suite is None:
            raise UserError(
                "missing suite: name one (see `ciphermark suite list`), a suite file, or --resume RUN"
            )
        new = (data_directory, suite, variants, label, text)
        return Request(partial(runs.read, *new), partial(runs.new, *new))
    if variants:
        raise UserError("--resume keeps the variants of the run: omit --variant")
    if label is not None:
        raise UserError("--resume keeps the label of the run: omit --label, or use `ciphermark runs label`")
    return Request(lambda: None, partial(runs.resumed, data_directory, resume, suite))


def _announce(console: Terminal, prepared: Prepared) -> None:
    run, trials = prepared.run, prepared.plan.trials
    to_do = f"{_trials(len(trials))} to execute" if trials else "no trials left to execute"
    console.print(
        styled("Run [bold]{}[/bold], suite {}: {}", run.id, run.suite_name, to_do)
        + (f", {prepared.done:,} completed before" if prepared.done else "")
        + (f", {len(prepared.plan.unsupported):,} unsupported" if prepared.plan.unsupported else ""),
        soft_wrap=True,
    )


def _trials(count: int) -> str:
    return f"{count:,} trial{'' if count == 1 else 's'}"


def _print_how_to_resume(prepared: Prepared) -> None:
    run_id = prepared.run.id
    Terminal(stderr=True).print(
        f"Interrupted. Completed trials are saved. Resume: ciphermark run --resume {run_id}",
        soft_wrap=True,
    )


def _write_outcomes(path: Path, outcomes: Sequence[Outcome]) -> None:
    try:
        path.write_bytes(b"".join(wire.to_line(outcome) for outcome in outcomes))
    except OSError as error:
        raise UserError(f"{path}: cannot write the outcomes: {error.strerror}") from None


def _conclude(console: Terminal, data_directory: data_directories.DataDirectory, ended: Ended) -> None:
    """Print the table, failures with reasons, warnings, and the location of the data."""
    if ended.waiting is not None:
        console.print(styled("[yellow]PostgreSQL is unavailable:[/yellow] {}", ended.waiting), soft_wrap=True)
        console.print(
            f"The outcomes of run {ended.run.id} are saved in {data_directory.pending}. The next command records them.",
            soft_wrap=True,
        )
        return
    titles = {name: workload.title for name, workload in WORKLOADS.items()}
    with storage.connected(data_directory) as database:
        result_tables.show_results(console, database, ended.run.id, Wanted(titles=titles))
        refusals = database.report("refusals", run_id=ended.run.id)
        note = None if ended.run.label is None else run_names.note_on(database, ended.run.label)
    counts = Counter(outcome.status for outcome in ended.outcomes)
    console.print("Outcomes: " + ", ".join(f"{count:,} {status}" for status, count in counts.most_common()))
    for reason, count in run_notes.reasons(ended.outcomes):
        console.print(f"  {count:,} × {reason}", soft_wrap=True)
    for row in refusals:
        console.print(
            styled(
                "[yellow]Not recorded[/yellow], only in the journal: {}, {}",
                _trials(row["trials"]),
                row["reason"],
            ),
            soft_wrap=True,
        )
    for caveat in run_notes.caveats(ended.run, ended.outcomes):
        console.print(styled("[yellow]Warning:[/yellow] {}", caveat), soft_wrap=True)
    if note is not None:
        console.print(note, soft_wrap=True)
    console.print(f"Data: run {ended.run.id} in {storage.place(data_directory)}", soft_wrap=True)
    console.print(
        f"      ciphermark results {ended.run.id} --format csv\n"
        f"      ciphermark sql \"select * from results where run_id = '{ended.run.id}'\"",
        soft_wrap=True,
    )


class Shown(Protocol):
    """Shows the progress of a run: called with every outcome."""

    def __call__(self, outcome: Outcome) -> None:
        """A trial has ended."""

    def on_stage(self, advance: Advance) -> None:
        """A stage of a workload has ended."""


class _Lines:
    """Prints a line once all trials of a comparison group have ended, in any order, and for stages of trials that take
    minutes.
    """

    def __init__(self, console: Terminal, prepared: Prepared) -> None:
        self._console = console
        comparison_groups = [item for block in prepared.plan.blocks for item in block.comparison_groups]
        self._total = len(comparison_groups)
        self._done = 0
        self._open = {trial.id: item.trials for item in comparison_groups for trial in item.trials}
        self._ended: dict[str, Outcome] = {}
        self._printed_s = monotonic()

    def on_stage(self, advance: Advance) -> None:
        if monotonic() - self._printed_s >= _BETWEEN_LINES_S:
            self._printed_s = monotonic()
            self._console.print(f"  {advance.words}", soft_wrap=True)

    def __call__(self, outcome: Outcome) -> None:
        trials = self._open.get(outcome.trial.id, ())
        self._ended[outcome.trial.id] = outcome
        if trials and all(trial.id in self._ended for trial in trials):
            self._done += 1
            outcomes = [self._ended.pop(trial.id) for trial in trials]
            self._console.print(f"{self._done:,}/{self._total:,}: {_compared(outcomes)}", soft_wrap=True)


class _Bar:
    """A bar for trials, described by the latest trial, or stage of a trial of minutes."""

    def __init__(self, bar: Progress, total: int) -> None:
        self._bar = bar
        self._task = bar.add_task("measuring", total=total)

    def on_stage(self, advance: Advance) -> None:
        if advance.left_s >= _BETWEEN_LINES_S:
            self._bar.update(self._task, description=advance.words)

    def __call__(self, outcome: Outcome) -> None:
        case = outcome.trial.case
        self._bar.update(self._task, advance=1, description=f"{case.variant}, {_place(case)}")


def _compared(outcomes: Sequence[Outcome]) -> str:
    """A line with the case and the result of each variant."""
    case = outcomes[0].trial.case
    ended = ", ".join(f"{outcome.trial.case.variant} {_result(outcome)}" for outcome in outcomes)
    return f"{case.experiment}, {_place(case)}, {case.vector_length:,} values: {ended}"


def _place(case: Case) -> str:
    """Scheme, N (which the library chooses for the smallest ring), and operation with its repetitions."""
    is_smallest = case.parameters.ring_dimension_is_minimum
    ring = "smallest secure N" if is_smallest else f"N = {case.parameters.ring_dimension}"
    count = REPETITIONS.of(case.dimensions)
    times = "" if count is None else f" × {count}"
    return f"{case.parameters.scheme.upper()}, {ring}, {case.operation}{times}"


def _result(outcome: Outcome) -> str:
    """The median of the operation's corrected times, of valid samples; without times the status."""
    times = [
        sample
        for sample in outcome.samples
        if sample.metric == "time" and sample.phase == "evaluate" and not sample.is_warmup
    ]
    if outcome.status != "ok" or not times:
        return outcome.status
    return formats.brief_seconds(median(correction.counted(times)))


@contextmanager
def progress_of(prepared: Prepared) -> Iterator[Shown]:
    """Yield what receives every outcome, and every stage of a workload."""
    total = len(prepared.plan.trials) + len(prepared.plan.unsupported)
    console = Terminal(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("remaining"),
        TimeRemainingColumn(),
    )
    if not console.is_terminal or console.is_dumb_terminal:
        yield _Lines(console, prepared)
        return
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar, total)
