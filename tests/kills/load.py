"""What `make serve` has to do while its processes are killed: a queue of small jobs, and readers of everything."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from serving import GUARDED, Serving

_TIMEOUT_S = 30.0
_PAUSE_S = 0.2
_WAITING = 3  # jobs
# What a service may answer while something is killed: what was asked for, or that it cannot now.
_FITTING = (200, 202, 503)
_BUDGET = {"min_samples": 3, "warmups": 1, "min_time_s": 0.0, "timeout_s": 300, "memory_mb": 1500}
_ARITHMETIC = {
    "kind": "arithmetic",
    "schemes": ["bfv"],
    "ring_dimension": [4096],
    "variants": ["cleartext", "seal"],
    "operations": ["add", "negate"],
}
_LEARNING = {
    "kind": "learning",
    "schemes": ["bfv"],
    "variants": ["cleartext", "seal"],
    "workloads": ["lmc-plain"],
    "data_sets": ["boston"],
}
PATHS = (
    ("benchmark", "/v1/runs"),
    ("benchmark", "/v1/hosts"),
    ("benchmark", "/v1/runs/{}"),
    ("benchmark", "/v1/runs/{}/results"),
    ("dashboard", "/"),
    ("dashboard", "/runs"),
    ("client", "/v1/workloads"),
    ("server", "/v1/adapters"),
)
# What tells that a service answers again.
PROBES = (
    *((name, "/readyz") for name in (*GUARDED, "dashboard")),
    ("benchmark", "/v1/runs"),
    ("dashboard", "/runs"),
    ("client", "/v1/workloads"),
    ("server", "/v1/adapters"),
)


@dataclass(frozen=True)
class Answer:
    """A status and a text; the status is ``None`` where there was no answer."""

    status: int | None
    text: str = ""


def suite(name: str) -> dict[str, object]:
    """Primitives by workers, and a workload by two parties: seconds of work. All jobs are alike but for their name."""
    return {"name": name, "budget": _BUDGET, "experiments": [_ARITHMETIC, _LEARNING]}


class Caller:
    """Asks the services, with their tokens; for one thread."""

    def __init__(self, serving: Serving) -> None:
        self._urls = {name: f"http://127.0.0.1:{port}" for name, port in serving.ports.items()}
        self._tokens = {name: serving.token(name) for name in serving.ports}
        self._client = httpx.Client(timeout=_TIMEOUT_S)

    def get(self, service: str, path: str) -> Answer:
        return self._asked("GET", service, path, None)

    def post(self, service: str, path: str, body: object) -> Answer:
        return self._asked("POST", service, path, body)

    def _asked(self, method: str, service: str, path: str, body: object | None) -> Answer:
        headers = {"Authorization": f"Bearer {self._tokens[service]}"}
        try:
            answer = self._client.request(method, self._urls[service] + path, headers=headers, json=body)
        except httpx.TransportError as error:
            return Answer(None, repr(error))
        return Answer(answer.status_code, answer.text)

    def close(self) -> None:
        self._client.close()


class Load:
    """Keeps jobs waiting and pages read. ``incorrect`` are answers that nothing excuses."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._numbers = itertools.count()
        self._is_over = threading.Event()
        self._is_enough = threading.Event()
        self.names: set[str] = set()
        self.accepted: dict[str, str] = {}
        self.answers: Counter[tuple[str, int | None]] = Counter()
        self.wrong: list[str] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Work while this lasts."""
        threads = [threading.Thread(target=self._submit), threading.Thread(target=self._read)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def enough(self) -> None:
        """Submit nothing more; what waits is to be done."""
        self._is_enough.set()

    def submitted(self, caller: Caller, name: str) -> str | None:
        """The id of a job that was accepted."""
        self.names.add(name)
        answer = caller.post("benchmark", "/v1/runs", {"suite": suite(name)})
        self._note("benchmark", "POST /v1/runs", answer)
        if answer.status != 202:
            return None
        self.accepted[name] = str(json.loads(answer.text)["id"])
        return self.accepted[name]

    def _submit(self) -> None:
        caller = Caller(self._serving)
        while not self._is_over.is_set() and not self._is_enough.is_set():
            listed = caller.get("benchmark", "/v1/runs?limit=20")
            if listed.status == 200:
                states = Counter(run["state"] for run in json.loads(listed.text)["runs"])
                if states["queued"] + states["running"] < _WAITING:
                    self.submitted(caller, f"kills-{next(self._numbers)}")
            time.sleep(_PAUSE_S)
        caller.close()

    def _read(self) -> None:
        caller = Caller(self._serving)
        for service, path in itertools.cycle(PATHS):
            if self._is_over.is_set():
                break
            ids = list(self.accepted.values())
            self._note(service, path, caller.get(service, path.format(ids[-1] if ids else "")))
            time.sleep(_PAUSE_S)
        caller.close()

    def _note(self, service: str, path: str, answer: Answer) -> None:
        self.answers[service, answer.status] += 1
        if answer.status is not None and answer.status not in _FITTING:
            self.wrong.append(f"{service} {path}: {answer.status} {answer.text[:300]}")
