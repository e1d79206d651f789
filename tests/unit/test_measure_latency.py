"""What looks like a cache must look like one twice."""

from __future__ import annotations

import pytest

from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, ParameterSpec, Trial
from ciphermark_measure.caching import Times
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.experiments.base import Setting
from ciphermark_measure.experiments.latency import Latency
from ciphermark_measure.session import prepare

SPEC = ParameterSpec("bfv", 1024, modulus_bits=(27,), plain_modulus=65537)
CALM = Times(repeated_s=0.01, single_s=0.01, fresh_s=[0.01, 0.01], seen_s=[0.01, 0.01])
STALLED = Times(repeated_s=0.01, single_s=0.01, fresh_s=[0.2, 0.3], seen_s=[0.01, 0.01])


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
    [([CALM, STALLED], "ok", 1), ([STALLED, CALM], "ok", 0), ([STALLED, STALLED], "wrong", 0)],
)
def test_a_suspicion_must_stand_a_second_look(looks, status, left):
    session = prepare("cleartext", SPEC, KeyRequest())
    case = Case("cleartext", "arithmetic", "add", SPEC, 1024, "random")
    trial = Trial("id", "run", case, 0, 7, Budget(samples=3, min_time_s=0.0))
    clock = MonotonicClock()
    experiment = Scripted(Setting(session, trial, clock, resolution_ns(clock)), looks)
    experiment.open()
    while not experiment.turn():
        pass
    assert experiment.close().status == status
    assert len(experiment.looks) == left
