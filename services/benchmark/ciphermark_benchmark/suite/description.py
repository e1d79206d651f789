"""What is known about adapters and hosts, in words."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from ciphermark_adapters import registry
from ciphermark_adapters.registry import Availability
from ciphermark_core import wire
from ciphermark_core.model import LibraryInfo
from ciphermark_core.run import Host

_TIMEOUT_S = 300  # under load libraries take minutes, and the answer is kept


@dataclass(frozen=True, slots=True)
class Description:
    """A variant: what it declares, and what its loaded library says or why it cannot be loaded."""

    availability: Availability
    library: LibraryInfo | None
    problem: str | None

    def lines(self) -> Iterator[tuple[str, str]]:
        """Name and text of everything worth telling."""
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
            yield "lacks", f"{operation}: {reason}"
        if declared.lacks_best is not None:
            yield "lacks", f"division best: {declared.lacks_best}"

    def as_dict(self) -> dict[str, Any]:
        """The same as data."""
        declared = self.availability.declaration
        return {
            "variant": declared.variant,
            "is_installed": self.problem is None,
            "reason": self.problem,
            "remedy": None if self.problem is None else self.availability.remedy or declared.remedy,
            "library": None if self.library is None else asdict(self.library),
            "declaration": {
                "library": declared.library,
                "license": declared.license,
                "hexl": declared.hexl,
                "operations": dict(declared.operations),
                "managed": dict(declared.managed),
                "compressions": declared.compressions,
                "notes": dict(declared.notes),
                "reasons": dict(declared.reasons),
            },
        }


def describe_all(variants: Iterable[str], cpu_flags: frozenset[str]) -> list[Description]:
    """Describe variants, in their order; libraries are loaded in processes of their own."""
    found = [registry.availability(name, cpu_flags) for name in variants]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(_described, found))


def _described(availability: Availability) -> Description:
    if availability.reason is not None:
        return Description(availability, None, availability.reason)
    variant = availability.declaration.variant
    command = [registry.interpreter(variant), "-m", "ciphermark_measure.describe", variant]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=True)
        return Description(availability, wire.from_line(done.stdout, LibraryInfo), None)
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit {error.returncode}"]
        return Description(availability, None, f"its library cannot be loaded: {last[0]}")
    except (subprocess.TimeoutExpired, ValueError) as error:
        return Description(availability, None, f"its library cannot be loaded: {error}")


def host_lines(host: Host) -> list[tuple[str, str]]:
    """Name and value of every host fact; what cannot be read says so."""
    unknown = "unknown"
    isa = [flag for flag in ("avx2", "avx512f", "avx512dq", "avx512ifma") if flag in host.cpu_flags]
    switch = {True: "on", False: "off", None: unknown}
    return [
        ("host", f"{host.hostname} ({host.fingerprint})"),
        ("CPU", f"{host.cpu_model}, {host.cores} cores for us"),
        ("ISA", " ".join(isa) or "none of AVX2, AVX-512"),
        ("caches", ", ".join(f"{name} {size >> 10} KiB" for name, size in host.caches.items()) or unknown),
        ("memory", f"{host.memory_bytes / 2**30:.1f} GiB"),
        ("system", f"{host.operating_system}, kernel {host.kernel}"),
        ("container", host.container or "none seen"),
        ("governor", host.governor or unknown),
        ("turbo", switch[host.turbo]),
        ("SMT", switch[host.smt]),
        ("clock", f"{host.clock_source or unknown}, resolution {host.clock_resolution_ns} ns"),
        ("noise", f"{host.clock_noise:.1%} spread of the same work"),
        ("load", f"{host.load_1min:.2f} over the last minute"),
    ]
