"""Workloads: list the installed ones, write your own, look at layers."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import typer
from rich.text import Text

from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._workloads import NoAnswerError, answer_of, chosen
from ciphermark_benchmark.cli.program import require_installed, setting
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.layers import LayerFound, LayersFound
from ciphermark_present import terminal
from ciphermark_present.console import styled
from ciphermark_present.printed import Head, Printed
from ciphermark_workloads import options, user_workloads
from ciphermark_workloads.catalogue import BROKEN, WORKLOADS
from ciphermark_workloads.options import Option

_LAYERS_DEADLINE_S = 1800.0
_LAYER_HEADS = (
    Head("layer"),
    Head("level"),
    Head("scale"),
    Head("operations", is_prose=True),
    *(Head(name, is_number=True) for name in ("input MB", "output MB", "ms", "share", "largest", "error")),
)
app = typer.Typer(
    add_completion=False,
    help="Workloads: list the installed ones, write your own, look at layers.",
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
def new(
    file: Annotated[Path, typer.Argument(help="File to write. It must not exist.")],
    full: Annotated[
        bool, typer.Option("--full", help="Write a class with stages, messages and its own judgment.")
    ] = False,
) -> None:
    """Write a working example to adapt: a computation, or with --full a class."""
    if file.exists():
        raise UserError(f"{file} already exists: name another file")
    text = user_workloads.template() if full else user_workloads.computation_template()
    file.write_text(text, encoding="utf-8")
    typer.echo(f"{file} is a working example. Adapt it, then check it: ciphermark check {file}")


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
        answer = answer_of(variant, "layers", arguments, LayersFound, _LAYERS_DEADLINE_S)
    except (TimeoutError, MemoryError) as error:
        raise UserError(f"{error}: use fewer passes or inputs") from None
    except NoAnswerError as end:
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
