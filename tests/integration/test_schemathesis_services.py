"""Whatever is sent to the services, the answer is one that their description promises, and never a 5xx."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

import benchmark_service
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from running_services import Pair, done

_SETTINGS = settings(
    max_examples=settings.default.max_examples // 3,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def running(services, tmp_path_factory, new_url):
    """All three services, by name."""
    benchmark = benchmark_service.started(tmp_path_factory.mktemp("benchmark"), new_url())
    yield {name: services.start(name) for name in ("client", "server")} | {"benchmark": benchmark}
    benchmark_service.ended(benchmark)


@pytest.fixture(scope="module")
def described(running):
    """The description of a service, and how to hold an answer against it."""
    import schemathesis
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    @cache
    def loaded(name):
        token = benchmark_service.TOKEN if name == "benchmark" else running[name].token
        headers = {"Authorization": f"Bearer {token}"}
        # A valid request may still be refused: what it names need not exist.
        promised = {"headers": headers, "timeout": 60, "excluded_checks": [positive_data_acceptance]}
        return schemathesis.openapi.from_url(f"{running[name].url}/openapi.json", headers=headers), promised

    return loaded


def log_of(service):
    return service.log.read_text() if isinstance(service.log, Path) else service.log


def requests(operation, mode):
    from schemathesis import GenerationMode

    return operation.as_strategy(generation_mode=GenerationMode(mode))


def held(operation, mode, promised):
    """Send requests to one operation, and hold every answer against the description; tells how many."""
    tried = []

    @given(case=requests(operation, mode))
    @_SETTINGS
    def hold(case):
        tried.append(case.call_and_validate(**promised))

    with suppress(Unsatisfiable):  # nothing can be wrong about a request that has no parameters
        hold()
    return len(tried)


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("name", ["client", "server", "benchmark"])
def test_a_service_answers_as_it_promises(running, described, name, mode):
    service = running[name]
    schema, promised = described(name)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= 8
    assert sum(held(operation, mode, promised) for operation in operations) > 2 * len(operations)
    assert service.process.poll() is None
    assert '"event": "a bug"' not in log_of(service)


@pytest.fixture(scope="module")
def live(running):
    """Sessions, and blobs that they made: the right ones, in whatever place they turn up."""
    for service in (running["client"], running["server"]):
        for session in done(service.http.get("/v1/sessions")):  # of requests before
            service.http.delete(f"/v1/sessions/{session['id']}")
    pair = Pair.open(running["client"], running["server"], "seal", "lmc-plain")
    encrypted = done(pair.encrypt("infer"))
    evaluated = done(pair.evaluate("infer", encrypted))
    return pair, [pair.keys["material"], encrypted["public"], encrypted["inputs"][0], evaluated["outputs"][0]]


def with_blobs(asked, blob):
    """The request, with this blob in place of all that it names."""
    if isinstance(asked, dict) and "digest" in asked:
        return blob
    if isinstance(asked, dict):
        return {name: with_blobs(item, blob) for name, item in asked.items()}
    return [with_blobs(item, blob) for item in asked] if isinstance(asked, list) else asked


def varied(body, blobs):
    """A generated request, the same of a stage and blobs that there are, and of rows that there are."""
    yield body
    for blob in blobs:
        made = with_blobs(body, blob) | ({"stage": "infer"} if "stage" in body else {})
        yield made
        yield made | ({"source": made["source"] | {"data_set": "boston"}} if "source" in made else {})


@pytest.mark.parametrize(
    ("name", "step", "kinds"),
    [
        ("client", "encrypt", {"", "invalid"}),
        ("client", "score", {"invalid", "blob-refused", "library-failed"}),
        ("server", "evaluate", {"blob-refused", "library-failed", "out-of-turn"}),
    ],
)
def test_a_live_session_answers_as_it_promises(live, described, name, step, kinds):
    """Behind the look-up of the session, where blobs, stages and data sets are looked at."""
    pair, blobs = live
    service, session = (pair.client, pair.keys) if name == "client" else (pair.server, pair.loaded)
    schema, promised = described(name)
    operation = schema[f"/v1/sessions/{{session_id}}/{step}"]["POST"]
    answers = []

    @given(case=requests(operation, "positive"))
    @_SETTINGS
    def hold(case):
        for body in varied(case.body, blobs):
            asked = operation.Case(path_parameters={"session_id": session["id"]}, body=body)
            answers.append(asked.call_and_validate(**promised))

    hold()
    # An answer that is no problem has no type.
    told = {answer.json().get("type", "").removeprefix("urn:ciphermark:") for answer in answers}
    assert kinds <= told
    assert not {"not-found", "session-busy", "session-lost"} & told
    assert not service.events("a bug")
    assert done(pair.score(pair.evaluated(["infer"])))["complaint"] is None
