"""Workloads: list the installed ones, write and check your own."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import typer
from rich.text import Text

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import chosen
from ciphermark_benchmark.cli.program import require_installed, setting
from ciphermark_benchmark.suite import plan
from ciphermark_benchmark.suite.feasibility import DEADLINE_S
from ciphermark_benchmark.suite.files import parse
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.containment import Limits
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.layers import LayerFound, LayersFound
from ciphermark_measure.parties.examination import Found
from ciphermark_measure.processes import executed
from ciphermark_present import terminal
from ciphermark_present.console import styled
from ciphermark_present.printed import Head, Printed
from ciphermark_workloads import options, user_workloads
from ciphermark_workloads.catalogue import BROKEN, WORKLOADS, AnyWorkload
from ciphermark_workloads.options import Option

_CLEARTEXT, _DATA_SET = "cleartext", "boston"
_LETTING_GO_S = 20.0  # time to load a library and to end the process
_COLOURS = {"correct": "green", "incorrect": "red", "unsupported": "yellow"}
_LAYERS_DEADLINE_S = 1800.0
_LAYER_HEADS = (
    Head("layer"),
    Head("level"),
    Head("scale"),
    Head("operations", is_prose=True),
    *(Head(name, is_number=True) for name in ("input MB", "output MB", "ms", "share", "largest", "error")),
)
T = TypeVar("T")
app = typer.Typer(
    add_completion=False,
    help="Workloads: list the installed ones, write and check your own.",
    epilog="[bold]Examples[/bold]  ciphermark workload list; ciphermark workload new mine.py",
    no_args_is_help=True,
)


@app.command("list", epilog="[bold]Example[/bold]  ciphermark workload list")
def list_all() -> None:
    """List the installed workloads with family, schemes and options."""
    console = console_for()
    for workload in WORKLOADS.values():
        schemes = ", ".join(workload.schemes)
        console.print(styled("[bold]{}[/bold]  {}  {}", workload.name, workload.family, schemes))
        title = textwrap.wrap(workload.title, console.width, initial_indent="  ", subsequent_indent="  ")
        declared = [(f"{option.name}:", _described(option)) for option in options.declared(workload.Options)]
        for line in (*title, *terminal.named(declared, console.width, indent="  ")):
            console.print(Text(line), soft_wrap=True)
    for name, reason in BROKEN.items():
        console.print(styled("[red]{}[/red]  {}", name, reason))


def _described(option: Option) -> str:
    default = "" if option.default == "" else f" (default: {option.default})"
    return f"{option.sentence}{default}"


@app.command("new", epilog="[bold]Example[/bold]  ciphermark workload new mine.py")
def new(file: Annotated[Path, typer.Argument(help="File to write. It must not exist.")]) -> None:
    """Write a working example to adapt."""
    if file.exists():
        raise UserError(f"{file} already exists: name another file")
    file.write_text(user_workloads.template(), encoding="utf-8")
    typer.echo(f"{file} is a working example. Adapt it, then check it: ciphermark workload check {file}")


@app.command("check", epilog="[bold]Example[/bold]  ciphermark workload check mine.py")
def check(
    workload: Annotated[str, typer.Argument(help="mine.py, mine.py:MyWorkload, or the name of a workload.")],
    variant: Annotated[
        list[str] | None, typer.Option(help="Check only with this variant. Repeatable.")
    ] = None,
    deadline: Annotated[float, typer.Option(help="Time limit per library, in seconds.", min=1)] = 60.0,
) -> None:
    """Check a workload: run it unencrypted, then with every installed library, on small parameters if it fits them."""
    console = console_for()
    names: dict[str, list[str]] = {}  # variants by verdict
    loaded = chosen(workload, replace(user_workloads.LOADING, deadline_s=deadline))
    refused = _refused(loaded, variant or (), deadline)
    for name, scheme in _subjects(loaded, variant or ()):
        examined = refused.get((name, scheme)) or _examined(workload, name, scheme, deadline)
        verdict, colour = examined.verdict, _COLOURS[examined.verdict]
        names.setdefault(verdict, []).append(name)
        line = styled(
            f"{{}} {{}} [{colour}]{{}}[/{colour}] {{}}",
            f"{name:<10}",
            f"{scheme:<5}",
            f"{verdict:<12}",
            examined.text,
        )
        console.print(line, soft_wrap=True)
        if name == _CLEARTEXT and verdict == "incorrect":
            raise UserError(f"{workload} is incorrect without encryption: fix that first")
    if "incorrect" in names:
        blamed = ", ".join(dict.fromkeys(names["incorrect"]))
        raise UserError(f"{workload} is incorrect with {blamed}: see above")
    if "correct" not in names:
        raise UserError(f"no library executed {workload}: see above")
    console.print(f"{workload} is correct with every library that supports it", soft_wrap=True)


def _available(variants: Sequence[str]) -> dict[str, Availability]:
    """The named variants, or all installed ones if none is named; cleartext comes first."""
    flags = frozenset(host.collect().cpu_flags)
    there = {name: registry.availability(name, flags) for name in variants or registry.declarations()}
    chosen = {name: item for name, item in there.items() if variants or item.is_installed}
    return dict(sorted(chosen.items(), key=lambda item: (item[0] != _CLEARTEXT, item[0])))


def _subjects(workload: AnyWorkload, variants: Sequence[str]) -> Iterator[tuple[str, Scheme]]:
    """Pairs of variant and scheme, cleartext first."""
    names = _available(variants)
    for scheme in workload.schemes:
        for name in names:
            yield name, scheme


def _refused(
    workload: AnyWorkload, variants: Sequence[str], deadline_s: float
) -> dict[tuple[str, Scheme], Found]:
    """The refusals of a suite with only this workload, by variant and scheme. A refusal for cleartext is the workload's
    fault, whatever the variant.
    """
    experiment: dict[str, object] = {"kind": workload.family, "workloads": [workload.name]}
    if workload.takes_data:
        experiment["data_sets"] = [_DATA_SET]
    available = {**_available(variants), **_available([_CLEARTEXT])}
    suite = parse(
        json.dumps({"name": "check", "experiments": [{**experiment, "variants": [*available]}]}), "check"
    )
    planned = [item for item in plan.cases(suite, available, min(deadline_s, DEADLINE_S)) if item.reason]
    reasons = {
        (item.case.variant, item.case.parameters.scheme): str(item.reason)
        for item in planned
        if item.status == "unsupported"
    }
    return {
        (name, scheme): Found(
            "incorrect" if reasons.get((_CLEARTEXT, scheme)) == reason else "unsupported", reason
        )
        for (name, scheme), reason in reasons.items()
    }


def _examined(workload: str, variant: str, scheme: Scheme, deadline_s: float) -> Found:
    arguments = (workload, "--variant", variant, "--scheme", scheme, "--deadline", str(deadline_s))
    try:
        return _asked(variant, "parties.examination", arguments, Found, deadline_s + _LETTING_GO_S)
    except TimeoutError:
        return Found("incorrect", f"exceeded the limit of {deadline_s:g} s")
    except MemoryError as error:
        return Found("incorrect", str(error))
    except _NoAnswerError as end:
        words, file = str(end), Path(workload.partition(":")[0])
        return Found("incorrect", _death(words, file, deadline_s, end.code))


class _NoAnswerError(Exception):
    """A process gave no answer; the text is the end of its output."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def _asked(variant: str, module: str, arguments: Sequence[str], kind: type[T], deadline_s: float) -> T:
    """The answer of a module in a separate process, with the interpreter that has the library, since a workload may
    loop or crash there. Raises ``TimeoutError``, ``MemoryError``, and ``_NoAnswerError`` if there is no answer.
    """
    command = [registry.interpreter(variant), "-m", f"ciphermark_measure.{module}", *arguments]
    ended = executed(command, Limits(deadline_s, Budget().memory_mb))
    try:
        return msgspec.json.decode(ended.output, type=kind)
    except msgspec.MsgspecError:
        raise _NoAnswerError(ended.code, ended.errors) from None


def _death(words: str, file: Path, deadline_s: float, code: int) -> str:
    """The cause of a process's end, from the end of its output. Pure."""
    if "Timeout (" not in words:
        return f"the process ended with exit code {code}: {words.strip()[-300:]}"
    where = user_workloads.place_in_dump(words, lambda path: path.name == file.name)
    return f"{where or file.name}: exceeded the limit of {deadline_s:g} s"


@app.command(epilog="[bold]Example[/bold]  ciphermark workload layers lola-mnist --variant seal")
def layers(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    wanted: Annotated[
        list[str],
        typer.Argument(
            metavar="WORKLOAD [OPTION=VALUE]",
            help="Workload by name or file, and non-default options.",
        ),
    ],
    variant: Annotated[str, typer.Option(help="Variant that executes it.")] = "seal",
    scheme: Annotated[Scheme | None, typer.Option(help="Scheme. Default: the workload's first.")] = None,
    passes: Annotated[int, typer.Option(help="Number of timed passes; the median is printed.", min=1)] = 10,
    inputs: Annotated[int, typer.Option(help="Number of inputs; the largest error is printed.", min=1)] = 10,
    threads: Annotated[int, typer.Option(help="Threads per program.", min=1)] = 1,
    format: Annotated[Literal["table", "json"], typer.Option(help="Output format.")] = "table",
) -> None:
    """Execute the last stage layer by layer: time, level, scale, operations, bytes and largest error of each layer.

    Nothing is recorded. Runs execute the program as a whole.
    """
    workload, *settings = wanted
    values: dict[str, Any] = dict(setting(text) for text in settings)
    in_scheme = scheme or chosen(workload).with_options(values).schemes[0]
    require_installed(variant)
    arguments = [workload, "--variant", variant, "--scheme", in_scheme, "--options", json.dumps(values)]
    for name, number in (("passes", passes), ("inputs", inputs), ("threads", threads)):
        arguments += [f"--{name}", str(number)]
    try:
        answer = _asked(variant, "layers", arguments, LayersFound, _LAYERS_DEADLINE_S)
    except (TimeoutError, MemoryError) as error:
        raise UserError(f"{error}: use fewer passes or inputs") from None
    except _NoAnswerError as end:
        raise UserError(f"the process ended with exit code {end.code}: {str(end).strip()[-300:]}") from None
    if answer.reason is not None:
        raise UserError(f"{workload} has no layers with {variant} in {in_scheme}: {answer.reason}")
    if format == "json":
        typer.echo(json.dumps(msgspec.to_builtins(answer), indent=2))
        return
    _print(f"{workload}, {variant}, {in_scheme}", answer)


def _print(title: str, answer: LayersFound) -> None:
    together = sum(layer.seconds for layer in answer.layers)
    console = console_for()
    rows = tuple(_layer_row(layer, together) for layer in answer.layers)
    terminal.show(console, [Printed(title, "", _LAYER_HEADS, rows)])
    console.print(
        Text(
            f"\nSum of layers: {together * 1e3:.3g} ms. Whole program: {answer.whole_s * 1e3:.3g} ms. Medians of "
            f"{answer.passes} passes.\nCorrect: {answer.right} of {answer.inputs} inputs. Errors: maximum over all "
            "slots and inputs, from an untimed run."
        )
    )


def _layer_row(layer: LayerFound, together: float) -> tuple[str, ...]:
    return (
        layer.name,
        f"{layer.level} → {layer.end_level}",
        "" if layer.scale_bits is None else f"2^{layer.scale_bits:.2f}",
        ", ".join(f"{count} {name}" for name, count in layer.operations.items()),
        f"{layer.operand_bytes / 1e6:.3g}",
        f"{layer.result_bytes / 1e6:.3g}",
        f"{layer.seconds * 1e3:.3g}",
        f"{layer.seconds / together:.0%}",
        f"{layer.largest:.3g}",
        "" if layer.error is None else f"{layer.error:.2g}",
    )
