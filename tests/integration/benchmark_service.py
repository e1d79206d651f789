"""The benchmark service as its users have it: a process, and HTTP."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path

import httpx
import warm
from command import CHEAP, PLANTED, REPOSITORY, TINY, Running
from ports import free_port
from processes import PATIENCE_S, environment, wait_until

TOKEN = "the-token-of-the-benchmark-service"
# Of the planted variants those that a service knows here: each costs it a process when it starts.
DEEDS = ("good", "waits", "missing")


def suite(*operations: str, variants: tuple[str, ...] = ("cleartext",), **more: object) -> dict[str, object]:
    experiment = TINY | {"variants": list(variants), "operations": list(operations or ["add"])}
    return {"name": "asked", "budget": CHEAP, "experiments": [experiment | more]}


@dataclass
class Service:
    """A running service."""

    process: Running
    log: Path
    url: str
    database_url: str

    def client(self, token: str | None = TOKEN, timeout_s: float = PATIENCE_S) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=timeout_s)


def started(folder: Path, database_url: str, *options: str, **extra: str) -> Service:
    """Start the service and wait until it is ready."""
    port = free_port()
    variables = environment(
        CIPHERMARK_DATA=str(folder / "data"),
        CIPHERMARK_ADAPTER_PATH=str(PLANTED),
        PLANTED_DEEDS=" ".join(DEEDS),
        CIPHERMARK_DATABASE_URL=database_url,
        CIPHERMARK_BENCHMARK_TOKEN=TOKEN,
        CIPHERMARK_PORT=str(port),
    )
    variables |= extra
    log = folder / "service.log"
    with log.open("wb") as file:
        process = warm.command(["serve", *options], variables, REPOSITORY, file)
    service = Service(process, log, f"http://127.0.0.1:{port}", database_url)
    wait_until(lambda: is_ready(service), "the service is ready")
    return service


def is_ready(service: Service) -> bool:
    assert service.process.poll() is None, service.log.read_text()
    try:
        return httpx.get(f"{service.url}/readyz", timeout=60).status_code == 200
    except httpx.TransportError:
        return False


def ended(service: Service) -> None:
    """It ends politely, and its log is clean."""
    service.process.send_signal(signal.SIGTERM)
    service.process.wait(PATIENCE_S)
    log = service.log.read_text()
    assert "Traceback" not in log, log
    assert TOKEN not in log


def submitted(client: httpx.Client, **body: object) -> dict[str, object]:
    answer = client.post("/v1/runs", json=body)
    assert answer.status_code == 202, answer.text
    return answer.json()


def when(client: httpx.Client, run_id: object, state: str) -> dict[str, object]:
    wait_until(lambda: client.get(f"/v1/runs/{run_id}").json()["state"] == state, f"the run is {state}")
    return client.get(f"/v1/runs/{run_id}").json()


def events_of(client: httpx.Client, run_id: object, **headers: str) -> list[tuple[int | None, str, dict]]:
    """All events of a run, to the end of the stream."""
    found = []
    with client.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        text = "".join(answer.iter_text())
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            number = int(fields["id"]) if "id" in fields else None
            found.append((number, fields["event"], json.loads(fields["data"])))
    return found
