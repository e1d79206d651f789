"""How the dashboard asks the benchmark service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from ciphermark_dashboards.benchmark import NO_TOKEN, Benchmark


class Suites(BaseHTTPRequestHandler):
    """A service with one suite."""

    def do_GET(self) -> None:
        body = json.dumps({"suites": [self.path]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Suites) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_proxy_that_the_environment_names_is_not_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # where nobody listens
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)

    async def asked() -> list[str]:
        benchmark = Benchmark(url, NO_TOKEN)
        try:
            return await benchmark.suites()
        finally:
            await benchmark.close()

    assert asyncio.run(asked()) == ["/v1/suites"]
