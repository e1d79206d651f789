"""The pages of runs beside a real benchmark service: what waits, what is not there, and the service gone."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import pytest
import uvicorn
from benchmark_service import TOKEN, Service, ended, started, submitted, suite
from browsing import chromium, needs_chromium
from dashboard import HERE, dashboard
from playwright.sync_api import expect, sync_playwright
from starlette.testclient import TestClient

from ciphermark_benchmark.cli.runs import table_of
from ciphermark_benchmark.runner.two_parties import Advance
from ciphermark_core.model import Budget, Case, ParameterSpec, Trial
from ciphermark_core.run import Host, Run
from ciphermark_dashboards import app, live
from ciphermark_dashboards.benchmark import Token
from ciphermark_dashboards.settings import Settings
from ciphermark_db.database import Database

OWN = {"origin": HERE}
HOST = Host("f", "h", "c", (), {}, 1, 1, "os", "k", None, None, None, None, None, 1, 0.0, 0.0)
CASE = Case("seal", "deep", "helr", ParameterSpec("ckks", 512), 1, "random")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str]) -> Iterator[Service]:
    """A service without a worker: whatever is submitted waits."""
    made = started(tmp_path_factory.mktemp("service"), new_url())
    yield made
    if made.process.poll() is None:
        ended(made)


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with dashboard(
        service.database_url, benchmark_url=service.url, benchmark_token=Token(text=TOKEN)
    ) as made:
        yield made


@pytest.fixture
def served(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a dashboard that real connections reach."""
    monkeypatch.setattr(app, "_prepare", lambda *_: None)  # no browser draws charts
    settings = Settings(service.database_url, benchmark_url=service.url, benchmark_token=Token(text=TOKEN))
    listening = socket.create_server(("127.0.0.1", 0), backlog=200)
    server = uvicorn.Server(
        uvicorn.Config(app.made(settings), log_config=None, ws="none", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(60)


def port_of(service: Service) -> int:
    return int(service.url.rpartition(":")[2])


@pytest.fixture(scope="module")
def queued(service: Service) -> list[str]:
    """The ids of five runs that wait, the latest first."""
    with service.client() as asked:
        return [str(submitted(asked, suite=suite("add"))["id"]) for _ in range(5)][::-1]


def test_a_run_that_waits_has_its_page(client: TestClient, queued: list[str]) -> None:
    page = client.get(f"/runs/{queued[0]}").text
    assert '<strong id="run-state">queued</strong>' in page
    assert f'data-events="/runs/{queued[0]}/events"' in page
    assert f'action="/runs/{queued[0]}/cancel"' in page


@pytest.mark.parametrize("path", ["nope", "nope/events", "{}", "{}/events", "{queued}%3Fx/events"])
def test_a_run_that_is_not_there_is_not_found(client: TestClient, queued: list[str], path: str) -> None:
    """Of events, too, before any of them is sent; and no part of an id gets into the service's addresses."""
    answer = client.get(f"/runs/{path.format(uuid4(), queued=queued[0])}")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert client.post("/runs/nope/cancel", headers=OWN).status_code == 404
    assert client.post(f"/runs/{uuid4()}/cancel", headers=OWN).status_code == 404


def test_all_runs_in_progress_are_on_the_pages_of_the_list(
    client: TestClient, queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_RUNS_PER_PAGE", 2)
    found = []
    for number in (1, 2, 3):
        text = client.get("/runs", params={"open": number}).text
        found += re.findall(r'<td><a href="/runs/([^"]+)">', text)
        assert (f"/runs?open={number + 1}&amp;recorded=1#open" in text) == (number < 3)
    assert found == queued


@pytest.fixture
def running(service: Service, queued: list[str]) -> Iterator[Callable[[int], str]]:
    """Records that a stage of a run that executes has ended, and returns the run."""
    run_id = queued[2]
    with Database.open(service.database_url) as database:
        database.record_run(Run(run_id, "asked", "", 1, "2026-01-01T00:00:00+00:00", HOST, "0"))
        _set_state(database, run_id, "running")

        def advance(done: int) -> str:
            trial = Trial("t", run_id, CASE, 0, 1, Budget())
            database.record_progress(run_id, Advance(trial, f"iteration-{done}", done, 6, 130.0).facts)
            return run_id

        yield advance
        _set_state(database, run_id, "queued")
        database.record_progress(run_id, None)


def _set_state(database: Database, run_id: str, state: str) -> None:
    database.query("update job set state = %s where id = %s", (state, run_id), read_only=False)


def test_the_stage_of_a_trial_is_on_the_pages_and_in_the_answers(
    service: Service, client: TestClient, running: Callable[[int], str]
) -> None:
    run_id = running(2)
    words = "seal, helr: iteration-2 (2 of 6 stages), 2.2 min left"
    assert f'<p id="run-stage" class="about">{words}</p>' in client.get(f"/runs/{run_id}").text
    assert f'<td data-label="Progress">{words}</td>' in client.get("/runs").text
    with service.client() as asked:
        progress = asked.get(f"/v1/runs/{run_id}").json()["progress"]
        (listed,) = (row for row in asked.get("/v1/runs").json()["runs"] if row["id"] == run_id)
    assert listed["progress"] == progress
    assert (progress["words"], progress["done"], progress["total"], progress["left_s"]) == (words, 2, 6, 130)
    with Database.open(service.database_url) as database:
        (row,) = database.report("runs", limit=1)
        assert table_of([row]).rows[0][-1] == words
        _set_state(database, run_id, "queued")  # after a death, for example
    assert words not in client.get(f"/runs/{run_id}").text


@needs_chromium
def test_the_stage_changes_on_an_open_page(served: int, running: Callable[[int], str]) -> None:
    run_id = running(2)
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{served}/runs/{run_id}")
        expect(page.locator("#run-stage")).to_contain_text("2 of 6 stages")
        running(3)
        expect(page.locator("#run-stage")).to_have_text(
            "seal, helr: iteration-3 (3 of 6 stages), 2.2 min left"
        )
        browser.close()


def test_a_dashboard_without_the_service_leads_to_no_run_that_waits(
    service: Service, queued: list[str]
) -> None:
    with dashboard(service.database_url) as client:
        assert queued[0] not in client.get("/runs").text


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("given up", "client died 3 times within a minute and is not restarted"),
        ("waiting", "client died and is restarting"),
        ("running", None),
    ],
)
def test_the_page_says_which_services_died(
    service: Service, tmp_path: Path, state: str, told: str | None
) -> None:
    """By the file that deploy/supervision.py writes."""
    row = {"name": "client", "state": state, "deaths": 3, "reason": "ended with exit code -9"}
    (tmp_path / "services.json").write_text(json.dumps([row]))
    settings = Settings(service.database_url, services_file=tmp_path / "services.json")
    with TestClient(app.made(settings), base_url=HERE) as client:
        page = client.get("/runs").text
    assert (row["reason"] in page) is (told is not None)
    assert told is None or told in page


def test_a_run_is_cancelled_and_its_events_end(client: TestClient, queued: list[str]) -> None:
    assert client.post(f"/runs/{queued[-1]}/cancel", headers=OWN).status_code == 200
    answer = client.get(f"/runs/{queued[-1]}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert '"state": "cancelled"' in answer.text
    assert queued[-1] not in re.findall(r'<td><a href="/runs/([^"]+)">', client.get("/runs").text)


def test_a_token_that_is_wrong_is_told(service: Service, queued: list[str], tmp_path: Path) -> None:
    token = Token(text="x" * 20)
    with dashboard(service.database_url, benchmark_url=service.url, benchmark_token=token) as client:
        assert client.get(f"/runs/{queued[0]}").status_code == 400
        assert client.get(f"/runs/{queued[0]}/events").status_code == 400
        assert "Start a run" not in client.get("/runs").text


def test_many_live_pages_of_a_run_share_one_connection_and_starve_nobody(
    service: Service, queued: list[str], served: int
) -> None:
    """More than a client's pool of connections holds, which is 100."""
    asked = f"GET /runs/{queued[1]}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    with ExitStack() as pages:
        listening = [
            pages.enter_context(socket.create_connection(("127.0.0.1", served), timeout=60))
            for _ in range(120)
        ]
        for page in listening:
            page.sendall(asked)
        for page in listening:
            told = b""
            while b'"state": "queued"' not in told:
                told += (part := page.recv(1 << 16))
                assert part, told
        answer = httpx.get(f"http://127.0.0.1:{served}/runs/{queued[1]}", timeout=60)
        assert answer.status_code == 200
        connections = psutil.Process(service.process.pid).net_connections("tcp")
        ours = [
            item for item in connections if item.status == "ESTABLISHED" and item.laddr[1] == port_of(service)
        ]
        assert len(ours) < 10
        with service.client() as asking:
            asking.post(f"/v1/runs/{queued[1]}/cancel")
        for page in listening:
            told = b""
            while b'"state": "cancelled"' not in told:
                told += (part := page.recv(1 << 16))
                assert part, told


def test_while_the_service_is_away_a_run_that_waits_is_not_said_to_be_none(
    client: TestClient, service: Service, queued: list[str]
) -> None:
    """The last test here: it ends the service."""
    ended(service)
    answer = client.get(f"/runs/{queued[0]}")
    assert answer.status_code == 503
    assert "does not answer" in answer.text
    events = client.get(f"/runs/{queued[0]}/events")  # a browser that gets anything else asks no more
    assert (events.status_code, events.text) == (200, "retry: 3000\n\n")
    assert queued[0] in client.get("/runs").text
