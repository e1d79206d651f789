"""PostgreSQL killed, and PostgreSQL frozen: services say so within seconds, and go on within seconds of its return."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest
from benchmark_service import Service, ended, started, submitted, suite
from processes import freeze, thaw, wait_until
from starlette.testclient import TestClient

from ciphermark_dashboards import app
from ciphermark_dashboards.settings import Settings
from ciphermark_db import embedded
from ciphermark_db.database_monitor import AWAY, READ_ONLY

HERE = "http://127.0.0.1"
AT_MAX_S = 5.0  # what is promised
BEFORE_POOLS_S = 8.0  # with room for a busy host
# A request that waits for a frozen server never ends, or with its pool's patience after ten seconds; a host that is
# busy with other tests may take as long for once, and not every time.
ATTEMPTS = 20


@pytest.fixture
def service(tmp_path: Path, data_directory: Path) -> Iterator[Service]:
    made = started(tmp_path, embedded.ensure_started(data_directory))
    yield made
    if made.process.poll() is None:
        ended(made)


def postmaster(data_directory: Path) -> psutil.Process:
    (pid,) = (int(path.read_text().split()[0]) for path in data_directory.rglob("postmaster.pid"))
    return psutil.Process(pid)


@pytest.fixture
def frozen(data_directory: Path) -> Iterator[Callable[[], Callable[[], None]]]:
    """Freezes the server, and returns what lets it go on; it does so in the end, whatever becomes of the test."""
    stopped: list[psutil.Process] = []

    def stop() -> Callable[[], None]:
        stopped.extend(freeze(postmaster(data_directory)))
        return lambda: thaw(stopped)

    yield stop
    thaw(stopped)


def in_time(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """What is answered within the time that is promised, by one of some attempts."""
    for _ in range(ATTEMPTS):
        begun_s = time.monotonic()
        with suppress(httpx.TimeoutException):
            answer = ask()
            if time.monotonic() - begun_s < AT_MAX_S:
                return answer
    raise AssertionError(f"none of {ATTEMPTS} attempts was answered within {AT_MAX_S} s")


def answers(client: httpx.Client, paths: list[str]) -> dict[str, int]:
    return {path: in_time(lambda path=path: client.get(path)).status_code for path in paths}


def test_the_api_answers_while_postgresql_is_frozen_or_killed_and_goes_on_with_it(
    service: Service, data_directory: Path, frozen: Callable[[], Callable[[], None]]
) -> None:
    with service.client() as patient, service.client(timeout_s=AT_MAX_S) as client:
        run_id = submitted(patient, suite=suite("add"))["id"]
        paths = ["/v1/runs", f"/v1/runs/{run_id}", f"/v1/runs/{run_id}/results", "/v1/hosts"]
        assert set(answers(client, paths).values()) == {200}
        go_on = frozen()
        assert answers(client, [*paths, "/readyz"]) == dict.fromkeys([*paths, "/readyz"], 503)
        assert in_time(lambda: client.post("/v1/runs", json={"suite": suite("add")})).status_code == 503
        assert in_time(lambda: client.get("/healthz")).status_code == 200
        assert "ciphermark_database_is_there 0.0" in in_time(lambda: client.get("/metrics")).text
        go_on()
        wait_until(lambda: patient.get("/v1/runs").status_code == 200, "it goes on")
        postmaster(data_directory).send_signal(signal.SIGKILL)
        wait_until(lambda: patient.get("/v1/runs").status_code == 503, "it is away")
        assert patient.get("/v1/runs").json()["type"] == "urn:ciphermark:not-ready"
        embedded.ensure_started(data_directory)
        wait_until(lambda: patient.get("/v1/runs").status_code == 200, "it is back")


def test_a_server_that_takes_no_new_connections_is_away_in_time(
    service: Service, data_directory: Path
) -> None:
    """Connections that are there go on to answer: nothing else tells that others have to wait."""
    with service.client() as client:
        run_id = submitted(client, suite=suite("add"))["id"]
        assert client.get(f"/v1/runs/{run_id}").status_code == 200
        one = postmaster(data_directory)
        one.suspend()
        try:
            begun_s = time.monotonic()
            assert client.get(f"/v1/runs/{run_id}/results").status_code == 503
            assert time.monotonic() - begun_s < BEFORE_POOLS_S
        finally:
            one.resume()


@pytest.mark.extended
def test_the_first_request_after_postgresql_is_back_is_answered(
    service: Service, data_directory: Path
) -> None:
    """Nobody is started again, and no request is the one that finds a connection broken: of the API, and of pages."""
    with (
        service.client() as client,
        TestClient(app.made(Settings(service.database_url)), base_url=HERE) as pages,
    ):
        places = [(client, "/v1/runs"), (client, "/v1/hosts"), (pages, "/runs"), (pages, "/")]
        for _ in range(2):
            with ThreadPoolExecutor(len(places)) as several:  # more than one connection of each pool is there
                assert {*several.map(lambda place: place[0].get(place[1]).status_code, places)} == {200}
            postmaster(data_directory).send_signal(signal.SIGKILL)
            for asked in (client, pages):
                wait_until(lambda asked=asked: asked.get("/readyz").status_code == 503, "it is away")
            assert {asked.get(path).status_code for asked, path in places} == {503}
            embedded.ensure_started(data_directory)
            for asked in (client, pages):
                wait_until(lambda asked=asked: asked.get("/readyz").status_code == 200, "it is back")
            assert [asked.get(path).status_code for asked, path in places] == [200] * len(places)
        assert service.process.poll() is None


@pytest.mark.extended
def test_a_database_that_can_only_be_read_is_told_and_read(service: Service, data_directory: Path) -> None:
    superuser = service.database_url.replace(
        "postgresql://ciphermark@/ciphermark", "postgresql://postgres@/postgres"
    )
    with service.client() as client, psycopg.connect(superuser, autocommit=True) as connection:
        for value, status_code, reason in (("on", 503, READ_ONLY), ("off", 200, None)):
            connection.execute("set default_transaction_read_only = off")
            connection.execute(f"alter system set default_transaction_read_only = {value}")
            connection.execute("select pg_reload_conf()")
            wait_until(
                lambda status_code=status_code: client.get("/readyz").status_code == status_code,
                f"it is told that it is read-only: {value}",
            )
            assert client.get("/readyz").json()["checks"] == {"database": reason}
            assert client.get("/v1/runs").status_code == 200


@pytest.mark.extended
def test_pages_are_answered_while_postgresql_is_frozen(
    data_directory: Path, frozen: Callable[[], Callable[[], None]]
) -> None:
    url = embedded.ensure_started(data_directory)
    from ciphermark_db.database import Database

    with Database.open(url) as database:
        database.migrate()
    with TestClient(app.made(Settings(url)), base_url=HERE) as client:
        assert client.get("/runs").status_code == 200
        go_on = frozen()
        # Before anybody can have noticed.
        told = in_time(lambda: client.get("/readyz"))
        assert (told.status_code, told.json()["checks"]) == (503, {"database": AWAY})
        for path in ("/runs", "/", "/figures/nothing.svg"):
            page = in_time(lambda path=path: client.get(path))
            assert page.status_code == 503
            assert "Database unavailable" in page.text
        assert in_time(lambda: client.get("/healthz")).status_code == 200
        go_on()
        wait_until(lambda: client.get("/runs").status_code == 200, "it goes on")
