"""Advise on the library, build and parameters for a computation, within limits."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ciphermark_benchmark import advising, export, limits, machine_files, on_machines
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark.advising import Wish
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.program import setting
from ciphermark_benchmark.cli.results import BANDWIDTH_HELP
from ciphermark_benchmark.limits import WishText
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core import host as hosts
from ciphermark_core.controls import visible_in
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_core.run import Host
from ciphermark_core.security import Table as SecurityTable
from ciphermark_db.database import Table
from ciphermark_model.advice import Candidate, Objective
from ciphermark_present import links, markup, terminal, theme
from ciphermark_present.catalogue import advice
from ciphermark_present.printed import Printed
from ciphermark_workloads import user_workloads

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark advise logistic --latency 2s --server-memory 4GB --error 1e-4

  ciphermark advise mine.py --bandwidth 100Mbit/s --verify 3

  ciphermark advise matrix-product size=32 --limits limits.yaml -o advice.svg

  ciphermark advise logistic --machine craterlake

  ciphermark advise matrix-product --suite 2 -o second.yaml
"""
_PICTURES = ("svg", "png", "pdf")
_SUITES = ("yaml", "yml")
_FORMATS = ("table", "json", "md", "latex", "csv", "parquet", *_PICTURES, *_SUITES)
_FORMAT_HELP = (
    "table, json, md, latex, csv, svg, png, pdf or yaml (a suite). Default: by the ending of --output."
)
_ENDINGS = {"txt": "table", "tex": "latex"}
_DEADLINE_S = 120.0  # of the programs of a user's file
_Wanted = Annotated[
    list[str],
    typer.Argument(
        metavar="WORKLOAD [OPTION=VALUE]", help="Workload by name or file, and non-default options."
    ),
]
ROUND_TRIP_HELP = "Time of a round trip of the network, such as 20ms. Default: 0."
_Variants = Annotated[list[str] | None, typer.Option("--variant", help="Only this variant. Repeatable.")]
_Bandwidth = Annotated[str | None, typer.Option(help=f"{BANDWIDTH_HELP} Default: {links.USUAL}.")]
_LimitsFile = Annotated[
    Path | None, typer.Option("--limits", help="YAML file with these limits. Options replace its values.")
]

_Machines = Annotated[
    list[str] | None,
    typer.Option("--machine", help="Also predict each point on this accelerator. Repeatable."),
]

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def advise(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    wanted: _Wanted,
    latency: Annotated[str | None, typer.Option(help="Maximum time, such as 2s.")] = None,
    throughput: Annotated[float | None, typer.Option(help="Minimum passes of the server per second.")] = None,
    memory: Annotated[str | None, typer.Option(help="Maximum memory of each party, such as 4GB.")] = None,
    client_memory: Annotated[str | None, typer.Option(help="Maximum memory of the client.")] = None,
    server_memory: Annotated[str | None, typer.Option(help="Maximum memory of the server.")] = None,
    upload: Annotated[str | None, typer.Option(help="Maximum bytes to the server per pass.")] = None,
    download: Annotated[str | None, typer.Option(help="Maximum bytes to the client per pass.")] = None,
    keys: Annotated[str | None, typer.Option(help="Maximum bytes of the evaluation keys.")] = None,
    error: Annotated[float | None, typer.Option(help="Maximum absolute error, such as 1e-4.")] = None,
    exact: Annotated[bool | None, typer.Option("--exact", help="Exact results only.")] = None,
    price: Annotated[float | None, typer.Option(help="Maximum price of a pass. Needs --core-hour.")] = None,
    core_hour: Annotated[float | None, typer.Option(help="Price of a server core for an hour.")] = None,
    security: Annotated[int | None, typer.Option(help="Security level: 128, 192 or 256 bits.")] = None,
    security_table: Annotated[SecurityTable | None, typer.Option(help="Table of the security level.")] = None,
    libraries: _Variants = None,
    threads: Annotated[int | None, typer.Option(help="Maximum threads. Default: the cores.", min=1)] = None,
    bandwidth: _Bandwidth = None,
    round_trip: Annotated[str | None, typer.Option(help=ROUND_TRIP_HELP)] = None,
    objective: Annotated[Objective | None, typer.Option(help="What ranks the points. Default: time.")] = None,
    other_host: Annotated[
        bool | None, typer.Option("--other-host", help="Accept costs of another host; intervals widen.")
    ] = None,
    limits_file: _LimitsFile = None,
    machines: _Machines = None,
    verify: Annotated[int, typer.Option(help="Measure so many of the best points.", min=0)] = 0,
    suite: Annotated[int, typer.Option(help="Point whose suite --output FILE.yaml gets.", min=1)] = 1,
    is_whole: Annotated[bool, typer.Option("--all", help="Print every candidate that is left out.")] = False,
    format: Annotated[str | None, typer.Option(help=_FORMAT_HELP)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
) -> None:
    """Advise on the library, build and parameters for a computation, within limits.

    Predicts the costs of every installed library, parameter set and number of threads from the cost table of this host.
    Prints the candidates that no other one beats in time, memory and traffic, why each beats the next one, and why the
    others are left out. Nothing is measured without --verify.
    """
    options = {name: value for name, value in locals().items() if name in WishText.model_fields}
    given = {name: value for name, value in options.items() if value is not None}
    form = _form(format, output)
    asked = limits.read((limits.in_file(limits_file) if limits_file else {}) | given)
    answer = answer_of(wanted, asked, verify, output if form in _SUITES else None, machines or ())
    _write(answer, form, output, suite, is_whole=is_whole)
    if not answer["points"]:
        raise typer.Exit(1)


def answer_of(
    wanted: Sequence[str],
    asked: WishText,
    verify: int = 0,
    suite: Path | None = None,
    machines: Sequence[str] = (),
) -> dict[str, Any]:
    """The answer for a workload with options, as the command line writes them; with measurements of so many points, and
    their times on ``machines``. ``suite`` is the file that names the workload's file.
    """
    facts = hosts.collect()
    wish = _wish(wanted, asked, suite, facts)
    data_directory = data_directories.find()
    with caught_up(data_directory) as database:
        predict, notes = advising.predictor(database, wish, facts)
    several = candidates_of(wish, predict, wanted[0], facts)
    answer = advising.answered(wish, several, notes)
    if machines:
        on = [machine_files.machine(name) for name in machines]
        best = [several[point["index"]] for point in answer["points"]]
        times, reasons = on_machines.of_candidates(wanted[0], wish.workload, best, on)
        answer |= {"machines": [machine.name for machine in on], "machine_reasons": reasons}
        for point, seconds in zip(answer["points"], times, strict=True):
            point["machine_s"] = seconds
    if verify and answer["points"]:
        answer["verified"] = _verified(data_directory, wish, answer, several, verify)
    return answer


def _form(chosen_form: str | None, output: Path | None) -> str:
    """The format, by default that of the file's ending. Raises ``UserError`` for an unknown one."""
    ending = "" if output is None or output == export.STANDARD_OUTPUT else output.suffix.lower().lstrip(".")
    form = chosen_form or _ENDINGS.get(ending, ending) or "table"
    if form not in _FORMATS:
        raise UserError(f"{form}: advice is available as {', '.join(_FORMATS)}{did_you_mean(form, _FORMATS)}")
    return form


def _wish(wanted: Sequence[str], asked: WishText, suite: Path | None, facts: Host) -> Wish:
    name, *settings = wanted
    values: dict[str, Any] = dict(setting(text) for text in settings)
    workload = chosen(name).with_options(values)
    if user_workloads.is_own(name):  # a suite names a file relative to itself
        file, sign, kind = name.partition(":")
        folder = Path() if suite is None or suite == export.STANDARD_OUTPUT else suite.parent
        is_absolute = Path(file).is_absolute()
        name = f"{file if is_absolute else f'./{os.path.relpath(file, folder)}'}{sign}{kind}"
    return advising.wished(workload, name, asked, facts)


def candidates_of(wish: Wish, predict: advising.Predict, name: str, facts: Host) -> list[Candidate]:
    """The candidates; those of a user's file come from another process, which the file cannot harm."""
    there = advising.installed(wish.limits, frozenset(facts.cpu_flags))
    ask = partial(advising.candidates, wish, there, predict)
    if not user_workloads.is_own(name):
        return ask()
    bounds = replace(user_workloads.LOADING, deadline_s=_DEADLINE_S)
    return user_workloads.asked(Path(name.partition(":")[0]), ask, bounds).value


def _verified(
    data_directory: data_directories.DataDirectory,
    wish: Wish,
    answer: Mapping[str, Any],
    several: Sequence[Candidate],
    most: int,
) -> list[dict[str, Any]]:
    """The best points measured: predicted and measured costs."""
    from ciphermark_benchmark.cli.run import progress_of, say_that_it_waits
    from ciphermark_benchmark.runner import runs

    best = [several[point["index"]] for point in answer["points"][:most]]
    text = advising.suite("advice", wish, best)
    with runs.alone_on_host(data_directory, partial(say_that_it_waits, data_directory)):
        prepared = runs.new(data_directory, Path("advice.yaml"), (), None, text)
        with progress_of(prepared) as on_outcome:
            ended = runs.execute(data_directory, prepared, on_outcome)
    return advising.verified(best, ended.outcomes)


def _write(answer: dict[str, Any], form: str, output: Path | None, place: int, *, is_whole: bool) -> None:
    if form in _SUITES:
        points = answer["points"]
        if place > len(points):
            raise UserError(f"--suite {place}: there are {len(points)} points")
        export.write_bytes(points[place - 1]["suite"].encode(), output)
    elif form in _PICTURES:
        export.write_bytes(_picture(answer, form), output)
    elif form == "json":
        export.write_bytes((json.dumps(answer, indent=1) + "\n").encode(), output)
    elif form in ("csv", "parquet"):
        rows = advice.point_rows(answer)
        columns = tuple(rows[0]) if rows else ("variant",)
        table = Table(columns, [tuple(row[name] for name in columns) for row in rows])
        export.write(table, form, output)  # type: ignore[arg-type]
    else:
        _print(answer, form, output, is_whole=is_whole)


def _print(answer: Mapping[str, Any], form: str, output: Path | None, *, is_whole: bool) -> None:
    tables: list[Printed] = [*advice.tables(answer, is_whole=is_whole or form != "table")]
    if "verified" in answer:
        tables.append(advice.verified(answer["verified"]))
    write: Callable[..., str] | None = markup.FORMATS.get(form)
    if write is not None:
        export.write_bytes(write(tables).encode(), output)
        return
    console = console_for(output)
    terminal.show(console, tables)
    if answer["points"] and output is None:
        console.print(
            f"\nSuite of point N: ciphermark advise {answer['workload']} … --suite N -o FILE.yaml",
            soft_wrap=True,
        )


def _picture(answer: dict[str, Any], form: str) -> bytes:
    """The chart of the candidates that meet all limits. Raises ``UserError`` where there is nothing to draw."""
    from ciphermark_dashboards import pictures  # charts take a second to load

    chart = advice.draw(advice.chart_rows(answer))
    if chart is None:
        raise UserError("fewer than two candidates meet the limits: there is nothing to draw")
    drawn = theme.dressed(visible_in(chart.to_dict(validate=False)))
    texts = pictures.Caption(advice.finding(answer), advice.POINTS.lead, (advice.about(answer),))
    look = pictures.look()
    picture = pictures.svg(drawn, texts, look)
    if form == "png":
        return pictures.png(picture, look.unit)
    if form == "pdf":
        return pictures.pdf(picture, texts.title, pictures.described(texts), look.width_px)
    return picture.encode()
