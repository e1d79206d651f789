"""``workload layers``: what the parts of a workload's circuit take, and how far they are from the clear."""

from __future__ import annotations

import json
import subprocess
from typing import Annotated, Any, Literal

import msgspec
import typer
from rich.text import Text

from ciphermark_adapters import registry
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.program import setting
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.layers import LayerFound, LayersFound
from ciphermark_present.printed import Head, Printed
from ciphermark_present.terminal import show
from ciphermark_workloads.catalogue import WORKLOADS, named

_DEADLINE_S = 1800.0
_HEADS = (
    Head("layer"),
    Head("level"),
    Head("scale"),
    Head("operations", is_prose=True),
    *(Head(name, is_number=True) for name in ("takes MB", "gives MB", "ms", "share", "largest", "error")),
)
EPILOG = "[bold]Example[/bold]  ciphermark workload layers lola-mnist --variant seal"


def layers(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    wanted: Annotated[
        list[str],
        typer.Argument(
            metavar="WORKLOAD [OPTION=VALUE]",
            help="A workload, and options of it that are not their defaults.",
        ),
    ],
    variant: Annotated[str, typer.Option(help="The variant that executes it.")] = "seal",
    scheme: Annotated[Scheme | None, typer.Option(help="Scheme; by default the workload's first.")] = None,
    passes: Annotated[int, typer.Option(help="Timed passes, of which the median is told.", min=1)] = 10,
    inputs: Annotated[int, typer.Option(help="Inputs that errors are the largest of.", min=1)] = 10,
    threads: Annotated[int, typer.Option(help="Threads of a program.", min=1)] = 1,
    format: Annotated[Literal["table", "json"], typer.Option(help="Form of the output.")] = "table",
) -> None:
    """Execute the last stage layer by layer: time, level, scale, operations and bytes of each, and its largest error
    against the clear. Nothing is recorded: in runs the program is executed as a whole.
    """
    workload, *settings = wanted
    options: dict[str, Any] = dict(setting(text) for text in settings)
    chosen = scheme or named(WORKLOADS, workload).with_options(options).schemes[0]
    _require_installed(variant)
    command = [registry.interpreter(variant), "-m", "ciphermark_measure.layers", workload]
    command += ["--variant", variant, "--scheme", chosen, "--options", json.dumps(options)]
    for name, number in (("passes", passes), ("inputs", inputs), ("threads", threads)):
        command += [f"--{name}", str(number)]
    found = _answered(command)
    if found.reason is not None:
        raise UserError(f"{workload} has no layers with {variant} in {chosen}: {found.reason}")
    if format == "json":
        typer.echo(json.dumps(msgspec.to_builtins(found), indent=2))
        return
    _print(f"{workload}, {variant}, {chosen}", found)


def _require_installed(variant: str) -> None:
    known = registry.availability(variant, frozenset(host.collect().cpu_flags))
    if not known.is_installed:
        raise UserError(f"{variant}: {known.reason}; {known.remedy}")


def _answered(command: list[str]) -> LayersFound:
    """In a process of its own, by the interpreter that has the library."""
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_DEADLINE_S)
    except subprocess.TimeoutExpired:
        raise UserError(f"it took longer than {_DEADLINE_S:g} s: take fewer passes or inputs") from None
    try:
        return msgspec.json.decode(done.stdout, type=LayersFound)
    except msgspec.MsgspecError:
        words = done.stderr.decode(errors="replace").strip()[-300:]
        raise UserError(f"the process ended with exit code {done.returncode}: {words}") from None


def _print(title: str, found: LayersFound) -> None:
    together = sum(layer.seconds for layer in found.layers)
    console = console_for()
    show(console, [Printed(title, "", _HEADS, tuple(_row(layer, together) for layer in found.layers))])
    console.print(
        Text(
            f"\nTogether {together * 1e3:.3g} ms; the whole program {found.whole_s * 1e3:.3g} ms (medians of "
            f"{found.passes} passes). Right: {found.right} of {found.inputs} inputs. Errors: the largest of all slots "
            "and inputs, decrypted in a run that is not timed."
        )
    )


def _row(layer: LayerFound, together: float) -> tuple[str, ...]:
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
