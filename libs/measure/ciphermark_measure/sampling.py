"""Timing one bound operation: calibration, warm-up, samples, and the watch over the clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ciphermark_analysis import correction
from ciphermark_analysis.stopping import Rule, half_width, is_enough, rule
from ciphermark_contract.bound import Collections, collections_of
from ciphermark_contract.interfaces import Bound, Handle
from ciphermark_core.budget import Budget
from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Sample
from ciphermark_measure.clock import Clock, Observed, disagreement
from ciphermark_measure.interference.host_state import Around, Gate, own_collections_kept
from ciphermark_measure.probes import Meter

# A sample lasts at least this many steps of the clock: its resolution adds at most 0.5%.
_TICKS = 200
# Longer samples of client phases and warm-ups are of no use; the budget's minimum time is for the operation.
SHORT_SAMPLE_NS = 3_000_000
_MAX_LOOPS = 1 << 24
# In shorter runs the cost of the call hides a faulty clock: calibration then includes some runs of this length.
_TELLING_NS = 2_000_000
_TELLING_RUNS = 3
# Where other processes take the core, sampling continues until enough samples count: up to this multiple of the
# requested number, and up to this share of a trial's time, since a trial has three phases.
_MAX_TIMES = 1.3
_PHASE_SHARE = 0.2


class ClockError(Exception):
    """The time that a loop reports differs from the time that passes around it."""


@dataclass(frozen=True, slots=True)
class Target:
    """How long one sample should last, and when there are enough samples.

    After ``max_ns``, sampling stops even if too few samples count.
    """

    sample_ns: int
    rule: Rule
    max_ns: int = 0


def target(budget: Budget, resolution_ns: int, *, is_client: bool = False) -> Target:
    """The target of a phase under a budget; client phases have no minimum total time."""
    least = _TICKS * resolution_ns
    share = int(budget.min_time_s * 1e9) // max(1, budget.min_samples)
    most = int(_PHASE_SHARE * budget.timeout_s * 1e9)
    if is_client:
        return Target(max(least, min(share, SHORT_SAMPLE_NS)), rule(budget, has_min_time=False), most)
    return Target(max(least, share), rule(budget), most)


@dataclass(slots=True)
class Phase:
    """One timed phase of a trial. Every sample takes the next of ``bounds``, so operands vary.

    Where ``bounds`` execute only a part of the phase, ``scale`` is the whole divided by that part: samples describe the
    whole.
    """

    name: str
    bounds: Sequence[Bound]
    target: Target
    clock: Clock
    meter: Meter = field(default_factory=lambda: Meter("primitive"))
    gate: Gate = field(default_factory=Gate)
    scale: float = 1.0
    loops: int = 1
    times: list[Sample] = field(default_factory=list)
    _readings: list[Sample] = field(default_factory=list)
    _taken: list[Observed] = field(default_factory=list)
    _telling: list[Observed] = field(default_factory=list)
    _collections: Collections = field(default_factory=Collections)
    _arounds: list[Around] = field(default_factory=list)
    _turn: int = 0
    _asked: int = 0
    _judged: int = 0
    _is_over: bool = False

    def calibrate(self, executed_ns: int = 0) -> int:
        """Choose ``loops`` so that a sample has the target length by this phase's own clock. Returns the time of the
        last loop in nanoseconds, which was as long as a sample. ``executed_ns`` is the time of the shortest execution
        where all bounds have been executed, else 0.
        """
        for bound in self.bounds[: self._untouched(executed_ns)]:
            bound.run(1)  # the first touch of operands and results is no sample
        while True:
            call = self._observe(self.bounds[0], self.loops)
            elapsed = max(1, call.passed_ns)
            if elapsed >= self.target.sample_ns or self.loops >= _MAX_LOOPS:
                break
            wanted = self.loops * self.target.sample_ns / elapsed
            self.loops = min(_MAX_LOOPS, max(self.loops + 1, min(int(wanted * 1.05), self.loops * 100)))
        if elapsed < _TELLING_NS:
            loops = min(_MAX_LOOPS, self.loops * -(-_TELLING_NS // elapsed))
            bound = self.bounds[0]
            runs = [(self._watched(bound, loops), collections_of(bound)) for _ in range(_TELLING_RUNS)]
            self._telling = [times for times, collections in runs if not collections.cycles]
        return call.reported_ns

    def warm_up(self, count: int, *calibrated_ns: int) -> None:
        """Take ``count`` samples that are not counted. The last loop of a calibration is the first of them."""
        for ordinal in range(count):
            bound = self._next()
            reported = (
                calibrated_ns[ordinal]
                if ordinal < len(calibrated_ns)
                else self._observe(bound, self.loops).reported_ns
            )
            self.times.append(self._time(reported, ordinal, is_warmup=True))

    @property
    def is_done(self) -> bool:
        """Whether enough samples count by the target's rule, or waiting for more has ended. Once True, it stays True:
        the n-th samples of all variants belong to one round.
        """
        count = len(self._arounds)
        if not self._is_over and count >= self.target.rule.min_samples and count > self._judged:
            self._judged = count
            counted = self._counted()
            lacks_some = len(counted) < count  # else there is no want of samples that count
            self._is_over = self._are_enough(counted) or (lacks_some and self._is_at_limit())
        return self._is_over

    def take(self) -> None:
        """Take one sample."""
        bound = self._next()
        begun, waited_ns = self.gate.before(), self.gate.run_delay_ns()
        self.meter.start()
        call = self._observe(bound, self.loops)
        values = self.meter.stop()
        call = call._replace(waited_ns=self.gate.run_delay_ns() - waited_ns)
        around = self.gate.after(begun, call.passed_ns)
        collections = collections_of(bound)
        self._arounds.append(replace(around, is_collected=collections.cycles > 0))
        self._collections |= collections
        taken = self._time(call.reported_ns, len(self._taken), is_warmup=False)
        self.times.append(taken)
        self._readings += [self._reading(taken, *item) for item in values.items()]
        self._taken.append(call)

    def require_sound_clock(self) -> None:
        """Raise ``ClockError`` where the loop's clock and the worker's clock disagree, except in disturbed samples and
        in those with a collection.
        """
        counted = [
            self._taken[number] for number, around in enumerate(self._arounds) if not around.is_disturbed
        ]
        for calls in (self._telling, counted):
            ratio = disagreement(calls)
            if ratio is not None:
                raise ClockError(
                    f"{self.name}: the loop reports {ratio:.3g} times the time that passed around it"
                )

    @property
    def facts(self) -> dict[str, float]:
        """Executions per sample; the precision reached, where one was requested (see :func:`half_width`); whether
        sampling ended at its limit with fewer counted samples than requested; and the garbage collections in samples,
        where there were some.
        """
        values = {f"loops_{self.name}": float(self.loops)}
        if self._collections.cycles:
            values[f"collections_{self.name}"] = float(self._collections.cycles)
            values[f"collection_pauses_{self.name}_s"] = self._collections.paused_ns / 1e9
        if not self._are_enough(self._counted()):
            values["is_short_of_samples"] = 1.0
        reached = half_width(self.counted_s)
        if self.target.rule.max_ci_half_width is not None and reached is not None:
            values[f"half_width_{self.name}"] = reached
        return values

    @property
    def samples(self) -> list[Sample]:
        """All times, warm-ups included, then the probes' values for the samples that count. Each has its slowdown by
        current knowledge, or is marked as disturbed.
        """
        slowdowns = self.gate.slowdowns(own_collections_kept(self._arounds))
        return [
            sample if sample.is_warmup else _told(sample, slowdowns[sample.ordinal])
            for sample in (*self.times, *self._readings)
        ]

    @property
    def counted_s(self) -> list[float]:
        """The corrected times of the samples that count; of all samples where none does."""
        timed = [sample for sample in self.samples if sample.metric == "time" and not sample.is_warmup]
        return correction.counted(timed)

    @property
    def last_index(self) -> int:
        """The index in ``bounds`` that the last sample took."""
        return (self._turn - 1) % len(self.bounds)

    @property
    def last_results(self) -> list[Handle]:
        """The results of the last sample."""
        return self.bounds[self.last_index].results()

    @property
    def sampled_ns(self) -> int:
        """Time spent in samples that count."""
        return sum(call.passed_ns for call in self._taken)

    def _untouched(self, executed_ns: int) -> int:
        """The number of bounds that calibration executes before it measures one: all, where none has been executed.
        Otherwise only the measured one, and only for short executions, which depend on the contents of caches.
        """
        if executed_ns == 0:
            return len(self.bounds)
        return int(executed_ns < self.target.sample_ns)

    def _counted(self) -> list[int]:
        """The numbers of the samples that count: those in which the process had its core for most of the time, and
        without a collection that other samples lack.
        """
        arounds = own_collections_kept(self._arounds)
        return [number for number, around in enumerate(arounds) if not around.is_disturbed]

    def _are_enough(self, numbers: Sequence[int]) -> bool:
        slowdowns = self.gate.slowdowns(own_collections_kept(self._arounds))
        spent_ns = sum(self._taken[number].passed_ns for number in numbers)
        times = [correction.divided(self._taken[each].reported_ns, slowdowns[each]) for each in numbers]
        return is_enough(self.target.rule, times, spent_ns)

    def _is_at_limit(self) -> bool:
        """Whether so many samples were taken beyond the required number that more would be of no use."""
        count, own = len(self._arounds), self.target
        if not self._asked and self._are_enough(range(count)):
            self._asked = max(1, count)
        max_ns = own.max_ns if own.rule.max_ci_half_width is None else min(own.max_ns, own.rule.max_ns)
        return self._asked > 0 and (count >= _MAX_TIMES * self._asked or self.sampled_ns >= max_ns)

    def _next(self) -> Bound:
        bound = self.bounds[self._turn % len(self.bounds)]
        self._turn += 1
        return bound

    def _observe(self, bound: Bound, loops: int) -> Observed:
        """A call and its times, without the run-queue delay: nothing else is executed while a meter counts."""
        start = self.clock.now_ns()
        reported_ns = bound.run(loops)
        return Observed(reported_ns, self.clock.now_ns() - start)

    def _watched(self, bound: Bound, loops: int) -> Observed:
        waited_ns = self.gate.run_delay_ns()
        call = self._observe(bound, loops)
        return call._replace(waited_ns=self.gate.run_delay_ns() - waited_ns)

    def _reading(self, taken: Sample, metric: str, value: float) -> Sample:
        """A probe's value for a sample, per execution where it adds up."""
        share = value / self.loops * self.scale if METRICS[metric].adds_up else value
        return replace(taken, metric=metric, value=share)

    def _time(self, reported_ns: int, ordinal: int, *, is_warmup: bool) -> Sample:
        value_s = reported_ns / self.loops / 1e9 * self.scale
        return Sample("time", value_s, self.name, ordinal=ordinal, loops=self.loops, is_warmup=is_warmup)


def _told(sample: Sample, slowdown: float | None) -> Sample:
    """A sample with its slowdown as far as known; values other than times need no correction."""
    if slowdown is None:
        return replace(sample, is_disturbed=True)
    return replace(sample, slowdown=slowdown) if METRICS[sample.metric].unit == "s" else sample


def empty_loop_ns(bound: Bound, loops: int = 20_000) -> float:
    """The cost of one iteration of the empty loop in nanoseconds: the minimum of five runs."""
    return min(bound.run(loops) for _ in range(5)) / loops


# A first execution can take several times as long as later ones. From this multiple of a sample's length and this
# minimum time on, later executions fill a sample, too.
_LONG_SAMPLES = 4
_LONG_NS = 50_000_000


def is_long(phase: Phase, executed_ns: int) -> bool:
    """Whether one execution fills a sample; ``executed_ns`` is the shortest of all bounds' first executions."""
    return executed_ns >= max(_LONG_NS, _LONG_SAMPLES * phase.target.sample_ns)


def make_ready(phase: Phase, executed_ns: int, warmups: int) -> None:
    """Calibrate a phase, where needed, and take its warm-up samples. ``executed_ns`` is the shortest of its bounds'
    first executions, 0 where there were none. For long executions, calibration would only repeat a known result at the
    cost of several executions.
    """
    phase.warm_up(warmups, *(() if is_long(phase, executed_ns) else (phase.calibrate(executed_ns),)))
