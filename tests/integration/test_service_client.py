"""The client service over HTTP, with real party processes."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
from pathlib import Path

import httpx
import psutil
import pytest
import warm
from processes import PATIENCE_S, wait_until
from running_services import SOURCE, Services, done, kind_of

from ciphermark_core import host

ASKED = {"variant": "cleartext", "workload": "lmc-plain", "scheme": "ckks"}
GIVEN = {"scheme": None}  # with parameters no scheme is named beside
TINY = {"scheme": "ckks", "ring_dimension": 8192, "modulus_bits": [60, 40, 40, 60], "scale_bits": 40}
CSV = "age,weight,low\n" + "".join(f"{20 + i},{50 + i % 7},{i % 2}\n" for i in range(60))


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    made = Services(tmp_path_factory.mktemp("services"), {"CIPHERMARK_SESSIONS": "3"})
    yield made
    made.stop()


@pytest.fixture(scope="module")
def client(services):
    return services.start("client")


@pytest.fixture(autouse=True)
def no_session_is_left(client, opened, request):
    """Of those that a test opens; the one that several share stays until a test comes that does not."""
    is_shared = "session" in request.fixturenames
    if not is_shared:
        end_sessions(client)
    yield
    end_sessions(client, but=opened["id"] if is_shared else None)


def end_sessions(client, but=None):
    for session in done(client.http.get("/v1/sessions")):
        if session["id"] != but:
            client.http.delete(f"/v1/sessions/{session['id']}")


@pytest.fixture
def session(client, opened):
    """A session whose keys are made: that of the tests before, where none of them ended it."""
    if opened.get("id") not in {item["id"] for item in done(client.http.get("/v1/sessions"))}:
        opened.clear()
        opened.update(done(client.http.post("/v1/sessions", json=ASKED)))
    return opened


@pytest.fixture(scope="module")
def opened():
    """What the service answered when it opened the session that is shared."""
    return {}


def asked_in(client, session, deed, body):
    return client.http.post(f"/v1/sessions/{session['id']}/{deed}", json=body)


def test_keys_are_made_and_the_session_is_listed(client, session):
    assert session["library"]["library"] == "cleartext"
    assert session["parameters"]["spec"]["scheme"] == "ckks"
    assert {"metric", "value", "stage", "party", "step"} <= set(session["samples"][0])
    (listed,) = done(client.http.get("/v1/sessions"))
    assert listed == {"id": session["id"], "variant": "cleartext", "workload": "lmc-plain", "is_busy": False}
    assert len(client.parties()) == 1


def test_a_session_names_the_machine_that_it_is_on(client, session):
    assert session["machine"] == host.machine() is not None


def test_when_memory_runs_out_a_party_goes_before_the_service(client, session):
    (party,) = client.parties()
    first, last = (
        int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in (party.pid, client.process.pid)
    )
    assert first == 1000 > last


@pytest.mark.parametrize("stage", ["train", "nothing"])
def test_nothing_is_encrypted_for_a_stage_that_the_workload_does_not_have(client, session, stage):
    answer = asked_in(client, session, "encrypt", {"stage": stage, "source": SOURCE})
    assert (answer.status_code, kind_of(answer)) == (409, "out-of-turn")
    assert f"lmc-plain has no stage {stage} for the server" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"data_set": "nowhere"}, "there is no data set 'nowhere' here; shipped: boston"),
        ({"data_set": "../secrets"}, "body.source.data_set"),
        ({"data_set": "/etc/passwd"}, "body.source.data_set"),
        ({"data_set": None}, "computes on a data set: name one"),
        ({"seed": -1}, "body.source.seed"),
        ({"split_seed": 1}, "body.source.split_seed"),
    ],
)
def test_data_that_cannot_be_had(client, session, source, told):
    answer = asked_in(client, session, "encrypt", {"stage": "infer", "source": SOURCE | source})
    assert kind_of(answer) == "invalid"
    assert told in answer.json()["detail"]


def test_a_given_data_set_is_used_and_never_shared(client, services, session):
    given = done(client.http.post("/v1/data-sets", content=CSV, headers={"Content-Type": "text/csv"}))
    assert (given["rows"], given["features"]) == (60, 2)
    assert given in done(client.http.get("/v1/data-sets"))
    assert done(client.http.post("/v1/data-sets", content=CSV, headers={"Content-Type": "text/csv"})) == given
    answer = asked_in(
        client, session, "encrypt", {"stage": "infer", "source": {"seed": 7, "data_set": given["name"]}}
    )
    assert done(answer)["plaintext_bytes"] == 12 * 2 * 8
    path = services.private / "data-sets" / f"{given['name']}.csv"
    assert path.read_text() == CSV
    assert stat.S_IMODE(services.private.stat().st_mode) == 0o700
    assert not any(CSV.encode()[:40] in blob.read_bytes() for blob in services.blobs.iterdir())


def test_a_data_set_may_have_a_name_and_a_rule(client, services, session):
    text = "a,b,y\n" + "".join(f"{i % 5},{i},{i * i}\n" for i in range(60))

    def given(**asked):
        return client.http.post(
            "/v1/data-sets", params=asked, content=text, headers={"Content-Type": "text/csv"}
        )

    made = done(given(name="mine", label="median"))
    kept = (services.private / "data-sets" / f"{made['name']}.csv").read_bytes()
    assert kept.splitlines()[-1] == b"4,59,1"
    assert made["name"] == f"mine@{hashlib.sha256(kept).hexdigest()[:8]}"
    assert done(given(name="mine", label="median")) == made
    answer = asked_in(
        client, session, "encrypt", {"stage": "infer", "source": {"seed": 7, "data_set": made["name"]}}
    )
    assert done(answer)["plaintext_bytes"] == 12 * 2 * 8
    assert "60 different labels" in given(name="mine").json()["detail"]
    for wrong in (
        {"name": "../mine"},
        {"name": "x" * 41},
        {"name": ""},
        {"label": "mean"},
        {"rule": "median"},
    ):
        assert kind_of(given(**({"label": "median"} | wrong))) == "invalid"


def test_parties_do_not_inherit_the_token(client, services, session):
    (party,) = client.parties()
    environment = party.environ()
    assert "CIPHERMARK_BLOBS" in environment
    assert not [name for name in environment if "TOKEN" in name]


def test_a_library_or_a_party_that_dies_costs_its_session_alone(client, session):
    answer = client.http.post("/v1/sessions", json=ASKED | {"variant": "planted-dies-making-keys"})
    assert (answer.status_code, kind_of(answer)) == (409, "session-lost")
    assert answer.json()["trial_status"] == "crashed"
    assert "SIGSEGV" in answer.json()["detail"]
    assert [item["id"] for item in done(client.http.get("/v1/sessions"))] == [session["id"]]
    done(asked_in(client, session, "encrypt", {"stage": "infer", "source": SOURCE}))
    (party,) = client.parties()
    os.kill(party.pid, signal.SIGKILL)
    answer = asked_in(client, session, "encrypt", {"stage": "infer", "source": SOURCE})
    assert (answer.status_code, kind_of(answer)) == (409, "session-lost")
    assert "SIGKILL" in answer.json()["detail"]
    assert "open a new session" in answer.json()["detail"]
    assert kind_of(asked_in(client, session, "encrypt", {"stage": "infer", "source": SOURCE})) == "not-found"


def test_a_caller_who_leaves_ends_what_is_done_on_its_behalf(client, session):
    (party,) = client.parties()
    party.suspend()  # as long as any work may take
    asked = {"stage": "infer", "source": SOURCE}
    with pytest.raises(httpx.ReadTimeout):
        client.http.post(f"/v1/sessions/{session['id']}/encrypt", json=asked, timeout=1)
    wait_until(lambda: not client.parties(), "the party is gone")
    wait_until(lambda: done(client.http.get("/v1/sessions")) == [], "the session is gone")
    assert "its caller left" in {line["why"] for line in client.events("session ended")}


def test_an_ended_session_is_gone_with_its_process(client, session):
    (party,) = client.parties()
    assert client.http.delete(f"/v1/sessions/{session['id']}").status_code == 204
    assert not psutil.pid_exists(party.pid)
    assert kind_of(client.http.delete(f"/v1/sessions/{session['id']}")) == "not-found"


def test_a_trial_has_one_session_and_a_run_can_be_ended(client):
    def opened(trial):
        headers = {"X-Run-Id": "the-run", "X-Trial-Id": trial}
        return done(client.http.post("/v1/sessions", json=ASKED, headers=headers))["id"]

    def listed():
        return [item["id"] for item in done(client.http.get("/v1/sessions"))]

    def ended(**of):
        return done(client.http.delete("/v1/sessions", params=of))

    opened("one")
    again, other = opened("one"), opened("two")
    assert listed() == [again, other]
    assert ended(run_id="the-run", trial_id="three") == {"ended": 0}
    assert ended(run_id="the-run", trial_id="one") == {"ended": 1}
    assert listed() == [other]
    assert ended(run_id="the-run") == {"ended": 1}
    assert (listed(), client.parties()) == ([], [])
    assert client.http.delete("/v1/sessions").status_code == 422


def test_threads_are_those_that_were_asked_for_up_to_what_is_allowed(services):
    client = services.start("client", CIPHERMARK_PARTY_THREADS="3")
    for asked, given in ((None, "3"), (2, "2")):
        made = done(client.http.post("/v1/sessions", json=ASKED | {"threads": asked}))
        (party,) = client.parties()
        assert party.environ()["OMP_NUM_THREADS"] == given
        client.http.delete(f"/v1/sessions/{made['id']}")
    refused = client.http.post("/v1/sessions", json=ASKED | {"threads": 4})
    assert (kind_of(refused), refused.json()["trial_status"]) == ("unsupported", "unsupported")
    assert "CIPHERMARK_PARTY_THREADS allows 3 here" in refused.json()["detail"]


def test_parameters_can_be_given(client):
    made = done(client.http.post("/v1/sessions", json=ASKED | GIVEN | {"parameters": TINY}))
    assert made["parameters"]["ring_dimension"] == 8192
    assert made["parameters"]["spec"]["modulus_bits"] == TINY["modulus_bits"]


@pytest.mark.parametrize(
    ("changes", "kind", "told"),
    [
        ({"variant": "seel"}, "invalid", "unknown variant 'seel'; known variants: "),
        ({"workload": "nothing"}, "invalid", "unknown workload 'nothing'; known: "),
        ({"scheme": "bfv", "parameters": TINY}, "invalid", "give scheme or parameters, not both"),
        ({"scheme": "rsa"}, "invalid", "body.scheme"),
        (GIVEN | {"parameters": TINY | {"ring_dimension": 5000}}, "invalid", "a power of two"),
        (
            GIVEN | {"parameters": TINY | {"plain_modulus": 5}},
            "invalid",
            "ckks needs scale_bits, and has no plain_modulus",
        ),
        (
            GIVEN | {"parameters": TINY | {"ring_dimension": 1024}},
            "unsupported",
            "the 2018 table's limit for 128 bits",
        ),
        ({"variant": "planted-missing"}, "unsupported", "pip install a-module-that-nobody-has"),
        ({"variant": "planted-elsewhere"}, "unsupported", "this CPU lacks a_flag_that_no_cpu_has"),
        ({"variant": "planted-no-keys"}, "library-failed", "no entropy for keys"),
        ({"variant": "planted-no-import"}, "library-failed", "libplanted.so.1"),
        ({"variant": "../../etc/passwd"}, "invalid", "body.variant"),
        ({"extra": 1}, "invalid", "body.extra: Extra inputs are not permitted"),
    ],
)
def test_keys_that_cannot_be_made(client, changes, kind, told):
    answer = client.http.post("/v1/sessions", json=ASKED | changes)
    assert kind_of(answer) == kind
    assert told in answer.json()["detail"]
    assert done(client.http.get("/v1/sessions")) == []
    wait_until(lambda: not client.parties(), "the party is gone")


def test_there_are_as_many_sessions_as_allowed(client):
    for _ in range(3):
        done(client.http.post("/v1/sessions", json=ASKED))
    answer = client.http.post("/v1/sessions", json=ASKED)
    assert (answer.status_code, kind_of(answer)) == (429, "too-many")
    assert answer.headers["retry-after"]
    assert len(client.parties()) == 3


@pytest.mark.parametrize(
    "path", ["nothing", "0" * 32, "../../../etc/passwd", "%2e%2e%2fetc", "0" * 31 + "%00"]
)
def test_sessions_that_never_were(client, path):
    answer = client.http.post(f"/v1/sessions/{path}/encrypt", json={"stage": "infer", "source": SOURCE})
    assert answer.status_code in (404, 422)
    assert kind_of(answer) in ("not-found", "invalid")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"test_share": 0.9}, "options: Expected `float` <= 0.5"),
        ({"tests": 0.1}, "has no option 'tests'; did you mean 'test_share'?"),
        ({"test_share": [0.1]}, "body.options.test_share"),
    ],
)
def test_options_that_a_workload_does_not_take(client, options, told):
    asked = {"variant": "seal", "workload": "lmc-plain", "scheme": "ckks", "options": options}
    answer = client.http.post("/v1/sessions", json=asked)
    assert kind_of(answer) == "invalid"
    assert told in answer.json()["detail"]


def test_a_given_data_set_can_be_deleted(client, services):
    made = done(client.http.post("/v1/data-sets?name=old", content=CSV, headers={"Content-Type": "text/csv"}))
    path = services.private / "data-sets" / f"{made['name']}.csv"
    assert path.exists()
    assert client.http.delete(f"/v1/data-sets/{made['name']}").status_code == 204
    assert not path.exists()
    assert made not in done(client.http.get("/v1/data-sets"))
    for name in (made["name"], "boston", ".."):
        assert client.http.delete(f"/v1/data-sets/{name}").status_code in (404, 405, 422)
    told = client.http.delete("/v1/data-sets/boston").json()["detail"]
    assert "a shipped one stays" in told


def test_two_data_sets_cannot_have_one_name(client, services):
    made = done(
        client.http.post("/v1/data-sets?name=twice", content=CSV, headers={"Content-Type": "text/csv"})
    )
    path = services.private / "data-sets" / f"{made['name']}.csv"
    path.write_text("another\n")
    answer = client.http.post("/v1/data-sets?name=twice", content=CSV, headers={"Content-Type": "text/csv"})
    assert kind_of(answer) == "exists"
    path.write_text(CSV)


@pytest.mark.parametrize(
    ("header", "content", "kind", "told"),
    [
        ("text/csv", b"a,b\n1,x\n", "invalid", "line 2, column 'b': 'x' is not a finite number"),
        ("text/csv", b"a,b\n\xff,1\n", "invalid", "byte 4 is not UTF-8"),
        ("text/csv", "a,b\n1,0\n".encode("utf-16"), "malformed", "not UTF-8"),
        ("text/csv", b"1" * ((16 << 20) + 1), "too-large", ""),
        ("application/json", b"1" * 10, "wrong-content-type", ""),
        ("multipart/form-data; boundary=x", b"1" * 10, "wrong-content-type", ""),
    ],
    ids=["no number", "no UTF-8", "another encoding", "too large", "JSON", "a form"],
)
def test_what_is_no_data_set_is_refused(client, header, content, kind, told):
    """What else may be wrong in one: tests/unit/test_workloads_data_sets.py."""
    before = done(client.http.get("/v1/data-sets"))
    answer = client.http.post("/v1/data-sets", content=content, headers={"Content-Type": header})
    assert kind_of(answer) == kind
    assert told in answer.json()["detail"]
    assert done(client.http.get("/v1/data-sets")) == before


def test_what_is_installed_is_told(client):
    told = {item["variant"]: item for item in done(client.http.get("/v1/adapters"))}
    assert told["cleartext"]["is_installed"]
    assert told["planted-missing"]["remedy"] == "pip install a-module-that-nobody-has"
    assert not told["planted-missing"]["is_installed"]


def test_ids_are_logged_and_tokens_are_not(client):
    ids = {"X-Run-Id": "run-17", "X-Trial-Id": "trial-4"}
    made = done(client.http.post("/v1/sessions", json=ASKED, headers=ids))
    client.http.get("/v1/sessions", headers={"Authorization": "Bearer not-the-token-at-all"})
    client.http.get(f"/v1/{client.token}?token={client.token}")
    for event in ("session opened", "request"):
        (line,) = (line for line in client.events(event) if line.get("run_id") == "run-17")
        assert line["trial_id"] == "trial-4"
    (opened,) = (line for line in client.events("session opened") if line["session"] == made["id"])
    assert opened["variant"] == "cleartext"
    assert client.token not in client.log
    assert "not-the-token-at-all" not in client.log


def test_only_loopback_is_listened_to(client):
    listening = [
        item.laddr.ip
        for item in psutil.Process(client.process.pid).net_connections()
        if item.status == "LISTEN"
    ]
    assert listening == ["127.0.0.1"]


def test_a_session_that_nobody_uses_ends(services):
    client = services.start("client", CIPHERMARK_SESSION_IDLE_S="1")
    done(client.http.post("/v1/sessions", json=ASKED))
    assert len(client.events("session opened")) == 1  # it may have ended by now
    wait_until(lambda: not client.parties(), "the idle party is gone")
    assert done(client.http.get("/v1/sessions")) == []
    assert "idle for more than 1 s" in client.log


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        *(pytest.param(number, marks=pytest.mark.extended) for number in (signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_parties_end_with_the_service(services, number):
    client = services.start("client")
    for _ in range(2):
        done(client.http.post("/v1/sessions", json=ASKED))
    parties = client.parties()
    assert len(parties) == 2
    client.terminate(number)
    client.process.wait(timeout=PATIENCE_S)
    gone, alive = psutil.wait_procs(parties, timeout=PATIENCE_S)
    assert (len(gone), alive) == (2, [])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"CIPHERMARK_CLIENT_TOKEN_FILE": ""}, "client has no token"),
        ({"CIPHERMARK_PORT": "http"}, "CIPHERMARK_PORT is 'http'"),
        ({"CIPHERMARK_BLOBS": ""}, "CIPHERMARK_BLOBS is not set"),
        ({"CIPHERMARK_PRIVATE": ""}, "CIPHERMARK_PRIVATE is not set"),
        ({"CIPHERMARK_SESSIONS": "0"}, "CIPHERMARK_SESSIONS is '0'"),
        ({"CIPHERMARK_LOG_LEVEL": "loud"}, "CIPHERMARK_LOG_LEVEL is 'loud'"),
        ({"CIPHERMARK_PRIVATE": "{blobs}/private"}, "must be apart"),
    ],
)
def test_settings_that_cannot_be(services, tmp_path, changes, told):
    """What a service prints that ends at once for its settings."""
    changes = {name: text.format(blobs=services.blobs) for name, text in changes.items()}
    with (tmp_path / "printed.txt").open("wb") as log:
        process = warm.service("client", services.environment("client") | changes, tmp_path, log)
        assert process.wait(PATIENCE_S) == 2
    printed = (tmp_path / "printed.txt").read_text()
    assert told in printed
    assert "Traceback" not in printed
