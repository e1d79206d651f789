"""Check whether this host is fit for benchmarking: properties and sources of measurement error. Exits with 0."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ciphermark_adapters import registry
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.adapters import complaint
from ciphermark_benchmark.cli.suite import loaded
from ciphermark_core import host as hosts
from ciphermark_core.run import Host
from ciphermark_measure import probes
from ciphermark_present import terminal
from ciphermark_present.console import styled

_CHECK_S = 300  # under load, libraries take minutes

app = typer.Typer(add_completion=False)


@app.command(epilog="[bold]Example[/bold]  ciphermark doctor quick")
def doctor(
    suite: Annotated[
        Path | None, typer.Argument(help="Also check this suite's thread counts against the host.")
    ] = None,
) -> None:
    """Check whether this host is fit for benchmarking: properties and sources of measurement error. Exits with 0.

    Also checks the libraries that users install, such as HElib, and gives the next step for each fault.
    """
    experiments = loaded(suite).experiments if suite is not None else []
    facts = probes.host_facts()
    console = console_for()
    for line in terminal.named(host_lines(facts), console.width):
        console.print(Text(line), soft_wrap=True)
    for line in terminal.named(probe_lines(), console.width):
        console.print(Text(line), soft_wrap=True)
    crowding = hosts.thread_warning({count for item in experiments for count in item.threads}, facts.cores)
    faults = installation_faults(frozenset(facts.cpu_flags))
    warnings = [*facts.warnings, *([] if crowding is None else [crowding]), *faults]
    if not warnings:
        console.print(styled("[green]No sources of measurement error found.[/green]"))
    for warning in warnings:
        console.print(styled("[yellow]![/yellow] {}", warning), soft_wrap=True)


def probe_lines() -> list[tuple[str, str]]:
    """Every probe that a suite can ask for, with the reason if this host lacks something."""
    names = probes.asked()
    reasons = probes.reasons_against(names)
    return [
        (f"probe {name}", f"unavailable: {reasons[name]}" if name in reasons else "available")
        for name in names
    ]


def installation_faults(cpu_flags: frozenset[str]) -> Iterator[str]:
    """The fault of each library that users install, with the next step. Without an installation there is none.

    Each library is loaded and computes in a separate process, which takes seconds.
    """
    for variant, declared in registry.declarations().items():
        if declared.installation is None:
            continue
        available = registry.availability(variant, cpu_flags)
        message = self_check_failure(variant) if available.is_installed else None
        fault = None if available.is_installed and message is None else declared.installation(message)
        if fault is not None:
            yield f"{variant}: {fault[0]}; {fault[1]}"


def self_check_failure(variant: str) -> str | None:
    """Why a variant does not compute, in a line; ``None`` if it does."""
    command = [registry.interpreter(variant), "-m", "ciphermark_measure.self_check", variant]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_CHECK_S, check=False)
    except subprocess.TimeoutExpired:
        return f"its check exceeded {_CHECK_S} s"
    return complaint(done.stderr, done.returncode) if done.returncode else None


def host_lines(host: Host) -> list[tuple[str, str]]:
    """Name and value of every host property; unreadable ones are marked as unknown."""
    unknown = "unknown"
    isa = [flag for flag in ("avx2", "avx512f", "avx512dq", "avx512ifma") if flag in host.cpu_flags]
    switch = {True: "on", False: "off", None: unknown}
    return [
        ("host", f"{host.hostname} ({host.fingerprint})"),
        ("CPU", f"{host.cpu_model}, {host.cores} usable cores"),
        ("ISA", " ".join(isa) or "none of AVX2, AVX-512"),
        ("caches", ", ".join(f"{name} {size >> 10} KiB" for name, size in host.caches.items()) or unknown),
        ("memory", f"{host.memory_bytes / 2**30:.1f} GiB"),
        ("system", f"{host.operating_system}, kernel {host.kernel}"),
        ("container", host.container or "none detected"),
        ("governor", host.governor or unknown),
        ("turbo", switch[host.turbo]),
        ("SMT", switch[host.smt]),
        ("clock", f"{host.clock_source or unknown}, resolution {host.clock_resolution_ns} ns"),
        ("clock noise", f"{host.clock_noise:.1%} spread of identical work"),
        ("load", f"{host.load_1min:.2f} (1 min average)"),
        *(
            (field.metadata["label"], str(getattr(host, field.name)))
            for field in fields(host)
            if field.metadata
        ),
    ]
