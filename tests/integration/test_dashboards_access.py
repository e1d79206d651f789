"""Who may look and who may change: host names, origins, the token and its cookie."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from dashboard import HERE, dashboard
from processes import wait_until
from starlette.testclient import TestClient
from starlette.types import Message

from ciphermark_dashboards import access, app
from ciphermark_dashboards.settings import Settings
from ciphermark_db import embedded
from ciphermark_db.database import Database
from ciphermark_web.keyring import Keyring, user_line

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

TOKEN = "the-token-of-the-dashboard"
OWN = {"origin": HERE}
BROWSER = {"accept": "text/html,*/*"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong tokens are answered without a delay: that is tried in tests/unit/test_dashboards_settings.py."""
    monkeypatch.setattr(access, "_LONGEST_DELAY_S", 0.0)


@pytest.fixture
def guarded(url: str) -> Iterator[TestClient]:
    with dashboard(url, token=TOKEN, follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(url: str) -> Iterator[TestClient]:
    with dashboard(url, hosts=("bench.lan",)) as made:
        yield made


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:8103", 200), ("bench.lan", 200), ("evil.example", 400), ("", 400)],
)
def test_only_names_of_ours_are_answered(client: TestClient, host: str, status: int) -> None:
    assert client.get("/runs", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403), ({}, 403), (OWN, 400)],
)
def test_only_our_own_pages_may_start_and_cancel(
    client: TestClient, origin: dict[str, str], status: int
) -> None:
    for path in ("/runs", f"/runs/{uuid4()}/cancel"):
        assert client.post(path, headers=origin, data={"suite": "smoke"}).status_code == status


def test_a_form_may_not_be_huge(client: TestClient) -> None:
    answer = client.post("/runs", headers=OWN, data={"suite_yaml": "x" * (1 << 19)})
    assert answer.status_code == 400
    assert "The form exceeds" in answer.text


def test_without_the_token_there_is_only_the_log_in(guarded: TestClient) -> None:
    for path in ("/", "/runs", "/figures/matrix.csv?run=last", "/nothing"):
        answer = guarded.get(path, headers=BROWSER)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login?next=")
        assert guarded.get(path).status_code == 401
    assert guarded.post("/runs", headers=OWN).status_code == 401
    for path in ("/healthz", "/login"):
        assert guarded.get(path).status_code == 200
    assert TOKEN not in guarded.get("/login").text


def test_the_log_in_gives_a_cookie_that_scripts_cannot_read(guarded: TestClient) -> None:
    asked = {"token": TOKEN, "next": "/runs?x=1"}
    assert guarded.post("/login", headers={"origin": "http://evil.example"}, data=asked).status_code == 403
    wrong = guarded.post("/login", headers=OWN, data=asked | {"token": TOKEN[:-1]})
    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers
    right = guarded.post("/login", headers=OWN, data=asked)
    assert (right.status_code, right.headers["location"]) == (303, "/runs?x=1")
    cookie = right.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "max-age=43200" in cookie
    assert "secure" not in cookie  # there is no TLS
    assert "samesite=lax" in cookie  # a link from elsewhere opens the page that it names
    assert TOKEN not in cookie
    assert guarded.get("/runs").status_code == 200


def test_the_answer_to_a_wrong_token_waits(guarded: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    waited_s = []

    async def sleep(seconds: float) -> None:
        waited_s.append(seconds)

    monkeypatch.setattr(access, "_LONGEST_DELAY_S", 8.0)
    monkeypatch.setattr(app, "sleep", sleep)
    codes = [
        guarded.post("/login", headers=OWN, data={"token": token}).status_code for token in ("x", "y", TOKEN)
    ]
    assert (codes, waited_s) == ([401, 401, 303], [0.5, 1.0])


def test_behind_tls_the_cookie_is_for_tls_alone(guarded: TestClient) -> None:
    asked = {"token": TOKEN, "next": "/runs"}
    right = guarded.post("/login", headers=OWN | {"x-forwarded-proto": "https"}, data=asked)
    assert "secure" in right.headers["set-cookie"].lower()


def test_who_logs_out_is_out_with_that_cookie_too(guarded: TestClient) -> None:
    cookie = (
        guarded.post("/login", headers=OWN, data={"token": TOKEN}).headers["set-cookie"].partition(";")[0]
    )
    assert "Log out" in guarded.get("/runs").text
    assert guarded.post("/logout", headers={"origin": "http://evil.example"}).status_code == 403
    out = guarded.post("/logout", headers=OWN)
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert guarded.get("/runs", headers={"cookie": cookie}).status_code == 401


def test_a_reader_looks_and_starts_nothing(url: str, tmp_path: Path) -> None:
    users, token = tmp_path / "users", "the-token-of-a-reader"
    users.write_text(user_line("ada", "reader", token))
    with dashboard(url, keyring=Keyring(TOKEN, users=users), follow_redirects=False) as client:
        assert client.post("/login", headers=OWN, data={"token": token}).status_code == 303
        assert "Logged in as ada" in client.get("/runs").text
        refused = client.post("/runs", headers=OWN, data={"suite": "smoke"})
        assert (refused.status_code, refused.text) == (
            403,
            "ada has the role reader; this action requires submitter.",
        )
        users.write_text(user_line("ada", "submitter", token))
        assert client.post("/runs", headers=OWN, data={"suite": "smoke"}).status_code == 400  # no service
        users.write_text("")
        assert client.get("/runs").status_code == 401


def test_a_log_in_that_is_broken_off_is_no_bug(url: str) -> None:
    """Where it were one, what the application raises would be a traceback in the log."""
    left = {"type": "http.disconnect"}
    messages = itertools.chain(
        [{"type": "http.request", "body": b"tok", "more_body": True}], itertools.repeat(left)
    )

    async def receive() -> Message:
        return next(messages)

    async def send(_: Message) -> None:
        return

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/login",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"origin", HERE.encode())],
    }
    asyncio.run(app.made(Settings(url, keyring=Keyring(TOKEN)))(scope, receive, send))


def test_an_address_with_the_token_logs_in_and_does_not_keep_it(guarded: TestClient) -> None:
    wrong = guarded.get("/login", params={"token": TOKEN[:-1]})
    assert wrong.status_code == 401
    assert "set-cookie" not in wrong.headers
    for place, expected in (("/runs?open=1", "/runs?open=1"), ("//evil.example", "/"), ("", "/")):
        right = guarded.get("/login", params={"token": TOKEN, "next": place})
        assert (right.status_code, right.headers["location"]) == (303, expected)
        assert TOKEN not in right.headers["set-cookie"]
    assert guarded.get("/runs").status_code == 200


def test_a_wrong_cookie_is_none(guarded: TestClient) -> None:
    assert guarded.get("/runs", headers={"cookie": f"ciphermark={TOKEN}"}).status_code == 401
    assert guarded.get("/runs", headers={"cookie": "ciphermark=é".encode()}).status_code == 401


def test_programs_send_the_token(guarded: TestClient) -> None:
    assert guarded.get("/runs", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert guarded.get("/runs", headers={"authorization": "Bearer wrong"}).status_code == 401


def test_when_the_database_is_away_the_page_says_so_and_recovers(tmp_path: Path, make: Maker) -> None:
    data_directory = tmp_path / "data"
    url = embedded.ensure_started(data_directory)
    with Database.open(url) as database:
        database.migrate()
        database.record_run(make.run())
    try:
        with dashboard(url) as client:
            assert client.get("/").status_code == 200
            embedded.stop(data_directory)
            answer = client.get("/")
            assert answer.status_code == 503
            assert "retries every" in answer.text
            assert 'http-equiv="refresh"' in answer.text
            assert client.get("/readyz").status_code == 503
            embedded.ensure_started(data_directory)
            wait_until(lambda: client.get("/").status_code == 200, "pages are there again")
    finally:
        embedded.stop(data_directory)


def test_without_the_benchmark_service_runs_are_listed_all_the_same(url: str) -> None:
    for where, told in ((None, "is read-only"), ("http://127.0.0.1:1", "does not answer")):
        with dashboard(url, benchmark_url=where) as client:
            page = client.get("/runs")
            assert page.status_code == 200
            assert told in page.text
            assert "Start a run" not in page.text
            refused = client.post("/runs", headers=OWN, data={"suite": "smoke"})
            assert refused.status_code == (400 if where is None else 503)
