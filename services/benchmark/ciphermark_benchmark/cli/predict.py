"""Predict what a workload costs, from measured costs of its operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ciphermark_adapters import registry
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, predicting
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.program import setting
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_core import host as hosts
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Scheme
from ciphermark_db.database import Database, Table
from ciphermark_model.prediction import Prediction
from ciphermark_present import formats, markup, terminal
from ciphermark_present.printed import Head, Printed, told_once
from ciphermark_workloads.parameters import Override
from ciphermark_workloads.workload import AnyWorkload

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark predict logistic

  ciphermark predict matrix-product size=64 --variant seal-hexl --threads 2 --breakdown

  ciphermark predict ./mine.py --n 16384 --bandwidth 20

[bold]Before[/bold]  ciphermark calibrate --variant seal
"""
_MEGABIT = 1e6
_COLUMNS = (
    *(
        "variant",
        "ring_dimension",
        "threads",
        "evaluation_s",
        "low_s",
        "high_s",
        "end_to_end_s",
        "upload_bytes",
    ),
    *("download_bytes", "key_bytes", "client_memory_bytes", "server_memory_bytes", "is_partial", "table"),
)

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def predict(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    wanted: Annotated[
        list[str],
        typer.Argument(
            metavar="WORKLOAD [OPTION=VALUE]", help="Workload by name or file, and non-default options."
        ),
    ],
    variant: Annotated[
        list[str] | None, typer.Option(help="Only this variant. Repeatable. Default: all with costs here.")
    ] = None,
    scheme: Annotated[Scheme | None, typer.Option(help="Scheme. Default: the workload's first.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Ring dimension. Default: as recommended.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the library.")] = 1,
    bandwidth: Annotated[float, typer.Option(min=1e-3, help="Bandwidth of the network, Mbit/s.")] = 100.0,
    rtt: Annotated[float, typer.Option(min=0.0, help="Round-trip time of the network, ms.")] = 0.0,
    breakdown: Annotated[bool, typer.Option(help="Also print steps, operations and levels.")] = False,
    other_host: Annotated[bool, typer.Option(help="Accept costs of another host; intervals widen.")] = False,
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=OUTPUT_HELP)] = None,
) -> None:
    """Predict what a workload costs: time with an 80% interval, bytes and memory, for each library."""
    form = export.form_of(format, output)
    name, *settings = wanted
    options: Mapping[str, Any] = dict(setting(text) for text in settings)
    workload = chosen(name).with_options(options)
    with caught_up(data_directories.find()) as database:
        found, reasons = _predictions(
            database,
            (name, workload),
            variant or list(registry.declarations()),
            accepts_other_hosts=other_host,
            threads=threads,
            scheme=scheme,
            override=Override(ring_dimension=n),
        )
    _report(found, reasons if variant or not found else {})
    network = bandwidth * _MEGABIT, rtt / 1e3
    if form == "table" or form in markup.FORMATS:
        _show([*_tables(name, found, network, has_details=breakdown)], form, output)
    else:
        export.write(Table(_COLUMNS, [_row(item, *network) for item in found]), form, output)


def _report(found: Sequence[Prediction], reasons: Mapping[str, str]) -> None:
    """Print why variants have no prediction; raises ``UserError`` if none has."""
    if not found:
        raise UserError("\n".join(reasons.values()))
    for reason in reasons.values():
        typer.echo(reason, err=True)


def _predictions(
    database: Database,
    named: tuple[str, AnyWorkload],
    variants: Sequence[str],
    *,
    accepts_other_hosts: bool,
    **about: Any,
) -> tuple[list[Prediction], dict[str, str]]:
    """The predictions, the fastest first, and the reasons for variants without one."""
    host, found, reasons = hosts.collect(), list[Prediction](), dict[str, str]()
    for variant in variants:
        try:
            table = predicting.cost_table(database, host, variant, accepts_other_hosts=accepts_other_hosts)
            found.append(predicting.contained(*named, None, variant, table, **about))
        except (Unsupported, UserError) as error:
            reasons[variant] = f"{variant}: {error}"
    return sorted(found, key=lambda item: (item.is_partial, item.evaluation.value)), reasons


def _tables(
    name: str, predictions: Sequence[Prediction], network: tuple[float, float], *, has_details: bool
) -> Iterator[Printed]:
    yield _summary(name, predictions, *network)
    if any(item.uncovered for item in predictions):
        yield _uncovered(predictions)
    if has_details:
        yield from (table for item in predictions for table in _details(item))


def _show(tables: Sequence[Printed], form: Format, output: Path | None) -> None:
    if form in markup.FORMATS:
        export.write_bytes(markup.FORMATS[form](list(tables)).encode(), output)
    else:
        terminal.show(console_for(output), tables)


def _summary(name: str, predictions: Sequence[Prediction], bandwidth: float, rtt_s: float) -> Printed:
    heads = (
        Head("library"),
        Head("N", is_number=True),
        Head("evaluation", is_number=True),
        Head("80% interval", is_number=True),
        Head("end to end", is_number=True),
        Head("upload", is_number=True, drop=1),
        Head("download", is_number=True, drop=1),
        Head("keys", is_number=True, drop=2),
        Head("server memory", is_number=True, drop=3),
        Head("client memory", is_number=True, drop=4),
    )
    rows = tuple(
        (
            item.variant + "*" * bool(item.uncovered),
            str(item.parameters.ring_dimension),
            "≥ " * item.is_partial + formats.seconds(item.evaluation.value),
            formats.interval_of(item.evaluation.value, item.evaluation.low, item.evaluation.high),
            formats.seconds(item.end_to_end(bandwidth, rtt_s).value),
            formats.size(item.upload_bytes),
            formats.size(item.download_bytes),
            formats.size(item.key_bytes),
            formats.size(item.server_memory_bytes),
            formats.size(item.client_memory_bytes),
        )
        for item in predictions
    )
    about = f"predicted; network of {bandwidth / _MEGABIT:g} Mbit/s"
    return Printed(name, about, heads, rows, legend=tuple(_legend(predictions)))


def _legend(predictions: Sequence[Prediction]) -> Iterator[str]:
    if any(item.uncovered for item in predictions):
        yield "* without the costs in the next table"
    if any(item.is_partial for item in predictions):
        yield "≥ a lower bound"
    for item in predictions:
        for remark in item.remarks:
            yield f"{item.variant}: {remark}"


def _uncovered(predictions: Sequence[Prediction]) -> Printed:
    """The costs that tables lack."""
    rows = [(item.variant, *text.split(": ", 1)) for item in predictions for text in item.uncovered]
    heads = (Head("library"), Head("step"), Head("cost", is_prose=True))
    about = "Measure them with a suite that has `levels: all`"
    return Printed("Costs that no run on this host has", about, heads, told_once(rows, 2), 3)


def _details(item: Prediction) -> Iterator[Printed]:
    steps = tuple(
        (
            stage,
            party,
            step,
            formats.seconds(time.value),
            formats.interval_of(time.value, time.low, time.high),
        )
        for (party, stage, step), time in item.times_s.items()
    )
    number = Head("time", is_number=True), Head("80% interval", is_number=True)
    yield Printed(
        f"{item.variant}: steps", "", (Head("stage"), Head("party"), Head("step"), *number), steps, 3
    )
    whole = sum(share.seconds for share in item.shares) or 1.0
    shares = tuple(
        (
            share.operation,
            str(share.level),
            str(share.count),
            formats.seconds(share.seconds),
            formats.percent(share.seconds / whole),
        )
        for share in item.shares
    )
    heads = (
        Head("operation"),
        Head("level", is_number=True),
        Head("count", is_number=True),
        Head("time", is_number=True),
        Head("share", is_number=True),
    )
    yield Printed(f"{item.variant}: operations of the evaluation, on one thread", "", heads, shares, 2)


def _row(item: Prediction, bandwidth: float, rtt_s: float) -> tuple[Any, ...]:
    values: Mapping[str, Any] = {
        "variant": item.variant,
        "ring_dimension": item.parameters.ring_dimension,
        "threads": item.threads,
        "evaluation_s": item.evaluation.value,
        "low_s": item.evaluation.low,
        "high_s": item.evaluation.high,
        "end_to_end_s": item.end_to_end(bandwidth, rtt_s).value,
        "upload_bytes": item.upload_bytes,
        "download_bytes": item.download_bytes,
        "key_bytes": item.key_bytes,
        "client_memory_bytes": item.client_memory_bytes,
        "server_memory_bytes": item.server_memory_bytes,
        "is_partial": item.is_partial,
        "table": item.table,
    }
    return tuple(values[name] for name in _COLUMNS)
