"""The experiment ``chain`` on every adapter: many operations in a row come out right, with primes made for them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec, Scheme, Trial
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments import Findings, Setting
from ciphermark_measure.experiments.repetition import Repetition
from ciphermark_measure.session import Session, prepare

from . import cells

DEPTH = 2
COUNTS = {"add": 20, "sub": 20, "negate": 3, "mul": DEPTH, "square": DEPTH}


@cache
def _session(variant: str, scheme: Scheme) -> Session:
    """A small ring and a modulus chain for :data:`DEPTH` multiplications; TenSEAL insists on security."""
    spec = ParameterSpec(
        scheme,
        8192 if variant == "tenseal" else 2048,
        plain_modulus=None if scheme == "ckks" else 65537,
        scale_bits=35 if scheme == "ckks" else None,
        depth=DEPTH,
        security=128 if variant == "tenseal" else 0,
    )
    return prepare(variant, spec, KeyRequest.of(relinearization=True))


@pytest.fixture
def session(variant: str, scheme: Scheme) -> Session:
    return _session(variant, scheme)


def executed(session: Session, operation: str, seed: int = 5) -> Findings:
    case = Case(
        session.declaration.variant,
        "repetition",
        operation,
        session.parameters.spec,
        16,
        "random",
        dimensions={"repetitions": COUNTS[operation]},
    )
    trial = Trial("t", "r", case, 0, seed, Budget(samples=3, warmups=1, min_time_s=0))
    clock = MonotonicClock()
    experiment = Repetition(Setting(session, trial, clock, resolution_ns(clock)))
    experiment.open()
    while not experiment.turn():
        pass
    return experiment.close()


@cells.each("operation", lambda cell: [name for name in COUNTS if name in cell.managed])
def test_a_chain_comes_out_right(session: Session, scheme: Scheme, operation: str) -> None:
    found = executed(session, operation)
    assert found.accuracy is not None
    assert found.accuracy.wrong_slots == 0, found.error
    assert "differ" not in (found.error or "")
    times = [sample for sample in found.samples if sample.metric == "time"]
    assert len([sample for sample in times if not sample.is_warmup]) >= 3
    assert {(sample.phase, sample.repetitions) for sample in times} == {("operation", COUNTS[operation])}
    cpu = [sample for sample in found.samples if sample.metric == "cpu_time"]
    assert [sample.ordinal for sample in cpu] == [sample.ordinal for sample in times if not sample.is_warmup]
    assert sum(sample.value for sample in cpu) > 0
    if scheme == "ckks":
        (precision,) = [sample.value for sample in found.samples if sample.metric == "precision"]
        assert precision >= 10


@pytest.mark.schemes("bfv", "bgv")
def test_the_budget_at_the_end_is_told_where_the_library_tells_it(session: Session) -> None:
    """In ckks the precision is told instead."""
    found = executed(session, "mul")
    budgets = [sample.value for sample in found.samples if sample.metric == "noise_budget"]
    fresh = session.owner.encrypt(np.ones(4, dtype=np.int64))
    assert len(budgets) == (session.owner.noise_budget_bits(fresh) is not None)
    assert all(budget > 0 for budget in budgets)
