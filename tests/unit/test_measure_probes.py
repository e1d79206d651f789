"""Probes: found as files of their folder, started and stopped together, and told why where they cannot be used."""

from __future__ import annotations

import mmap

import pytest

from ciphermark_core.metrics import METRICS, Metric
from ciphermark_measure import probes
from ciphermark_measure.parties.party import Steps, Watch
from ciphermark_measure.probes import base
from ciphermark_measure.probes.peak_memory import PeakMemory
from ciphermark_measure.probes.times import CpuTime, WallTime

MIB = 1 << 20
peak_is_known = pytest.mark.skipif(
    "peak_memory" in probes.unavailable(), reason=probes.unavailable().get("peak_memory", "")
)


class Counting(base.Probe):
    """Counts its own uses, in two metrics: one that adds up and one that does not."""

    metrics = (
        Metric("uses", "uses", "lower", 1.0, "uses", "Uses."),
        Metric("max_uses", "uses", "lower", 1.0, "most", "Most.", adds_up=False),
    )
    spans = frozenset({"step", "primitive"})
    order: list[str] = []  # noqa: RUF012

    def start(self) -> None:
        self.order.append(f"start {type(self).__name__}")

    def stop(self) -> dict[str, float]:
        self.order.append(f"stop {type(self).__name__}")
        return {"uses": 6.0, "max_uses": 6.0}


class Nested(Counting):
    pass


class Missing(Counting):
    def available(self) -> str | None:
        return "there is no such counter here"


@pytest.fixture
def counting(monkeypatch):
    """Counting probes beside the real ones, and their metrics, for one test."""
    monkeypatch.setattr(probes, "PROBES", (*probes.PROBES, Counting, Nested, Missing))
    known = {**METRICS, **{metric.name: metric for metric in Counting.metrics}}
    for module in ("ciphermark_measure.probes", "ciphermark_measure.sampling"):
        monkeypatch.setattr(f"{module}.METRICS", known)
    Counting.order.clear()
    return Counting


def test_a_probe_is_found_by_its_file():
    assert {WallTime, CpuTime, PeakMemory} <= set(probes.PROBES)
    metrics = [metric for found in probes.PROBES for metric in found.metrics]
    assert all(METRICS[metric.name] is metric for metric in metrics)
    assert len({metric.name for metric in metrics}) == len(metrics)


def test_a_meter_takes_the_probes_of_its_span_from_outside_in(counting):
    meter = probes.Meter("primitive")
    meter.start()
    assert set(meter.stop()) == {"uses", "max_uses"}
    assert counting.order == ["start Counting", "start Nested", "stop Nested", "stop Counting"]


def test_what_cannot_be_measured_is_named_with_the_reason(counting):
    assert probes.unavailable()["uses"] == "there is no such counter here"
    told = [text for text in probes.host_facts().warnings if text.startswith("uses ")]
    assert told == ["uses is not measured here: there is no such counter here"]


def test_parts_add_up_or_the_largest_counts(counting):
    parts = [{"uses": 1.0, "max_uses": 5.0}, {"uses": 2.0}, {"uses": 4.0, "max_uses": 3.0}]
    assert probes.together(parts) == {"uses": 7.0, "max_uses": 5.0}
    assert probes.together([]) == {}


def test_a_step_in_pieces_is_one_step_and_a_party_the_sum_of_its_steps(counting):
    steps = Steps("train", "server")
    for name in ("deserialize", "evaluate", "deserialize"):
        with steps.step(name):
            pass
    told = {(s.metric, s.step, s.party): s.value for s in steps.samples()}
    assert [told["uses", name, None] for name in ("deserialize", "evaluate")] == [12.0, 6.0]
    assert told["uses", None, "server"] == 18.0
    assert told["max_uses", "deserialize", None] == told["max_uses", None, "server"] == 6.0
    assert {sample.stage for sample in steps.samples()} == {"train"}


def test_making_the_items_of_a_step_can_be_left_out_of_it(counting):
    watch = Watch("prepare")

    def items():
        counting.order.append("make")
        yield b"key"

    with watch.step("deserialize"):
        counting.order.clear()
        assert list(watch.without("deserialize", items())) == [b"key"]
    stop, start = ["stop Nested", "stop Counting"], ["start Counting", "start Nested"]
    assert counting.order == [*stop, "make", *start, *stop, *start, *stop]


def test_a_watch_tells_steps_alone():
    watch = Watch("prepare")
    with watch.step("check"):
        sum(range(1000))
    assert [(s.metric, s.phase) for s in watch.samples()] == [
        ("time", "prepare.check"),
        ("cpu_time", "prepare.check"),
    ]
    assert all(sample.value >= 0 for sample in watch.samples())


def test_a_loop_over_a_primitive_has_only_its_own_time():
    assert probes.Meter("primitive").stop() == {}
    assert [
        metric.name for found in probes.PROBES if "circuit" in found.spans for metric in found.metrics
    ] == ["cpu_time"]


def test_work_is_seen_in_both_times():
    meter = probes.Meter("step")
    meter.start()
    total = 0
    while True:  # work until the kernel's accounts show some
        total += sum(range(10_000))
        values = meter.stop()
        if values["cpu_time"] > 1e-3:
            break
    assert values["time"] > 0


@peak_is_known
def test_the_peak_is_that_of_the_span():
    """64 MiB that are touched and given back are in the peak of their own span, and in no later one."""

    def touch() -> None:
        with mmap.mmap(-1, 64 * MIB) as memory:
            for page in range(0, 64 * MIB, mmap.PAGESIZE):
                memory[page] = 1

    before = probes.measured_alone(lambda: None)["peak_memory"]
    during = probes.measured_alone(touch)["peak_memory"]
    after = probes.measured_alone(lambda: None)["peak_memory"]
    assert during - before > 60 * MIB
    assert during - after > 60 * MIB
