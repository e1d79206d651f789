"""The experiment ``chain`` on every adapter: many consecutive operations come out right, with primes made for them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core import chains
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


def executed(session: Session, operation: str, seed: int = 5, count: int | None = None) -> Findings:
    case = Case(
        session.declaration.variant,
        "repetition",
        operation,
        session.parameters.spec,
        16,
        "random",
        dimensions={"repetitions": count or COUNTS[operation]},
    )
    trial = Trial("t", "r", case, 0, seed, Budget(min_samples=3, warmups=1, min_time_s=0))
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
    assert found.accuracy.incorrect_slots == 0, found.error
    assert "differ" not in (found.error or "")
    times = [sample for sample in found.samples if sample.metric == "time"]
    assert len([sample for sample in times if not sample.is_warmup]) >= 3
    assert {(sample.phase, sample.repetitions) for sample in times} == {("evaluate", COUNTS[operation])}
    cpu = [sample for sample in found.samples if sample.metric == "cpu_time"]
    assert [sample.ordinal for sample in cpu] == [sample.ordinal for sample in times if not sample.is_warmup]
    assert sum(sample.value for sample in cpu) > 0
    if scheme == "ckks":
        (precision,) = [sample.value for sample in found.samples if sample.metric == "precision"]
        assert precision >= 10


# What `for-depth` makes for one product modulo 20 bits at N = 4096, and `suite new` for one with 12 bits of precision:
# the shortest chains that there are. In bfv and bgv one of 10^12 decryptions may be wrong: see ciphermark_core.chains.
# In ckks the largest error is that of rounding the third polynomial, 2^15.1·E·|Z| by the scale (see
# ciphermark_contract.noise_bound): to be above 2^-10, E·|Z| has to be above 119, exp(-36) in each of 2048 slots.
_SHORTEST = {
    "bfv": ParameterSpec("bfv", 4096, plain_modulus=786433, depth=1),
    "bgv": ParameterSpec("bgv", 4096, plain_modulus=786433, depth=1),
    "ckks": ParameterSpec("ckks", 4096, (36, 32, 36), scale_bits=32),
}


def test_the_shortest_chain_comes_out_right(variant: str, scheme: Scheme) -> None:
    """Of chains that Ciphermark makes, the budget at the end is about what plans foretell."""
    spec = replace(_SHORTEST[scheme], security=0 if variant != "tenseal" else 128)
    session = prepare(variant, spec, KeyRequest.of(relinearization=True))
    found = executed(session, "mul", count=1)
    assert found.accuracy is not None
    assert found.accuracy.incorrect_slots == 0, found.error
    budgets = [sample.value for sample in found.samples if sample.metric == "noise_budget"]
    if budgets and variant.startswith("seal"):
        foretold = chains.expected_budget_bits(spec, chains.chain_for_depth(spec))
        # SEAL divides the noise of fresh encryptions by its special prime, so that it keeps up to 4 bits more. Keys and
        # ciphertexts differ by less than a bit of noise, and the budget is in whole bits.
        assert -2 < min(budgets) - foretold < 6


@pytest.mark.schemes("bfv", "bgv")
def test_the_budget_at_the_end_is_told_where_the_library_tells_it(session: Session) -> None:
    """In ckks the precision is told instead."""
    found = executed(session, "mul")
    budgets = [sample.value for sample in found.samples if sample.metric == "noise_budget"]
    fresh = session.owner.encrypt(np.ones(4, dtype=np.int64))
    assert len(budgets) == (session.owner.noise_budget_bits(fresh) is not None)
    assert all(budget > 0 for budget in budgets)
