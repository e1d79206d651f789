from __future__ import annotations

import pytest

from ciphermark_analysis.stopping import Rule
from ciphermark_contract import bound
from ciphermark_contract.interfaces import PythonBound
from ciphermark_measure.clock import MonotonicClock
from ciphermark_measure.sampling import Phase, Target, make_ready


@pytest.mark.parametrize(
    ("sample_ns", "executed_ns", "is_spared"),
    [
        (1_000_000, 49_999_999, False),
        (1_000_000, 50_000_000, True),
        (20_000_000, 79_999_999, False),
        (20_000_000, 80_000_000, True),
    ],
)
def test_what_fills_a_sample_by_itself_is_not_calibrated(sample_ns, executed_ns, is_spared):
    calls = []
    bounds = [PythonBound(lambda: calls.append(1), [()]) for _ in range(2)]
    phase = Phase("evaluate", bounds, Target(sample_ns, Rule(1)), MonotonicClock())
    make_ready(phase, executed_ns, 3)
    assert len([sample for sample in phase.times if sample.is_warmup]) == 3
    assert (phase.loops == 1) is is_spared
    assert (len(calls) == 3) is is_spared  # the warm-ups alone


class Result:
    """Reports when it is freed."""

    def __init__(self, events):
        self.events = events

    def __del__(self):
        self.events.append("freed")


def test_results_of_several_rows_are_freed_on_the_clock(monkeypatch):
    events = []
    monkeypatch.setattr(bound, "perf_counter_ns", lambda: events.append("clock") or 0)
    several = bound.PythonBound(lambda _: Result(events), [(0,), (1,)])
    several.run(1)
    events.clear()
    several.run(1)
    assert events == ["clock", "freed", "freed", "clock"]
    monkeypatch.undo()
