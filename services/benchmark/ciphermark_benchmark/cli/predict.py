"""Predict what a workload costs, from measured costs of its operations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ciphermark_adapters import registry
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import export, limits, machine_files, predicting
from ciphermark_benchmark.cli import _on_machines
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.advise import ROUND_TRIP_HELP
from ciphermark_benchmark.cli.program import setting
from ciphermark_benchmark.cli.results import BANDWIDTH_HELP
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.export import FORMAT_HELP, OUTPUT_HELP, Format
from ciphermark_benchmark.runner import reference_kernel_baseline, runs
from ciphermark_benchmark.runner.recorder import caught_up
from ciphermark_benchmark.suite import files, plan, shipped
from ciphermark_core import host as hosts
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_db.database import Database, Table
from ciphermark_model.prediction import Prediction
from ciphermark_model.quantity import Quantity
from ciphermark_model.table import CostTable
from ciphermark_present import formats, links, markup, terminal
from ciphermark_present.printed import Head, Printed, told_once
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.options import of_case
from ciphermark_workloads.parameters import NOTHING, Override
from ciphermark_workloads.workload import AnyWorkload

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark predict logistic

  ciphermark predict matrix-product side=64 --variant seal-hexl --threads 2 --breakdown

  ciphermark predict ./mine.py --n 16384 --bandwidth 20Mbit/s

  ciphermark predict micro --variant seal

  ciphermark predict logistic --machine craterlake --machine f1-plus --set bandwidth=2TB/s

[bold]Before[/bold]  ciphermark calibrate --variant seal
"""
_SUITES = (".yaml", ".yml")
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
    *("download_bytes", "key_bytes", "client_memory_bytes", "server_memory_bytes", "max_error"),
    *("budget_bits", "is_partial", "table"),
)

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def predict(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    wanted: Annotated[
        list[str],
        typer.Argument(
            metavar="WORKLOAD [OPTION=VALUE] | SUITE",
            help="Workload by name or file, and non-default options. Or a suite, all of whose workloads are predicted. "
            "With --machine also a run with stored programs, or craterlake/NAME, a program of that paper.",
        ),
    ],
    variant: Annotated[
        list[str] | None, typer.Option(help="Only this variant. Repeatable. Default: all with costs here.")
    ] = None,
    scheme: Annotated[Scheme | None, typer.Option(help="Scheme. Default: the workload's first.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Ring dimension. Default: as recommended.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the library.")] = 1,
    bandwidth: Annotated[str, typer.Option(help=BANDWIDTH_HELP)] = links.USUAL,
    round_trip: Annotated[str | None, typer.Option(help=ROUND_TRIP_HELP)] = None,
    breakdown: Annotated[bool, typer.Option(help="Also print steps, operations and levels.")] = False,
    machine: _on_machines.Machines = None,
    security: _on_machines.Security = None,
    words: _on_machines.WordsOption = None,
    changes: _on_machines.Changes = None,
    other_host: Annotated[bool, typer.Option(help="Accept costs of another host; intervals widen.")] = False,
    format: Annotated[Format | None, typer.Option(help=FORMAT_HELP)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=OUTPUT_HELP)] = None,
) -> None:
    """Predict what a workload costs, from measured costs of its operations.

    Prints time with an 80% interval, bytes and memory, for each library. With --machine, predicts accelerators
    instead, from their data alone: time, traffic, what binds, and measured times of the same program.
    """
    form, name = export.form_of(format, output), wanted[0]
    if machine:
        several = [machine_files.machine(each, _on_machines.changed(changes)) for each in machine]
        tasks = _on_machines.tasks(wanted, variant, scheme, n, security)
        _on_machines.write(_on_machines.rows(tasks, several, security, words), form, output)
        return
    _on_machines.require_none(security, words, changes)
    network = links.bits_per_second(bandwidth), limits.read({"round_trip": round_trip}).round_trip or 0.0
    found, reasons = predictions(wanted, variant, scheme, threads, n, accepts_other_hosts=other_host)
    _report(found, reasons if variant or not found else [])
    if form == "table" or form in markup.FORMATS:
        _show([*_tables(name, found, network, has_details=breakdown)], form, output)
    else:
        export.write(rows(found, *network), form, output)


def predictions(  # noqa: PLR0913 - the arguments of the command
    wanted: Sequence[str],
    variants: Sequence[str] | None = None,
    scheme: Scheme | None = None,
    threads: int = 1,
    n: int | None = None,
    *,
    accepts_other_hosts: bool = False,
) -> tuple[list[_Found], list[str]]:
    """The predictions of a workload with its options, or of a suite, and the reasons for variants without one."""
    name = wanted[0]
    with caught_up(data_directories.find()) as database:
        tables = _CostTables(database, accepts_other_hosts=accepts_other_hosts)
        if name in shipped.names() or Path(name).suffix in _SUITES:
            return _predictions(_of_suite(Path(name), variants or []), tables)
        return _predictions(_of_workload(wanted, variants, scheme, threads, n), tables)


def rows(found: Sequence[_Found], bandwidth: float, rtt_s: float) -> Table:
    """Predictions as rows, over a network of this many bits per second."""
    return Table(_COLUMNS, [_row(item, bandwidth, rtt_s) for item in found])


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prediction to make."""

    name: str
    workload: AnyWorkload
    variant: str
    threads: int
    request: ParameterSpec | None = None
    scheme: Scheme | None = None
    override: Override = NOTHING

    def answered(self, table: CostTable) -> Prediction:
        """The prediction; raises ``Unsupported`` where the variant cannot execute the workload."""
        return predicting.contained(
            self.name,
            self.workload,
            self.request,
            self.variant,
            table,
            self.threads,
            scheme=self.scheme,
            override=self.override,
        )


class _CostTables:
    """The cost tables of this host, each read once."""

    def __init__(self, database: Database, *, accepts_other_hosts: bool) -> None:
        self._read = partial(
            predicting.cost_table,
            database,
            hosts.collect(),
            accepts_other_hosts=accepts_other_hosts,
            reference_kernel_s=reference_kernel_baseline.now_s(),
        )
        self._tables: dict[str, CostTable] = {}

    def of(self, variant: str) -> CostTable:
        """The table of a variant; raises ``UserError`` for none."""
        if variant not in self._tables:
            self._tables[variant] = self._read(variant)
        return self._tables[variant]


def _of_workload(
    wanted: Sequence[str], variants: Sequence[str] | None, scheme: Scheme | None, threads: int, n: int | None
) -> list[_Asked]:
    name, *settings = wanted
    options: Mapping[str, Any] = dict(setting(text) for text in settings)
    workload, override = chosen(name).with_options(options), Override(ring_dimension=n)
    return [
        _Asked(name, workload, variant, threads, scheme=scheme, override=override)
        for variant in variants or registry.declarations()
    ]


def _of_suite(path: Path, variants: Sequence[str]) -> list[_Asked]:
    """The executable cases of a suite with workloads, as far as they are of these variants."""
    suite, _ = files.load(files.spelled_out(path), Catalogue(data_directories.find(), os.environ, Path()))
    planned = plan.cases(suite, runs.available(suite, hosts.collect()))
    cases = [item.case for item in planned if item.reason is None and item.case.operation in WORKLOADS]
    if not cases:
        raise UserError(
            f"{path}: the suite has no executable case of a workload; `ciphermark cost` has operations"
        )
    return [
        _Asked(
            case.operation,
            WORKLOADS[case.operation].with_options(of_case(case.dimensions)),
            case.variant,
            case.threads,
            case.parameters,
        )
        for case in cases
        if not variants or case.variant in variants
    ]


def _report(found: Sequence[_Found], reasons: Sequence[str]) -> None:
    """Print why variants have no prediction; raises ``UserError`` if none has."""
    if not found:
        raise UserError("\n".join(reasons))
    for reason in reasons:
        typer.echo(reason, err=True)


def _predictions(asked: Sequence[_Asked], tables: _CostTables) -> tuple[list[_Found], list[str]]:
    """The predictions by workload, the fastest first, and the reasons for variants without one."""
    found, reasons = list[_Found](), dict[str, None]()
    for item in asked:
        try:
            found.append(_Found(item.name, item.answered(tables.of(item.variant))))
        except (Unsupported, UserError) as error:
            reasons[f"{item.variant}: {error}"] = None
    order = {name: place for place, name in enumerate(dict.fromkeys(item.name for item in asked))}
    return sorted(found, key=lambda one: (order[one.name], one[1].is_partial, one[1].evaluation.value)), [
        *reasons
    ]


class _Found(NamedTuple):
    name: str
    prediction: Prediction


def _tables(
    name: str, found: Sequence[_Found], network: tuple[float, float], *, has_details: bool
) -> Iterator[Printed]:
    predictions = [item.prediction for item in found]
    yield _summary(name, found, *network)
    if any(item.uncovered for item in predictions):
        yield _uncovered(predictions)
    if has_details:
        yield from (table for item in predictions for table in _details(item))


def _show(tables: Sequence[Printed], form: Format, output: Path | None) -> None:
    if form in markup.FORMATS:
        export.write_bytes(markup.FORMATS[form](list(tables)).encode(), output)
    else:
        terminal.show(console_for(output), tables)


def _summary(name: str, found: Sequence[_Found], bandwidth: float, rtt_s: float) -> Printed:
    cells = tuple(_CELLS)
    if len({item.name for item in found}) > 1:
        cells = ((Head("workload"), lambda item, _: item.name), *cells)
    if len({item.prediction.threads for item in found}) > 1:
        cells = (*cells, (Head("threads", is_number=True), lambda item, _: str(item.prediction.threads)))
    rows = tuple(tuple(write(item, (bandwidth, rtt_s)) for _, write in cells) for item in found)
    about = f"predicted; network of {links.rate(bandwidth)}"
    legend = tuple(_legend([item.prediction for item in found]))
    return Printed(
        name, about, tuple(head for head, _ in cells), rows, len(cells) - len(_CELLS) + 1, legend=legend
    )


def _number(text: str, write: Callable[[Prediction], str], drop: int = 0) -> _Cell:
    return Head(text, is_number=True, drop=drop), lambda item, _: write(item.prediction)


def _error(item: Prediction) -> str:
    """The largest error of the result: 0 of exact ones that decrypt correctly."""
    if item.precision is None:
        return formats.small(None)
    error, budget = item.precision.error, item.precision.budget_bits
    if budget is not None:
        return formats.small(0.0) if budget.value > 0 else "incorrect"
    return formats.small(None if error is None else error.value)


_Cell = tuple[Head, Callable[[_Found, tuple[float, float]], str]]
_CELLS: tuple[_Cell, ...] = (
    (Head("library"), lambda item, _: item.prediction.variant + "*" * bool(item.prediction.uncovered)),
    _number("N", lambda item: str(item.parameters.ring_dimension)),
    _number("evaluation", lambda item: "≥ " * item.is_partial + formats.seconds(item.evaluation.value)),
    _number("80% interval", lambda item: _bounds(item.evaluation)),
    (
        Head("end to end", is_number=True),
        lambda item, network: (
            "≥ " * item.prediction.is_bound + formats.seconds(item.prediction.end_to_end(*network).value)
        ),
    ),
    _number("upload", lambda item: formats.size(item.upload_bytes), 1),
    _number("download", lambda item: formats.size(item.download_bytes), 1),
    _number("max error", _error, 5),
    _number("keys", lambda item: formats.size(item.key_bytes), 2),
    _number("server memory", lambda item: formats.size(item.server_memory_bytes), 3),
    _number("client memory", lambda item: formats.size(item.client_memory_bytes), 4),
)


def _bounds(time: Quantity) -> str:
    return formats.interval_of(time.value, time.low, time.high)


def _legend(predictions: Sequence[Prediction]) -> Iterator[str]:
    if any(item.uncovered for item in predictions):
        yield "* without the costs in the next table"
    if any(item.is_bound for item in predictions):
        yield "≥ a lower bound"
    yield from dict.fromkeys(f"{item.variant}: {remark}" for item in predictions for remark in item.remarks)


def _uncovered(predictions: Sequence[Prediction]) -> Printed:
    """The costs that tables lack."""
    texts = dict.fromkeys((item.variant, text) for item in predictions for text in item.uncovered)
    rows = [(variant, *text.split(": ", 1)) for variant, text in texts]
    heads = (Head("library"), Head("step"), Head("cost", is_prose=True))
    about = "Measure them with a suite that has `levels: all`"
    return Printed("Costs that no run on this host has", about, heads, told_once(rows, 2), 3)


def _details(item: Prediction) -> Iterator[Printed]:
    steps = tuple(
        (stage, party, step, formats.seconds(time.value), _bounds(time))
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


def _row(found: _Found, bandwidth: float, rtt_s: float) -> tuple[Any, ...]:
    item, accuracy = found.prediction, found.prediction.precision
    values: Mapping[str, Any] = {
        "workload": found.name,
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
        "max_error": None if accuracy is None or accuracy.error is None else accuracy.error.value,
        "budget_bits": None
        if accuracy is None or accuracy.budget_bits is None
        else accuracy.budget_bits.value,
        "is_partial": item.is_partial,
        "table": item.table,
    }
    return tuple(values[name] for name in _COLUMNS)
