"""Execute an operation, a workload or a suite with probes, and print what they measured and the hottest functions."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import run_notes, storage
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.figure import figure
from ciphermark_benchmark.cli.run import EXIT_CODES, progress_of, say_that_it_waits
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.suite import files
from ciphermark_contract.operations import OPERATIONS
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Case, Outcome, Sample, Scheme
from ciphermark_measure import probes
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.experiments.base import Sampled
from ciphermark_present import formats, speedscope, terminal
from ciphermark_present.printed import Head, Printed
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark profile mul --variant seal --variant openfhe

  ciphermark profile rotate --n 16384 --probe stacks --speedscope rotate.json

  ciphermark profile lola-mnist --flame lola.svg

  ciphermark profile quick --probe allocations

[bold]Exit code[/bold]  As of `ciphermark run`.
"""
_BUDGET = {"min_samples": 5, "min_time_s": 0.1, "timeout_s": 1800}
_DATA_SET = "boston"
_HOTTEST = 12
_SHARE_LEAST = 0.005

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def profile(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    target: Annotated[str, typer.Argument(help="Operation, workload, or name or file of a suite.")],
    variant: Annotated[
        list[str] | None, typer.Option("--variant", help="Only this variant. Repeatable. Default: seal.")
    ] = None,
    probe: Annotated[list[str] | None, typer.Option("--probe", help="Only this probe. Repeatable.")] = None,
    scheme: Annotated[Scheme | None, typer.Option(help="Scheme of an operation or workload.")] = None,
    n: Annotated[int, typer.Option("--n", help="Ring dimension of an operation.")] = 8192,
    flame: Annotated[
        Path | None, typer.Option(help="Write the flame graph of the first case (.svg, .pdf, .png).")
    ] = None,
    to_speedscope: Annotated[
        Path | None, typer.Option("--speedscope", help="Write all call stacks for speedscope (.json).")
    ] = None,
) -> None:
    """Execute an operation, a workload or a suite with probes, and print what they measured and the hottest functions.

    The run is recorded like any other. Its samples are taken without probes.
    """
    names = _probes(probe)
    path, text = _suite(target, variant or [], names, scheme, n)
    data_directory, console = data_directories.find(), console_for()
    own = [] if _is_composed(target) else variant or []
    with runs.alone_on_host(data_directory, lambda: say_that_it_waits(data_directory)):
        prepared = runs.new(data_directory, path, own, text=text)
        with progress_of(prepared) as on_outcome:
            ended = runs.execute(data_directory, prepared, on_outcome)
    terminal.show(console, tables(ended.outcomes))
    console.print()
    for reason, count in run_notes.reasons(ended.outcomes):
        console.print(f"{count:,} × {reason}", soft_wrap=True)
    for line in unmeasured(ended.outcomes):
        console.print(line, soft_wrap=True)
    if to_speedscope is not None:
        _write(to_speedscope, json.dumps(speedscope.document(dict(_stacks(ended.outcomes)))).encode())
    if flame is not None:
        figure("flame-graph", ended.run.id, output=flame)
    console.print(f"Data: run {ended.run.id} in {storage.place(data_directory)}", soft_wrap=True)
    if code := EXIT_CODES[run_notes.conclusion(ended.outcomes)]:
        raise typer.Exit(code)


def _probes(names: Sequence[str] | None) -> list[str]:
    for name in names or ():
        if name not in probes.asked():
            raise UserError(f"no probe {name!r}: there are {', '.join(probes.asked())}")
    return list(dict.fromkeys(names or probes.asked()))


def _is_composed(target: str) -> bool:
    return target.partition("(")[0] in OPERATIONS or target in WORKLOADS or user_workloads.is_own(target)


def _suite(
    target: str, variants: Sequence[str], names: Sequence[str], scheme: Scheme | None, n: int
) -> tuple[Path, str]:
    """A path and the text of a suite with these probes."""
    if not _is_composed(target):
        path = Path(target)
        written = files.plain(files.text_of(path), target)
        return path, json.dumps(written | {"probes": names})
    operation = target.partition("(")[0]
    experiment: dict[str, Any] = {"variants": [*variants] or ["seal"]}
    if operation in OPERATIONS:
        kinds = [row for row in KINDS.values() if issubclass(row.experiment, Sampled) and not row.varied]
        kind = next((row.name for row in kinds if operation in row.operations), None)
        if kind is None:
            raise UserError(f"{operation} is part of other operations: profile one of these")
        experiment |= {"kind": kind, "operations": [target]}
        experiment |= {"schemes": [scheme or "ckks"], "ring_dimension": [n]}
    else:
        workload = chosen(target)
        experiment |= {"kind": workload.family, "workloads": [target]}
        experiment |= {"schemes": [scheme or workload.schemes[-1]]}
        experiment |= {"data_sets": [_DATA_SET]} if workload.takes_data else {}
    suite = {"name": "profile", "probes": names, "budget": _BUDGET, "experiments": [experiment]}
    return Path(os.curdir) / "profile.yaml", json.dumps(suite)


def tables(outcomes: Sequence[Outcome]) -> Iterator[Printed]:
    """A table for each case and phase that probes measured, with a column for each variant; then its hottest functions.
    Pure.
    """
    groups: dict[tuple[str, str], dict[str, list[Sample]]] = {}
    stacks: dict[tuple[str, str], dict[str, str]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.trial.case.variant):
        case = outcome.trial.case
        for sample in outcome.samples:
            if METRICS[sample.metric].probe is not None:
                by_variant = groups.setdefault((_label(case), sample.phase), {})
                by_variant.setdefault(case.variant, []).append(sample)
        for stage, text in outcome.stacks.items():
            stacks.setdefault((_label(case), stage), {})[case.variant] = text
    for (label, phase), by_variant in groups.items():
        yield _values(f"{label}: {phase}", by_variant)
        if (label, phase) in stacks:
            yield _hottest(f"{label}: hottest functions of {phase}", stacks[label, phase])


def _label(case: Case) -> str:
    spec = case.parameters
    threads = "" if case.threads == 1 else f", {case.threads} threads"
    return f"{case.operation}, {spec.scheme.upper()}, N = {spec.ring_dimension}{threads}"


def _values(title: str, by_variant: dict[str, list[Sample]]) -> Printed:
    metrics = {sample.metric for samples in by_variant.values() for sample in samples}
    rows = tuple(
        (METRICS[name].label, *(_median(name, samples) for samples in by_variant.values()))
        for name in METRICS
        if name in metrics
    )
    heads = (Head("per execution"), *(Head(name, is_number=True) for name in by_variant))
    return Printed(title, "Medians", heads, rows)


def _median(metric: str, samples: Sequence[Sample]) -> str:
    values = sorted(sample.value for sample in samples if sample.metric == metric)
    if not values:
        return ""
    unit = METRICS[metric].unit
    return formats.quantity(values[len(values) // 2], "" if unit in ("count", "events") else unit)


def _hottest(title: str, by_variant: dict[str, str]) -> Printed:
    shares = {name: speedscope.own_shares(text) for name, text in by_variant.items()}
    totals: Counter[str] = Counter()
    for own in shares.values():
        totals.update(own)
    shown = [name for name, share in totals.most_common(_HOTTEST) if share >= _SHARE_LEAST]
    rows = tuple(
        (
            speedscope.brief(name),
            *(formats.percent(own[name]) if name in own else "" for own in shares.values()),
        )
        for name in shown
    )
    heads = (Head("function", is_prose=True), *(Head(name, is_number=True) for name in by_variant))
    return Printed(title, "Share of samples in the function itself", heads, rows)


def unmeasured(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Each probe without values, or without all of them, with the reason, once. Pure."""
    reasons: dict[tuple[str, str], None] = {}
    for outcome in outcomes:
        reasons |= dict.fromkeys(outcome.unmeasured.items())
    for name, reason in reasons:
        yield f"Not measured: {name}: {reason}"


def _stacks(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, str]]:
    for outcome in outcomes:
        case = outcome.trial.case
        for stage, text in outcome.stacks.items():
            yield f"{case.variant} {_label(case)}: {stage}", text


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UserError(f"{path}: cannot write: {error.strerror}") from None
