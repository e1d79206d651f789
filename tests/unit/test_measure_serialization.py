"""Times of serialization: of expanded ciphertexts, and of seeded ones where the library has them."""

from __future__ import annotations

import pytest

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments.base import Setting
from ciphermark_measure.experiments.serialization import Serialization
from ciphermark_measure.session import prepare

SPEC = ParameterSpec("ckks", 4096, (36, 33, 36), scale_bits=33)


@pytest.mark.parametrize("variant", ["seal", "pyfhel"])
def test_seeded_ciphertexts_are_timed_where_they_exist(variant: str) -> None:
    session = prepare(variant, SPEC, KeyRequest.of(relinearization=True))
    trial = Trial(
        "id",
        "run",
        Case(variant, "serialization", "none", SPEC, 2048, "random"),
        0,
        7,
        Budget(min_samples=2, min_time_s=0.0),
    )
    clock = MonotonicClock()
    experiment = Serialization(Setting(session, trial, clock, resolution_ns(clock)))
    experiment.open()
    while not experiment.turn():
        pass
    samples = experiment.close().samples
    seeded = {"dump_seeded", "load_seeded"} if session.declaration.writes_seeded else set()
    assert {sample.stage for sample in samples if sample.metric == "time"} == {"dump", "load"} | seeded
