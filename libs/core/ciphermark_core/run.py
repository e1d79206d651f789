"""What a run is, and the host that it is executed on: frozen dataclasses, as those of :mod:`.model`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Host:
    """The machine a run executed on, and what on it spoils measurements (``warnings``).

    A fact that is added has a default, which journals from before it are read with, and a ``label`` in its metadata,
    under which ``doctor`` prints it.
    """

    fingerprint: str
    hostname: str
    cpu_model: str
    cpu_flags: tuple[str, ...]
    caches: dict[str, int]
    cores: int
    memory_bytes: int
    operating_system: str
    kernel: str
    governor: str | None
    turbo: bool | None
    smt: bool | None
    container: str | None
    clock_source: str | None
    clock_resolution_ns: int
    clock_noise: float
    load_1min: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a suite on a host. ``suite_text`` is the file as the user wrote it, ``label`` a name for it."""

    id: str
    suite_name: str
    suite_text: str
    seed: int
    started_at: str
    host: Host
    software_version: str
    label: str | None = None
