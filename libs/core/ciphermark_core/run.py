"""A run and its host: frozen dataclasses, as those of :mod:`.model`."""

from __future__ import annotations

from dataclasses import dataclass

from ciphermark_core.limits import Int32, Int64, Moment, Natural, RunName, Word


@dataclass(frozen=True, slots=True)
class Host:
    """The machine that executed a run, and its sources of measurement error (``warnings``).

    Give a new fact a default, which older journals are read with, and a ``label`` in its metadata, which ``doctor``
    prints.
    """

    fingerprint: Word
    hostname: Word
    cpu_model: Word
    cpu_flags: tuple[Word, ...]
    caches: dict[Word, int]
    cores: Int32
    memory_bytes: Int64
    operating_system: Word
    kernel: Word
    governor: Word | None
    turbo: bool | None
    smt: bool | None
    container: Word | None
    clock_source: Word | None
    clock_resolution_ns: Int64
    clock_noise: float
    load_1min: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a suite on a host. ``suite_text`` is the suite file unchanged, ``label`` a name for the run."""

    id: RunName
    suite_name: Word
    suite_text: str
    seed: Natural
    started_at: Moment
    host: Host
    software_version: Word
    label: RunName | None = None
