"""The services as their users have them: processes on loopback, spoken to over HTTP, with everything on record."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import processes
import psutil
import warm
from command import PLANTED
from command import Running as Process
from processes import command_line, wait_until

CONFESSION = Path(__file__).parent / "planted_confession"
_RUNNING = re.compile(r"running on http://127\.0\.0\.1:(\d+)")
_TIMEOUT_S = 300


class Recorder:
    """A proxy on loopback that keeps every byte that passes, in both directions."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._chunks: list[bytes] = []
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def traffic(self) -> bytes:
        return b"".join(self._chunks)

    def keep(self, chunk: bytes) -> None:
        """Called before a chunk is passed on."""
        self._chunks.append(chunk)

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listening.accept()
            except OSError:
                return  # closed
            service = socket.create_connection(self._target)
            for source, sink in ((caller, service), (service, caller)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while chunk := source.recv(1 << 16):
                self.keep(chunk)
                sink.sendall(chunk)
            sink.shutdown(socket.SHUT_WR)
        except OSError:  # one of them went away
            source.close()
            sink.close()


@dataclass
class Running:
    """A service that runs. ``http`` carries the token and goes through the recorder."""

    name: str
    process: Process
    log_path: Path
    token: str
    recorder: Recorder
    http: httpx.Client

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.recorder.port}"

    @property
    def log(self) -> str:
        return self.log_path.read_text()

    def events(self, event: str) -> list[dict[str, object]]:
        """The lines of the log that tell of this."""
        lines = (json.loads(line) for line in self.log.splitlines())
        return [line for line in lines if line["event"] == event]

    def parties(self) -> list[psutil.Process]:
        """The party processes of the service."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [
            child
            for child in children
            if "ciphermark_measure.parties.worker" in " ".join(command_line(child))
        ]

    def terminate(self, number: int = signal.SIGTERM) -> None:
        os.kill(self.process.pid, number)

    def stop(self) -> None:
        self.http.close()
        self.recorder.close()
        self.process.kill()
        self.process.wait()


@dataclass
class Services:
    """Starts services that share a folder of blobs."""

    folder: Path
    extra: dict[str, str] = field(default_factory=dict)
    running: list[Running] = field(default_factory=list)

    @property
    def blobs(self) -> Path:
        return self.folder / "blobs"

    @property
    def private(self) -> Path:
        return self.folder / "private"

    @property
    def variables(self) -> dict[str, str]:
        """What names those that run, and their tokens, to a command line."""
        urls = {f"CIPHERMARK_{service.name.upper()}_URL": service.url for service in self.running}
        return urls | {f"CIPHERMARK_{service.name.upper()}_TOKEN": service.token for service in self.running}

    def environment(self, name: str) -> dict[str, str]:
        made = {
            "CIPHERMARK_PORT": "0",
            "CIPHERMARK_BLOBS": str(self.blobs),
            "CIPHERMARK_PRIVATE": str(self.private),
            "CIPHERMARK_ADAPTER_PATH": f"{PLANTED}:{CONFESSION}",
            "CIPHERMARK_PARTY_MEMORY_MB": "1500",
            f"CIPHERMARK_{name.upper()}_TOKEN_FILE": str(self.folder / f"{name}.token"),
        }
        return processes.environment(**made) | self.extra

    def start(self, name: str, **extra: str) -> Running:
        """Start a service and wait until it listens."""
        self.folder.mkdir(parents=True, exist_ok=True)
        log_path = self.folder / f"{name}-{len(self.running)}.log"
        with log_path.open("wb") as log:
            process = warm.service(name, self.environment(name) | extra, self.folder, log)
        wait_until(
            lambda: _RUNNING.search(log_path.read_text()) or process.poll() is not None, f"{name} listens"
        )
        found = _RUNNING.search(log_path.read_text())
        assert found, log_path.read_text()
        token = (self.folder / f"{name}.token").read_text().strip()
        recorder = Recorder(int(found[1]))
        http = httpx.Client(
            base_url=f"http://127.0.0.1:{recorder.port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT_S,
        )
        self.running.append(Running(name, process, log_path, token, recorder, http))
        return self.running[-1]

    def stop(self) -> None:
        for service in self.running:
            service.stop()


def kind_of(answer: httpx.Response) -> str:
    """The kind of a problem."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.json()["type"].removeprefix("urn:ciphermark:")


def done(answer: httpx.Response) -> dict:
    """The body of an answer that is no problem."""
    assert answer.is_success, answer.text
    return answer.json()


SOURCE = {"seed": 7, "data_set": "boston"}
OPTIONS = {"test_share": 0.1}


@dataclass
class Pair:
    """A client and a server, each with a session for one workload on one variant."""

    client: Running
    server: Running
    keys: dict
    loaded: dict

    @classmethod
    def open(
        cls,
        client: Running,
        server: Running,
        variant: str,
        workload: str,
        options: Mapping[str, object] = OPTIONS,
        **asked: object,
    ) -> Pair:
        names = {"variant": variant, "workload": workload, "options": dict(options)}
        keys = done(client.http.post("/v1/sessions", json=names | asked))
        loaded = done(server.http.post("/v1/sessions", json=names | {"material": keys["material"]}))
        return cls(client, server, keys, loaded)

    def encrypt(self, stage: str, source: dict = SOURCE) -> httpx.Response:
        asked = {"stage": stage, "source": source}
        return self.client.http.post(f"/v1/sessions/{self.keys['id']}/encrypt", json=asked)

    def evaluate(self, stage: str, encrypted: dict) -> httpx.Response:
        asked = {"stage": stage, "inputs": encrypted["inputs"], "public": encrypted["public"]}
        return self.server.http.post(f"/v1/sessions/{self.loaded['id']}/evaluate", json=asked)

    def score(self, outputs: list, source: dict = SOURCE) -> httpx.Response:
        asked = {"outputs": outputs, "source": source}
        return self.client.http.post(f"/v1/sessions/{self.keys['id']}/score", json=asked)

    def evaluated(self, stages: list[str]) -> list:
        """The outputs of the last stage."""
        outputs: list = []
        for stage in stages:
            outputs = done(self.evaluate(stage, done(self.encrypt(stage))))["outputs"]
        return outputs

    def close(self) -> None:
        self.client.http.delete(f"/v1/sessions/{self.keys['id']}")
        self.server.http.delete(f"/v1/sessions/{self.loaded['id']}")


def stages_of(client: Running, workload: str) -> list[str]:
    """The stages of a workload with a server, as the client tells them."""
    known = {item["name"]: item["stages"] for item in done(client.http.get("/v1/workloads"))}
    return [stage["name"] for stage in known[workload] if stage["returns"] != "nothing"]
