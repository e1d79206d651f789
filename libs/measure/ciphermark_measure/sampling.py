"""Timing one bound operation: calibration, warm-up, samples, and the watch over the clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ciphermark_contract.interfaces import Bound, Handle
from ciphermark_core.budget import Budget
from ciphermark_core.metrics import METRICS
from ciphermark_core.model import Sample
from ciphermark_measure.clock import Clock, disagreement
from ciphermark_measure.probes import Meter
from ciphermark_measure.stopping import Rule, half_width, is_enough, rule

# A sample lasts at least this many steps of the clock: 0.5 % is the most that its coarseness can add.
_TICKS = 200
# Client phases and warm-ups need no longer samples than this; the budget's minimum time is for the operation.
_SHORT_SAMPLE_NS = 3_000_000
_MOST_LOOPS = 1 << 24
# In shorter runs than this a clock that is astray hides behind the cost of the call: then calibration has some
# of this length.
_TELLING_NS = 2_000_000
_TELLING_RUNS = 3


class ClockError(Exception):
    """The time that a loop reports is not the time that passes around it."""


@dataclass(frozen=True, slots=True)
class Target:
    """How long one sample should last, and when there are enough of them."""

    sample_ns: int
    rule: Rule


def target(budget: Budget, resolution_ns: int, *, is_client: bool = False) -> Target:
    """The target of a phase under a budget; client phases have no minimum total time."""
    least = _TICKS * resolution_ns
    share = int(budget.min_time_s * 1e9) // max(1, budget.samples)
    if is_client:
        return Target(max(least, min(share, _SHORT_SAMPLE_NS)), rule(budget, has_least_time=False))
    return Target(max(least, share), rule(budget))


@dataclass(slots=True)
class Phase:
    """One timed phase of a trial. Every sample takes the next of ``bounds``, so operands vary."""

    name: str
    bounds: Sequence[Bound]
    target: Target
    clock: Clock
    meter: Meter = field(default_factory=lambda: Meter("primitive"))
    loops: int = 1
    times: list[Sample] = field(default_factory=list)
    _readings: list[Sample] = field(default_factory=list)
    _reported_ns: list[int] = field(default_factory=list)
    _observed_ns: list[int] = field(default_factory=list)
    _telling: list[tuple[int, int]] = field(default_factory=list)
    _turn: int = 0

    def calibrate(self) -> None:
        """Choose ``loops`` so that a sample lasts as long as the target says, by this phase's own clock."""
        for bound in self.bounds:
            bound.run(1)  # the first touch of operands and results is nobody's sample
        while True:
            elapsed = max(1, self._observe(self.bounds[0], self.loops)[1])
            if elapsed >= self.target.sample_ns or self.loops >= _MOST_LOOPS:
                break
            wanted = self.loops * self.target.sample_ns / elapsed
            self.loops = min(_MOST_LOOPS, max(self.loops + 1, min(int(wanted * 1.05), self.loops * 100)))
        if elapsed < _TELLING_NS:
            loops = min(_MOST_LOOPS, self.loops * -(-_TELLING_NS // elapsed))
            self._telling = [self._observe(self.bounds[0], loops) for _ in range(_TELLING_RUNS)]

    def warm_up(self, count: int) -> None:
        """Take ``count`` samples that count for nothing."""
        for ordinal in range(count):
            reported, _ = self._observe(self._next(), self.loops)
            self.times.append(self._time(reported, ordinal, is_warmup=True))

    @property
    def is_done(self) -> bool:
        """Whether the samples are enough by the target's rule."""
        return is_enough(self.target.rule, self._reported_ns, self.sampled_ns)

    def take(self) -> None:
        """Take one sample."""
        bound = self._next()
        self.meter.start()
        reported, observed = self._observe(bound, self.loops)
        values = self.meter.stop()
        taken = self._time(reported, len(self._reported_ns), is_warmup=False)
        self.times.append(taken)
        self._readings += [self._reading(taken, *item) for item in values.items()]
        self._reported_ns.append(reported)
        self._observed_ns.append(observed)

    def require_sound_clock(self) -> None:
        """Raise ``ClockError`` where the loop's clock and the worker's disagree."""
        for pairs in (self._telling, list(zip(self._reported_ns, self._observed_ns, strict=True))):
            ratio = disagreement([reported for reported, _ in pairs], [observed for _, observed in pairs])
            if ratio is not None:
                raise ClockError(
                    f"{self.name}: the loop reports {ratio:.3g} times the time that passed around it"
                )

    @property
    def facts(self) -> dict[str, float]:
        """Executions of a sample; where there was a precision to reach, the one that was: see :func:`half_width`."""
        known = {f"loops_{self.name}": float(self.loops)}
        reached = half_width(self._reported_ns)
        if self.target.rule.precision is not None and reached is not None:
            known[f"half_width_{self.name}"] = reached
        return known

    @property
    def samples(self) -> list[Sample]:
        """All times, warm-ups included; then what probes told of the samples that count."""
        return [*self.times, *self._readings]

    @property
    def last_index(self) -> int:
        """Which of ``bounds`` the last sample took."""
        return (self._turn - 1) % len(self.bounds)

    @property
    def last_results(self) -> list[Handle]:
        """What the last sample computed."""
        return self.bounds[self.last_index].results()

    @property
    def sampled_ns(self) -> int:
        """Time spent in samples that count."""
        return sum(self._observed_ns)

    def _next(self) -> Bound:
        bound = self.bounds[self._turn % len(self.bounds)]
        self._turn += 1
        return bound

    def _observe(self, bound: Bound, loops: int) -> tuple[int, int]:
        """The time that the loop reports, and the time that passes around it."""
        start = self.clock.now_ns()
        reported = bound.run(loops)
        return reported, self.clock.now_ns() - start

    def _reading(self, taken: Sample, metric: str, value: float) -> Sample:
        """What a probe told of a sample, per execution where it adds up."""
        share = value / self.loops if METRICS[metric].adds_up else value
        return replace(taken, metric=metric, value=share)

    def _time(self, reported_ns: int, ordinal: int, *, is_warmup: bool) -> Sample:
        value_s = reported_ns / self.loops / 1e9
        return Sample("time", value_s, self.name, ordinal=ordinal, loops=self.loops, is_warmup=is_warmup)


def empty_loop_ns(bound: Bound, loops: int = 20_000) -> float:
    """Cost of one iteration of the empty loop: the least of five runs."""
    return min(bound.run(loops) for _ in range(5)) / loops
