"""Streamed operands are read from memory: a pool that exceeds the caches, and no operand twice in a sample."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from ciphermark_contract import checking
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_contract.operations import OPERATIONS, read
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure import operands, residency
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments.base import Setting
from ciphermark_measure.experiments.latency import Latency
from ciphermark_measure.session import Copies, prepare

CKKS = ParameterSpec("ckks", 1024, (36, 30, 30), None, 30, security=0)
BFV = ParameterSpec("bfv", 1024, (30, 30, 30), plain_modulus=65537, security=0)
KEYS = KeyRequest.of(relinearization=True, rotations=(1,))
CACHES = {"L1d": 1 << 14, "L2": 1 << 18}
WORD = 8 * 1024


@pytest.fixture(scope="module")
def session():
    return prepare("cleartext", CKKS, KEYS)


def case(operation, spec=CKKS, **dimensions):
    return Case("cleartext", "arithmetic", operation, spec, spec.slots, "random", dimensions=dimensions)


@pytest.mark.parametrize(
    ("operation", "spec", "level", "words"),
    [
        ("add", CKKS, 1, 3 * 2 * 2),  # three ciphertexts of two polynomials and two primes
        ("add", CKKS, 0, 3 * 2),
        ("add_plain", CKKS, 1, 2 * 2 * 2 + 2),
        ("add_plain", BFV, 1, 2 * 2 * 2 + 1),  # a plaintext modulo t
        ("mul", CKKS, 1, (2 * 2 + 3) * 2),
        ("relinearize", CKKS, 1, (3 + 2) * 2),
        ("rescale", CKKS, 1, 2 * 2 + 2),  # the result has one prime less
        ("add_many(8)", CKKS, 1, 9 * 2 * 2),
        ("rotate_hoisted(1, 2)", CKKS, 1, 3 * 2 * 2),
        ("encode", CKKS, 1, 0.5 + 2),  # half as many values as coefficients
    ],
)
def test_a_row_has_the_bytes_of_operands_and_results(operation, spec, level, words) -> None:
    parameters = prepare("cleartext", spec, KeyRequest.of()).parameters
    pool = residency.pool_of(read(operation), parameters, level, CACHES)
    assert pool.row_bytes == words * WORD
    assert pool.size - pool.row_bytes < 4 * CACHES["L2"] <= pool.size


def test_a_pool_that_does_not_fit_half_of_the_memory_is_refused_with_its_bytes() -> None:
    pool = residency.Pool(rows=1 << 10, row_bytes=1 << 20)
    assert pool.reason_against(2048) is None
    assert "pool of 1,073,741,824 bytes" in pool.reason_against(2047)


@pytest.mark.parametrize(
    "operation", ["add", "add_plain", "relinearize", "rescale", "mul_scalar(3)", "add_many(3)"]
)
def test_streamed_rows_are_correct_and_share_nothing(session, operation) -> None:
    at = case(operation, level=1)
    first = operands.build(session, at, 7, 0)
    rows = operands.streamed(session, at, 7, first, 5)
    handles = [id(handle) for row in rows for handle in row if not isinstance(handle, int)]
    assert len(set(handles)) == len(handles)
    for row in rows:
        result = operands.revealed(session, at, [session.evaluator.apply(read(operation).name, *row)])
        accuracy = checking.accuracy(
            session.decrypted(result),
            first.expected,
            checking.tolerance(session.parameters, 3, OPERATIONS[read(operation).name]),
        )
        assert checking.is_right(accuracy)


def test_copies_are_shared_within_a_group() -> None:
    copies = Copies()
    numbers = iter(range(100))
    first = list(islice(copies.of("level 1", "a", lambda: next(numbers)), 3))
    again = list(islice(copies.of("level 1", "a", lambda: next(numbers)), 4))
    assert (first, again) == ([0, 1, 2], [0, 1, 2, 3])
    assert list(islice(copies.of("level 0", "a", lambda: next(numbers)), 1)) == [4]
    assert list(islice(copies.of("level 1", "a", lambda: next(numbers)), 1)) == [5]


def finished(session, at, **budget):
    trial, clock = Trial("id", "run", at, 0, 7, Budget(**budget)), MonotonicClock()
    experiment = Latency(Setting(session, trial, clock, resolution_ns(clock)))
    experiment.open()
    while not experiment.turn():
        pass
    return experiment, experiment.close()


@pytest.mark.parametrize("operation", ["add", "mul_plain", "rotate(1)"])
def test_samples_of_streamed_operands_take_turns_through_the_pool(session, operation, monkeypatch) -> None:
    monkeypatch.setattr(host, "caches", lambda: CACHES)
    at = case(operation, level=1, residency="streamed")
    experiment, findings = finished(session, at, min_samples=5, min_time_s=0.0)
    (phase,) = (phase for phase in experiment.phases if phase.name == "evaluate")
    assert findings.status == "ok"
    pool = residency.pool_of(read(operation), session.parameters, 1, CACHES)
    assert findings.facts["pool_bytes"] == pool.size
    assert len(phase.bounds) == pool.rows // round(1 / phase.scale)
    assert phase.loops == 1


def test_cached_operands_are_one_set(session) -> None:
    experiment, findings = finished(session, case("add", residency="cached"), min_samples=3, min_time_s=0.0)
    assert findings.status == "ok"
    assert [len(phase.bounds) for phase in experiment.phases if phase.name == "evaluate"] == [1]


@pytest.mark.parametrize(
    ("caches", "changes", "reason"),
    [
        ({}, {}, "does not report its caches"),
        ({"L3": 1 << 40}, {}, "need a pool of"),
        (CACHES, {"vector_length": 4096}, "vectors of one ciphertext"),
    ],
)
def test_a_pool_that_cannot_be_is_refused(session, monkeypatch, caches, changes, reason) -> None:
    monkeypatch.setattr(host, "caches", lambda: caches)
    with pytest.raises(Unsupported, match=reason):
        finished(session, replace(case("add", residency="streamed"), **changes))
