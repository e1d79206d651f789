"""What the benchmark service refuses, and how it says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from benchmark_service import Service, ended, started, suite

BOMB = "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(30))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str]) -> Iterator[Service]:
    made = started(tmp_path_factory.mktemp("service"), new_url())
    yield made
    ended(made)


@pytest.fixture
def client(service: Service) -> Iterator[httpx.Client]:
    with service.client() as made:
        yield made


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/hosts", "/v1/adapters", "/metrics", "/openapi.json"])
def test_nothing_but_health_is_told_without_the_token(service: Service, path: str) -> None:
    for token in (None, "another-token-that-is-long-enough"):
        with service.client(token) as stranger:
            answer = stranger.get(path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert stranger.get("/healthz").status_code == 200


UNKNOWN = "0b9e2c1e-5a53-4f3a-9c1d-6f0f5d2f7a11"
INLINE = {"name": "x", "experiments": [{"kind": "arithmetic"}]}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"suite": "../../etc/passwd"}, "there is no suite of that name"),
        ({"suite": "/etc/passwd"}, "there is no suite of that name"),
        ({"suite": "smoke/../smoke"}, "there is no suite of that name"),
        ({"suite": "nothing"}, "suites: "),
        ({"suite": INLINE}, "lacks the key"),
        ({"suite": {"name": "x", "experiments": []}}, "must not be empty"),
        ({"suite_yaml": BOMB}, "anchors and aliases are not taken here"),
        ({"suite_yaml": "a: &a 1\nb: *a\n"}, "anchors and aliases are not taken here"),
        ({"suite_yaml": "!!python/object/apply:os.system [id]"}, "tags are not taken here"),
        ({"suite_yaml": "name: !secret x"}, "tags are not taken here"),
        ({"suite_yaml": "name: x\nseed: " + "9" * 5000}, "a value that cannot be read"),
        ({"suite_yaml": "name: 2025-99-99"}, "a value that cannot be read"),
        ({"suite": suite() | {"name": "x" * 101}}, "at most 100 characters"),
        ({"suite_yaml": "[" * 5000}, "no suite is that deep"),
        ({"suite_yaml": "- a\n" * 20_000}, "no suite is that deep or long"),
        ({"suite_yaml": "a: [b"}, "not YAML"),
        ({"suite_yaml": "\x00"}, "not YAML"),
        ({"suite_yaml": ""}, "a suite is a mapping"),
        ({"suite": "smoke", "suite_yaml": "x"}, "give either suite or suite_yaml"),
        ({}, "give either suite or suite_yaml"),
        ({"suite": "smoke", "more": 1}, "Extra inputs are not permitted"),
        (
            {"suite": suite(vector_length=list(range(1, 4000)), threads=list(range(1, 101)))},
            "the maximum is 20000",
        ),
        ({"suite": suite(variants=("nobody",))}, "unknown variant"),
        ({"suite_yaml": "\ud800"}, "UTF-8"),
    ],
    ids=range(24),
)
def test_suites_that_are_none_are_refused_with_a_reason(
    client: httpx.Client, body: dict[str, object], told: str
) -> None:
    answer = client.post("/v1/runs", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert told in answer.json()["detail"]


@pytest.mark.parametrize(
    "label",
    ["a\0b", "\ud800", "a\nb", "<img src=x onerror=alert(1)>", "a" * 200_000, "", "../../etc", "é"],
    ids=["NUL", "lone surrogate", "newline", "HTML", "200 kB", "empty", "path", "not ASCII"],
)
def test_labels_that_break_the_rule_of_names_are_refused_and_leave_nothing(
    client: httpx.Client, label: str
) -> None:
    """A NUL was accepted once, failed in PostgreSQL, and every command of the data directory after it."""
    before = client.get("/v1/runs").json()
    for body in (
        {"suite": suite(variants=(f"cleartext@{label}",))},
        {"suite_yaml": json.dumps(suite(variants=(f"cleartext@{label}",)))},
        {"suite": suite() | {"name": label}},
    ):
        answer = client.post(
            "/v1/runs", content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert len(answer.content) < 10_000
    assert client.get("/v1/runs").json() == before
    assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b"name: x", "application/yaml", 415),
        (b"{}", "text/plain", 415),
        (b'{"suite": "' + b"x" * (256 << 10) + b'"}', "application/json", 413),
        (b"{", "application/json", 400),
        (b"[" * 200_000, "application/json", 400),
        (b'{"suite": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
    ],
    ids=["yaml", "text", "huge", "broken", "deep and broken", "deep", "not UTF-8"],
)
def test_bodies_that_are_none_are_refused(
    client: httpx.Client, content: bytes, media_type: str, status: int
) -> None:
    answer = client.post("/v1/runs", content=content, headers={"Content-Type": media_type})
    assert answer.status_code == status, answer.text
    assert answer.json()["status"] == status


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/v1/runs/{UNKNOWN}", 404),
        (f"/v1/runs/{UNKNOWN}/results", 404),
        (f"/v1/runs/{UNKNOWN}/events", 404),
        (f"/v1/compare?a={UNKNOWN}&b={UNKNOWN}", 404),
        ("/v1/runs/last", 422),
        ("/v1/runs/..%2f..%2fetc%2fpasswd", 404),
        ("/v1/runs?limit=0", 422),
        (f"/v1/runs?before={UNKNOWN}", 404),
        (f"/v1/runs/{UNKNOWN}/results?fromat=csv", 422),
        ("/v1/runs?limit=501", 422),
        ("/v1/compare", 422),
        ("/v1/nothing", 404),
    ],
)
def test_what_is_not_there_is_told(client: httpx.Client, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.json()["type"].startswith("urn:ciphermark:")
