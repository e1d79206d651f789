"""Probes that a suite asks for: in repetitions of their own, with their overhead, or with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from processes import touch_new_pages

from ciphermark_analysis.stopping import Rule
from ciphermark_contract.interfaces import Bound
from ciphermark_core.metrics import METRICS, Metric
from ciphermark_measure import probes
from ciphermark_measure.clock import MonotonicClock
from ciphermark_measure.probes import base
from ciphermark_measure.probes.allocations import HeapAllocations, ProcessCosts
from ciphermark_measure.profiling import profiled
from ciphermark_measure.sampling import Phase, Target

MIB = 1 << 20


class Work(Bound):
    """Takes 10 ms a loop by its own clock, and half as long again while the probe is on."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, bool]] = []

    def run(self, loops: int) -> int:
        self.calls.append((loops, Slow.is_on))
        return loops * (15_000_000 if Slow.is_on else 10_000_000)

    def results(self) -> list[object]:
        return []


class Slow(base.Probe):
    asked_as = "slow"
    metrics = (
        Metric("uses", "uses", "lower", 1.0, "uses", "Uses.", probe="slow"),
        Metric("slow_overhead", "ratio", "lower", 0.02, "", "", "difference", adds_up=False, probe="slow"),
    )
    spans = frozenset({"profile"})
    region_s = 0.1
    stops_process = True
    repetitions = 3
    is_on = False
    refusal: OSError | None = None

    def start(self) -> None:
        if Slow.refusal is not None:
            raise Slow.refusal
        Slow.is_on = True

    def stop(self) -> dict[str, float]:
        Slow.is_on = False
        return {"uses": 20.0}


class Absent(Slow):
    asked_as = "absent"

    def available(self) -> str | None:
        return "there is no such counter here"


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two more probes that a suite can ask for."""
    known = {**METRICS, **{metric.name: metric for metric in Slow.metrics}}
    monkeypatch.setattr(probes, "PROBES", (*probes.PROBES, Slow, Absent))
    monkeypatch.setattr(probes, "OVERHEADS", probes.OVERHEADS | {"slow": Slow.metrics[1]})
    monkeypatch.setattr("ciphermark_measure.profiling.METRICS", known)
    yield
    Slow.refusal, Slow.is_on = None, False


def phase(*bounds: Bound) -> Phase:
    return Phase("evaluate", bounds, Target(1, Rule(1)), MonotonicClock(), scale=2.0)


def test_a_probe_has_repetitions_of_its_own_and_each_has_one_without_it() -> None:
    works = Work(), Work()
    profile = profiled([phase(*works)], ["slow"])
    uses = [sample for sample in profile.samples if sample.metric == "uses"]
    # 20 uses of 10 executions, for a vector twice as long as what is executed.
    assert [(sample.value, sample.loops, sample.ordinal, sample.phase) for sample in uses] == [
        (4.0, 10, ordinal, "evaluate") for ordinal in range(3)
    ]
    assert [call for work in works for call in work.calls] == [
        (1, False),
        (10, True),
        (10, False),
        (10, True),
        (10, False),
        (10, False),
        (10, True),
    ]
    assert profile.unmeasured == {}


def test_the_overhead_of_a_probe_is_in_its_row() -> None:
    (overhead,) = (s for s in profiled([phase(Work())], ["slow"]).samples if s.metric == "slow_overhead")
    assert overhead.value == pytest.approx(0.5)


def test_what_a_host_lacks_has_a_reason_and_no_value() -> None:
    profile = profiled([phase(Work())], ["absent"])
    assert (profile.samples, profile.unmeasured) == ((), {"absent": "there is no such counter here"})


def test_what_a_kernel_refuses_later_has_a_reason_and_no_value() -> None:
    Slow.refusal = PermissionError(13, "Permission denied")
    profile = profiled([phase(Work())], ["slow"])
    assert (profile.samples, profile.unmeasured) == ((), {"slow": "Permission denied"})


def test_an_experiment_without_loops_has_a_reason() -> None:
    reason = "this experiment times no loop to repeat"
    assert profiled([], ["slow", "absent"]).unmeasured == {"slow": reason, "absent": reason}


def test_only_those_asked_for_are_used() -> None:
    assert {"slow", "absent", "allocations"} <= set(probes.asked())
    meter = probes.Meter("step")
    meter.start()
    assert "minor_faults" not in meter.stop()
    meter = probes.Meter("step", ["allocations"])
    meter.start()
    assert meter.stop()["minor_faults"] >= 0


@pytest.mark.skipif(HeapAllocations().available() is not None, reason="the counter is not built")
def test_heap_allocations_are_those_of_the_span() -> None:
    probe = HeapAllocations()
    for count in (0, 4):
        probe.start()
        arrays = [np.empty(MIB, np.uint8) for _ in range(count)]
        values = probe.stop()
        # The interpreter itself allocates less than half of one of them.
        assert count <= values["heap_allocations"] < count + 100
        assert values["heap_bytes"] // (MIB // 2) == 2 * count
        assert len(arrays) == count


def test_touching_new_pages_is_seen_as_faults_and_as_cpu_time() -> None:
    probe = ProcessCosts()
    probe.start()
    touch_new_pages()
    values = probe.stop()
    assert values["minor_faults"] >= 4  # four huge pages, or 2,048 small ones
    assert values["task_clock"] > 0
