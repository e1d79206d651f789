"""Processes that sections measure: workers, parties, services, and programs that answer a line with a number."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep

import httpx

from bench.places import measuring_cpu
from ciphermark_adapters import registry
from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.processes import WorkerNeeds, WorkerProcess
from ciphermark_benchmark.runner.two_parties import TwoParties
from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_core import primes
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, Outcome, ParameterSpec, Trial
from ciphermark_measure import protocol
from ciphermark_measure.processes import Confinement

_STARTING_S = 60.0
_RING_DIMENSION = 4096


class Program:
    """A plain program on these CPUs. It says a number when it is ready, and one for each line that it gets."""

    def __init__(
        self, command: Sequence[str | Path], cpus: Collection[int], folder: str | None = None
    ) -> None:
        self._name = command[0]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, text=True)
        os.sched_setaffinity(self._process.pid, cpus)
        self.greeting = self._read()

    def asked(self, *words: object) -> int:
        """The number that it answers a line with."""
        assert self._process.stdin is not None
        print(*words, file=self._process.stdin, flush=True)
        return int(self._read())

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended with exit code {self._process.wait()}")
        return line


@dataclass(frozen=True, slots=True)
class Started:
    """A worker that was started, made its keys, and ended."""

    elapsed_s: float
    facts: dict[str, float]

    @property
    def start_s(self) -> float:
        """From the start of the process to ``Prepared``, less the keys."""
        return self.elapsed_s - self.facts["keys_s"]


def started(variant: str) -> Started:
    """Start a worker as the executor does, with keys for bfv at N = 4096."""
    allowed = Budget()
    plain_modulus = primes.batching_modulus(20, _RING_DIMENSION)
    spec = ParameterSpec("bfv", _RING_DIMENSION, plain_modulus=plain_modulus)
    confinement = Confinement((measuring_cpu(),), 1, allowed.memory_mb)
    start = perf_counter()
    worker = WorkerProcess(confinement, registry.interpreter(variant), variant)
    try:
        request = protocol.Prepare(variant, spec, KeyRequest.of(relinearization=True))
        reply = worker.ask(request, allowed.timeout_s)
        elapsed_s = perf_counter() - start
    finally:
        worker.end()
    if not isinstance(reply, protocol.Prepared):
        raise RuntimeError(f"{variant}: {reply}")
    return Started(elapsed_s, reply.facts)


def of_two_parties(case: Case, passes: int, variables: Mapping[str, str] | None = None) -> Outcome:
    """A trial of a workload: by parties on this host, or by the services that ``variables`` name. Raises ``UserError``
    where it does not end ok.
    """
    budget = Budget(samples=passes, min_time_s=0.0)
    confinement = Confinement((measuring_cpu(),), 1, budget.memory_mb)
    needs = WorkerNeeds(case.variant, case.parameters, NO_KEYS, confinement, budget.timeout_s)
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


@contextmanager
def services() -> Iterator[dict[str, str]]:
    """Client and server with a folder of blobs between them: the variables that name them to the executor."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="ciphermark-bench-")))
        folders = {f"CIPHERMARK_{part.upper()}": str(folder / part) for part in ("blobs", "private")}
        for part in folders.values():
            Path(part).mkdir(mode=0o700)
        variables: dict[str, str] = {}
        for name in ("client", "server"):
            url = f"http://127.0.0.1:{(port := free_port())}"
            token = {f"CIPHERMARK_{name.upper()}_TOKEN": secrets.token_urlsafe(32)}
            environment = os.environ | folders | token | {"CIPHERMARK_PORT": str(port)}
            stack.enter_context(serving([sys.executable, "-m", f"ciphermark_{name}.main"], environment, url))
            variables |= {f"CIPHERMARK_{name.upper()}_URL": url, **token}
        yield variables


@contextmanager
def serving(command: Sequence[str | Path], environment: Mapping[str, str], url: str) -> Iterator[None]:
    """A service that is ready, and ends afterwards."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = monotonic() + _STARTING_S
        while not _is_ready(url):
            if process.poll() is not None or monotonic() > deadline:
                raise RuntimeError(f"{url}: the service did not become ready")
            sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    """A port of this host that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False, timeout=30).is_success
    except httpx.HTTPError:
        return False
