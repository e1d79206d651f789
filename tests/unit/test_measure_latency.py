"""What looks like a cache must go on looking like one; of long vectors as much is executed as tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure import operands
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments import subsampling
from ciphermark_measure.experiments.base import Setting
from ciphermark_measure.experiments.latency import Latency
from ciphermark_measure.interference import cache_detection
from ciphermark_measure.interference.cache_detection import Times
from ciphermark_measure.interference.host_state import Gate
from ciphermark_measure.session import prepare

CKKS = ParameterSpec("ckks", 4096, (39, 30, 39), None, 30)
SPEC = ParameterSpec("bfv", 1024, modulus_bits=(27,), plain_modulus=65537)
CALM = Times(repeated_s=0.01, single_s=0.01, fresh_s=[0.01, 0.01], seen_s=[0.01, 0.01])
STALLED = Times(repeated_s=0.01, single_s=0.01, fresh_s=[0.2, 0.3], seen_s=[0.01, 0.01])
SINGLE = Times(repeated_s=0.01, single_s=0.2, fresh_s=[0.01, 0.01], seen_s=[0.01, 0.01])


def a_session(spec=SPEC):
    return prepare("cleartext", spec, KeyRequest.of(relinearization=True))


def a_case(operation="add", spec=SPEC, size=1024):
    return Case("cleartext", "arithmetic", operation, spec, size, "random")


def setting(session, case, min_time_s=0.0, **known):
    trial, clock = (
        Trial("id", "run", case, 0, 7, Budget(min_samples=3, min_time_s=min_time_s)),
        MonotonicClock(),
    )
    return Setting(session, trial, clock, resolution_ns(clock), **known)


def finished(experiment):
    experiment.open()
    while not experiment.turn():
        pass
    return experiment.close()


class Scripted(Latency):
    """Finds the times that it is told."""

    def __init__(self, setting, looks):
        super().__init__(setting)
        self.looks = list(looks)

    def _times_of_fresh(self, first):
        assert super()._times_of_fresh(first) is not None
        return self.looks.pop(0)


@pytest.mark.parametrize(
    ("looks", "status", "left"),
    [
        ([CALM, STALLED], "ok", 1),
        ([STALLED, CALM], "ok", 0),
        ([STALLED, STALLED, SINGLE, CALM], "ok", 1),  # each of both stalls was seen to be one
        ([STALLED] * 6, "incorrect", 0),
    ],
)
def test_a_suspicion_must_stand_all_looks_taken_together(monkeypatch, looks, status, left):
    now_s = iter(
        range(0, 20, 2)
    )  # two seconds a look, so that the host's load does not change how many there are
    monkeypatch.setattr(cache_detection, "monotonic", lambda: next(now_s))
    monkeypatch.setattr(cache_detection, "sleep", lambda pause_s: None)
    experiment = Scripted(setting(a_session(), a_case()), looks)
    assert finished(experiment).status == status
    assert len(experiment.looks) == left


class SlowHost(Gate):
    """Says of every sample that it took a thousand times as long as on an undisturbed host."""

    def slowdowns(self, arounds):
        return [1000.0] * len(arounds)


def test_times_that_are_corrected_for_a_slow_host_make_nothing_look_cached(monkeypatch):
    """One execution alone is not corrected: it takes about a thousand times as long as one of a sample."""
    monkeypatch.setattr(cache_detection, "_LOOKING_S", 0.0)
    case = a_case("mul", CKKS, 8 * 2048)  # long enough to tell calls from executions
    experiment = Latency(setting(a_session(CKKS), case, min_time_s=0.15, gate=SlowHost()))
    findings = finished(experiment)
    assert findings.facts["loops_evaluate"] > 1
    assert (findings.status, findings.error) == ("ok", None)


@pytest.mark.parametrize(("now_s", "is_cached"), [(4e-3, False), (3e-6, True)])
def test_what_looks_cached_is_repeated_beside_what_it_is_compared_with(now_s, is_cached):
    experiment = Latency(setting(a_session(), a_case()))
    experiment.facts["sampling_s"] = 0.0
    pairs = [cache_detection.Pair(4e-3, 4e-3, 4e-3, 4e-3)] * 2
    times = experiment.times(2e-6, 4e-3, pairs, lambda: now_s)
    assert (cache_detection.suspicion(times) is not None) == is_cached
    assert times.repeated_s == now_s


ROW_BYTES = 3 * 2 * 8 * 1024  # two operands and a result of one prime


def measured(monkeypatch, size, caches, operation="add"):
    """The finished trial of a vector on a host with such caches, with the experiment."""
    monkeypatch.setattr(host, "caches", lambda: caches)
    experiment = Latency(setting(a_session(), a_case(operation, SPEC, size)))
    return experiment, finished(experiment)


@pytest.mark.parametrize(
    ("size", "caches", "executed"),
    [
        (1024, {"L2": ROW_BYTES}, 1),
        (10 * 1024, {"L2": 5 * ROW_BYTES - 1}, 5),
        (10 * 1024, {"L2": 5 * ROW_BYTES}, 6),
        (10 * 1024 - 1, {"L2": 50 * ROW_BYTES}, 10),
        (10 * 1024, {}, 10),
    ],
)
def test_of_a_long_vector_as_much_is_executed_as_tells(monkeypatch, size, caches, executed):
    monkeypatch.setattr(subsampling, "is_computing", lambda row_bytes, row_ns: False)
    experiment, findings = measured(monkeypatch, size, caches)
    assert findings.status == "ok"
    assert findings.facts["executed_ciphertexts"] == executed
    assert {len(item.rows) for item in experiment._sets} == {executed}
    whole, client = -(-size // 1024), min(executed, 4)
    assert len({vector.tobytes() for vector in experiment._sets[0].vectors[:-1]}) <= operands.DISTINCT
    scales = {phase.name: phase.scale for phase in experiment.phases}
    assert scales == {"encrypt": whole / client, "evaluate": whole / executed, "decrypt": whole / client}


def test_of_what_computes_for_long_a_few_ciphertexts_tell(monkeypatch):
    monkeypatch.setattr(subsampling, "is_computing", lambda row_bytes, row_ns: row_ns > 0)
    experiment, findings = measured(monkeypatch, 10 * 1024, {"L2": 6 * ROW_BYTES})
    assert findings.facts["executed_ciphertexts"] == 2
    assert {phase.scale for phase in experiment.phases} == {5.0}


def test_encryption_and_decryption_are_told_once_for_a_vector_and_a_form():
    session = a_session(CKKS)
    phases = []
    for name, size in (("add", 512), ("sub", 512), ("mul", 512), ("add", 512), ("add", 256)):
        phases.append({sample.phase for sample in _of(_findings(session, name, size), "time")})
    whole = {"encrypt", "evaluate", "decrypt"}
    # A product has three polynomials, and so a decryption of its own.
    assert phases == [whole, {"evaluate"}, {"evaluate", "decrypt"}, {"evaluate"}, whole]


def test_only_a_decryption_that_is_timed_takes_results_of_its_own(monkeypatch):
    session = prepare("cleartext", CKKS, KeyRequest.of(relinearization=True))
    load, loaded = session.owner.load, []
    monkeypatch.setattr(session.owner, "load", lambda data: loaded.append(data) or load(data))
    counts = []
    for name in ("add", "sub"):
        loaded.clear()
        assert _findings(session, name).status == "ok"
        counts.append(len(loaded))
    timed, already_timed = counts
    assert timed == already_timed + 3  # one for each set of operands


def test_what_comes_out_wrong_tells_no_encryption(monkeypatch):
    session = a_session(CKKS)
    with monkeypatch.context() as patch:
        patch.setattr(session.owner, "decrypt", lambda ciphertext: np.zeros(CKKS.slots))
        assert _findings(session, "add").status == "incorrect"
    assert {sample.phase for sample in _of(_findings(session, "add"), "time")} == {
        "encrypt",
        "evaluate",
        "decrypt",
    }


def test_a_part_that_comes_out_wrong_is_found(monkeypatch):
    """The check after the last sample compares what was executed, of every phase."""
    right = operands.build

    def wrong(session, case, seed, index, most=None):
        made = right(session, case, seed, index, most)
        return made if index < 2 else replace(made, expected=[vector + 1 for vector in made.expected])

    monkeypatch.setattr(operands, "build", wrong)
    _, findings = measured(monkeypatch, 10 * 1024, {"L2": 5 * ROW_BYTES})
    assert findings.status != "ok"


def test_operations_share_encryptions_and_no_objects(monkeypatch):
    session = a_session()
    cases = [a_case(name, SPEC, 3000) for name in ("add", "mul")]
    encrypted = []
    right = session.owner.encrypt
    monkeypatch.setattr(session.owner, "encrypt", lambda vector: encrypted.append(1) or right(vector))
    first, second = (operands.build(session, case, 7, 0) for case in cases)
    assert len(encrypted) == 6  # two operands of three ciphertexts, once
    assert all(x[0] is not y[0] for x, y in zip(first.rows, second.rows, strict=True))


def _findings(session, operation, size=512):
    return finished(Latency(setting(session, a_case(operation, CKKS, size))))


def _of(findings, metric):
    return [sample for sample in findings.samples if sample.metric == metric]


def test_the_first_execution_in_a_process_is_told_once_and_apart():
    session = a_session(CKKS)
    first, again, other = (_findings(session, name) for name in ("add", "add", "negate"))
    (cold,) = _of(first, "cold_time")
    assert cold.value > 0
    assert (cold.phase, cold.is_warmup) == ("evaluate", False)
    assert _of(again, "cold_time") == []
    assert len(_of(other, "cold_time")) == 1
    assert all(sample.value > 0 for sample in _of(first, "time"))


def test_what_made_operands_before_is_not_cold():
    session = a_session(CKKS)
    assert len(_of(_findings(session, "relinearize"), "cold_time")) == 1
    assert _of(_findings(session, "mul"), "cold_time") == []
    assert len(_of(_findings(session, "rescale"), "cold_time")) == 1
    assert _of(_findings(session, "mul_plain"), "cold_time") == []
    assert _of(_findings(session, "encode"), "cold_time") == []


def test_each_execution_on_fresh_operands_is_told():
    found = _of(_findings(a_session(CKKS), "add"), "first_touch_time")
    assert [sample.ordinal for sample in found] == list(range(len(found)))
    assert len(found) >= 2
    assert all(sample.value > 0 for sample in found)


def test_operands_are_brought_to_the_level_of_the_case() -> None:
    spec = ParameterSpec("ckks", 4096, (36, 30, 30), None, 30)
    session = a_session(spec)
    for operation in ("add", "mul_plain", "rescale"):
        case = replace(a_case(operation, spec, 2048), dimensions={"level": 1})
        (row,) = operands.build(session, case, 7, 0).rows
        assert session.evaluator.level(row[0]) == 1
    low = replace(a_case("add", spec, 2048), dimensions={"level": 0})
    assert finished(Latency(setting(session, low))).status == "ok"
    with pytest.raises(Unsupported, match="no level 2"):
        Latency(setting(session, replace(low, dimensions={"level": 2}))).open()


def test_an_encoding_is_checked_at_a_level_without_room_for_a_product() -> None:
    spec = ParameterSpec("ckks", 4096, (36, 30, 30), None, 30)
    case = replace(a_case("encode_at_level", spec, 2048), dimensions={"level": 0})
    assert finished(Latency(setting(a_session(spec), case))).status == "ok"
