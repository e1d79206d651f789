"""Suites: list the shipped ones, write your own, preview a suite."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.runner import durations
from ciphermark_benchmark.suite import shipped
from ciphermark_core import chains, descriptor
from ciphermark_core import host as hosts
from ciphermark_core.descriptor import DATA_SET, REPETITIONS
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, offered
from ciphermark_core.security import NEWEST
from ciphermark_present.console import styled
from ciphermark_present.printed import Head, Printed
from ciphermark_present.terminal import show

if TYPE_CHECKING:  # loaded where a suite is planned; `suite list` needs none of it
    from ciphermark_benchmark.suite import composition, form
    from ciphermark_benchmark.suite.composition import Wish
    from ciphermark_benchmark.suite.estimate import Measured
    from ciphermark_benchmark.suite.plan import PlannedCase

app = typer.Typer(
    add_completion=False,
    help="Suites: list the shipped ones, write your own, preview a suite.",
    epilog="[bold]Examples[/bold]  ciphermark suite list; ciphermark suite explain quick",
    no_args_is_help=True,
)
_NEW_EXAMPLES = """[bold]Examples[/bold]

  ciphermark suite new mine.yaml           asks for each answer

  ciphermark suite new mine.yaml --vector-length 10000 --exact --largest 1000 --depth 3
"""
_HEADS = (Head("suite"), Head("time"), Head("purpose", is_prose=True))
_ABOUT_LIST = (
    "Time: last run on this host, or an estimate for an idle host with all libraries.\n"
    "Run a suite: ciphermark run NAME\n"
    "Preview its cases and time: ciphermark suite explain NAME"
)
_MAX_CASES = 60  # listed one by one without --all
_OWN_COLUMNS = (DATA_SET.name, REPETITIONS.name)
_NUMBERS = {"vector length", "threads"}
_USUAL = {"tuning": "matched", "security": "128 bits (2018)"}
_RUN = 4  # consecutive equal prime sizes that are abbreviated by their number
_PROSE = {"operation"}  # with its options
_FIRST_LEFT_OUT = {
    "threads",
    "vector length",
    "scale, t",
    "security",
    "chain",
    "margin",
    "N",
    "N requested",
    "depth",
}  # dropped if the table is too wide; the data keep them
_LAST_LEFT_OUT = {"operation", "variant", "scheme"}  # with the reason, if a case is skipped


def loaded(path: Path) -> form.Suite:
    """A checked suite, with the data sets that it can name."""
    return _read(path)[0]


def _read(path: Path) -> tuple[form.Suite, str]:
    """The checked suite and its text."""
    from ciphermark_benchmark.data_sets.catalogue import Catalogue
    from ciphermark_benchmark.suite import files

    catalogue = Catalogue(data_directories.find(), os.environ, files.spelled_out(path).parent)
    return files.load(path, catalogue)


@app.command("list", epilog="[bold]Example[/bold]  ciphermark suite list")
def list_() -> None:
    """List the shipped suites with their purpose and duration."""
    texts = {name: shipped.path(name).read_text(encoding="utf-8") for name in shipped.names()}
    estimates = {text: shipped.estimated_s(text) for text in texts.values()}
    took = durations.of_texts(data_directories.find(), hosts.collect(), estimates)
    rows = [
        (name, durations.in_words(took[text].seconds), shipped.purpose(text)) for name, text in texts.items()
    ]
    console = console_for()
    show(console, [Printed("", "", _HEADS, tuple(rows))])
    console.print(f"\n{_ABOUT_LIST}")


_Exact = Annotated[
    bool | None,
    typer.Option("--exact/--approximate", help="Exact integers, or approximate real numbers."),
]
_Largest = Annotated[
    float | None, typer.Option(help="Upper bound of the numbers; of their magnitude for real numbers.")
]
_UploadMb = Annotated[
    float | None,
    typer.Option(
        help="Maximum size of the encrypted values, in MB. Excludes each scheme of a variant that exceeds it."
    ),
]
_Table = Annotated[
    Literal["2018", "2024"],
    typer.Option(
        help="Source of the security level: HE Standard (2018) or guidelines (Bossuat et al., 2024)."
    ),
]
_LargestResult = Annotated[
    int | None, typer.Option(help="With --exact: largest result, if smaller than the numbers allow.")
]
_PublicFactors = Annotated[
    bool | None,
    typer.Option(
        "--public-factors/--encrypted-factors",
        help="One factor of every product is public, such as a model's weights.",
    ),
]


@app.command("new", epilog=_NEW_EXAMPLES)
def new(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    file: Annotated[Path, typer.Argument(help="File to write. Its name becomes the suite's name.")],
    vector_length: Annotated[int | None, typer.Option(help="Number of values to compute on.")] = None,
    exact: _Exact = None,
    largest: _Largest = None,
    depth: Annotated[
        int | None, typer.Option(help="Multiplicative depth: number of consecutive multiplications.")
    ] = None,
    security: Annotated[Literal["128", "192", "256"], typer.Option(help="Security level in bits.")] = "128",
    security_table: _Table = NEWEST,
    largest_result: _LargestResult = None,
    precision_bits: Annotated[int, typer.Option(help="With --approximate: bits of precision.")] = 20,
    public_factors: _PublicFactors = None,
    memory_mb: Annotated[int | None, typer.Option(help="Memory limit of a worker, in MB.")] = None,
    upload_mb: _UploadMb = None,
) -> None:
    """Write a suite for your own computation. Asks for missing answers."""
    from ciphermark_benchmark.suite.composition import Wish

    if file.exists():
        raise UserError(f"{file} already exists: name another file or remove it")
    wish = Wish(
        file.stem,
        **_answers(vector_length, largest, depth, exact, public_factors),
        security=int(security),
        security_table=security_table,
        largest_result=largest_result,
        precision_bits=precision_bits,
        memory_mb=memory_mb,
        upload_mb=upload_mb,
    )
    _write(file, wish)


def _answers(
    vector_length: int | None,
    largest: float | None,
    depth: int | None,
    exact: bool | None,
    public_factors: bool | None,
) -> dict[str, Any]:
    """The given answers, completed by questions at a terminal. Without a terminal, raises ``UserError`` with every
    missing option.
    """
    questions = (
        _Question(
            "vector_length", "--vector-length", vector_length, "How many values do you compute on?", int
        ),
        _Question("largest", "--largest", largest, "What is the upper bound of the values?", float),
        _Question(
            "depth", "--depth", depth, "How many consecutive multiplications (multiplicative depth)?", int
        ),
        _Question(
            "is_exact",
            "--exact or --approximate",
            exact,
            "Are the values integers that need exact results?",
            bool,
        ),
    )
    lacking = [item.option for item in questions if item.value is None]
    if lacking and not sys.stdin.isatty():
        raise UserError(f"no terminal to ask: add {', '.join(lacking)}")
    answers = {item.name: _asked(item) if item.value is None else item.value for item in questions}
    if public_factors is None and lacking:
        public_factors = typer.confirm("Is one factor of every product public, such as a model's weight?")
    return {**answers, "has_public_factors": bool(public_factors)}


class _Question(NamedTuple):
    """A question for a field of ``Wish``: the option that sets it, and its given value."""

    name: str
    option: str
    value: object
    text: str
    kind: type


def _asked(question: _Question) -> Any:
    return (
        typer.confirm(question.text)
        if question.kind is bool
        else typer.prompt(question.text, type=question.kind)
    )


def _write(file: Path, wish: Wish) -> None:
    """Write the suite, and print its cases. Raises ``UserError`` if no case could be executed."""
    from ciphermark_benchmark.runner import host_measurements, runs
    from ciphermark_benchmark.suite import composition, files, plan

    facts, names = hosts.collect(), _installed()

    def planned_of(text: str) -> tuple[form.Suite, list[PlannedCase]]:
        suite = files.parse(text, str(file))
        return suite, plan.cases(suite, runs.available(suite, facts), costs=measured.costs)

    measured = host_measurements.of_host(data_directories.find(), facts, names)
    text = composition.composed(wish, names)
    suite, planned = planned_of(text)
    if not any(item.reason is None for item in planned):
        raise UserError(composition.refusal(wish, names, lambda text: planned_of(text)[1]))
    excluded = composition.over_limit(wish, planned)
    if excluded:
        text = composition.composed(wish, names, excluded)
        suite, planned = planned_of(text)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot write the suite: {error.strerror}") from None
    took = _duration(text, suite, planned, measured)
    console = console_for()
    console.print(f"{file}: {_outlook(suite, planned, took)}", soft_wrap=True)
    console.print(f"Encrypted values: {_sizes_of(composition.uploads_mb(planned))}", soft_wrap=True)
    if excluded:
        console.print(f"Left out by --upload-mb: {_sizes_of(excluded)}", soft_wrap=True)
    console.print(f"Run it: ciphermark run {file}", soft_wrap=True)


def _sizes_of(uploads: Mapping[composition.Offer, float]) -> str:
    return ", ".join(f"{variant} {scheme} {size:.3g} MB" for (variant, scheme), size in uploads.items())


def _installed() -> list[str]:
    """The installed variants except cleartext; if there are none, all variants."""
    from ciphermark_adapters import registry

    flags = frozenset(hosts.collect().cpu_flags)
    names = [name for name, declared in registry.declarations().items() if not declared.is_reference]
    return [name for name in names if registry.availability(name, flags).is_installed] or names


def _duration(
    text: str, suite: form.Suite, planned: Sequence[PlannedCase], measured: Measured
) -> durations.Duration:
    """The expected duration of a suite with this text and these cases, here."""
    from ciphermark_benchmark.suite import estimate

    estimated = estimate.of_plan(planned, suite.trial_budget, measured)
    return durations.expected(data_directories.find(), text, hosts.collect(), estimated)


def _outlook(suite: form.Suite, planned: list[PlannedCase], took: durations.Duration) -> str:
    refused = Counter(item.status for item in planned if item.reason is not None)
    possible = len(planned) - refused.total()
    statuses = ["unsupported", *sorted(refused.keys() - {"unsupported"})]
    refusals = ", ".join(f"{refused[status]:,} {status}" for status in statuses)
    trials = _counted(possible * suite.budget.processes, "trial")
    return f"{_counted(possible, 'case')}, {trials}, {refusals}. {took.in_words}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


@app.command("keys", epilog="[bold]Example[/bold]  ciphermark suite keys | less")
def keys() -> None:
    """Print the reference of all suite keys, in Markdown."""
    from ciphermark_benchmark.suite import form

    typer.echo(form.page())


@app.command("schema", epilog="[bold]Example[/bold]  ciphermark suite schema > suite.schema.json")
def schema() -> None:
    """Print the JSON Schema of suite files."""
    from ciphermark_benchmark.suite import form

    typer.echo(json.dumps(form.json_schema(), indent=2))


@app.command("explain", epilog="[bold]Example[/bold]  ciphermark suite explain quick")
def explain(
    file: Annotated[Path, typer.Argument(help="Suite file, or name of a shipped suite.")],
    format: Annotated[Literal["table", "json"], typer.Option(help="Output format.")] = "table",
    all: Annotated[bool, typer.Option("--all", help="List every case, even of a large suite.")] = False,
) -> None:
    """Preview a suite: its cases, unsupported cases with reasons, and its duration."""
    from ciphermark_benchmark.runner import host_measurements, runs
    from ciphermark_benchmark.suite import plan
    from ciphermark_benchmark.suite.capacity import capacity_of

    suite, text = _read(file)
    facts = hosts.collect()
    available = runs.available(suite, facts)
    measured = host_measurements.of_host(data_directories.find(), facts, available)
    capacity = capacity_of(facts)
    planned = plan.cases(suite, available, host_mb=capacity.memory_mb, costs=measured.costs)
    took = _duration(text, suite, planned, measured)
    refusal = plan.reason_against_suite(suite, available, (), capacity)
    if format == "json":
        explained = {
            "suite": suite.name,
            "estimated_s": round(took.seconds),
            "is_estimate": took.is_estimate,
            "estimated_s_by": {source: round(seconds, 1) for source, seconds in took.parts.items()},
            "refused": refusal,
            "cases": [as_dict(item) for item in planned],
        }
        typer.echo(json.dumps(explained, indent=2))
        return
    console = console_for()
    is_whole = all or len(planned) <= _MAX_CASES
    show(console, [as_table(planned)] if is_whole else at_a_glance(planned))
    console.print(
        "\n" * (not is_whole)
        + _outlook(suite, planned, took)
        + ("" if is_whole else ". List every case: --all")
    )
    if crowding := hosts.thread_warning({item.case.threads for item in planned}, facts.cores):
        console.print(styled("[yellow]![/yellow] {}", crowding), soft_wrap=True)
    if refusal is not None:
        console.print(styled("[red]A run would be refused:[/red] {}", refusal), soft_wrap=True)


def _ring(item: PlannedCase) -> str:
    """N; for the smallest secure ring, the N that the search yields."""
    spec = item.case.parameters
    if not spec.ring_dimension_is_minimum:
        return str(spec.ring_dimension)
    if item.expected is None:
        return "smallest-secure"
    return f"{'≥' if item.is_estimate else ''}{item.expected.ring_dimension}"


def _operation(case: Case) -> str:
    """The operation with its repetitions, or the workload with its options."""
    count = REPETITIONS.of(case.dimensions)
    options = {name: value for name, value in case.dimensions.items() if name not in _OWN_COLUMNS}
    text = case.operation if count is None else f"{case.operation} × {count}"
    return f"{text} ({', '.join(f'{name} {value}' for name, value in options.items())})" if options else text


def _chain(item: PlannedCase) -> str:
    """Prime sizes as in the suite, or those of the request's resolution."""
    spec = item.case.parameters
    if spec.modulus_bits is not None and spec.depth is None:
        return _sizes(spec.modulus_bits)
    if item.expected is None:
        return "default" if spec.depth is None else f"for depth {spec.depth}"
    return f"{'≈' if item.is_estimate else ''}{_sizes(item.expected.modulus_bits)}"


def _margin(item: PlannedCase) -> tuple[str, float] | None:
    """The margin of a modulus chain for a depth: the mean remaining noise budget in bits; for CKKS, log2 of the bound
    on results.
    """
    spec, expected = item.case.parameters, item.expected
    if spec.depth is None or expected is None:
        return None
    if spec.scale_bits is not None:
        return "results_below_bits", float(expected.modulus_bits[0] - spec.scale_bits - 1)
    request = replace(spec, ring_dimension=expected.ring_dimension)
    return "budget_left_bits", round(chains.expected_budget_bits(request, expected.modulus_bits), 1)


def _margin_text(item: PlannedCase) -> str | None:
    margin = _margin(item)
    if margin is None:
        return None
    name, bits = margin
    text = f"results < 2^{bits:.0f}" if name == "results_below_bits" else f"{bits:.0f} bits of noise budget"
    return f"{'≈' if item.is_estimate else ''}{text}"


def _sizes(bits: Sequence[int]) -> str:
    """Prime sizes; many consecutive equal ones are abbreviated by their number."""
    runs = ((size, len(list(run))) for size, run in groupby(bits))
    return ",".join(
        f"{size}×{count}" if count >= _RUN else ",".join([str(size)] * count) for size, count in runs
    )


def _scale(case: Case) -> str:
    """The scale of CKKS; the value of t of BFV and BGV."""
    scale_bits, modulus = case.parameters.scale_bits, case.parameters.plain_modulus
    return str(modulus or "") if scale_bits is None else f"2^{scale_bits}"


def _security(case: Case) -> str:
    spec = case.parameters
    return f"{spec.security} bits ({spec.security_table})" if spec.security else "none"


def as_dict(item: PlannedCase) -> dict[str, object]:
    """A case with every field of the suite, and the reason for skipping it. Pure."""
    case, bootstrapping, expected = item.case, item.case.parameters.bootstrapping, item.expected
    resolved = expected and {
        "ring_dimension": expected.ring_dimension,
        "modulus_bits": expected.modulus_bits,
        "is_estimate": item.is_estimate,
        **dict([margin] if (margin := _margin(item)) else []),
    }
    return {
        "experiment": case.experiment,
        "variant": case.variant,
        **asdict(case.parameters),
        "bootstrapping": bootstrapping and bootstrapping.text,
        "resolved": resolved,
        "operation": case.operation,
        "repetitions": REPETITIONS.of(case.dimensions),
        "vector_length": case.vector_length,
        "data_pattern": case.data_pattern,
        "data_set": DATA_SET.of(case.dimensions),
        "dimensions": dict(case.dimensions),
        "threads": case.threads,
        "server_mb": item.server_mb,
        "party_mb": item.party_mb,
        "skipped": item.reason,
    }


_MUCH_MB = 1024
_COLUMNS: dict[str, Callable[[PlannedCase], object]] = {
    "operation": lambda item: _operation(item.case),
    "experiment": lambda item: item.case.experiment,
    "variant": lambda item: item.case.variant,
    "scheme": lambda item: item.case.parameters.scheme,
    "tuning": lambda item: item.case.parameters.tuning,
    "secret": lambda item: item.case.parameters.secret,
    "bootstrapping": lambda item: (
        item.case.parameters.bootstrapping and item.case.parameters.bootstrapping.text
    ),
    **{
        item.name.replace("_", " "): attrgetter(item.sources[0].removeprefix("trial."))
        for item in descriptor.tells_apart()
        if item.sources[0].removeprefix("trial.case.parameters.") in offered()
    },
    "N requested": lambda item: "smallest-secure" if item.case.parameters.ring_dimension_is_minimum else None,
    "depth": lambda item: item.case.parameters.depth,
    "N": _ring,
    "modulus chain": _chain,
    "margin": _margin_text,
    "scale, t": lambda item: _scale(item.case),
    "security": lambda item: _security(item.case),
    "vector length": lambda item: item.case.vector_length,
    "data": lambda item: DATA_SET.of(item.case.dimensions) or item.case.data_pattern,
    "threads": lambda item: item.case.threads,
}


def as_table(planned: Sequence[PlannedCase]) -> Printed:
    """A row per case, by number; common properties are in the heading. Optional columns: unusual tunings and
    parameters, memory if any case is known to need much, and reasons if any case is skipped. ``party MB`` is the larger
    of the peaks of client and server, ``server MB`` the part of it without keys and ciphertexts.
    """
    texts = {
        name: ["" if value(item) is None else str(value(item)) for item in planned]
        for name, value in _COLUMNS.items()
    }
    texts = {name: column for name, column in texts.items() if set(column) != {_USUAL.get(name, "")}}
    alike = {name: column[0] for name, column in texts.items() if len(column) > 1 and len(set(column)) == 1}
    columns = {name: column for name, column in texts.items() if name not in alike}
    heads = [
        Head("case", is_number=True),
        *(
            Head(name, is_number=name in _NUMBERS, is_prose=name in _PROSE, drop=_drop(name))
            for name in columns
        ),
    ]
    rows = [(str(number), *row) for number, row in enumerate(zip(*columns.values(), strict=True), 1)]
    if any((item.party_mb or 0) >= _MUCH_MB for item in planned):
        heads.append(Head("party MB", is_number=True, drop=1))
        rows = [(*row, str(item.party_mb or "")) for row, item in zip(rows, planned, strict=True)]
    if any(item.server_mb for item in planned):
        heads.append(Head("server MB", is_number=True, drop=1))
        rows = [(*row, str(item.server_mb or "")) for row, item in zip(rows, planned, strict=True)]
    if any(item.reason for item in planned):
        heads.append(Head("skipped", is_prose=True))
        rows = [(*row, item.reason or "") for row, item in zip(rows, planned, strict=True)]
    about = "All cases: " + " · ".join(f"{name} {text}" for name, text in alike.items() if text)
    keys = 2 if "operation" in columns else 1
    return Printed("", about if alike else "", tuple(heads), tuple(rows), keys)


def _drop(name: str) -> int:
    return 2 if name in _FIRST_LEFT_OUT else int(name not in _LAST_LEFT_OUT)


def at_a_glance(planned: Sequence[PlannedCase]) -> list[Printed]:
    """Tables of the numbers of executed and of all cases by experiment, scheme and variant, with the maximum memory of
    servers that need much. A last table has the reasons of skipped cases, the most frequent first.
    """
    variants = list(dict.fromkeys(item.case.variant for item in planned))
    every = Counter((_place(item), item.case.variant) for item in planned)
    skipped = Counter((_place(item), item.case.variant) for item in planned if item.reason)
    heads = [Head("experiment"), Head("scheme"), *(Head(name, is_number=True) for name in variants)]
    has_memory = any(item.server_mb for item in planned)
    rows = []
    for place in dict.fromkeys(map(_place, planned)):
        counts = (_of(every[place, variant], skipped[place, variant]) for variant in variants)
        most = max(item.server_mb or 0 for item in planned if _place(item) == place)
        rows.append((*place, *counts, *([str(most or "")] * has_memory)))
    heads += [Head("max server MB", is_number=True)] * has_memory
    tables = [Printed("", "Executed cases of all cases", tuple(heads), tuple(rows), keys=2)]
    reasons = Counter((item.case.variant, item.reason) for item in planned if item.reason)
    if reasons:
        counts_of = tuple((str(count), variant, why or "") for (variant, why), count in reasons.most_common())
        why_heads = (Head("cases", is_number=True), Head("variant"), Head("reason", is_prose=True))
        tables.append(Printed("", "", why_heads, counts_of, keys=3))
    return tables


def _place(item: PlannedCase) -> tuple[str, str]:
    return item.case.experiment, item.case.parameters.scheme


def _of(count: int, lacking: int) -> str:
    if not count:
        return ""
    return f"{count - lacking} of {count}" if lacking else str(count)
