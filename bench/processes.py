"""Paths, and processes that sections measure.

They are workers, parties, services, commands with a separate data folder, and programs that answer a line with a
number.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep

import httpx

from bench.results import BenchResult, Progress, Target
from ciphermark_adapters import registry
from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DATA_VARIABLE, DATABASE_VARIABLE, DataDirectory
from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.processes import WorkerNeeds, WorkerProcess
from ciphermark_benchmark.runner.two_parties import TwoParties
from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_core import host, primes, wire
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, Outcome, ParameterSpec, Trial
from ciphermark_measure import protocol
from ciphermark_measure.processes import Confinement

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"
BIN = ROOT / ".venv" / "bin"
QUICK = ROOT / "suites" / "quick.yaml"
_STARTING_S = 60.0
_STARTS = 5
_RING_DIMENSION = 4096


def measuring_cpu() -> int:
    """The CPU that the executor gives to a single-threaded worker."""
    return max(os.sched_getaffinity(0))


@contextmanager
def fresh_data_directory() -> Iterator[DataDirectory]:
    """An empty data folder with a started and migrated embedded database; both are removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="ciphermark-bench-") as folder:
        data_directory = DataDirectory(Path(folder), None)
        try:
            storage.connected(data_directory).close()
            yield data_directory
        finally:
            storage.stop(data_directory)


def environment(data_directory: DataDirectory) -> dict[str, str]:
    """The environment of a ``ciphermark`` command that keeps its data there."""
    own = {name: value for name, value in os.environ.items() if name != DATABASE_VARIABLE}
    return own | {DATA_VARIABLE: str(data_directory.folder)}


class Program:
    """A plain program on these CPUs. It prints a number when it is ready, and one for each input line."""

    def __init__(
        self, command: Sequence[str | Path], cpus: Collection[int], folder: str | None = None
    ) -> None:
        self._name = command[0]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, text=True)
        os.sched_setaffinity(self._process.pid, cpus)
        self.greeting = self._read()

    def asked(self, *words: object) -> int:
        """The number that it prints for a line."""
        assert self._process.stdin is not None
        print(*words, file=self._process.stdin, flush=True)
        return int(self._read())

    def asked_s(self, *words: object) -> float:
        """The same in seconds, for a program that prints nanoseconds."""
        return self.asked(*words) / 1e9

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended with exit code {self._process.wait()}")
        return line


def installed(variants: Iterable[str], progress: Progress) -> Iterator[str]:
    """Yield the variants that can be used here; the others are reported with the reason."""
    flags = frozenset(host.collect().cpu_flags)
    for variant in variants:
        availability = registry.availability(variant, flags)
        if availability.is_installed:
            yield variant
        else:
            progress(f"{variant} is left out: {availability.reason}; {availability.remedy}")


def started(variant: str) -> tuple[float, dict[str, float]]:
    """Start a worker as the executor does, with keys for bfv at N = 4096.

    Returns the seconds until ``Prepared``, less the keys, and its facts.
    """
    plain_modulus = primes.batching_modulus(20, _RING_DIMENSION)
    spec = ParameterSpec("bfv", _RING_DIMENSION, plain_modulus=plain_modulus)
    start = perf_counter()
    reply = prepared(needs_of(variant, spec, KeyRequest.of(relinearization=True), Budget()))
    return perf_counter() - start - reply.facts["keys_s"], reply.facts


def start_result(variant: str, target: Target) -> BenchResult:
    """The typical start of a worker."""
    start_s = median(started(variant)[0] for _ in range(_STARTS))
    return BenchResult(f"{variant} worker start without keys", start_s, "s", target)


def needs_of(variant: str, spec: ParameterSpec, keys: KeyRequest, allowed: Budget) -> WorkerNeeds:
    """The needs of a worker on the measuring CPU."""
    confinement = Confinement((measuring_cpu(),), 1, allowed.memory_mb)
    return WorkerNeeds(variant, spec, keys, confinement, allowed.timeout_s)


def prepared(needs: WorkerNeeds) -> protocol.Prepared:
    """The reply of a worker that has generated its keys; it ends afterwards."""
    worker = WorkerProcess(needs.confinement, registry.interpreter(needs.variant), needs.variant)
    try:
        reply = worker.ask(needs.request, needs.timeout_s)
    finally:
        worker.end()
    if not isinstance(reply, protocol.Prepared):
        raise RuntimeError(f"{needs.variant}: {reply}")
    return reply


def run_suite(data_directory: DataDirectory, suite: Path, before: Sequence[str] = ()) -> list[Outcome]:
    """The outcomes, of any status, of ``ciphermark run``, called by the command ``before``.

    Raises ``UserError`` where nothing could be executed.
    """
    outcomes = data_directory.folder / f"{suite.stem}.jsonl"
    command = [*before, str(BIN / "ciphermark"), "run", str(suite), "--json", str(outcomes)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(data_directory), capture_output=True, check=False
    )
    if done.returncode not in (0, 1):
        raise UserError(f"suite {suite.stem} failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return [wire.from_line(line, Outcome) for line in outcomes.read_bytes().splitlines()]


def of_two_parties(case: Case, passes: int, variables: Mapping[str, str] | None = None) -> Outcome:
    """Execute a trial of a workload: by parties on this host, or by the services that ``variables`` name.

    Raises ``UserError`` where it does not end ``ok``.
    """
    budget = Budget(min_samples=passes, min_time_s=0.0)
    needs = needs_of(case.variant, case.parameters, NO_KEYS, budget)
    runner = TwoParties(needs, http_party.chosen(variables or {}))
    try:
        if runner.open(Trial("bench", "bench", case, 0, 1, budget)):
            while not runner.turn():
                continue
        outcome = runner.close()
    finally:
        runner.leave()
    if outcome.status != "ok":
        raise UserError(f"{case.operation}: {outcome.status}: {outcome.error}")
    return outcome


@dataclass(frozen=True, slots=True)
class Service:
    """The URL of a service, and its token."""

    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        return {"Authorization": f"Bearer {self.token}"}


@contextmanager
def serving(name: str, command: Sequence[str | Path], environment: Mapping[str, str]) -> Iterator[Service]:
    """A ready service with a separate port and token; it ends afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    service = Service(f"http://127.0.0.1:{port}", secrets.token_urlsafe(32))
    own = {"CIPHERMARK_PORT": str(port), f"CIPHERMARK_{name.upper()}_TOKEN": service.token}
    process = subprocess.Popen(
        command, env={**environment, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = monotonic() + _STARTING_S
        while not _is_ready(service.url):
            if process.poll() is not None or monotonic() > deadline:
                raise RuntimeError(f"{service.url}: {name} did not become ready")
            sleep(0.1)
        yield service
    finally:
        process.terminate()
        process.wait()


@contextmanager
def services() -> Iterator[dict[str, str]]:
    """Client and server with a shared folder of blobs; yields the variables that name them to the executor."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ciphermark-bench-")))
        folders = {f"CIPHERMARK_{part.upper()}": str(folder / part) for part in ("blobs", "private")}
        for part in folders.values():
            Path(part).mkdir(mode=0o700)
        variables: dict[str, str] = {}
        for name in ("client", "server"):
            command = [sys.executable, "-m", f"ciphermark_{name}.main"]
            service = stack.enter_context(serving(name, command, os.environ | folders))
            variables[f"CIPHERMARK_{name.upper()}_URL"] = service.url
            variables[f"CIPHERMARK_{name.upper()}_TOKEN"] = service.token
        yield variables


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False, timeout=30).is_success
    except httpx.HTTPError:
        return False
