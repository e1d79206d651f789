"""Predict the programs of a suite from frozen cost tables, measure them, and print every error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ciphermark_benchmark import advising, export, predicting, regret, run_names, storage, validating
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.advise import candidates_of
from ciphermark_benchmark.cli.run import progress_of, say_that_it_waits
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.regret import Answer, Question, Regret
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_benchmark.suite import plan
from ciphermark_core import host as hosts
from ciphermark_core.errors import UserError
from ciphermark_core.run import Host
from ciphermark_db.database import Database
from ciphermark_model.validation import proof
from ciphermark_present import markup, terminal
from ciphermark_present.printed import Printed
from ciphermark_workloads import user_workloads

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark validate-model --freeze

  ciphermark validate-model --table seal:3f1c… -o validation.md

  ciphermark validate-model mine.yaml --run last:mine

  ciphermark validate-model --advice bench/advice/questions.yaml -o regret.md
"""

_Freeze = Annotated[
    bool, typer.Option("--freeze", help="Print the digests of the cost tables and the predictions only.")
]
_Tables = Annotated[
    list[str] | None, typer.Option(help="Digest that a cost table must have, as VARIANT:DIGEST. Repeatable.")
]
_Run = Annotated[str | None, typer.Option(help="Compare with this run of the suite, instead of measuring.")]
_Advice = Annotated[
    Path | None,
    typer.Option(help="Questions for advice, instead of a suite: print the regret of each answer."),
]
_Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write: .md, .tex or .txt.")]

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def validate_model(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    suite: Annotated[Path, typer.Argument(help="Name or file of a suite of workloads.")] = Path("validation"),
    freeze: _Freeze = False,
    table: _Tables = None,
    run: _Run = None,
    advice: _Advice = None,
    output: _Output = None,
) -> None:
    """Predict the programs of a suite from frozen cost tables, measure them, and print every error.

    Predictions are complete before the first program is measured. The cost tables hold times of single operations
    alone. Rows count by a criterion that is printed before they are measured. With --advice, answers questions, then
    measures every alternative within the limits, and prints how much slower each first choice is than the best.
    """
    form = export.form_of(None, output)
    if form not in ("table", *markup.FORMATS):
        raise UserError(f"{output}: a validation is written as .md, .tex or .txt")
    data_directory, console = data_directories.find(), console_for()
    if advice is not None:
        _write([*regret.printed(_regrets(data_directory, advice, run))], form, output)
        return
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


def _regrets(data_directory: DataDirectory, path: Path, run: str | None) -> list[Regret]:
    """The regret of each question of a file. Its answers are complete before anything is measured."""
    facts, asked = hosts.collect(), regret.questions(path)
    with caught_up(data_directory) as database:
        run_id = None if run is None else run_names.resolved(database, run)
        answers = [_answer(database, path.parent, question, facts, run_id) for question in asked.several]
    experiments, places = regret.experiments(answers)
    if not experiments:
        raise UserError(f"{path}: no question has an answer; see ciphermark advise for the reasons")
    text = advising.suite_of("advice-questions", experiments, asked.budget)
    suite = path.parent / "advice-questions.yaml"
    read, _, _, _ = runs.read(data_directory, suite, text=text)
    keys = plan.keys(read, runs.available(read, facts))
    run_id = run_id or _run(data_directory, suite, text)
    with storage.connected(data_directory) as database:
        by_question = [[keys[place] for place in own] for own in places]
        return regret.trials(database, run_id, answers, by_question)


def _answer(database: Database, folder: Path, question: Question, facts: Host, run_id: str | None) -> Answer:
    """The answer to a question of a file in this folder, from the cost tables without the results of a run."""
    is_own = user_workloads.is_own(question.workload)
    name = str(folder / question.workload) if is_own else question.workload
    wish = regret.wish_of(question, chosen(name), facts)
    predict, _ = advising.predictor(database, wish, facts, run_id)
    return regret.answered(wish, candidates_of(wish, predict, name, facts))


def _run(data_directory: DataDirectory, suite: Path, text: str | None = None) -> str:
    """Measure the suite, or this text in its place, and return the id of its run. Raises ``UserError`` while the
    database is unavailable.
    """
    with runs.alone_on_host(data_directory, lambda: say_that_it_waits(data_directory)):
        prepared = runs.new(data_directory, suite, text=text)
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
