"""The proxy of the compose project: who may reach what through TLS."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
import yaml
from ports import free_port
from processes import wait_until

REPOSITORY = Path(__file__).parents[2]
PROJECT = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())


def test_only_the_profile_starts_it_and_it_is_confined_like_the_others() -> None:
    proxy, dashboard = (PROJECT["services"][name] for name in ("proxy", "dashboard"))
    assert proxy["profiles"] == ["tls"]
    for name in ("read_only", "cap_drop", "security_opt", "init", "logging"):
        assert proxy[name] == dashboard[name]
    assert proxy["networks"] == ["benchmark", "dashboard"]
    assert not [volume for volume in proxy["volumes"] if "secret" in volume]


def test_nothing_else_is_published_to_other_machines() -> None:
    published = {name: service.get("ports", []) for name, service in PROJECT["services"].items()}
    beyond = {
        name for name, ports in published.items() for port in ports if not port.startswith("127.0.0.1:")
    }
    assert beyond == {"proxy"}


class _Echo(BaseHTTPRequestHandler):
    """Answers with its own name, the path and the headers that came."""

    def do_GET(self) -> None:
        body = json.dumps({"port": self.server.server_port, "path": self.path, **self.headers}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def upstreams() -> Iterator[dict[str, int]]:
    servers = {name: ThreadingHTTPServer(("127.0.0.1", 0), _Echo) for name in ("benchmark", "dashboard")}
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {name: server.server_port for name, server in servers.items()}
    for server in servers.values():
        server.shutdown()
        server.server_close()


@pytest.mark.needs(None if shutil.which("caddy") else "caddy is not installed")
def test_what_the_proxy_passes_on(upstreams: dict[str, int], tmp_path: Path) -> None:
    port, health = free_port(), free_port()
    text = (REPOSITORY / "deploy" / "Caddyfile").read_text()
    for old, new in (
        ("benchmark:8100", f"127.0.0.1:{upstreams['benchmark']}"),
        ("dashboard:8103", f"127.0.0.1:{upstreams['dashboard']}"),
        (":8443", f":{port}"),
        (":8080", f":{health}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "Caddyfile").write_text(text)
    places = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    command = ["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
    with (tmp_path / "log").open("wb") as log:
        proxy = subprocess.Popen(command, cwd=tmp_path, env=os.environ | places, stderr=log)
    try:
        ready = f"http://127.0.0.1:{health}/readyz"
        wait_until(lambda: proxy.poll() is not None or _status(ready) == 200, "the proxy is ready")
        assert proxy.poll() is None, (tmp_path / "log").read_text()
        with httpx.Client(base_url=f"https://localhost:{port}", verify=False, trust_env=False) as client:
            page = client.get("/runs?x=1", headers={"X-Forwarded-Proto": "http"}).json()
            assert (page["port"], page["path"]) == (upstreams["dashboard"], "/runs?x=1")
            assert (page["X-Forwarded-Proto"], page["Host"]) == ("https", f"localhost:{port}")
            api = client.get("/v1/runs", headers={"Authorization": "Bearer x"}).json()
            assert (api["port"], api["Authorization"]) == (upstreams["benchmark"], "Bearer x")
            assert client.get("/metrics").json()["port"] == upstreams["dashboard"]
    finally:
        proxy.terminate()
        proxy.wait()


def _status(url: str) -> int | None:
    try:
        return httpx.get(url, trust_env=False).status_code
    except httpx.TransportError:
        return None
