"""What tests of several parts record, ask and start; databases are those of tests/databases.py."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command import PLANTED, Ciphermark, Gate
from databases import Databases
from jobs import Jobs, Workers
from running_services import Services

from ciphermark_core.budget import Budget
from ciphermark_core.model import (
    Case,
    LibraryInfo,
    Outcome,
    Parameters,
    ParameterSpec,
    Sample,
    Status,
    Trial,
)
from ciphermark_core.run import Host, Run
from ciphermark_db import embedded
from ciphermark_db.database import Database

PRIMES = (1099510054913, 1099507695617, 1099511480321)
HOST = Host(
    fingerprint="f00d",
    hostname="bench",
    cpu_model="Test CPU",
    cpu_flags=("avx2", "avx512f"),
    caches={"L1d": 32768},
    cores=8,
    memory_bytes=1 << 34,
    operating_system="Debian 13",
    kernel="6.12",
    governor=None,
    turbo=None,
    smt=True,
    container=None,
    clock_source="tsc",
    clock_resolution_ns=1,
    clock_noise=0.01,
    load_1min=0.5,
    warnings=("turbo is on",),
)


class Maker:
    """Makes runs and outcomes; what a test doesn't care about has a plausible value."""

    def __init__(self) -> None:
        self._ids = itertools.count()

    def run(self, **changes: object) -> Run:
        number = next(self._ids)
        started_at = f"2025-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}+00:00"
        run = Run(f"run-{number}", "quick", "name: quick", 2**64 - 1, started_at, HOST, "0.1.0")
        return replace(run, **changes)

    def record(self, database: Database, *outcomes: dict[str, Any], **changes: object) -> Run:
        """Record a run, whose outcomes are told by arguments of :meth:`outcome`."""
        run = self.run(**changes)
        database.record_run(run)
        for arguments in outcomes:
            database.record_outcome(self.outcome(run, **arguments))
        return run

    def case(self, variant: str = "seal", **changes: object) -> Case:
        spec = ParameterSpec("bfv", 8192, None, 65537)
        return replace(Case(variant, "arithmetic", "add", spec, 10_000, "random"), **changes)

    def costs(self, operation: str, medians_ms: dict[str, tuple[float, ...]]) -> Iterator[dict[str, Any]]:
        """Arguments of :meth:`outcome`: the costs of an operation by variant, at the levels from 0 on."""
        spec = ParameterSpec("ckks", 8192, None, None, 40)
        place: dict[str, Any] = {"operation": operation, "parameters": spec, "vector_length": 4096}
        for variant, medians in medians_ms.items():
            chain = tuple(PRIMES[0] + 2 * number for number in range(len(medians) + 1))
            for level, median in enumerate(medians):
                case = self.case(variant, **place, dimensions={"level": level, "residency": "cached"})
                parameters = self.parameters(spec, chain)
                yield {"case": case, "samples": self.times([median / 1000] * 8), "parameters": parameters}

    def parameters(self, spec: ParameterSpec, moduli: tuple[int, ...] = PRIMES) -> Parameters:
        scale = None if spec.scale_bits is None else 2.0**spec.scale_bits
        return Parameters(
            spec, spec.ring_dimension, moduli[:-1], moduli[-1:], spec.slots, spec.plain_modulus, scale
        )

    def library(self, variant: str) -> LibraryInfo:
        name = variant.split("@", maxsplit=1)[0]
        return LibraryInfo(name.split("-")[0], name, "4.1.2", name.endswith("-hexl"), {"compiler": "gcc 14"})

    def outcome(
        self,
        run: Run,
        case: Case | None = None,
        samples: tuple[Sample, ...] = (),
        status: Status = "ok",
        process: int = 0,
        **changes: object,
    ) -> Outcome:
        case = case or self.case()
        trial = Trial(f"{run.id}/{next(self._ids)}", run.id, case, process, 7, Budget())
        outcome = Outcome(trial, status, "2025-01-01T00:00:01+00:00", 1.5, samples)
        if status != "unsupported":
            spec = case.parameters
            outcome = replace(outcome, parameters=self.parameters(spec), library=self.library(case.variant))
        return replace(outcome, **changes)

    def times(self, values: list[float], phase: str = "evaluate", **changes: object) -> tuple[Sample, ...]:
        return tuple(
            replace(Sample("time", value, phase, ordinal=ordinal), **changes)
            for ordinal, value in enumerate(values)
        )


@pytest.fixture(scope="session")
def make() -> Maker:
    return Maker()


@pytest.fixture(scope="session")
def imported(
    models: Databases, migrated: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., str]:
    """URL of the database with the runs of archives in ``reference/``; each is imported once."""

    @cache
    def model(*names: str) -> str:
        if not names:
            return migrated
        url = models.made(model(*names[:-1]))
        Ciphermark(tmp_path_factory.mktemp("reference"), url)(
            "runs", "import", f"reference/{names[-1]}.jsonl.xz"
        )
        return url

    return model


@pytest.fixture(scope="module")
def reference(databases: Databases, imported: Callable[..., str]) -> Callable[..., str]:
    """Makes a database with the runs of archives in ``reference/``, and returns its URL."""
    return lambda *names: databases.made(imported(*names))


@pytest.fixture(scope="module")
def url(new_url: Callable[[], str]) -> str:
    """A migrated database for the tests of one module."""
    return new_url()


@pytest.fixture(scope="module")
def database(url: str) -> Iterator[Database]:
    with Database.open(url) as opened:
        yield opened


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "gate")


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever submits knows the planted variants as the workers do."""
    monkeypatch.setenv("CIPHERMARK_ADAPTER_PATH", str(PLANTED))


@pytest.fixture
def jobs(new_url: Callable[[], str], planted: None) -> Jobs:
    return Jobs(new_url())


@pytest.fixture
def workers_folder(tmp_path: Path) -> Path:
    """Where workers have their data directories and logs."""
    return tmp_path


@pytest.fixture
def workers(workers_folder: Path) -> Iterator[Workers]:
    made = Workers(workers_folder)
    yield made
    made.end_all()


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Starts services for the tests of one module, and ends them."""
    made = Services(tmp_path_factory.mktemp("services"))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def first_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of an embedded server as its first start leaves them: to make them takes a second."""
    folder = tmp_path_factory.mktemp("first")
    embedded.ensure_started(folder)
    embedded.stop(folder)
    return folder / "postgres"


@pytest.fixture
def new_data_directory(tmp_path: Path) -> Iterator[Path]:
    """A data directory of its own, which nobody has made yet; its server is stopped in the end."""
    folder = tmp_path / "data"
    yield folder
    embedded.stop(folder)


@pytest.fixture
def data_directory(new_data_directory: Path, first_data: Path) -> Path:
    """A data directory of its own with a copy of these data; its server is stopped in the end."""
    new_data_directory.mkdir()
    subprocess.run(["cp", "-a", first_data, new_data_directory], check=True)
    return new_data_directory


@pytest.fixture
def ciphermark(tmp_path: Path, new_url: Callable[[], str]) -> Ciphermark:
    """The command line with a data directory and a database of its own."""
    return Ciphermark(tmp_path / "data", new_url())
