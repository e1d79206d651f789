"""A party behind HTTP, against a real server that answers whatever it is told to."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec
import pytest

from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.parties.http_party import HttpParties, HttpParty, chosen, services
from ciphermark_benchmark.parties.party import NoPlace
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob, DiskFull
from ciphermark_measure.processes import Confinement, WorkerDied
from ciphermark_measure.protocol import Refused
from ciphermark_parties.api import model_of
from ciphermark_web.rest import Service

SPEC = ParameterSpec("ckks", 8192, (60, 40, 60), scale_bits=40)
MAKE_KEYS = messages.MakeKeys("seal", "tiny", SPEC, threads=3)
ENCRYPT = messages.Encrypt("train", messages.Source(7, "boston"))
TRIAL = Trial("a-trial", "a-run", Case("seal", "learning", "tiny", SPEC, 0, "real"), 0, 1, Budget())
BLOB = Blob("0f" * 32, 17)
PLAIN_BLOB = {"digest": BLOB.digest, "size_bytes": 17}
SESSION = {
    "id": "ab" * 16,
    "version": messages.VERSION,
    "stages": [{"name": "train", "returns": "state"}, {"name": "infer", "returns": "result"}],
    "library": {"library": "SEAL", "variant": "seal", "version": "4", "hexl": False, "build": {}},
    "parameters": {
        "spec": {"scheme": "ckks", "ring_dimension": 8192},
        "ring_dimension": 8192,
        "moduli": [97],
        "special_moduli": [193],
        "slots": 4096,
    },
    "material": PLAIN_BLOB,
    "samples": [],
    "something_newer": 1,
}
ENCRYPTED = {"inputs": [PLAIN_BLOB], "public": PLAIN_BLOB, "plaintext_bytes": 8, "samples": []}


class Scripted(BaseHTTPRequestHandler):
    """Answers with the next reply of its server's script, and keeps what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.asked.append((self.command, self.path, self.headers["Authorization"], body))
        self.server.named.append((self.headers["X-Run-Id"], self.headers["X-Trial-Id"]))
        status, reply = self.server.script.pop(0) if self.server.script else (200, {})
        if callable(reply):
            reply = reply()
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        if status == 429 and self.server.retry_after is not None:
            self.send_header("Retry-After", self.server.retry_after)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_DELETE = do_POST

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    made.script, made.asked, made.named, made.retry_after = [], [], [], None
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def party(server):
    made = HttpParty(Service("client", f"http://127.0.0.1:{server.server_port}", "secret"))
    yield made
    made.end()


def problem(kind, detail="why", **more):
    return {"type": f"urn:ciphermark:{kind}", "title": "t", "status": 409, "detail": detail} | more


def test_a_session_is_made_used_and_ended(server, party):
    server.script += [(201, SESSION), (200, ENCRYPTED)]
    made = party.ask(MAKE_KEYS, 60)
    assert isinstance(made, messages.KeysMade)
    assert ([stage.name for stage in made.stages], made.material) == (["train", "infer"], BLOB)
    sent = party.ask(ENCRYPT, 60)
    assert sent == messages.Encrypted((BLOB,), BLOB, 8, ())
    party.kill()
    (first, second, third) = server.asked
    assert first[:3] == ("POST", "/v1/sessions", "Bearer secret")
    assert first[3]["parameters"] == {
        "scheme": "ckks",
        "ring_dimension": 8192,
        "modulus_bits": [60, 40, 60],
        "scale_bits": 40,
    }
    assert first[3]["threads"] == 3
    assert "threads" not in second[3]
    assert second[1] == f"/v1/sessions/{SESSION['id']}/encrypt"
    assert second[3] == {
        "stage": "train",
        "source": {"seed": 7, "data_set": "boston", "given": None},
    }
    assert third[:2] == ("DELETE", f"/v1/sessions/{SESSION['id']}")


@pytest.mark.parametrize(
    ("kind", "more", "status"),
    [
        ("unsupported", {"trial_status": "unsupported"}, "unsupported"),
        ("budget-exhausted", {"trial_status": "budget_exhausted"}, "budget_exhausted"),
        ("library-failed", {"trial_status": "out_of_memory"}, "out_of_memory"),
        ("blob-refused", {}, "crashed"),
    ],
)
def test_a_problem_is_a_refusal(server, party, kind, more, status):
    server.script.append((422, problem(kind, **more)))
    assert party.ask(MAKE_KEYS, 60) == Refused(status, "why", kind)


def test_a_full_disk_is_told_as_parties_of_this_host_do(server, party):
    server.script.append((507, problem("disk-full")))
    assert party.ask(MAKE_KEYS, 60) == Refused("crashed", "why", DiskFull.__name__)


DEATHS = {
    "session-lost": ((409, problem("session-lost", trial_status="timeout")), "timeout", "service: why"),
    "busy": ((409, problem("session-busy")), "crashed", "the client service: why"),
    "no JSON": ((500, b"<html>"), "crashed", "HTTP status 500: '<html>'"),
    "no problem": ((500, []), "crashed", "HTTP status 500"),
    "strange status": ((422, problem("x", trial_status="great")), "crashed", "unknown status 'great'"),
    "nonsense": ((200, b"{"), "crashed", "it answers nonsense: '{'"),
    "another form": ((200, {"id": 1}), "crashed", "it answers nonsense"),
    "no id": ((200, ENCRYPTED), "crashed", "it answers nonsense"),
    "no mapping": ((200, 7), "crashed", "it answers nonsense"),
    "another version": ((200, SESSION | {"version": 1}), "crashed", "it speaks version 1 of the messages"),
    "too late": ((200, lambda: time.sleep(1.5) or SESSION), "timeout", "gave no answer within 1 s"),
}


STRANGE_FACTS = (
    {"is_pinned": 1.0},
    {"timed_samples": 1e6},
    {"x" * 999: 0.0},
    {"reference_kernel_s": -1.0},
    {"reference_kernel_s": 1e308},
    {"steal_s": "much"},
    {"memory_slowdown": [1.0]},
)
DEATHS |= {
    f"strange facts {number}": ((200, SESSION | {"host_facts": facts}), "crashed", "it answers nonsense")
    for number, facts in enumerate(STRANGE_FACTS)
}


@pytest.mark.parametrize("name", DEATHS)
def test_whatever_else_is_answered_costs_the_trial(server, party, name):
    reply, status, words = DEATHS[name]
    server.script.append(reply)
    with pytest.raises(WorkerDied) as caught:
        party.ask(MAKE_KEYS, 1 if name == "too late" else 60)
    assert caught.value.status == status
    assert words in str(caught.value)


NOT_READY = (503, problem("not-ready", "no volume"))


def test_a_service_that_is_not_ready_for_long_is_told(server, party, monkeypatch):
    monkeypatch.setattr(http_party, "_RESTART_S", 0.0)
    server.script += [(200, {}), NOT_READY]
    party.meet(TRIAL)
    with pytest.raises(WorkerDied, match=r"it is not ready: .*no volume"):
        party.meet(TRIAL)


def test_a_service_that_is_being_restarted_is_waited_for(server, party, monkeypatch):
    monkeypatch.setattr(http_party, "_PAUSE_S", 0.01)
    server.script += [NOT_READY, NOT_READY, (200, {})]
    party.meet(TRIAL)
    assert server.script == []


def test_waiting_for_a_service_ends_with_the_party(server, party):
    server.script += [NOT_READY, NOT_READY]
    party.kill()
    with pytest.raises(WorkerDied, match="no volume"):
        party.meet(TRIAL)


def test_every_request_names_the_trial_and_its_run(server, party):
    server.script += [(200, {}), (201, SESSION), (200, ENCRYPTED)]
    party.meet(TRIAL)
    party.ask(MAKE_KEYS, 60)
    party.ask(ENCRYPT, 60)
    party.kill()
    assert [asked[0] for asked in server.asked] == ["GET", "POST", "POST", "DELETE"]
    assert server.named == [("a-run", "a-trial")] * 4


@pytest.mark.parametrize(("told", "after_s"), [("7", 7.0), (None, None), ("soon", None)])
def test_a_service_without_a_place_says_when_to_ask_again(server, party, told, after_s):
    server.retry_after = told
    server.script.append((429, problem("too-many")))
    with pytest.raises(NoPlace, match="the client service has no place: why") as caught:
        party.ask(MAKE_KEYS, 60)
    assert (caught.value.status, caught.value.after_s) == ("cancelled", after_s)


def ask_a_dying_party(party):
    with pytest.raises(WorkerDied):
        party.ask(MAKE_KEYS, 120)


def test_a_session_that_is_being_made_is_ended_by_its_trial(server, party):
    """Keys may take minutes, and its id comes with them."""
    is_asked, go_on = threading.Event(), threading.Event()

    def slow():
        is_asked.set()
        go_on.wait(60)
        return problem("session-lost", trial_status="cancelled")

    server.script += [(200, {}), (409, slow)]
    party.meet(TRIAL)
    asking = threading.Thread(target=ask_a_dying_party, args=(party,))
    asking.start()
    assert is_asked.wait(60)
    party.kill()
    assert server.asked[-1][:2] == ("DELETE", "/v1/sessions?run_id=a-run&trial_id=a-trial")
    go_on.set()
    asking.join()


def test_a_party_that_was_asked_nothing_ends_nothing(server, party):
    server.script.append((200, {}))
    party.meet(TRIAL)
    party.kill()
    assert [asked[0] for asked in server.asked] == ["GET"]


@pytest.mark.parametrize(
    ("machines", "is_elsewhere"),
    [
        ((None, "here"), None),
        (("here", "here"), False),
        (("here", "there"), True),
        (("there", "there"), True),
    ],
)
def test_services_on_another_machine_are_noticed(server, monkeypatch, machines, is_elsewhere):
    monkeypatch.setattr(host, "machine", lambda: "here")
    service = Service("client", f"http://127.0.0.1:{server.server_port}", "secret")
    parties = HttpParties(service, service)
    for party, machine in zip((parties.client, parties.server), machines, strict=True):
        server.script.append((201, SESSION if machine is None else SESSION | {"machine": machine}))
        party.ask(MAKE_KEYS, 60)
    assert parties.is_elsewhere is is_elsewhere
    parties.end()


URLS = {"CIPHERMARK_CLIENT_URL": "http://c", "CIPHERMARK_SERVER_URL": "http://s"}


def test_without_services_parties_are_local():
    assert services({}) is None
    assert services({"CIPHERMARK_CLIENT_TOKEN": "x"}) is None


def test_tokens_come_from_the_environment_or_a_file(tmp_path):
    (tmp_path / "token").write_text("from a file\nthe one before\n")
    given = {"CIPHERMARK_CLIENT_TOKEN": "given", "CIPHERMARK_SERVER_TOKEN_FILE": str(tmp_path / "token")}
    needs = WorkerNeeds("seal", MAKE_KEYS.parameters, (), Confinement((), 2, 1000), 60.0)
    parties = chosen(URLS | given)(needs)
    assert parties.client._service == Service("client", "http://c", "given")
    assert parties.server._service == Service("server", "http://s", "from a file")
    assert "given" not in repr(parties.client._service)
    parties.end()


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"CIPHERMARK_SERVER_URL": "http://s"}, "CIPHERMARK_CLIENT_URL is not set"),
        (
            URLS,
            "the client service needs its token: set CIPHERMARK_CLIENT_TOKEN or CIPHERMARK_CLIENT_TOKEN_FILE",
        ),
        (URLS | {"CIPHERMARK_CLIENT_TOKEN_FILE": "/nowhere"}, "/nowhere cannot be read"),
        (URLS | {"CIPHERMARK_CLIENT_TOKEN": "a\nb"}, "CIPHERMARK_CLIENT_TOKEN contains no token"),
        (URLS | {"CIPHERMARK_CLIENT_URL": "localhost:8101"}, "'localhost:8101' is no address of a service"),
    ],
)
def test_half_a_configuration_is_a_mistake(environ, words):
    with pytest.raises(UserError, match=words):
        chosen(environ)


@pytest.mark.parametrize("program", [b"\xff\xfe\xfb", b"\x00", bytes(range(256))])
def test_bytes_of_a_reply_are_written_as_the_messages_are(program):
    """In the one alphabet of base64 that both take."""
    written = model_of(messages.Described)(program=program).model_dump_json()
    told = msgspec.json.decode(written, type=dict) | {"type": "described"}
    assert msgspec.convert(told, messages.Described) == messages.Described(program)


def test_readings_of_a_host_travel_as_they_are(server, party):
    """Those that were not made are null over REST, and absent from results."""
    readings = messages.HostReadings(run_delay_s=0.5, reference_kernel_spread=-0.01)
    made = model_of(messages.HostReadings).model_validate(readings).model_dump()
    server.script.append((200, SESSION | {"host_facts": made}))
    answer = party.ask(MAKE_KEYS, 60)
    assert answer.host_facts == readings
    assert answer.host_facts.by_name == {"run_delay_s": 0.5, "reference_kernel_spread": -0.01}
