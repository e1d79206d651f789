"""Suites: those that come with Ciphermark, one for your own question, and what a suite file means."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import typer
from rich.markup import escape

from ciphermark_benchmark import home as homes
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.runner import durations
from ciphermark_benchmark.suite import shipped
from ciphermark_core import host as hosts
from ciphermark_core.errors import UserError
from ciphermark_present.printed import Head, Printed
from ciphermark_present.terminal import show

if TYPE_CHECKING:  # what it takes to plan is loaded where a suite is planned: `suite list` needs none of it
    from ciphermark_benchmark.suite import form
    from ciphermark_benchmark.suite.plan import PlannedCase

_suite = typer.Typer(
    help="Suites: those that come with Ciphermark, one for your own question, and what a suite file means.",
    epilog="[bold]Examples[/bold]  ciphermark suite list; ciphermark suite explain quick",
    no_args_is_help=True,
)
_NEW_EXAMPLES = """[bold]Examples[/bold]

  ciphermark suite new mine.yaml           asks what it has to know

  ciphermark suite new mine.yaml --values 10000 --exact --largest 1000 --depth 3
"""
_HEADS = (Head("suite"), Head("time"), Head("what for", is_prose=True))
_ABOUT_LIST = (
    "Times are of the last run here, or estimates for an idle host that has all libraries. Run a suite with: "
    "ciphermark run NAME; its cases, and an estimate for what is installed: ciphermark suite explain NAME"
)
_MOST_CASES = 60  # that are listed one by one unless asked for
T = TypeVar("T")


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    _suite.command("list", epilog="[bold]Example[/bold]  ciphermark suite list")(list_)
    _suite.command("new", epilog=_NEW_EXAMPLES)(new)
    _suite.command("explain", epilog="[bold]Example[/bold]  ciphermark suite explain quick")(explain)
    _suite.command("keys", epilog="[bold]Example[/bold]  ciphermark suite keys | less")(keys)
    _suite.command("schema", epilog="[bold]Example[/bold]  ciphermark suite schema > suite.schema.json")(
        schema
    )
    app.add_typer(_suite, name="suite")


def loaded(path: Path) -> form.Suite:
    """A suite with the data sets that it can name, checked."""
    return _read(path)[0]


def _read(path: Path) -> tuple[form.Suite, str]:
    """The same with its text."""
    from ciphermark_benchmark.data_sets.catalogue import Catalogue
    from ciphermark_benchmark.suite import files

    catalogue = Catalogue(homes.find(), os.environ, files.spelled_out(path).parent)
    return files.load(path, catalogue)


def list_() -> None:
    """The suites that come with Ciphermark: name, what for, and how long they take."""
    texts = {name: shipped.path(name).read_text(encoding="utf-8") for name in shipped.names()}
    estimates = {text: shipped.estimated_s(text) for text in texts.values()}
    took = durations.of_texts(homes.find(), hosts.collect(), estimates)
    rows = [
        (name, durations.in_words(took[text].seconds), shipped.purpose(text)) for name, text in texts.items()
    ]
    console = console_for()
    show(console, [Printed("", "", _HEADS, tuple(rows))])
    console.print(f"\n{_ABOUT_LIST}")


def new(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    file: Annotated[Path, typer.Argument(help="The file to write; the suite is called like it.")],
    values: Annotated[int | None, typer.Option(help="How many numbers are computed on.")] = None,
    exact: Annotated[
        bool | None,
        typer.Option("--exact/--approximate", help="Whole numbers that come out exactly, or real ones."),
    ] = None,
    largest: Annotated[int | None, typer.Option(help="Numbers are below this.")] = None,
    depth: Annotated[int | None, typer.Option(help="How many multiplications follow one another.")] = None,
    security: Annotated[Literal["128", "192", "256"], typer.Option(help="Bits of security.")] = "128",
    largest_result: Annotated[
        int | None, typer.Option(help="Exact: the largest result, where it is less than factors can make.")
    ] = None,
    precision_bits: Annotated[int, typer.Option(help="Approximate: bits of precision.")] = 20,
) -> None:
    """Write a suite for a computation that you have in mind. Asks for what is not given."""
    from ciphermark_benchmark.runner import runs
    from ciphermark_benchmark.suite import composition, files, plan

    if file.exists():
        raise UserError(f"{file} is there already: name another file, or remove it")
    wish = composition.Wish(
        file.stem,
        _answer("--values", values, "How many numbers are computed on?", int),
        _answer("--largest", largest, "They are below?", int),
        _answer("--depth", depth, "How many multiplications follow one another?", int),
        _answer("--exact or --approximate", exact, "Whole numbers that must come out exactly?", bool),
        int(security),
        largest_result,
        precision_bits,
    )
    text = composition.composed(wish, _installed())
    suite = files.parse(text, str(file))
    _write(file, text)
    facts = hosts.collect()
    planned = plan.cases(suite, runs.available(suite, facts))
    took = durations.expected(homes.find(), text, suite, planned, facts)
    console = console_for()
    console.print(f"{file}: {_outlook(suite, planned, took)}", soft_wrap=True)
    console.print(f"Execute it with: ciphermark run {file}", soft_wrap=True)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot write the suite: {error.strerror}") from None


def _answer(option: str, given: T | None, question: str, kind: type[T]) -> T:
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise UserError(f"{question} Say it with {option}: there is nobody to ask here")
    answer: Any = typer.confirm(question) if kind is bool else typer.prompt(question, type=kind)
    return cast(T, answer)


def _installed() -> list[str]:
    """The variants that can be measured here, the computation in the clear aside; where there is none, all."""
    from ciphermark_adapters import registry

    flags = frozenset(hosts.collect().cpu_flags)
    names = [name for name, declared in registry.declarations().items() if not declared.is_reference]
    return [name for name in names if registry.availability(name, flags).is_installed] or names


def _outlook(suite: form.Suite, planned: list[PlannedCase], took: durations.Duration) -> str:
    refused = Counter(item.status for item in planned if item.reason is not None)
    possible = len(planned) - refused.total()
    statuses = ["unsupported", *sorted(refused.keys() - {"unsupported"})]
    told = ", ".join(f"{_counted(refused[status], 'case')} {status}" for status in statuses)
    trials = _counted(possible * suite.budget.processes, "trial")
    return f"{trials} of {_counted(possible, 'case')}, {told}; {took.in_words}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def keys() -> None:
    """Every key of a suite: values, default, meaning, example; in Markdown."""
    from ciphermark_benchmark.suite import reference

    typer.echo(reference.page())


def schema() -> None:
    """JSON Schema of suite files."""
    from ciphermark_benchmark.suite import form

    typer.echo(json.dumps(form.json_schema(), indent=2))


def explain(
    file: Annotated[Path, typer.Argument(help="Suite file, or the name of one that comes with Ciphermark.")],
    format: Annotated[Literal["table", "json"], typer.Option(help="Form of the output.")] = "table",
    all: Annotated[bool, typer.Option("--all", help="Every case, also of a large suite.")] = False,
) -> None:
    """The cases a suite expands to, what is skipped and why, and an estimate of the time."""
    from ciphermark_benchmark.runner import runs
    from ciphermark_benchmark.suite import case_rows, plan, process_limit

    suite, text = _read(file)
    facts = hosts.collect()
    available = runs.available(suite, facts)
    planned = plan.cases(suite, available)
    took = durations.expected(homes.find(), text, suite, planned, facts)
    refusal = process_limit.reason_against_suite(suite, available, (), process_limit.of_host(facts))
    if format == "json":
        told = {
            "suite": suite.name,
            "estimated_s": round(took.seconds),
            "is_guess": took.is_guess,
            "refused": refusal,
            "cases": [case_rows.as_dict(item) for item in planned],
        }
        typer.echo(json.dumps(told, indent=2))
        return
    console = console_for()
    is_whole = all or len(planned) <= _MOST_CASES
    show(console, [case_rows.as_table(planned)] if is_whole else case_rows.at_a_glance(planned))
    console.print(
        "\n" * (not is_whole) + _outlook(suite, planned, took) + ("" if is_whole else "; every case: --all")
    )
    crowding = hosts.thread_warning({item.case.threads for item in planned}, facts.cores)
    if crowding is not None:
        console.print(f"[yellow]![/yellow] {escape(crowding)}", soft_wrap=True)
    if refusal is not None:
        console.print(f"[red]a run is refused:[/red] {escape(refusal)}", soft_wrap=True)
