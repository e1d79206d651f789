"""The server service over HTTP, with a real client beside it, on the shared folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from disks import filled, mounted
from processes import PATIENCE_S, wait_until
from running_services import OPTIONS, SOURCE, Pair, done, kind_of, stages_of

WORKLOAD = "lmc-encrypted"
# Options, and metrics of the family's own.
WHOLE = {
    "lmc-plain": (OPTIONS, {"accuracy", "agreement", "mse"}),
    "lmc-encrypted": (OPTIONS, {"accuracy", "agreement", "mse"}),
    "fast-pir": ({"elements": 600}, {"database_size", "answers", "answered_size"}),
    "digits": ({}, {"agreement", "margin", "logit_error"}),
    "digits-encrypted": ({}, {"agreement", "margin", "logit_error"}),
}


@pytest.fixture(scope="module")
def client(services):
    return services.start("client")


@pytest.fixture(scope="module")
def server(services):
    return services.start("server")


@pytest.fixture(autouse=True)
def no_session_is_left(client, server, opened, request):
    """Of those that a test opens; the pair that several share stays."""
    yield
    kept = {opened[-1].keys["id"], opened[-1].loaded["id"]} if "pair" in request.fixturenames else set()
    for service in (client, server):
        for session in done(service.http.get("/v1/sessions")):
            if session["id"] not in kept:
                service.http.delete(f"/v1/sessions/{session['id']}")


@pytest.fixture
def pair(client, server, opened):
    """Sessions of both services: those of the tests before, where these did not end."""
    there = {session["id"] for each in (client, server) for session in done(each.http.get("/v1/sessions"))}
    if not opened or not there >= {opened[-1].keys["id"], opened[-1].loaded["id"]}:
        opened.append(Pair.open(client, server, "seal", WORKLOAD))
    return opened[-1]


@pytest.fixture(scope="module")
def opened():
    """Pairs that tests had, the last one last."""
    return []


@pytest.fixture(scope="module")
def stages(client):
    return stages_of(client, WORKLOAD)


# One with each way of having the model and the data; `digits` is executed whole by the test of layers.
EVERYDAY = {
    ("lmc-plain", "seal"),
    ("lmc-encrypted", "seal"),
    ("fast-pir", "seal"),
    ("digits-encrypted", "cleartext"),
}


@pytest.mark.parametrize(
    ("workload", "variant"),
    [
        pytest.param(name, variant, marks=[pytest.mark.extended] * ((name, variant) not in EVERYDAY))
        for name in WHOLE
        for variant in ("seal", "cleartext")
    ],
)
def test_a_whole_workload(client, server, variant, workload):
    options, own = WHOLE[workload]
    pair = Pair.open(client, server, variant, workload, options)
    scored = done(pair.score(pair.evaluated(stages_of(client, workload))))
    assert scored["complaint"] is None
    assert scored["accuracy"]["incorrect_slots"] == 0
    assert own <= {sample["metric"] for sample in scored["samples"]}
    # Only the client knows what encrypts: queries of retrieval are encrypted with the secret key.
    assert pair.loaded["parameters"] == pair.keys["parameters"] | {"encryption": "public key"}


def test_layers_of_the_last_stage(client, server):
    """Executed and compared over REST as in a run; the stage goes on afterwards."""
    pair = Pair.open(client, server, "seal", "digits", {})
    of_keys, of_server = (f"/v1/sessions/{each['id']}/layers" for each in (pair.keys, pair.loaded))
    encrypted = done(pair.encrypt("infer"))
    asked = {"inputs": encrypted["inputs"], "passes": 2, "returns_ends": True}
    assert kind_of(server.http.post(of_server, json=asked)) == "out-of-turn"
    pair.evaluated(["infer"])
    told = done(server.http.post(f"/v1/sessions/{pair.loaded['id']}/describe", json={"stage": "infer"}))
    names = [layer["name"] for layer in told["layers"]]
    assert names == ["convolution", "first square", "dense", "second square", "last"]
    asked["inputs"] = done(pair.encrypt("infer"))["inputs"]
    executed = done(server.http.post(of_server, json=asked))
    assert [(item["metric"], item["step"]) for item in executed["samples"]] == [
        ("layer_time", name) for name in names * 2
    ]
    compared = done(client.http.post(of_keys, json={"ends": executed["ends"], "source": SOURCE}))
    found = {(item["metric"], item["step"]): item["value"] for item in compared["samples"]}
    for name in names:  # as in tests of the command: 1/20 is more than fifteen deviations
        assert 0 < found["layer_error", name] < found["layer_largest", name] / 20
    kinds = [
        kind_of(server.http.post(of_server, json=asked | {"passes": passes})) for passes in (0, 1025, "many")
    ]
    assert kinds == ["invalid"] * 3
    scored = done(pair.score(pair.evaluated(["infer"])))
    assert scored["complaint"] is None
    assert WHOLE["digits"][1] <= {sample["metric"] for sample in scored["samples"]}


@pytest.mark.parametrize("which", ["material", "input", "public", "output"])
def test_blobs_that_were_changed_are_refused(services, pair, stages, which):
    """In whatever way: tests/unit/test_measure_blobs.py."""
    encrypted = done(pair.encrypt(stages[0]))
    outputs = pair.evaluated(stages) if which == "output" else []
    names = {"variant": "seal", "workload": WORKLOAD, "material": pair.keys["material"]}
    blob, ask = {
        "material": (pair.keys["material"], lambda: pair.server.http.post("/v1/sessions", json=names)),
        "input": (encrypted["inputs"][0], lambda: pair.evaluate(stages[0], encrypted)),
        "public": (encrypted["public"], lambda: pair.evaluate(stages[0], encrypted)),
        "output": ((outputs or [None])[0], lambda: pair.score(outputs)),
    }[which]
    path = services.blobs / blob["digest"]
    kept = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    answer = ask()
    path.write_bytes(kept)
    assert (answer.status_code, kind_of(answer)) == (422, "blob-refused")
    assert f"{blob['digest']} is corrupted: its digest is" in answer.json()["detail"]
    assert ask().is_success


def test_blobs_that_are_not_there(pair, stages):
    encrypted = done(pair.encrypt(stages[0]))
    missing = {"digest": "0" * 64, "size_bytes": 7}
    answer = pair.evaluate(stages[0], encrypted | {"inputs": [missing]})
    assert kind_of(answer) == "blob-refused"
    assert "is missing" in answer.json()["detail"]


def test_what_is_no_digest_is_refused(pair, stages):
    encrypted = done(pair.encrypt(stages[0]))
    for digest in (
        "../" * 20 + "etc/passwd",
        "/etc/passwd",
        "A" * 64,
        "0" * 63,
        "0" * 65,
        "0" * 63 + "\n",
        "",
    ):
        answer = pair.evaluate(stages[0], encrypted | {"public": {"digest": digest, "size_bytes": 1}})
        assert (answer.status_code, kind_of(answer)) == (422, "invalid"), digest
        assert "digest" in answer.json()["detail"]


def test_a_blob_that_leads_elsewhere_is_refused(services, pair, stages, tmp_path):
    """A link out of the shared folder is followed by nobody who compares digests."""
    (tmp_path / "secret").write_bytes(b"not for you")
    digest = "1" * 64
    (services.blobs / digest).symlink_to(tmp_path / "secret")
    encrypted = done(pair.encrypt(stages[0]))
    answer = pair.evaluate(stages[0], encrypted | {"inputs": [{"digest": digest, "size_bytes": 11}]})
    assert kind_of(answer) == "blob-refused"
    assert "not for you" not in answer.text


def kept_as_blob(services, data, parts=0):
    """A blob of these bytes, or of so many parts that are these bytes each."""
    written = (len(data).to_bytes(8, "big") + data) * parts if parts else data
    digest = hashlib.sha256(written).hexdigest()
    (services.blobs / digest).write_bytes(written)
    return {"digest": digest, "size_bytes": len(written), "parts": parts}


def test_ciphertexts_of_other_parameters_are_refused(client, server, pair, stages):
    """Their digests are right: the library finds out."""
    foreign = Pair.open(client, server, "seal", "lmc-plain")
    assert foreign.keys["parameters"] != pair.keys["parameters"]
    theirs = done(foreign.encrypt("infer"))["inputs"]
    own = done(pair.encrypt(stages[0]))
    answer = pair.evaluate(stages[0], own | {"inputs": theirs[:1] * len(own["inputs"])})
    assert (answer.status_code, kind_of(answer)) == (422, "library-failed")
    assert answer.json()["trial_status"] == "crashed"
    assert kind_of(pair.score(theirs[:1])) == "library-failed"
    done(pair.evaluate(stages[0], own))


def test_bytes_that_are_no_ciphertext_are_refused(services, pair, stages):
    """By the service where they are not made of parts, else by the library."""
    own = done(pair.encrypt(stages[0]))
    for data in (b"", os.urandom(1000)):
        nonsense = kept_as_blob(services, data)
        ciphertexts = kept_as_blob(services, data, own["inputs"][0]["parts"])
        answer = pair.evaluate(stages[0], own | {"inputs": [ciphertexts]})
        assert (answer.status_code, kind_of(answer)) == (422, "library-failed")
        answer = pair.evaluate(stages[0], own | {"public": nonsense})
        assert (answer.status_code, kind_of(answer)) == (422, "library-failed")
        names = {"variant": "seal", "workload": WORKLOAD, "material": nonsense}
        answer = pair.server.http.post("/v1/sessions", json=names)
        assert answer.status_code == 422
        assert kind_of(answer) in ("library-failed", "blob-refused")  # not made of parts
    done(pair.evaluate(stages[0], own))


def test_material_of_another_variant_is_refused(pair):
    names = {"variant": "cleartext", "workload": WORKLOAD, "material": pair.keys["material"]}
    answer = pair.server.http.post("/v1/sessions", json=names)
    assert (answer.status_code, kind_of(answer)) == (422, "library-failed")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"workload": "nothing"}, "unknown workload 'nothing'; known: "),
        ({"variant": "seel"}, "unknown variant 'seel'; known variants: "),
    ],
)
def test_names_that_nobody_knows(pair, changes, told):
    names = {"variant": "seal", "workload": WORKLOAD, "material": pair.keys["material"]}
    answer = pair.server.http.post("/v1/sessions", json=names | changes)
    assert (answer.status_code, kind_of(answer)) == (422, "invalid")
    assert answer.json()["detail"].startswith(told)
    assert "(in " not in answer.json()["detail"]


def test_metrics_count_sessions_refusals_and_bytes(client, server, pair, stages):
    encrypted = done(pair.encrypt(stages[0]))
    done(pair.evaluate(stages[0], encrypted))
    pair.evaluate(stages[0], encrypted | {"inputs": [{"digest": "0" * 64, "size_bytes": 7}]})
    told = server.http.get("/metrics").text
    assert "ciphermark_sessions 1.0" in told
    assert 'ciphermark_refusals_total{kind="blob-refused"}' in told
    assert 'ciphermark_blob_bytes_total{direction="read"}' in told
    assert 'route="/v1/sessions/{session_id}/evaluate"' in told


def at_the_product(client, server, variant):
    """A pair that is about to multiply for the first time, and what with."""
    pair = Pair.open(client, server, variant, WORKLOAD)
    done(pair.evaluate("train", done(pair.encrypt("train"))))
    return pair, done(pair.encrypt("infer"))


@pytest.fixture
def hanging(services, client):
    """A server, and what has its library never return from a multiplication: a pair, and the request that waits."""
    server = services.start("server")
    with ThreadPoolExecutor(2) as elsewhere:

        def begun():
            pair, encrypted = at_the_product(client, server, "planted-hangs")
            waiting = elsewhere.submit(pair.evaluate, "infer", encrypted)
            wait_until(lambda: done(server.http.get("/v1/sessions"))[0]["is_busy"], "it is evaluated")
            return pair, waiting

        yield server, begun
        server.stop()


def test_a_session_takes_one_request_at_a_time_and_can_be_ended_in_the_middle(hanging):
    server, begun = hanging
    pair, waiting = begun()
    answer = pair.evaluate("infer", {"inputs": [pair.keys["material"]], "public": pair.keys["material"]})
    assert (answer.status_code, kind_of(answer)) == (409, "session-busy")
    (party,) = server.parties()
    assert server.http.delete(f"/v1/sessions/{pair.loaded['id']}").status_code == 204
    answer = waiting.result()
    assert kind_of(answer) == "session-lost"
    assert "its caller ended it" in answer.json()["detail"]
    assert answer.json()["trial_status"] == "cancelled"
    wait_until(lambda: not psutil.pid_exists(party.pid), "the party is gone")


def test_a_party_killed_in_the_middle_is_told_and_a_service_ends_while_a_library_hangs(hanging):
    server, begun = hanging
    _, waiting = begun()
    (party,) = server.parties()
    os.kill(party.pid, signal.SIGKILL)
    answer = waiting.result()
    assert (answer.status_code, kind_of(answer)) == (409, "session-lost")
    assert "SIGKILL" in answer.json()["detail"]
    assert answer.json()["trial_status"] == "crashed"  # the kernel counted nothing that ran out of memory
    assert done(server.http.get("/v1/sessions")) == []
    assert done(server.http.get("/healthz")) == {"alive": True}
    _, waiting = begun()
    parties = server.parties()
    server.terminate()
    server.process.wait(timeout=PATIENCE_S)
    _, alive = psutil.wait_procs(parties, timeout=PATIENCE_S)
    assert alive == []
    waiting.exception()  # it was cut off, or told so


@pytest.mark.extended
def test_a_library_that_takes_too_long(services, client):
    """The time allowed is for whole requests: to start a party, which loads its library, is one of them."""
    server = services.start("server", CIPHERMARK_REQUEST_TIMEOUT_S="60")
    pair, encrypted = at_the_product(client, server, "planted-hangs")
    answer = pair.evaluate("infer", encrypted)
    assert (answer.status_code, kind_of(answer)) == (409, "session-lost")
    assert answer.json()["trial_status"] == "timeout"
    wait_until(lambda: not server.parties(), "the party is gone")


@pytest.mark.parametrize(
    ("variant", "status"),
    [
        pytest.param("planted-segfaults", "crashed", marks=pytest.mark.extended),
        ("planted-eats-memory", "out_of_memory"),
    ],
)
def test_a_library_that_takes_its_process_down(client, server, variant, status):
    pair, encrypted = at_the_product(client, server, variant)
    answer = pair.evaluate("infer", encrypted)
    assert answer.status_code in (409, 422)
    assert answer.json()["trial_status"] == status


def test_phases_come_in_order_and_a_library_that_throws_costs_the_request_alone(client, server, stages):
    assert stages == ["train", "infer"]
    pair = Pair.open(client, server, "planted-throws", WORKLOAD)
    answer = pair.evaluate("infer", done(pair.encrypt("infer")))
    assert (answer.status_code, kind_of(answer)) == (409, "out-of-turn")
    assert "infer needs what train returns" in answer.json()["detail"]
    done(pair.evaluate("train", done(pair.encrypt("train"))))
    encrypted = done(pair.encrypt("infer"))
    for _ in range(2):
        answer = pair.evaluate("infer", encrypted)
        assert (answer.status_code, kind_of(answer)) == (422, "library-failed")
        assert "scale out of bounds" in answer.json()["detail"]


def test_not_ready_without_the_shared_folder(services):
    server = services.start("server", CIPHERMARK_BLOBS=str(services.folder / "elsewhere"))
    assert server.http.get("/readyz").status_code == 200
    shutil.rmtree(services.folder / "elsewhere")
    answer = server.http.get("/readyz")
    assert answer.status_code == 503
    assert "cannot be written" in answer.json()["checks"]["blobs"]


def test_a_full_volume_is_told_and_passes(services, tmp_path):
    asked = {"variant": "cleartext", "workload": WORKLOAD, "options": OPTIONS}
    with mounted(tmp_path / "disk", "64m") as disk:
        client = services.start("client", CIPHERMARK_BLOBS=str(disk))
        filler = filled(disk)
        ready = client.http.get("/readyz")
        assert ready.status_code == 200
        assert "takes nothing more now: No space left" in ready.json()["notes"]["blobs"]
        answer = client.http.post("/v1/sessions", json=asked)
        assert (answer.status_code, kind_of(answer)) == (507, "disk-full")
        assert (
            answer.json()["detail"] == f"a blob could not be written to {disk.name}: No space left on device"
        )
        filler.unlink()
        assert client.http.get("/readyz").json()["notes"] == {"blobs": None}
        assert client.http.post("/v1/sessions", json=asked).status_code == 201


def test_blobs_are_swept_away_when_they_are_old(services, tmp_path):
    old, fresh, foreign = (tmp_path / name for name in ("1" * 64, "2" * 64, "notes.txt"))
    for path in (old, fresh, foreign):
        path.write_bytes(b"x")
    for path in (old, foreign):
        os.utime(path, (0, 0))
    services.start("server", CIPHERMARK_BLOBS=str(tmp_path), CIPHERMARK_BLOB_AGE_S="3600")
    wait_until(lambda: not old.exists(), "the old blob is gone")
    assert fresh.exists()
    assert foreign.exists()


def test_blobs_are_those_of_the_last_pass_and_go_with_their_sessions(services, tmp_path):
    """All variants train the same model in the clear: its blob stays while one session of them does."""
    folder = str(tmp_path / "blobs")
    pairs_of = [services.start(name, CIPHERMARK_BLOBS=folder) for name in ("client", "server")]
    one, other = (Pair.open(*pairs_of, "seal", "lmc-plain", scheme="ckks") for _ in range(2))

    def passed(pair):
        encrypted = done(pair.encrypt("infer"))
        done(pair.score(done(pair.evaluate("infer", encrypted))["outputs"]))
        assert done(pair.evaluate("infer", encrypted))["outputs"]  # the inputs are still there
        return encrypted["public"]["digest"]

    (plain,) = {passed(pair) for pair in (one, other)}
    found = {path.name for path in Path(folder).iterdir()}
    passed(one)
    after = {path.name for path in Path(folder).iterdir()}
    assert len(after) == len(found)
    assert after & found > {plain, one.keys["material"]["digest"]}
    assert after != found
    one.close()
    assert plain in {path.name for path in Path(folder).iterdir()}
    other.close()
    assert list(Path(folder).iterdir()) == []
