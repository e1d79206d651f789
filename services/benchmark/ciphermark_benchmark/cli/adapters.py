"""List libraries with version, schemes and build; for missing ones, the reason and the remedy."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from ciphermark_adapters import added, registry
from ciphermark_adapters.registry import Availability
from ciphermark_benchmark.cli._output import console_for
from ciphermark_core import host as hosts
from ciphermark_core import wire
from ciphermark_core.model import LibraryInfo
from ciphermark_present import formats, terminal
from ciphermark_present.console import Terminal, styled
from ciphermark_present.printed import Head, Printed

_EXAMPLES = """[bold]Examples[/bold]

  ciphermark adapters

  ciphermark adapters seal-hexl

  ciphermark adapters --format json
"""
_WIDEST = 80  # readable at a glance, even if a pipe is wider
_HEADS = (
    Head("variant"),
    Head("version"),
    Head("schemes"),
    Head("build"),
    Head("missing", is_prose=True),
)
_IN_BRACKETS = re.compile(r"\s*\([^)]*\)")
_OPTIMIZATION = re.compile(r"(?:^|\s)(-O\w*)")
_DECLARED = ("library", "license", "hexl", "operations", "managed", "compressions", "notes", "reasons")
_TIMEOUT_S = 300  # under load, libraries take minutes; the result is cached

app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def adapters(
    name: Annotated[str | None, typer.Argument(help="Show everything about this variant.")] = None,
    format: Annotated[Literal["table", "json"], typer.Option(help="Output format.")] = "table",
) -> None:
    """List libraries with version, schemes and build; for missing ones, the reason and the remedy.

    With a variant: its build, operations, measurement notes, and unsupported operations with reasons.
    """
    wanted = sorted(registry.declarations()) if name is None else [registry.declaration(name).variant]
    described = describe_all(wanted, frozenset(hosts.collect().cpu_flags))
    console = console_for()
    if format == "json":
        typer.echo(json.dumps([item.as_dict() for item in described], indent=2))
    elif name is None:
        for line in terminal.lines(table_of(described), min(console.width, _WIDEST)):
            console.print(Text(line), soft_wrap=True)
        console.print("\nBuild, operations and notes of a variant: ciphermark adapters VARIANT")
    else:
        _show(console, described[0])


def table_of(described: Sequence[Description]) -> Printed:
    """A row for each variant. Pure, except for the list of the user's builds."""
    own = added.all_builds()
    return Printed(
        "", "", _HEADS, tuple(_row(item, item.availability.declaration.variant in own) for item in described)
    )


def _row(item: Description, is_own: bool) -> tuple[str, ...]:
    declared = item.availability.declaration
    schemes = " ".join(scheme for scheme, operations in declared.operations.items() if operations)
    if item.library is None:
        remedy = item.availability.remedy or declared.remedy
        return declared.variant, formats.NOTHING, schemes, "", f"{item.problem}: {remedy}"
    build = ", ".join(filter(None, (brief_build(item.library.build), "your own" if is_own else "")))
    debug = " (DEBUG BUILD)" if item.library.is_debug else ""
    return declared.variant, item.library.version, schemes, build + debug, ""


def brief_build(facts: dict[str, str]) -> str:
    """Compiler and optimization of a library's build; empty if unknown. Pure."""
    compiler = _IN_BRACKETS.sub("", facts.get("compiler", "")).partition(": ")[0]
    optimized = _OPTIMIZATION.findall(facts.get("flags", ""))
    return " ".join(filter(None, (compiler, *optimized[-1:])))


def _show(console: Terminal, item: Description) -> None:
    """Print all facts of a variant."""
    declared = item.availability.declaration
    state = "[green]installed[/green]" if item.problem is None else "[red]missing[/red]"
    console.print(styled(f"[bold]{{}}[/bold]  {state}  {{}}", declared.variant, declared.license))
    for line in terminal.named(item.lines(), console.width, indent="  "):
        console.print(Text(line), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Description:
    """A variant: its declaration, and its loaded library's facts or the reason why it cannot be loaded."""

    availability: Availability
    library: LibraryInfo | None
    problem: str | None

    def lines(self) -> Iterator[tuple[str, str]]:
        """Name and text of every property."""
        declared = self.availability.declaration
        if self.problem is not None:
            yield "reason", self.problem
            yield "remedy", self.availability.remedy or declared.remedy
        if self.library is not None:
            yield "version", self.library.version + (" (DEBUG BUILD)" if self.library.is_debug else "")
            yield "build", ", ".join(f"{name} {text}" for name, text in self.library.build.items())
        for scheme, operations in declared.operations.items():
            yield scheme, " ".join(operations)
        yield "formats", " ".join(declared.compressions)
        for operation, note in declared.notes.items():
            yield "note", f"{operation}: {note}"
        for operation, reason in declared.reasons.items():
            yield "unsupported", f"{operation}: {reason}"
        if declared.lacks_recommended is not None:
            yield "unsupported", f"recommended tuning: {declared.lacks_recommended}"
        if declared.lacks_matched_bootstrapping is not None:
            yield "unsupported", f"matched tuning with bootstrapping: {declared.lacks_matched_bootstrapping}"

    def as_dict(self) -> dict[str, Any]:
        """The properties as plain data."""
        declared = self.availability.declaration
        return {
            "variant": declared.variant,
            "is_installed": self.problem is None,
            "reason": self.problem,
            "remedy": None if self.problem is None else self.availability.remedy or declared.remedy,
            "library": None if self.library is None else asdict(self.library),
            "declaration": {name: getattr(declared, name) for name in _DECLARED},
        }


def describe_all(variants: Iterable[str], cpu_flags: frozenset[str]) -> list[Description]:
    """Describe variants, in their order; each library is loaded in a separate process."""
    available = [registry.availability(name, cpu_flags) for name in variants]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(_described, available))


def _described(availability: Availability) -> Description:
    if availability.reason is not None:
        return Description(availability, None, availability.reason)
    variant = availability.declaration.variant
    command = [registry.interpreter(variant), "-m", "ciphermark_measure.describe", variant]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=True)
        return Description(availability, wire.from_line(done.stdout, LibraryInfo), None)
    except subprocess.CalledProcessError as error:
        message = complaint(error.stderr, error.returncode)
    except (subprocess.TimeoutExpired, ValueError) as error:
        message = str(error)
    installation = availability.declaration.installation
    fault = installation(message) if installation else None
    remedy = fault[1] if fault else availability.remedy
    return Description(replace(availability, remedy=remedy), None, f"the library cannot be loaded: {message}")


def complaint(stderr: bytes, code: int) -> str:
    """The last line that a failed process has written; without any, its exit code or the signal that ended it. Pure."""
    last = stderr.decode(errors="replace").strip().splitlines()[-1:]
    ending = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
    return last[0] if last else ending
