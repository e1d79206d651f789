from __future__ import annotations

import dataclasses
import inspect

import any_model as strategies
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_contract.keys import KeyRequest
from ciphermark_core import budget, key_switching, model, run, wire
from ciphermark_measure import protocol

EVERY_TYPE = {
    model.ParameterSpec: strategies.specs,
    key_switching.KeySwitching: strategies.switchings,
    model.Parameters: strategies.parameters,
    model.LibraryInfo: strategies.libraries,
    budget.Budget: strategies.budgets,
    model.Case: strategies.cases,
    model.Trial: strategies.trials,
    model.Sample: strategies.samples,
    model.Accuracy: strategies.accuracies,
    model.BootstrappingParameters: strategies.bootstrapping_parameters,
    model.Bootstrapping: strategies.bootstrappings,
    model.OperationCount: strategies.counts,
    model.LayerFacts: strategies.layers,
    model.ProgramUse: strategies.uses,
    model.Outcome: strategies.outcomes,
    run.Host: strategies.hosts,
    run.Run: strategies.runs,
}


def test_no_type_is_forgotten():
    defined = {
        item
        for module in (budget, model, run, key_switching)
        for _, item in inspect.getmembers(module, dataclasses.is_dataclass)
    }
    assert defined == set(EVERY_TYPE)


@pytest.mark.parametrize("kind", EVERY_TYPE, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_type_survives_the_wire(kind, data):
    value = data.draw(EVERY_TYPE[kind])
    line = wire.to_line(value)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert wire.from_line(line, kind) == value


@pytest.mark.parametrize("kind", EVERY_TYPE, ids=lambda kind: kind.__name__)
def test_the_types_are_frozen(kind):
    name = dataclasses.fields(kind)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(kind.__new__(kind), name, 1)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{",
        b"[]",
        b"null",
        b'{"max_abs_error": 1.0, "wrong_slots": 0}',
        b'{"max_abs_error": "1", "wrong_slots": 0, "tolerance": 0}',
        b'{"max_abs_error": null, "wrong_slots": 0, "tolerance": 0}',
        b"\xff\xfe",
        b'{"max_abs_error": 1.0, "wrong_slots": 0, "tolerance": 0',
    ],
)
def test_what_is_no_value_of_the_type_is_refused(line):
    with pytest.raises(ValueError, match=r".+"):
        wire.from_line(line, model.Accuracy)


def test_an_unknown_status_is_refused():
    good = b'{"trial": %s, "status": "%s", "started_at": "", "duration_s": 1}'
    spec = model.ParameterSpec("bfv", 4096)
    case = model.Case("seal", "arithmetic", "add", spec, 4096, "same")
    trial = wire.to_line(model.Trial("a", "b", case, 0, 1, budget.Budget())).strip()
    assert wire.from_line(good % (trial, b"ok"), model.Outcome).status == "ok"
    with pytest.raises(ValueError, match="Invalid enum value 'fine'"):
        wire.from_line(good % (trial, b"fine"), model.Outcome)


NUMBERS = st.lists(st.integers(-9, 9), max_size=3).map(tuple)
KEYS = st.builds(KeyRequest.of, st.booleans(), NUMBERS, NUMBERS, st.booleans(), st.booleans())
PREPARE = st.builds(protocol.Prepare, variant=strategies.texts, parameters=strategies.specs, keys=KEYS)
EVERY_MESSAGE = {
    protocol.Prepare: PREPARE,
    protocol.Branch: st.builds(protocol.Branch, preparation=PREPARE),
    protocol.Join: st.builds(protocol.Join),
    protocol.Open: st.builds(protocol.Open, trial=strategies.trials),
    protocol.Turn: st.builds(protocol.Turn),
    protocol.Close: st.builds(protocol.Close),
    protocol.Footprint: st.builds(
        protocol.Footprint,
        trial=strategies.trials,
        keys=KEYS,
    ),
    protocol.Memory: st.builds(protocol.Memory, trial=strategies.trials),
    protocol.Hello: st.builds(
        protocol.Hello,
        version=strategies.sizes,
        python=strategies.texts,
        monotonic_ns=strategies.sizes,
        is_pinned=st.booleans(),
    ),
    protocol.Prepared: st.builds(
        protocol.Prepared,
        library=strategies.libraries,
        parameters=strategies.parameters,
        facts=st.dictionaries(strategies.texts, strategies.numbers, max_size=2),
    ),
    protocol.Branched: st.builds(
        protocol.Branched,
        samples=st.lists(strategies.samples, max_size=2).map(tuple),
        forks=st.booleans(),
    ),
    protocol.Joined: st.builds(protocol.Joined),
    protocol.Refused: st.builds(
        protocol.Refused, status=st.sampled_from(model.Status.__args__), error=strategies.texts
    ),
    protocol.Turned: st.builds(protocol.Turned, is_done=st.booleans()),
    protocol.Closed: st.builds(protocol.Closed, outcome=strategies.outcomes, monotonic_ns=strategies.sizes),
    protocol.Peaks: st.builds(protocol.Peaks, samples=st.lists(strategies.samples, max_size=3).map(tuple)),
}
REQUESTS = protocol.Request.__args__
REPLIES = protocol.Reply.__args__


@pytest.mark.parametrize("kind", EVERY_MESSAGE, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_message_survives_the_wire(kind, data):
    message = data.draw(EVERY_MESSAGE[kind])
    line = wire.to_line(message)
    readers = {
        **dict.fromkeys(REQUESTS, protocol.read_request),
        **dict.fromkeys(REPLIES, protocol.read_reply),
    }
    assert readers[kind](line) == message


def test_no_message_is_forgotten():
    assert set(EVERY_MESSAGE) == {*REQUESTS, *REPLIES}


@pytest.mark.parametrize(
    "line", [b"hello\n", b"\n", b'{"type": "turn"}\n', b'{"type": "nothing"}\n', b"\xff\n"]
)
def test_a_reply_that_is_none_is_refused(line):
    with pytest.raises(ValueError, match=r".+"):
        protocol.read_reply(line)


def test_cases_of_two_variants_differ_in_key_and_share_the_comparison_key():
    spec = model.ParameterSpec("bfv", 4096)
    a = model.Case("seal", "arithmetic", "add", spec, 4096, "same")
    b = dataclasses.replace(a, variant="tenseal")
    assert a.key != b.key
    assert a.comparison_key == b.comparison_key
    assert a.key == dataclasses.replace(b, variant="seal").key


@given(strategies.cases, st.data())
def test_the_key_of_a_case_depends_on_every_field(case, data):
    other = data.draw(strategies.cases)
    assert (case.key == other.key) == (case == other)
    assert (case.comparison_key == other.comparison_key) == (
        dataclasses.replace(case, variant="") == dataclasses.replace(other, variant="")
    )
    for field in ("experiment", "operation", "parameters", "size", "data_pattern", "threads", "dimensions"):
        changed = dataclasses.replace(case, **{field: getattr(other, field)})
        assert (changed.key == case.key) == (changed == case)


@pytest.mark.parametrize(("scheme", "slots"), [("bfv", 4096), ("bgv", 4096), ("ckks", 2048)])
def test_slots(scheme, slots):
    assert model.ParameterSpec(scheme, 4096).slots == slots
