from __future__ import annotations

import os
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from tiny_workload import WORKLOADS, no_data

from ciphermark_core import wire
from ciphermark_core.model import ParameterSpec
from ciphermark_measure.parties import messages
from ciphermark_measure.parties import party as public_arrays
from ciphermark_measure.parties.blobs import Blob, BlobStore
from ciphermark_measure.parties.client import Client
from ciphermark_measure.parties.party import Watch
from ciphermark_measure.parties.server import Server
from ciphermark_measure.protocol import Refused
from ciphermark_workloads.catalogue import WORKLOADS as CATALOGUE

SOURCE = messages.Source(7, "any")


class Pair:
    """A client and a server in this process, with everything that is said between them put through JSON."""

    def __init__(self, folder, variant="seal", workload="tiny", scheme="ckks"):
        self.folder = folder
        self.store = BlobStore(folder)
        self.variant, self.workload = variant, workload
        self.spec = WORKLOADS[workload].parameters(scheme)
        self.client = Client(self.store, WORKLOADS, no_data)
        self.server = Server(self.store, WORKLOADS)

    def ask(self, role, request):
        party = self.client if role == "client" else self.server
        request = messages.read_request[role](wire.to_line(request))
        return messages.read_reply(wire.to_line(party.answer(request)))

    def make_keys(self):
        return self.ask("client", messages.MakeKeys(self.variant, self.workload, self.spec))

    def load(self, material, variant=None):
        return self.ask("server", messages.Load(variant or self.variant, self.workload, material))

    def encrypt(self, stage, source=SOURCE):
        return self.ask("client", messages.Encrypt(stage, source))

    def evaluate(self, stage, sent):
        return self.ask("server", messages.Evaluate(stage, sent.inputs, sent.public))

    def score(self, outputs, source=SOURCE):
        return self.ask("client", messages.Score(outputs, source))

    def prepared(self):
        made = self.make_keys()
        assert isinstance(made, messages.KeysMade), made
        loaded = self.load(made.material)
        assert isinstance(loaded, messages.Loaded), loaded
        return made, loaded

    def passed(self):
        """One pass, of which the last reply is returned."""
        for stage in WORKLOADS[self.workload].server_stages:
            sent = self.encrypt(stage.name)
            back = self.evaluate(stage.name, sent)
            if isinstance(back, Refused):
                return back
        return self.score(back.outputs)


@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
@pytest.mark.parametrize(
    ("variant", "workload"),
    [("seal", workload) for workload in WORKLOADS]
    + [(name, "tiny") for name in ("cleartext", "tenseal", "pyfhel")],
)
def test_two_parties_compute_what_one_would(tmp_path, variant, scheme, workload):
    pair = Pair(tmp_path, variant, workload, scheme)
    made, loaded = pair.prepared()
    assert made.stages == WORKLOADS[workload].stages
    assert made.parameters == loaded.parameters
    assert made.library == loaded.library
    for _ in range(2):
        scored = pair.passed()
        assert isinstance(scored, messages.Scored), scored
        assert scored.complaint is None
        assert scored.accuracy.incorrect_slots == 0
        found = {sample.metric: sample.value for sample in scored.samples if sample.phase == "infer"}
        assert found["agreement"] == 1.0
        assert found["noise_error"] < 1e-4
        assert (found["noise_error"] == 0.0) or scheme == "ckks"


def test_constants_that_are_not_kept_are_encoded_in_every_pass(tmp_path, monkeypatch):
    """The server traces and encodes again, and keeps no vector of them meanwhile."""
    monkeypatch.setattr(type(WORKLOADS["tiny"]), "keeps_constants", False)
    pair = Pair(tmp_path)
    pair.prepared()
    for _ in range(2):
        back = pair.evaluate("train", pair.encrypt("train"))
        assert "train.encode" in [sample.phase for sample in back.samples if sample.metric == "time"]
        ready = pair.server.loaded.ready["train"]
        assert ready.prepared is None
        assert not ready.made.traced.constants
    assert pair.passed().complaint is None


def test_every_step_is_timed(tmp_path):
    pair = Pair(tmp_path)
    made, loaded = pair.prepared()
    sent = pair.encrypt("train")
    back = pair.evaluate("train", sent)
    sent_again = pair.encrypt("infer")
    scored = pair.score(pair.evaluate("infer", sent_again).outputs)

    def phases(reply, metric):
        return [sample.phase for sample in reply.samples if sample.metric == metric]

    assert phases(made, "time") == [f"prepare.{part}" for part in ("load", "keygen", "client", "check")]
    assert phases(loaded, "time") == [
        f"prepare.{part}" for part in ("load", "deserialize", "server", "check")
    ]
    assert phases(sent, "time") == [
        f"train.{part}" for part in ("check", "pack", "encrypt", "serialize", "client")
    ]
    in_every_pass = [f"train.{part}" for part in ("deserialize", "evaluate", "serialize", "server")]
    assert phases(back, "time") == in_every_pass
    assert [s.phase for s in back.once if s.metric == "time"] == ["train.trace", "train.encode"]
    again = pair.evaluate("train", pair.encrypt("train"))  # the program is known by now
    assert (phases(again, "time"), again.once) == (in_every_pass, ())
    assert phases(scored, "time") == [
        f"infer.{part}" for part in ("deserialize", "decrypt", "unpack", "client", "check")
    ]
    for reply in (made, loaded, sent, back, scored):
        assert phases(reply, "time") == phases(reply, "cpu_time")
        assert all(sample.value >= 0 for sample in reply.samples)
    assert phases(sent, "peak_memory") == ["train.client"]
    assert phases(back, "peak_memory") == ["train.server"]
    assert sent.plaintext_bytes == 20 * 5 * 8
    assert sent_again.plaintext_bytes == 5 * 4 * 8


def summed(reply, metric, stage):
    """What a party tells of itself in a stage, and the sum of its steps."""
    values = {sample.phase: sample.value for sample in reply.samples if sample.metric == metric}
    parts = {phase.partition(".")[2]: values[phase] for phase in values if phase.startswith(f"{stage}.")}
    (own,) = (parts.pop(role) for role in ("client", "server") if role in parts)
    parts.pop("check", None)
    return own, sum(parts.values())


def test_a_party_tells_the_sum_of_its_steps(tmp_path):
    pair = Pair(tmp_path)
    made, loaded = pair.prepared()
    sent = pair.encrypt("train")
    back = pair.evaluate("train", sent)
    for reply, stage in ((made, "prepare"), (loaded, "prepare"), (sent, "train"), (back, "train")):
        for metric in ("time", "cpu_time"):
            own, steps = summed(reply, metric, stage)
            assert own == pytest.approx(steps)
            assert own > 0


def test_a_model_in_the_clear_is_trained_in_a_stage_of_its_own_in_every_pass(tmp_path):
    pair = Pair(tmp_path, workload="tiny-plain")
    pair.prepared()
    first, second = pair.encrypt("infer"), pair.encrypt("infer")
    assert first.public == second.public
    for sent in (first, second):
        for metric in ("time", "cpu_time"):
            own, steps = summed(sent, metric, "train")
            assert own == pytest.approx(steps)
        trained = [(s.metric, s.phase) for s in sent.samples if s.phase.startswith("train.")]
        assert trained == [
            *((metric, f"train.{part}") for part in ("fit", "client") for metric in ("time", "cpu_time")),
            ("peak_memory", "train.client"),
        ]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_what_is_judged_by_is_computed_once_and_is_of_no_step(tmp_path, monkeypatch, workload):
    """Where the client is when it asks its workload: everything but packing and training is a check."""
    at, asked = [], []
    timed = Watch.step

    @contextmanager
    def step(watch, name):
        at.append((watch._stage, name))
        with timed(watch, name):
            yield
        at.pop()

    class Watched(type(WORKLOADS[workload])):
        def __getattribute__(self, name):
            if name in {"require_room", "reference", "expected", "public", "vectors", "output", "judge"}:
                asked.append((name, at[-1] if at else None))
            return super().__getattribute__(name)

    monkeypatch.setattr(Watch, "step", step)
    monkeypatch.setitem(WORKLOADS, workload, Watched())
    pair = Pair(tmp_path, "cleartext", workload)
    pair.prepared()
    for _ in range(3):
        assert isinstance(pair.passed(), messages.Scored)
    stages = WORKLOADS[workload].server_stages
    first = stages[0].name
    for name in ("require_room", "expected"):
        assert [place for asked_for, place in asked if asked_for == name] == [(first, "check")]
    training = [("train", "fit")] * 3 if first == "infer" else []
    told = [(first, "check")] * len(stages)
    assert sorted(place for name, place in asked if name == "public") == sorted(told + training)
    assert {place for name, place in asked if name == "reference"} <= {(first, "check"), *training}
    assert {place for name, place in asked if name == "output"} == {("infer", "unpack")}
    assert {place for name, place in asked if name == "judge"} == {("infer", "check")}
    packed = {(stage.name, "pack") for stage in stages}
    assert {place for name, place in asked if name == "vectors"} == packed


def test_encryptions_are_fresh_in_every_pass(tmp_path):
    pair = Pair(tmp_path)
    pair.prepared()
    first, second = pair.encrypt("train"), pair.encrypt("train")
    assert first.public == second.public
    assert not set(first.inputs) & set(second.inputs)


@pytest.mark.parametrize("variant", ["seal", "tenseal", "pyfhel"])
def test_the_secret_key_is_in_no_blob(tmp_path, variant):
    pair = Pair(tmp_path, variant)
    pair.prepared()
    assert isinstance(pair.passed(), messages.Scored)
    owner = pair.client._keys.owner
    mode = "zstd" if variant == "tenseal" else "none"
    secret = owner.dump_key("secret_key", mode)
    windows = [secret[at : at + 64] for at in range(len(secret) // 2, len(secret) - 64, 4096)]
    assert len(windows) > 10
    contents = [path.read_bytes() for path in tmp_path.iterdir()]
    assert contents
    for content in contents:
        assert not any(window in content for window in windows)
    (tmp_path / "leaked").write_bytes(b"some" + secret)  # the search finds what it looks for
    assert all(window in (tmp_path / "leaked").read_bytes() for window in windows)


def test_requests_out_of_order_are_refused(tmp_path):
    pair = Pair(tmp_path)
    assert "OutOfOrder: there are no keys yet" in pair.encrypt("train").error
    nothing = pair.store.put(public_arrays.dump_arrays({}))
    assert "OutOfOrder: there are no keys yet" in pair.score((nothing,)).error
    sent = messages.Encrypted((nothing,), nothing, 0, ())
    assert "OutOfOrder: there is no evaluator yet" in pair.evaluate("train", sent).error
    pair.prepared()
    assert "infer needs what train returns: evaluate that first" in pair.evaluate("infer", sent).error
    plain = Pair(tmp_path, workload="tiny-plain")
    plain.prepared()
    refusal = "tiny-plain has no stage train for the server, only infer"
    assert refusal in plain.evaluate("train", sent).error
    assert refusal in plain.encrypt("train").error
    assert "tiny-plain has no stage nothing for the server" in plain.encrypt("nothing").error


def test_a_party_refuses_what_it_does_not_know(tmp_path):
    pair = Pair(tmp_path)
    pair.workload = "tinny"
    assert (
        "unknown workload 'tinny'; did you mean 'tiny'?; known: tiny, tiny-layers, tiny-plain"
        in pair.make_keys().error
    )
    pair.workload, pair.variant = "tiny", "seel"
    assert "unknown variant 'seel'" in pair.make_keys().error
    with pytest.raises(ValueError, match="Invalid value"):
        messages.read_request["server"](wire.to_line(messages.Encrypt("train", SOURCE)))


def test_too_little_security_is_unsupported(tmp_path):
    pair = Pair(tmp_path)
    pair.spec = ParameterSpec("ckks", 4096, (60, 40, 60), scale_bits=40)
    reply = pair.make_keys()
    assert reply.status == "unsupported"
    assert "write `security: none` to allow it" in reply.error


def test_a_damaged_blob_is_refused(tmp_path):
    pair = Pair(tmp_path)
    pair.prepared()
    sent = pair.encrypt("train")
    path = tmp_path / sent.inputs[0].digest
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    reply = pair.evaluate("train", sent)
    assert (reply.status, "is corrupted" in reply.error) == ("crashed", True)
    os.truncate(path, 100)
    assert "is truncated: 100 bytes of" in pair.evaluate("train", sent).error
    path.unlink()
    assert "is missing" in pair.evaluate("train", sent).error
    traversal = messages.Evaluate("train", (Blob("../../etc/passwd", 5),), sent.public)
    assert "names no blob" in pair.server.answer(traversal).error
    with pytest.raises(ValueError, match="matching regex"):
        messages.read_request["server"](wire.to_line(traversal))


def is_rejected(reply):
    return isinstance(reply, Refused) or reply.complaint is not None


@pytest.mark.parametrize(
    ("scheme", "spec"),
    [("bfv", None), ("ckks", None), ("ckks", ParameterSpec("ckks", 16384, (60, 40, 40, 60), scale_bits=40))],
)
@pytest.mark.parametrize("variant", ["seal", "tenseal", "pyfhel"])
def test_ciphertexts_of_another_key_or_other_parameters_are_never_right(tmp_path, variant, scheme, spec):
    pair, other = Pair(tmp_path, variant, scheme=scheme), Pair(tmp_path, variant, scheme=scheme)
    other.spec = spec or other.spec
    pair.prepared()
    other.prepared()
    reply = pair.evaluate("train", other.encrypt("train"))
    if not isinstance(reply, Refused):
        reply = pair.score(pair.evaluate("infer", pair.encrypt("infer")).outputs)
    assert is_rejected(reply), reply


@pytest.mark.parametrize("variant", ["seal", "tenseal", "pyfhel"])
def test_what_is_no_ciphertext_is_refused(tmp_path, variant):
    pair = Pair(tmp_path, variant)
    made, _ = pair.prepared()
    sent = pair.encrypt("train")
    for data in (b"", b"nonsense" * 100):
        junk = pair.store.put(data)
        reply = pair.evaluate("train", messages.Encrypted((junk, junk), sent.public, 0, ()))
        if not isinstance(reply, Refused):  # nothing at all is a vector of no values to TenSEAL
            reply = pair.evaluate("infer", pair.encrypt("infer"))
            reply = reply if isinstance(reply, Refused) else pair.score(reply.outputs)
        assert is_rejected(reply), reply
        assert isinstance(pair.load(junk), Refused)
    assert isinstance(pair.load(made.material), messages.Loaded)
    assert isinstance(pair.evaluate("train", messages.Encrypted(sent.inputs, junk, 0, ())), Refused)


def test_rows_that_were_swapped_on_the_way_are_wrong(tmp_path):
    pair = Pair(tmp_path)
    pair.prepared()
    train = pair.encrypt("train")
    (rows,) = train.inputs
    swapped = messages.Encrypted(
        (pair.store.put_parts([*pair.store.get_parts(rows)][::-1]),), train.public, 0, ()
    )
    pair.evaluate("train", swapped)
    scored = pair.score(pair.evaluate("infer", pair.encrypt("infer")).outputs)
    assert scored.complaint.startswith("0 of 5 rows agree with the plaintext run of the same algorithm")
    assert scored.accuracy.incorrect_slots == 5


def test_a_spent_noise_budget_is_told(tmp_path):
    pair = Pair(tmp_path, scheme="bfv")
    pair.spec = ParameterSpec("bfv", 4096, (36, 36, 37), plain_modulus=1073692673)
    pair.prepared()
    reply = pair.passed()
    assert (reply.status, reply.error) == (
        "budget_exhausted",
        "no noise budget is left in what the server returned",
    )


finite = st.floats(-1e6, 1e6)


@given(st.dictionaries(st.text(), arrays(np.float64, array_shapes(max_side=4), elements=finite)))
def test_a_plain_model_survives_its_bytes(model):
    again = public_arrays.load_arrays(public_arrays.dump_arrays(model))
    assert set(again) == set(model)
    assert all(np.array_equal(again[name], model[name]) for name in model)
    assert public_arrays.dump_arrays(dict(reversed(model.items()))) == public_arrays.dump_arrays(model)


def test_whoever_gives_an_input_is_told_what_was_found_and_nobody_else(tmp_path):
    workload, store = CATALOGUE["digits"], BlobStore(tmp_path)
    image = workload.input(1, None)
    for given_ in (None, tuple(image.pixels.ravel().tolist())):
        source = messages.Source(1, given=given_)
        client, server = Client(store, CATALOGUE, no_data), Server(store, CATALOGUE)
        made = client.answer(messages.MakeKeys("cleartext", "digits", scheme="ckks", source=source))
        assert isinstance(made, messages.KeysMade), made
        server.answer(messages.Load("cleartext", "digits", made.material))
        sent = client.answer(messages.Encrypt("infer", source))
        back = server.answer(messages.Evaluate("infer", sent.inputs, sent.public))
        scored = client.answer(messages.Score(back.outputs, source))
        assert scored.complaint is None
        if given_ is None:
            assert scored.found is None
            continue
        # Off by the rounding, and by what an error that is no complaint leaves.
        logits = workload.reference(image)
        room = 0.005 + workload.relative_tolerance * max(1.0, np.abs(logits).max())
        assert np.abs(np.array(scored.found) - logits).max() <= room
        assert all(round(value, 2) == value for value in scored.found)


def test_an_input_is_taken_alone_and_where_one_is_taken(tmp_path):
    client = Client(BlobStore(tmp_path), CATALOGUE, no_data)
    source = messages.Source(1, given=(0.5,) * 64)
    client.answer(messages.MakeKeys("cleartext", "digits", scheme="ckks", inputs_per_pass=2))
    assert "inputs_per_pass: 1" in client.answer(messages.Encrypt("infer", source)).error
    client.answer(messages.MakeKeys("cleartext", "fast-pir", scheme="bfv"))
    assert "generates its inputs" in client.answer(messages.Encrypt("answer", source)).error
