"""Workloads: those that are installed, and your own."""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.markup import escape
from rich.text import Text

from ciphermark_adapters import registry
from ciphermark_benchmark.cli import _layers
from ciphermark_benchmark.cli._output import console_for
from ciphermark_core import host
from ciphermark_core.errors import UserError
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.examination import Found, faults
from ciphermark_present import terminal
from ciphermark_workloads import options, user_workloads
from ciphermark_workloads.catalogue import BROKEN, WORKLOADS, AnyWorkload, named
from ciphermark_workloads.options import Option

_CLEARTEXT = "cleartext"
_LETTING_GO_S = 20.0  # loading a library, and ending the process
_COLOURS = {"right": "green", "wrong": "red", "unsupported": "yellow"}
_workload = typer.Typer(
    help="Workloads: those that are installed, and your own.",
    epilog="[bold]Examples[/bold]  ciphermark workload list; ciphermark workload new mine.py",
    no_args_is_help=True,
)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    _workload.command("list", epilog="[bold]Example[/bold]  ciphermark workload list")(list_all)
    _workload.command("new", epilog="[bold]Example[/bold]  ciphermark workload new mine.py")(new)
    _workload.command("check", epilog="[bold]Example[/bold]  ciphermark workload check mine.py")(check)
    _workload.command("layers", epilog=_layers.EPILOG)(_layers.layers)
    app.add_typer(_workload, name="workload")


def list_all() -> None:
    """The workloads that are installed: family, schemes and options."""
    console = console_for()
    for workload in WORKLOADS.values():
        schemes = ", ".join(workload.schemes)
        console.print(f"[bold]{workload.name}[/bold]  {workload.family}  {schemes}")
        title = textwrap.wrap(workload.title, console.width, initial_indent="  ", subsequent_indent="  ")
        declared = [(f"{option.name}:", _told(option)) for option in options.declared(workload.Options)]
        for line in (*title, *terminal.named(declared, console.width, indent="  ")):
            console.print(Text(line), soft_wrap=True)
    for name, reason in BROKEN.items():
        console.print(f"[red]{escape(name)}[/red]  {escape(reason)}")


def _told(option: Option) -> str:
    default = "" if option.default == "" else f" (by default {option.default})"
    return f"{option.sentence}{default}"


def new(file: Annotated[Path, typer.Argument(help="The file to write; it must not be there yet.")]) -> None:
    """Write a workload that works, to be changed into your own."""
    if file.exists():
        raise UserError(f"{file} is there already: name another file")
    file.write_text(user_workloads.template(), encoding="utf-8")
    typer.echo(
        f"{file} is a workload that works: change it, and check it with `ciphermark workload check {file}`"
    )


def check(
    workload: Annotated[str, typer.Argument(help="mine.py, mine.py:MyWorkload, or the name of one.")],
    variant: Annotated[
        list[str] | None, typer.Option(help="Only with this variant; may be given several times.")
    ] = None,
    deadline: Annotated[float, typer.Option(help="Seconds that it may take with one library.", min=1)] = 60.0,
) -> None:
    """Carry a workload out in the clear, then with every installed library, on small parameters where it fits them, and
    tell what is wrong in it.
    """
    console = console_for()
    found = list[Found]()
    for name, scheme in _subjects(_known(workload), variant or ()):
        found.append(_examined(workload, name, scheme, deadline))
        verdict = found[-1].verdict
        colour = _COLOURS[verdict]
        text = f"{name:<10} {scheme:<5} [{colour}]{verdict:<12}[/{colour}] {escape(found[-1].text)}"
        console.print(text, soft_wrap=True)
        if name == _CLEARTEXT and verdict == "wrong":
            raise UserError(f"{workload} is wrong in the clear: mend that first")
    if any(item.verdict == "wrong" for item in found):
        raise UserError(f"{workload} is wrong with some library: see above")
    if all(item.verdict != "right" for item in found):
        raise UserError(f"{workload} was carried out with no library: see above")
    console.print(f"{workload} is right wherever it can be carried out", soft_wrap=True)


def _known(name: str) -> AnyWorkload:
    """The workload; raises ``UserError`` for one that cannot be loaded, or whose declarations are wrong."""
    if not user_workloads.is_own(name):
        return named(WORKLOADS, name)
    workload = user_workloads.load(name, Path())
    wrong = faults(workload)
    if wrong:
        raise UserError(f"{name}: {'; '.join(wrong)}")
    return workload


def _subjects(workload: AnyWorkload, variants: Sequence[str]) -> Iterator[tuple[str, Scheme]]:
    """Variants and schemes, cleartext before all libraries."""
    flags = frozenset(host.collect().cpu_flags)
    names = variants or [
        name for name in registry.declarations() if registry.availability(name, flags).is_installed
    ]
    for scheme in workload.schemes:
        for name in sorted(names, key=lambda name: (name != _CLEARTEXT, name)):
            yield name, scheme


def _examined(workload: str, variant: str, scheme: Scheme, deadline_s: float) -> Found:
    """In a process of its own, which a workload may loop or crash in."""
    command = [registry.interpreter(variant), "-m", "ciphermark_measure.parties.examination", workload]
    command += ["--variant", variant, "--scheme", scheme, "--deadline", str(deadline_s)]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=deadline_s + _LETTING_GO_S)
    except subprocess.TimeoutExpired:
        return Found("wrong", f"it took longer than {deadline_s:g} s")
    try:
        return msgspec.json.decode(done.stdout, type=Found)
    except msgspec.MsgspecError:
        words = done.stderr.decode(errors="replace")
        return Found("wrong", _death(words, Path(workload.partition(":")[0]), deadline_s, done.returncode))


def _death(words: str, file: Path, deadline_s: float, code: int) -> str:
    """What the last words of a process say of its end. Pure."""
    if "Timeout (" not in words:
        return f"the process ended with exit code {code}: {words.strip()[-300:]}"
    where = user_workloads.place_in_dump(words, lambda path: path.name == file.name)
    return f"{where or file.name}: it took longer than {deadline_s:g} s"
