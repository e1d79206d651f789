from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciphermark_analysis.stopping import Rule
from ciphermark_contract.bound import Collections
from ciphermark_contract.interfaces import Bound
from ciphermark_core.budget import Budget
from ciphermark_measure.clock import resolution_ns
from ciphermark_measure.interference.host_state import Gate
from ciphermark_measure.sampling import ClockError, Phase, Target, empty_loop_ns, target

MS = 1_000_000
MAX_NS = 60_000 * MS  # a fifth of what a trial may take by default


class FakeClock:
    """Time passes only when somebody works; shown in ticks."""

    def __init__(self, tick_ns=1):
        self.tick_ns, self.true_ns = tick_ns, 0.0

    def now_ns(self):
        self.true_ns += 20
        return int(self.true_ns) // self.tick_ns * self.tick_ns


class FakeBound(Bound):
    """Works ``cost_ns`` per loop and reports ``reports`` times that."""

    def __init__(self, clock, cost_ns, reports=1.0):
        self.clock, self.cost_ns, self.reports = clock, cost_ns, reports
        self.calls = []

    def run(self, loops):
        self.calls.append(loops)
        self.clock.true_ns += self.cost_ns * loops
        return int(self.cost_ns * loops * self.reports)

    def results(self):
        return []


def unhindered():
    """The core is this process's alone, whatever else the host does while a clock is faked."""
    return Gate(run_delay_ns=lambda: 0)


def phase_of(bounds, clock, sample_ns=MS, samples=5, total_ns=0):
    return Phase("evaluate", bounds, Target(sample_ns, Rule(samples, total_ns)), clock, gate=unhindered())


@pytest.mark.parametrize(
    ("budget", "resolution", "is_client", "expected"),
    [
        (Budget(min_samples=10, min_time_s=0.3), 30, False, Target(30 * MS, Rule(10, 300 * MS), MAX_NS)),
        (Budget(min_samples=10, min_time_s=0.3), 30, True, Target(3 * MS, Rule(10), MAX_NS)),
        (Budget(min_samples=1000, min_time_s=0.3), 30, True, Target(300_000, Rule(1000), MAX_NS)),
        (Budget(min_samples=10, min_time_s=0.0), 30, False, Target(6000, Rule(10), MAX_NS)),
        (
            Budget(min_samples=10, min_time_s=0.3),
            15 * MS,
            False,
            Target(3000 * MS, Rule(10, 300 * MS), MAX_NS),
        ),
        (Budget(min_samples=10, min_time_s=0.3), 15 * MS, True, Target(3000 * MS, Rule(10), MAX_NS)),
    ],
)
def test_target(budget, resolution, is_client, expected):
    assert target(budget, resolution, is_client=is_client) == expected


@given(cost_ns=st.integers(10, 20 * MS), sample_ms=st.integers(1, 50))
def test_calibration_makes_samples_last_as_long_as_asked(cost_ns, sample_ms):
    clock = FakeClock()
    bound = FakeBound(clock, cost_ns)
    phase = phase_of([bound], clock, sample_ns=sample_ms * MS)
    phase.calibrate()
    lasts = phase.loops * cost_ns
    assert lasts + 20 >= sample_ms * MS
    assert lasts <= 1.1 * sample_ms * MS + 2 * cost_ns


@pytest.mark.parametrize("cost_ns", [100, 40 * MS])
def test_a_coarse_clock_gets_samples_long_enough_for_it(cost_ns):
    """15 ms ticks, as old Windows has them: a sample of 200 ticks is coarse by half a percent at most."""
    clock = FakeClock(tick_ns=15 * MS)
    phase = Phase(
        "evaluate",
        [FakeBound(clock, cost_ns)],
        target(Budget(min_samples=3, min_time_s=0.01), resolution_ns(clock, ticks=3)),
        clock,
    )
    phase.calibrate()
    before = clock.true_ns
    phase.take()
    lasted = clock.true_ns - before
    assert lasted >= min(200 * 15 * MS, cost_ns * 2**24)
    if cost_ns > 1000:
        (sample,) = phase.samples
        assert sample.value * 1e9 == pytest.approx(cost_ns, rel=0.005)


def test_calibration_does_not_believe_a_loop_that_reports_nothing():
    """It goes by the worker's own clock: a loop whose clock stands still would otherwise never be long enough."""
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, 1000, reports=0)], clock)
    phase.calibrate()
    assert 1000 <= phase.loops <= 1100


def test_calibration_touches_every_operand_set_first():
    clock = FakeClock()
    bounds = [FakeBound(clock, 1000) for _ in range(4)]
    phase_of(bounds, clock).calibrate()
    assert all(bound.calls[0] == 1 for bound in bounds)


@pytest.mark.parametrize(("executed_ns", "touched"), [(MS // 2, 1), (2 * MS, 0)])
def test_calibration_does_not_touch_again_what_has_been_executed(executed_ns, touched):
    clock = FakeClock()
    bounds = [FakeBound(clock, executed_ns) for _ in range(3)]
    phase = phase_of(bounds, clock, sample_ns=MS)
    phase.calibrate(executed_ns)
    measured, *others = bounds
    assert measured.calls[:touched] == [1] * touched
    assert sum(measured.calls[touched:]) >= phase.loops
    assert not any(bound.calls for bound in others)
    assert phase.loops * executed_ns >= MS


def test_calibration_ends_even_where_nothing_takes_time():
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, 0)], clock)
    phase.calibrate()
    assert phase.loops == 1 << 24


def test_a_sample_is_the_time_of_one_execution():
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, 2000)], clock)
    phase.calibrate()
    phase.take()
    (sample,) = phase.samples
    assert sample.value == pytest.approx(2e-6)
    assert (sample.metric, sample.unit, sample.phase) == ("time", "s", "evaluate")
    assert sample.loops == phase.loops > 1


def test_samples_of_a_part_are_of_the_whole_by_proportion():
    clock = FakeClock()
    phase = Phase("evaluate", [FakeBound(clock, 2000)], Target(MS, Rule(5)), clock, scale=2.5)
    phase.calibrate()
    phase.warm_up(1)
    phase.take()
    assert [sample.value for sample in phase.samples] == [pytest.approx(5e-6), pytest.approx(5e-6)]
    assert phase.sampled_ns == pytest.approx(MS, rel=0.1)  # what was really spent
    phase.require_sound_clock()


def test_samples_take_turns_over_the_operand_sets():
    clock = FakeClock()
    bounds = [FakeBound(clock, cost) for cost in (1 * MS, 2 * MS, 3 * MS)]
    phase = phase_of(bounds, clock)
    for _ in range(7):
        phase.take()
    assert [round(sample.value * 1e3) for sample in phase.samples] == [1, 2, 3, 1, 2, 3, 1]
    assert [sample.ordinal for sample in phase.samples] == list(range(7))


def test_warm_ups_are_marked_and_count_for_nothing():
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, 10 * MS)], clock, samples=2, total_ns=15 * MS)
    phase.warm_up(3)
    assert [sample.is_warmup for sample in phase.samples] == [True] * 3
    assert not phase.is_done
    assert phase.sampled_ns == 0
    phase.take()
    phase.take()
    assert [sample.is_warmup for sample in phase.samples] == [True] * 3 + [False] * 2
    assert [sample.ordinal for sample in phase.samples] == [0, 1, 2, 0, 1]
    assert phase.is_done


@pytest.mark.parametrize(
    ("cost_ms", "samples", "total_ms", "taken"),
    [
        (1, 5, 0, 5),  # the count alone
        (1, 5, 100, 100),  # the count is there long before the time
        (50, 5, 100, 5),  # the time is there long before the count
        (10, 10, 100, 10),
        (1, 1, 0, 1),
    ],
)
def test_a_phase_is_done_when_count_and_time_are_both_reached(cost_ms, samples, total_ms, taken):
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, cost_ms * MS)], clock, samples=samples, total_ns=total_ms * MS)
    count = 0
    while not phase.is_done:
        phase.take()
        count += 1
    assert count == taken


def test_the_minimum_time_is_that_of_the_clock_on_the_wall():
    """A loop that claims to have taken long does not shorten the phase."""
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, MS, reports=1000)], clock, samples=1, total_ns=10 * MS)
    phase.take()
    assert not phase.is_done


@pytest.mark.parametrize(
    ("reports", "words"),
    [
        (0.5, "reports 0.5 times"),
        (2.0, "reports 2 times"),
        (0.0, "reports 0 times"),
        (0.9, "reports 0.9 times"),
    ],
)
def test_a_loop_whose_clock_is_astray_is_found_out(reports, words):
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, 10_000, reports)], clock, sample_ns=5 * MS)
    phase.calibrate()
    for _ in range(5):
        phase.take()
    with pytest.raises(ClockError, match=f"evaluate: the loop {words} the time that passed around it"):
        phase.require_sound_clock()


@pytest.mark.parametrize("reports", [0.5, 2.0, 0.0])
@pytest.mark.parametrize("cost_ns", [50, 3_000, 40_000])
def test_short_samples_do_not_hide_a_clock_that_is_astray(cost_ns, reports):
    """Of a sample of 40 µs it is impossible to say: the call itself may take as long."""
    clock = FakeClock()
    phase = Phase(
        "evaluate",
        [FakeBound(clock, cost_ns, reports)],
        target(Budget(min_samples=5, min_time_s=0.0), 30),
        clock,
        gate=unhindered(),
    )
    phase.calibrate()
    while not phase.is_done:
        phase.take()
    assert phase.sampled_ns < MS
    with pytest.raises(ClockError, match=f"reports {reports:.3g} times"):
        phase.require_sound_clock()


def test_telling_runs_do_not_change_the_samples():
    clock = FakeClock()
    bound = FakeBound(clock, 1000)
    phase = Phase("evaluate", [bound], target(Budget(min_samples=5, min_time_s=0.0), 30), clock)
    phase.calibrate()
    phase.take()
    assert 6 <= phase.loops <= 8
    assert bound.calls[-1] == phase.loops
    assert max(bound.calls) * 1000 >= 1.9 * MS
    phase.require_sound_clock()


@pytest.mark.parametrize("reports", [1.0, 0.96, 1.04])
def test_a_sound_clock_is_left_alone(reports):
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, 10_000, reports)], clock, sample_ns=5 * MS)
    phase.calibrate()
    for _ in range(5):
        phase.take()
    phase.require_sound_clock()


def test_an_interrupted_sample_is_no_unsound_clock():
    clock = FakeClock()
    sound, interrupted = FakeBound(clock, MS), FakeBound(clock, 30 * MS, reports=1 / 30)
    phase = phase_of([sound, sound, interrupted], clock)
    for _ in range(6):
        phase.take()
    phase.require_sound_clock()


@pytest.mark.parametrize("cost_ns", [3_000, 5 * MS])
def test_waiting_for_the_core_beside_a_loop_is_no_unsound_clock(cost_ns):
    """Neither in calibration nor in samples, whose gate may not know it: it has no reference kernel."""
    clock = FakeClock()
    bound, waited_ns = FakeBound(clock, cost_ns), 0
    execute = bound.run

    def run(loops):
        nonlocal waited_ns
        reported = execute(loops)
        waited_ns += 10 * reported
        clock.true_ns += 10 * reported
        return reported

    bound.run = run
    gate = Gate(run_delay_ns=lambda: waited_ns)
    phase = Phase("evaluate", [bound], Target(MS // 2, Rule(5)), clock, gate=gate)
    phase.calibrate()
    for _ in range(5):
        phase.take()
    phase.require_sound_clock()


@pytest.mark.parametrize("cost_ns", [3_000, 5 * MS])
def test_waiting_for_a_collection_is_no_unsound_clock(cost_ns):
    """Neither in calibration nor in samples: a library waits around a loop until its collector ends."""
    clock = FakeClock()
    bound = FakeBound(clock, cost_ns, reports=0.5)
    bound.collections = Collections(1, 0)
    phase = phase_of([bound], clock, sample_ns=MS // 2)
    phase.calibrate()
    for _ in range(5):
        phase.take()
    phase.require_sound_clock()
    assert phase.facts["collections_evaluate"] == 5


def test_the_empty_loop_costs_what_the_quickest_of_five_runs_says():
    clock = FakeClock()
    bound = FakeBound(clock, 12)
    assert empty_loop_ns(bound, loops=1000) == 12
    assert bound.calls == [1000] * 5


class FakeMeter:
    """Tells for every sample a CPU time, which adds up over executions, and a peak, which does not."""

    def start(self):
        pass

    def stop(self):
        return {"cpu_time": 0.6, "peak_memory": 4096.0}


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_what_adds_up_is_told_per_execution(scale):
    clock = FakeClock()
    phase = phase_of([FakeBound(clock, 1000)], clock, sample_ns=200_000)
    phase.meter, phase.scale = FakeMeter(), scale
    phase.calibrate()
    phase.take()
    readings = {sample.metric: sample.value for sample in phase.samples if sample.metric != "time"}
    assert phase.loops > 1
    assert readings == {"cpu_time": pytest.approx(0.6 / phase.loops * scale), "peak_memory": 4096.0}
