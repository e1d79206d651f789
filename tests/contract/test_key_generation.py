"""Keys that are made by themselves: each takes its time, and the owner's own keys stay what they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_contract.declaration import GENERATED
from ciphermark_contract.interfaces import KeyRequest, Unsupported
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, Trial
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments import KINDS, Setting
from ciphermark_measure.session import prepare

from . import examples
from .checks.values import right
from .harness import Subject


@pytest.mark.parametrize("item", GENERATED)
def test_what_is_declared_is_generated_and_nothing_else(subject: Subject, item: str) -> None:
    if item not in subject.declared.generates:
        assert subject.declared.reason_against_generating(item)
        with pytest.raises(Unsupported):
            subject.owner.bind_key_generation(item)
        return
    bound = subject.owner.bind_key_generation(item)
    assert bound.run(1) > 0
    assert bound.run(2) > 0
    assert [result for result in bound.results() if result is not None] == []
    values = subject.vector(0)
    right(subject, subject.encrypted(values), values)
    for operation in subject.able(["relinearize", "rotate"]):
        example = examples.primitive(subject, operation, 0)
        result = subject.evaluator.apply(operation, *example.row)
        right(subject, result, example.expected[0], operations=4)


def test_a_rotation_beyond_the_row_costs_no_other_its_key(subject: Subject) -> None:
    if not subject.able(["rotate"]):
        return
    row = subject.parameters.ring_dimension // 2
    spec = replace(subject.parameters.spec, security=0)
    session = prepare(subject.declared.variant, spec, KeyRequest.of(rotations=(1, row)))
    session.require_possible("rotate(1)")
    with pytest.raises(Unsupported, match=f"rows have {row} slots"):
        session.require_possible(f"rotate({row})")


def test_a_key_that_nobody_knows_is_refused(subject: Subject) -> None:
    with pytest.raises(Unsupported):
        subject.owner.bind_key_generation("no_such_key")


@pytest.mark.parametrize("item", GENERATED)
def test_the_experiment_tells_its_time(subject: Subject, item: str) -> None:
    kind = KINDS["key_generation"]
    spec = replace(subject.parameters.spec, security=0)
    case = Case(subject.declared.variant, kind.name, item, spec, subject.parameters.slots, "random")
    reason = kind.reason(case, subject.declared)
    if item not in subject.declared.generates:
        assert reason
        return
    assert reason is None
    session = prepare(case.variant, spec, kind.experiment.keys(case))
    clock = MonotonicClock()
    trial = Trial("id", "run", case, 0, 7, Budget(min_samples=3, min_time_s=0.0, warmups=1))
    experiment = kind.experiment(Setting(session, trial, clock, resolution_ns(clock)))
    experiment.open()
    while not experiment.turn():
        pass
    found = experiment.close()
    assert found.status == "ok", found.error
    times = [sample for sample in found.samples if sample.metric == "time"]
    # More are taken where garbage collections of the library fall into them.
    assert len([sample for sample in times if not sample.is_warmup]) >= 3
    assert {sample.phase for sample in times} == {"evaluate"}
    assert all(sample.value > 0 for sample in times)
