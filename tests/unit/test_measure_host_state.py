"""Times are corrected by the reference kernel beside them; what others had the core in is disturbed."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis.correction import corrected_value
from ciphermark_analysis.stopping import Rule
from ciphermark_contract.bound import Collections
from ciphermark_contract.interfaces import Bound
from ciphermark_core.model import Sample
from ciphermark_measure.interference import cpu_steal, reference_kernel
from ciphermark_measure.interference.host_state import (
    GAIN,
    TOLERANCE,
    Gate,
    MemoryWatch,
    Slowing,
    counts,
    slowing,
    together,
)
from ciphermark_measure.sampling import ClockError, Phase, Target

MS = 1_000_000
REFERENCE_KERNEL_NS = 50_000


class World:
    """A core on which work takes ``slow_at(time)`` times as long; clock, reference kernel and operation all live on it.
    What slows the operation slows the reference kernel by less.
    """

    def __init__(self, slow_at=lambda now_ns: 1.0):
        self.now, self.slow_at = 0.0, slow_at
        self.delay, self.read_at = 0, []

    def now_ns(self):
        return int(self.now)

    def work(self, ns, gain=1.0):
        elapsed = ns * (1 + (self.slow_at(self.now) - 1) / gain)
        self.now += elapsed
        return round(elapsed)

    def read_ns(self):
        self.read_at.append(self.now)
        return max(self.work(REFERENCE_KERNEL_NS, GAIN) for _ in range(3))

    def gate(self):
        return Gate(self, self, lambda: self.delay)


class Work(Bound):
    """One execution takes ``cost_ns`` in the undisturbed state."""

    def __init__(self, world, cost_ns):
        self.world, self.cost_ns = world, cost_ns

    def run(self, loops):
        return self.world.work(self.cost_ns * loops)

    def results(self):
        return []


def phase_of(world, gate, cost_ns=10 * MS, samples=10, max_ns=10**12):
    aim = Target(cost_ns, Rule(samples), max_ns)
    return Phase("evaluate", [Work(world, cost_ns)], aim, world, gate=gate)


def sampled(phase, gate):
    gate.begin_trial(None)
    while not phase.is_done:
        phase.take()
    gate.settle()
    return [sample for sample in phase.samples if not sample.is_warmup]


def between(start_ms, end_ms, factor=1.4):
    return lambda now: factor if start_ms * MS <= now < end_ms * MS else 1.0


def test_on_an_undisturbed_host_nothing_is_corrected_and_no_sample_is_added():
    world = World()
    gate = world.gate()
    samples = sampled(phase_of(world, gate), gate)
    assert len(samples) == 10
    assert not any(sample.is_disturbed for sample in samples)
    assert {sample.slowdown for sample in samples} == {1.0}


@pytest.mark.parametrize("window", [(30, 75), (0, 55)], ids=["in between", "from the beginning"])
def test_times_of_slow_states_are_kept_and_corrected_and_no_sample_is_added(window):
    world = World(between(*window))
    gate = world.gate()
    phase = phase_of(world, gate)
    samples = sampled(phase, gate)
    assert len(samples) == 10
    assert {round(sample.value * 1e3) for sample in samples} == {10, 14}
    # A state that begins or ends beside a sample shows in one of its two readings: it is corrected by half of that.
    assert sum(corrected_value(sample) == pytest.approx(0.01, rel=1e-3) for sample in samples) >= 8
    assert median(phase.counted_s) == pytest.approx(0.01, rel=1e-3)
    assert "is_short_of_samples" not in phase.facts


@given(factor=st.floats(1.0, 3.0), cost_ns=st.integers(20_000, 50 * MS))
def test_what_slows_reference_kernel_and_operation_alike_is_corrected_whole(factor, cost_ns):
    world = World(lambda now: factor if int(now / (400 * MS)) % 2 else 1.0)
    gate = world.gate()
    phase = phase_of(world, gate, cost_ns=cost_ns, samples=400)
    gate.begin_trial(float(REFERENCE_KERNEL_NS))
    while not phase.is_done:
        phase.take()
    gate.settle()
    assert median(phase.counted_s) == pytest.approx(cost_ns / 1e9, rel=0.01)


def test_a_probe_that_tells_no_time_is_not_corrected():
    world = World(lambda now: 1.4)
    gate = world.gate()
    gate.begin_trial(float(REFERENCE_KERNEL_NS))
    phase = phase_of(world, gate)
    phase.take()
    (taken,) = phase.times
    phase._readings = [replace(taken, metric=metric) for metric in ("cpu_time", "peak_memory")]
    corrected = {sample.metric: sample.slowdown for sample in phase.samples}
    assert corrected == {"time": pytest.approx(1.4), "cpu_time": pytest.approx(1.4), "peak_memory": 1.0}


def test_a_worker_that_never_sees_the_undisturbed_state_learns_of_it_from_others():
    world = World(lambda now: 1.4)
    gate = world.gate()
    phase = phase_of(world, gate)
    gate.begin_trial(float(REFERENCE_KERNEL_NS))
    while not phase.is_done:
        phase.take()
    assert len(phase.samples) == 10
    assert [sample.value for sample in phase.samples] == pytest.approx([0.014] * 10)
    assert phase.counted_s == pytest.approx([0.01] * 10)
    facts = gate.facts()
    assert facts["reference_kernel_s"] == pytest.approx(REFERENCE_KERNEL_NS / 1e9)
    assert facts["reference_kernel_gain"] == GAIN
    assert facts["reference_kernel_spread"] == pytest.approx(0.4 / GAIN, abs=1e-3)


@pytest.mark.parametrize(("max_ns", "expected"), [(10**12, 13), (115 * MS, 12)], ids=["samples", "time"])
def test_where_others_have_the_core_a_third_more_samples_are_taken_at_most(max_ns, expected):
    world = World()
    gate = world.gate()
    gate.begin_trial(None)
    phase = phase_of(world, gate, max_ns=max_ns)
    while not phase.is_done:
        phase.take()
        phase._arounds[-1] = replace(phase._arounds[-1], waited_share=0.9)
    assert len(phase.samples) == expected
    assert all(sample.is_disturbed for sample in phase.samples)
    assert phase.facts["is_short_of_samples"] == 1
    assert phase.counted_s == pytest.approx([0.01] * expected)


class Collected(Work):
    """Every third run has a garbage collection of a millisecond in it."""

    runs, every = 0, 3
    collections = Collections()

    def run(self, loops):
        self.runs += 1
        self.collections = Collections() if self.runs % self.every else Collections(1, MS)
        return super().run(loops) + self.collections.paused_ns


def test_a_sample_with_a_garbage_collection_is_disturbed_and_its_pause_is_a_fact():
    world = World()
    gate = world.gate()
    phase = phase_of(world, gate)
    phase.bounds = [Collected(world, 10 * MS)]
    samples = sampled(phase, gate)
    assert [sample.is_disturbed for sample in samples] == [number % 3 == 2 for number in range(len(samples))]
    assert sum(not sample.is_disturbed for sample in samples) >= 9
    assert phase.counted_s == pytest.approx([0.01] * len(phase.counted_s))
    collected = float(sum(sample.is_disturbed for sample in samples))
    assert phase.facts["collections_evaluate"] == collected
    assert phase.facts["collection_pauses_evaluate_s"] == pytest.approx(collected * 1e-3)


def test_a_garbage_collection_in_every_sample_belongs_to_the_operation():
    world = World()
    gate = world.gate()
    phase = phase_of(world, gate)
    phase.bounds = [Collected(world, 10 * MS)]
    phase.bounds[0].every = 1
    samples = sampled(phase, gate)
    assert not any(sample.is_disturbed for sample in samples)
    assert phase.counted_s == pytest.approx([0.011] * len(samples))
    assert phase.facts["collections_evaluate"] == len(samples)


def test_a_phase_that_is_over_stays_so():
    """Or its later samples would be paired with those that others took in rounds before."""
    world = World(lambda now: 1.4 if now < 200 * MS else 1.0)
    gate = world.gate()
    gate.begin_trial(None)
    first = phase_of(world, gate)
    while not first.is_done:
        first.take()
    assert {sample.slowdown for sample in first.samples} == {1.0}
    second = phase_of(world, gate)
    while not second.is_done:
        second.take()
    gate.settle()
    assert first.is_done
    assert first.counted_s == pytest.approx([0.01] * 10, rel=1e-3)  # by the level that was learned since


@pytest.mark.parametrize(
    ("waited_ns", "expected"), [(0, 1.4), (2 * MS, 1.75), (5 * MS, 2.8), (5 * MS + 1, None), (10 * MS, None)]
)
def test_the_wait_for_the_core_is_taken_out_where_max_of_a_sample_is_left(waited_ns, expected):
    world = World(lambda now: 1.4)
    gate = world.gate()
    gate.begin_trial(float(REFERENCE_KERNEL_NS))
    begun = gate.before()
    world.delay += waited_ns
    (slowdown,) = gate.slowdowns([gate.after(begun, 10 * MS)])
    assert slowdown == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("reference_kernel_ratio", "waited_share", "expected"),
    [(1.0, 0.0, 1.0), (1.4, 0.0, 1.5), (1.0, 0.5, 2.0), (1.4, 0.5, 3.0), (0.99, 0.0, 0.9875)],
)
def test_an_operation_is_slowed_by_a_quarter_more_than_the_reference_kernel(
    reference_kernel_ratio, waited_share, expected
):
    assert slowing(reference_kernel_ratio, waited_share).factor == pytest.approx(expected)


@pytest.mark.parametrize(
    ("pieces", "expected", "is_disturbed"),
    [
        ([], 1.0, False),
        ([(Slowing(1.2), 5.0), (Slowing(1.2), 15.0)], 1.2, False),
        ([(Slowing(2.0), 2.0), (Slowing(1.0), 1.0)], 1.5, False),
        ([(Slowing(1.0, 1.0), 6.0), (Slowing(), 4.0)], 2.5, True),
        ([(Slowing(1.0, 1.0), 4.0), (Slowing(), 6.0)], 10 / 6, False),
        ([(Slowing(1.0, 0.5), 8.0), (Slowing(3.0, 0.25), 4.0)], 12 / 5, False),
        ([(Slowing(1.0, 3.0), 1.0)], 100.0, True),
    ],
)
def test_pieces_are_slowed_together_by_what_is_left_of_them(pieces, expected, is_disturbed):
    """A wait may be read that is longer than the piece: of it nothing is left, and the factor stays finite."""
    whole = together(pieces)
    assert whole.factor == pytest.approx(expected)
    assert whole.is_disturbed == is_disturbed


def test_what_cannot_be_read_disturbs_nothing():
    world = World()
    gate = Gate(world, world, lambda: None)
    assert not any(sample.is_disturbed for sample in sampled(phase_of(world, gate), gate))


def test_without_a_reference_kernel_all_samples_count_and_nothing_is_claimed():
    world = World(between(0, 55))
    gate = Gate(None, world, lambda: world.delay)
    samples = sampled(phase_of(world, gate), gate)
    assert len(samples) == 10
    assert not any(sample.is_disturbed for sample in samples)
    assert {sample.slowdown for sample in samples} == {1.0}
    assert gate.facts() == {}


@given(
    cost_ns=st.integers(20_000, 50 * MS),
    count=st.integers(50, 120),
    factor=st.floats(1.0, 3.0),
    pause_ns=st.integers(0, 30 * MS),
)
def test_readings_cost_at_max_a_twentieth_of_the_time_of_samples(cost_ns, count, factor, pause_ns):
    """But for the first of a trial, and those that the balance was short of while the reference kernel slowed down."""
    world = World(lambda now: factor if int(now / (100 * MS)) % 2 else 1.0)
    gate = world.gate()
    phase = phase_of(world, gate, cost_ns=cost_ns, samples=count)
    for _ in range(count):
        phase.take()
        world.now += pause_ns
    free_ns = 2 * factor * 3 * REFERENCE_KERNEL_NS
    assert gate.facts()["reference_kernel_cost_s"] * 1e9 <= 0.05 * phase.sampled_ns + free_ns


def test_what_is_told_of_a_trial_is_of_its_timed_samples():
    sample = Sample("time", 1.0, "evaluate")
    of_operation = [replace(sample, slowdown=factor) for factor in (1.0, TOLERANCE, 1.2, 1.3)]
    known = counts(
        [
            replace(sample, is_warmup=True, slowdown=9.0),
            replace(sample, metric="size", slowdown=9.0),
            *of_operation,
            replace(sample, is_disturbed=True),
            replace(sample, stage="encrypt", is_disturbed=True),
        ]
    )
    assert known == {
        "timed_samples": 6.0,
        "undisturbed_samples": 2.0,
        "disturbed_phases": 1.0,
        "slowdown": (TOLERANCE + 1.2) / 2,
    }
    assert "slowdown" not in counts([replace(sample, is_disturbed=True)])


def test_the_real_reference_kernel_takes_time_and_less_than_it_may():
    """Of the order of 50 µs on a core of today; a factor of twenty either way is left."""
    assert reference_kernel.reason_against() is None
    assert 2_500 < min(reference_kernel.ReferenceKernel().read_ns() for _ in range(50)) < 1_000_000


class Shared:
    """A shared cache that holds a buffer, until a sample during which a neighbor copies displaces it."""

    FROM_CACHE_NS, FROM_MEMORY_NS = 45_000, 250_000

    def __init__(self):
        self.now, self.delay, self.holds, self.reads = 0, 0, False, 0

    def now_ns(self):
        return self.now

    def read_ns(self):
        took = self.FROM_CACHE_NS if self.holds else self.FROM_MEMORY_NS
        self.holds, self.now, self.reads = True, self.now + took, self.reads + 1
        return took

    def sampled(self, watch, lasted_ns, displaces):
        watch.before()
        self.now += lasted_ns
        self.holds = self.holds and not displaces
        watch.after(lasted_ns)
        self.holds = False  # another worker's turn

    def watch(self):
        return MemoryWatch(self, self, lambda: self.delay)


def test_a_neighbor_that_copies_shows_in_the_memory_kernel_and_other_workers_turns_do_not():
    world = Shared()
    watch = world.watch()
    for displaces, expected_ns in ((False, Shared.FROM_CACHE_NS), (True, Shared.FROM_MEMORY_NS)):
        watch.begin_trial()
        for _ in range(20):
            world.sampled(watch, 10 * MS, displaces)
        assert watch.facts()["memory_kernel_s"] == pytest.approx(expected_ns / 1e9)
    assert watch.facts()["memory_slowdown"] == pytest.approx(Shared.FROM_MEMORY_NS / Shared.FROM_CACHE_NS)


def test_a_trial_has_one_reading_of_the_memory_kernel_at_min_and_pays_for_the_others():
    world = Shared()
    watch = world.watch()
    watch.begin_trial()
    for _ in range(500):
        world.sampled(watch, MS, displaces=False)
    facts = watch.facts()
    assert facts["memory_cost_s"] <= 0.01 * 0.5 + 0.0003  # the first one is free
    assert world.reads > 20
    watch.begin_trial()
    world.sampled(watch, 1000, displaces=False)
    assert watch.facts()["memory_cost_s"] > 0


def test_a_reading_of_the_memory_kernel_that_waited_for_the_core_says_nothing():
    world = Shared()
    watch = world.watch()
    watch.begin_trial()
    honest = world.read_ns

    def interrupted():
        world.delay += 3 * MS
        world.now += 3 * MS
        return honest() + 3 * MS

    world.read_ns = interrupted
    for _ in range(100):
        world.sampled(watch, MS, displaces=False)
    assert watch.facts() == {}
    assert world.reads == 2  # others are paid for, too


def test_a_library_of_older_sources_is_told_and_not_used(monkeypatch):
    monkeypatch.setattr(
        reference_kernel, "_library", lambda: SimpleNamespace(ciphermark_reference_kernel=None)
    )
    assert "is of older sources; run" in reference_kernel.reason_against.__wrapped__()


def test_the_real_memory_kernel_takes_time():
    """It is 65,536 loads of a line each, which no processor does in 5 µs."""
    memory = reference_kernel.Memory()
    assert all(memory.read_ns() > 5_000 for _ in range(20))


def test_the_wait_for_a_core_grows_and_steal_time_is_read_from_its_column():
    first = cpu_steal.run_delay_ns()
    assert first is not None
    assert cpu_steal.run_delay_ns() >= first
    lines = (
        "cpu 1 2 3 4 5 6 7 8 9",
        "cpu0 1 1 1 1 1 1 1 20 0",
        "cpu1 1 1 1 1 1 1 1 300 0",
        "cpu10 0 0 0 0 0 0 0 7 0",
    )
    text = "\n".join(lines)
    assert cpu_steal.steal_of(text, [1]) == 300
    assert cpu_steal.steal_of(text, [0, 1]) == 320
    assert cpu_steal.steal_of("cpu0 1 1 1 1\n", []) == 0


@pytest.mark.parametrize(("astray", "is_sound"), [("while disturbed", True), ("always", False)])
def test_a_clock_is_judged_by_samples_that_count(astray, is_sound):
    """A process that loses its core between the loop's clock and the worker's is no clock that lies."""
    world = World()
    gate = world.gate()
    phase = phase_of(world, gate)
    honest = phase.bounds[0].run

    def run(loops):
        is_disturbed = world.now > 20 * MS
        world.delay += 6 * MS if is_disturbed else 0
        return honest(loops) // (2 if is_disturbed or astray == "always" else 1)

    phase.bounds[0].run = run
    sampled(phase, gate)
    if is_sound:
        phase.require_sound_clock()
        return
    with pytest.raises(ClockError, match=r"reports 0\.5 times"):
        phase.require_sound_clock()
