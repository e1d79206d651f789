from __future__ import annotations

import dataclasses
import inspect

import pytest
from any_model import any_of, cases
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_core import budget, key_switching, model, run, wire
from ciphermark_measure import protocol

EVERY_TYPE = sorted(
    {
        item
        for module in (budget, model, run, key_switching)
        for _, item in inspect.getmembers(module, dataclasses.is_dataclass)
    },
    key=lambda kind: kind.__name__,
)


def test_types_are_looked_up():
    assert {model.ParameterSpec, model.Outcome, budget.Budget, run.Run} < set(EVERY_TYPE)


@pytest.mark.parametrize("kind", EVERY_TYPE, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_type_survives_the_wire(kind, data):
    value = data.draw(any_of(kind))
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
        b'{"max_abs_error": 1.0, "incorrect_slots": 0}',
        b'{"max_abs_error": "1", "incorrect_slots": 0, "tolerance": 0}',
        b'{"max_abs_error": null, "incorrect_slots": 0, "tolerance": 0}',
        b"\xff\xfe",
        b'{"max_abs_error": 1.0, "incorrect_slots": 0, "tolerance": 0',
    ],
)
def test_what_is_no_value_of_the_type_is_refused(line):
    with pytest.raises(ValueError, match=r".+"):
        wire.from_line(line, model.Accuracy)


def test_an_unknown_status_is_refused():
    good = b'{"trial": %s, "status": "%s", "started_at": "2026-01-01T00:00:00Z", "duration_s": 1}'
    spec = model.ParameterSpec("bfv", 4096)
    case = model.Case("seal", "arithmetic", "add", spec, 4096, "constant")
    trial = wire.to_line(model.Trial("a", "b", case, 0, 1, budget.Budget())).strip()
    assert wire.from_line(good % (trial, b"ok"), model.Outcome).status == "ok"
    with pytest.raises(ValueError, match="Invalid enum value 'fine'"):
        wire.from_line(good % (trial, b"fine"), model.Outcome)


REQUESTS = protocol.Request.__args__
REPLIES = protocol.Reply.__args__


@pytest.mark.parametrize("kind", [*REQUESTS, *REPLIES], ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_message_survives_the_wire(kind, data):
    message = data.draw(any_of(kind))
    line = wire.to_line(message)
    readers = {
        **dict.fromkeys(REQUESTS, protocol.read_request),
        **dict.fromkeys(REPLIES, protocol.read_reply),
    }
    assert readers[kind](line) == message


@pytest.mark.parametrize(
    "line", [b"hello\n", b"\n", b'{"type": "turn"}\n', b'{"type": "nothing"}\n', b"\xff\n"]
)
def test_a_reply_that_is_none_is_refused(line):
    with pytest.raises(ValueError, match=r".+"):
        protocol.read_reply(line)


def test_cases_of_two_variants_differ_in_key_and_share_the_comparison_group():
    spec = model.ParameterSpec("bfv", 4096)
    a = model.Case("seal", "arithmetic", "add", spec, 4096, "constant")
    b = dataclasses.replace(a, variant="tenseal")
    assert a.key != b.key
    assert a.comparison_group == b.comparison_group
    assert a.key == dataclasses.replace(b, variant="seal").key


@given(cases, st.data())
def test_the_key_of_a_case_depends_on_every_field(case, data):
    other = data.draw(cases)
    assert (case.key == other.key) == (case == other)
    assert (case.comparison_group == other.comparison_group) == (
        dataclasses.replace(case, variant="") == dataclasses.replace(other, variant="")
    )
    for field in (
        "experiment",
        "operation",
        "parameters",
        "vector_length",
        "data_pattern",
        "threads",
        "dimensions",
    ):
        changed = dataclasses.replace(case, **{field: getattr(other, field)})
        assert (changed.key == case.key) == (changed == case)


@pytest.mark.parametrize(("scheme", "slots"), [("bfv", 4096), ("bgv", 4096), ("ckks", 2048)])
def test_slots(scheme, slots):
    assert model.ParameterSpec(scheme, 4096).slots == slots
