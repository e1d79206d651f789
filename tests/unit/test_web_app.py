"""What every service has around its routes, seen through a service with two routes of its own."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import Annotated

import httpx
import pytest
import structlog
from fastapi import APIRouter, FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.testclient import TestClient

from ciphermark_web import logs
from ciphermark_web.app import Service, assembled, health_router
from ciphermark_web.keyring import Keyring, user_line
from ciphermark_web.layers import BodyRule
from ciphermark_web.observe import Metrics, told
from ciphermark_web.problems import KINDS, Problem, documented

TOKEN = "0123456789-0123456789"
RIGHT = {"Authorization": f"Bearer {TOKEN}"}
AS_JSON = RIGHT | {"Content-Type": "application/json"}
JSON_LIMIT = 1 << 20
CSV_LIMIT = 100
RUN = "927d5e7a-49c3-433d-81c6-666cae32cf41"


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^x*$")


def routes():
    made = APIRouter(prefix="/v1")

    @made.post("/things", status_code=201, responses=documented())
    async def thing(asked: Asked) -> Asked:
        return asked

    @made.post("/tables", responses=documented())
    async def table(request: Request) -> int:
        return len(await request.body())

    @made.get("/rows", responses=documented())
    async def rows(format: str = "json", limit: Annotated[int, Query(alias="most")] = 1) -> list[str]:
        return [format] * limit

    @made.get("/bug")
    async def bug() -> None:
        raise RuntimeError("internals at 0x7f00")

    @made.get("/named/{name}")
    async def named(name: str) -> None:
        raise Problem("not-found", "there is no such thing")

    @made.get("/gone")
    async def gone() -> None:
        raise Problem("session-lost", "it died", "out_of_memory")

    return made


@asynccontextmanager
async def nothing(_):
    yield


@pytest.fixture(autouse=True)
def errors(monkeypatch):
    """Standard error as the log has it; logging is left as it was found."""
    handlers, level = logging.root.handlers[:], logging.root.level
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    logs.configure("test", "info", lambda: [TOKEN])
    yield written
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture
def checks():
    return {"blobs": lambda: None}


@pytest.fixture
def app(checks):
    return assembled(
        Service(
            title="Test",
            description="",
            version="1",
            keyring=Keyring(TOKEN),
            routers=[routes()],
            checks=checks,
            metrics=Metrics(),
            lifespan=nothing,
            bodies={"/v1/tables": BodyRule("text/csv", CSV_LIMIT)},
        )
    )


@pytest.fixture
def ask(app):
    def asked(method, path, headers=RIGHT, **content):
        async def send():
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, headers=headers, **content)

        return asyncio.run(send())

    return asked


def kind_of(answer):
    """The kind of a problem, which must be a whole one."""
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    kind = body["type"].removeprefix("urn:ciphermark:")
    assert (body["status"], body["title"]) == KINDS[kind][:2]
    assert body["status"] == answer.status_code
    assert body["detail"]
    return kind


def test_what_fits_is_answered(ask):
    answer = ask("POST", "/v1/things", json={"name": "x"})
    assert (answer.status_code, answer.json()) == (201, {"name": "x"})
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/v1/things", "/metrics", "/openapi.json", "/nowhere", "/healthz/", "//healthz"]
)
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}]
)
def test_nothing_is_told_without_the_token(ask, path, headers):
    answer = ask("GET", path, headers=headers)
    assert kind_of(answer) == "unauthorized"
    assert answer.headers["www-authenticate"] == "Bearer"


def exchanged(app, headers):
    """What is answered to a POST whose body must not be read."""

    async def receive():
        raise AssertionError("the body was read")

    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/things",
        "raw_path": b"/v1/things",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json"), *headers],
    }
    asyncio.run(app(scope, receive, send))
    return sent


def test_no_body_is_read_without_the_token(app):
    assert exchanged(app, [(b"content-length", b"3")])[0]["status"] == 401


def test_health_is_for_anyone(ask):
    assert ask("GET", "/healthz", headers={}).json() == {"alive": True}
    ready = ask("GET", "/readyz", headers={})
    assert (ready.status_code, ready.json()) == (200, {"ready": True, "checks": {"blobs": None}, "notes": {}})


@pytest.mark.parametrize("checks", [{"blobs": lambda: "read-only", "other": lambda: None}])
def test_what_is_not_ready_says_why(ask, checks):
    answer = ask("GET", "/readyz", headers={})
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "checks": {"blobs": "read-only", "other": None}, "notes": {}}


def test_a_note_makes_nothing_unready():
    app = FastAPI()
    app.include_router(health_router({"blobs": lambda: None}, {"worker": lambda: "there is none"}))
    with TestClient(app) as client:
        answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "checks": {"blobs": None}, "notes": {"worker": "there is none"}}


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"json": {}}, "invalid"),
        ({"json": {"name": 3}}, "invalid"),
        ({"json": {"name": "x", "more": 1}}, "invalid"),
        ({"content": rb'{"name": "\ud800"}', "headers": AS_JSON}, "invalid"),
        ({"json": []}, "invalid"),
        ({}, "invalid"),
        ({"content": b"{", "headers": AS_JSON}, "malformed"),
        ({"content": b"\xff\xfe", "headers": AS_JSON}, "malformed"),
        ({"content": '{"name": "x"}'.encode("utf-16"), "headers": AS_JSON}, "malformed"),
        ({"content": '{"name": "x"}'.encode("utf-16-le"), "headers": AS_JSON}, "malformed"),
        ({"content": '{"name": "x"}'.encode("utf-16-be"), "headers": AS_JSON}, "malformed"),
        ({"content": '{"name": "x"}'.encode("utf-32"), "headers": AS_JSON}, "malformed"),
        ({"content": b"[" * 500_000, "headers": AS_JSON}, "malformed"),
        (
            {
                "content": b'{"name":' + b"9" * 5000 + b"}",
                "headers": AS_JSON,
            },
            "malformed",
        ),
        ({"content": b'{"name": "x"}'}, "wrong-content-type"),
        ({"content": b"name=x", "headers": RIGHT | {"Content-Type": "text/csv"}}, "wrong-content-type"),
        ({"data": {"name": "x"}}, "wrong-content-type"),
        (
            {
                "content": b'{"name": "x"}',
                "headers": RIGHT | {"Content-Type": "application/json; charset=utf-16"},
            },
            "wrong-content-type",
        ),
        ({"json": {"name": "x" * JSON_LIMIT}}, "too-large"),
    ],
)
def test_what_does_not_fit_is_refused(ask, content, kind):
    assert kind_of(ask("POST", "/v1/things", **content)) == kind


def test_a_refusal_names_the_field_and_not_the_input(ask):
    body = ask("POST", "/v1/things", json={"name": "x", "secret-field": "secret-value"}).json()
    assert body["detail"] == "body.secret-field: Extra inputs are not permitted"


def test_query_parameters_that_are_known_are_taken(ask):
    assert ask("GET", "/v1/rows?format=csv&most=2").json() == ["csv", "csv"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (
            "/v1/rows?fromat=csv",
            "query: unknown parameter 'fromat'; did you mean 'format'?; known here: format, most",
        ),
        ("/v1/rows?format=csv&limit=2", "query: unknown parameter 'limit'; known here: format, most"),
        ("/v1/rows?most=1&Most=2", "query: unknown parameter 'Most'; did you mean 'most'?"),
        ("/v1/rows?=x", "query: unknown parameter ''; known here"),
        ("/v1/rows?%ff=x", "query: unknown parameter '\ufffd'; known here"),
        (f"/v1/rows?{'x' * 5000}", f"query: unknown parameter '{'x' * 64}'; known here"),
        ("/metrics?format=text", "query: unknown parameter 'format'; none is taken here"),
        ("/healthz?verbose", "query: unknown parameter 'verbose'; none is taken here"),
    ],
)
def test_query_parameters_that_nobody_knows_are_refused(ask, path, told):
    answer = ask("GET", path)
    assert kind_of(answer) == "invalid"
    assert answer.json()["detail"].startswith(told)


def test_a_query_that_is_refused_tells_no_value(ask):
    assert "hidden" not in ask("POST", "/v1/things?token=hidden", json={"name": "x"}).text


def test_a_body_of_unknown_length_is_counted(ask):
    async def chunks(count):
        for _ in range(count):
            yield b"x" * 10

    headers = RIGHT | {"Content-Type": "text/csv"}
    for count in (11, 20, 1000):
        assert kind_of(ask("POST", "/v1/tables", headers=headers, content=chunks(count))) == "too-large"
    assert ask("POST", "/v1/tables", headers=headers, content=chunks(10)).json() == CSV_LIMIT
    assert ask("POST", "/v1/tables", headers=headers, content=b"x" * CSV_LIMIT).json() == CSV_LIMIT


def test_far_too_much_is_not_even_read(app):
    sent = exchanged(
        app, [(b"authorization", RIGHT["Authorization"].encode()), (b"content-length", b"99999999")]
    )
    assert sent[0]["status"] == 413


@pytest.mark.parametrize("length", ["-1", "1e3", "x", "²"])
def test_a_length_that_is_no_number(ask, length):
    headers = RIGHT | {"Content-Type": "text/csv", "Content-Length": length.encode()}
    assert kind_of(ask("POST", "/v1/tables", headers=headers, content=b"x")) == "malformed"


def test_ways_that_lead_nowhere(ask):
    assert kind_of(ask("GET", "/v1/nothing")) == "not-found"
    assert kind_of(ask("GET", "/v1/../../etc/passwd")) == "not-found"
    answer = ask("PUT", "/v1/things")
    assert kind_of(answer) == "method-not-allowed"
    assert answer.headers["allow"] == "POST"


def test_a_status_of_ours_goes_with_the_problem(ask):
    answer = ask("GET", "/v1/gone")
    assert kind_of(answer) == "session-lost"
    assert answer.json()["trial_status"] == "out_of_memory"


def test_a_bug_tells_no_internals(ask):
    answer = ask("GET", "/v1/bug")
    assert kind_of(answer) == "internal"
    assert "0x7f00" not in answer.text


@pytest.fixture
def log(errors, ask):
    """Asks, and tells what was logged, but for what the caller's own library says."""

    def asked(*arguments, **content):
        ask(*arguments, **content)
        lines = errors.getvalue().splitlines(keepends=True)
        return "".join(line for line in lines if "HTTP Request: " not in line)

    return asked


def test_the_log_has_ids_and_no_query(log):
    headers = RIGHT | {"X-Run-Id": "run-1", "X-Trial-Id": "trial-1"}
    lines = log("POST", "/v1/things?key=hidden", headers=headers, json={"name": "x"})
    (line,) = lines.splitlines()
    told = json.loads(line)
    assert (told["service"], told["run_id"], told["trial_id"]) == ("test", "run-1", "trial-1")
    assert (told["method"], told["path"], told["status"]) == ("POST", "/v1/things", 422)
    assert told["received_bytes"] == len('{"name":"x"}')
    assert "hidden" not in line


LOGGING = """
import logging, structlog
from ciphermark_web import logs
logs.configure("server", "info", list)
structlog.get_logger().info("structured")
logging.getLogger("uvicorn").warning("plain")
print("it went on")
"""


def test_a_log_that_takes_nothing_stops_nobody():
    """``/dev/full`` is a disk that is full for ever."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", LOGGING], stdout=subprocess.PIPE, stderr=full, check=False
        )
    assert done.stdout == b"it went on\n"


def test_a_bug_is_logged_with_its_traceback(log):
    assert "internals at 0x7f00" in log("GET", "/v1/bug")


@pytest.mark.parametrize("headers", [RIGHT, {}, {"Authorization": f"Basic {TOKEN}"}])
def test_the_token_is_never_logged_wherever_it_is_put(log, headers):
    lines = log("GET", f"/v1/{TOKEN}", headers=headers | {"X-Run-Id": TOKEN})
    assert "[token]" in lines
    assert TOKEN not in lines


@pytest.mark.parametrize(
    ("path", "is_found", "logged"),
    [
        ("/v1/sessions", True, "/v1/sessions"),
        (f"/v1/sessions/{'0f' * 16}/encrypt", True, f"/v1/sessions/{'0f' * 16}/encrypt"),
        (f"/v1/runs/{RUN}", True, f"/v1/runs/{RUN}"),
        (f"/v1/runs/{RUN}", False, "/v1/runs/[concealed]"),
        (f"/v1/sessions/{'0f' * 16}/encrypt", False, "/v1/sessions/[concealed]/encrypt"),
        (f"/v1/{TOKEN}", True, "/v1/[concealed]"),
        (f"/{'A_-9' * 10}/x", False, "/[concealed]/x"),
        ("/v1/nothing", False, "/v1/nothing"),
    ],
)
def test_what_logs_have_of_a_path(path, is_found, logged):
    assert told(path, is_found) == logged


@pytest.mark.parametrize("path", ["/v1/{}", "/v1/things/{}", "/v1/named/{}"])
@pytest.mark.parametrize("token", ["another-service-s-own-token", "0f" * 16])
@pytest.mark.parametrize("headers", [RIGHT, {}])
def test_another_services_token_in_a_path_is_not_logged(log, path, token, headers):
    """A service cannot know it: what may be one is concealed, unless it led somewhere."""
    lines = log("GET", path.format(token), headers=headers)
    assert "[concealed]" in lines
    assert token not in lines


def test_ids_come_back(ask):
    answer = ask("GET", "/healthz", headers={"X-Run-Id": "a.b_c-1"})
    assert answer.headers["x-run-id"] == "a.b_c-1"
    assert "x-trial-id" not in answer.headers


@pytest.mark.parametrize("text", ["", "a b", "a\tb", "x" * 65, "../x", "é"])
def test_what_is_no_id_is_refused(ask, text):
    answer = ask("GET", "/healthz", headers=[("X-Run-Id", text.encode())])
    assert kind_of(answer) == "invalid"


def test_requests_are_counted_by_route_and_status(ask):
    ask("POST", "/v1/things", json={"name": "x"})
    ask("POST", "/v1/things", json={})
    ask("GET", "/v1/some/guessed/path")
    told = ask("GET", "/metrics").text
    assert 'ciphermark_requests_total{method="POST",route="/v1/things",status="201"} 1.0' in told
    assert 'ciphermark_requests_total{method="POST",route="/v1/things",status="422"} 1.0' in told
    assert 'ciphermark_requests_total{method="GET",route="(none)",status="404"} 1.0' in told
    assert 'ciphermark_request_seconds_count{method="POST",route="/v1/things"} 2.0' in told
    assert "guessed" not in told


def test_the_description_tells_of_problems_and_tokens(ask):
    described = ask("GET", "/openapi.json").json()
    operation = described["paths"]["/v1/things"]["post"]
    assert {"400", "401", "405", "413", "415", "422"} <= set(operation["responses"])
    assert operation["security"]
    assert "security" not in described["paths"]["/healthz"]["get"]
    reference = operation["responses"]["422"]["content"]["application/problem+json"]["schema"]["$ref"]
    assert reference.rpartition("/")[2] in described["components"]["schemas"]
    assert "HTTPValidationError" not in described["components"]["schemas"]


def test_a_reader_looks_and_a_submitter_changes(tmp_path, checks):
    users = tmp_path / "users"
    users.write_text(
        "\n".join(user_line(role, role, f"the-token-of-a-{role}") for role in ("reader", "submitter"))
    )
    made = assembled(
        Service(
            title="Test",
            description="",
            version="1",
            keyring=Keyring(TOKEN, users=users),
            routers=[routes()],
            checks=checks,
            metrics=Metrics(),
            lifespan=nothing,
        )
    )
    client = TestClient(made, raise_server_exceptions=False)

    def status(method, role, **headers):
        bearer = {"authorization": f"Bearer {f'the-token-of-a-{role}' if role else TOKEN}"}
        return client.request(method, "/v1/things", headers=bearer | headers, json={"name": "x"}).status_code

    assert status("POST", "reader") == 403
    assert status("POST", "submitter") != 403
    assert status("GET", "reader") == 405
    assert status("POST", "", **{"x-actor": "ada:reader"}) == 403
    assert status("POST", "reader", **{"x-actor": "ada:admin"}) == 403
