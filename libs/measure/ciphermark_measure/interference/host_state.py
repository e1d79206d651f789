"""The state of the host around samples: how much others on the core slowed it.

A :class:`~.reference_kernel.ReferenceKernel` is read before and after a sample, where it can be afforded: it takes 3 %
of the time of samples at most, and the memory kernel 1 %. The mean of the readings beside a sample, over the
reference-kernel baseline, tells its slowdown, by which its time is divided. Where the process waited for its core, the
kernel tells for how long, and the time is divided by that as well. A sample that was mostly waiting is disturbed: too
little is left of it. The reference-kernel baseline is a low quantile of all readings of this process, or what another
worker of the run found, if that is lower: a worker that begins in a slow state learns the level when the host calms
down, and what it took before is corrected by that.

The memory kernel corrects nothing: operations depend on the shared cache by anything from nothing to all of it
(docs/decisions/0083). Its median is a fact of the trial, by which comparisons of two runs are made wider.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Protocol

from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Sample
from ciphermark_measure.clock import Clock, MonotonicClock
from ciphermark_measure.interference import cpu_steal
from ciphermark_measure.interference.reference_kernel import KERNEL, MEMORY_KERNEL

# A sample is undisturbed that was slowed by less: that shows no difference between results either.
TOLERANCE = SIGNIFICANCE_THRESHOLD
_QUANTILE = 0.05  # readings are never too short, only too long: the level is low among them, but not one stray reading
_SHARE = 0.03  # of the time of samples, for readings
_MEMORY_SHARE = 0.01  # likewise, of the memory kernel
_SAVED = 4  # readings that may be saved up for
_STALE_NS = 5_000_000  # another worker's turn may lie between
_MAX_WAITED = 0.5  # of a sample
_ALL_WAITED = 0.99
# What is measured is slowed by so many times as much as the reference kernel, of which a third is hardly slowed, and of
# three counts the calmest: docs/decisions/0045.
GAIN = 1.25


class Reader(Protocol):
    """Whatever executes the fixed work."""

    def read_ns(self) -> int:
        """Its time in nanoseconds."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """A sample under way: the number of the last reading before it, how long the process had waited by then, and
    whether the memory kernel is beside it.
    """

    reading: int
    delay_ns: int | None
    reads_memory: bool = True


@dataclass(frozen=True, slots=True)
class Around:
    """Where a sample lies: the number of the last reading before it (the next is the first after), and the share of its
    time for which the process had to wait for its core.
    """

    reading: int
    waited_share: float = 0.0

    @property
    def is_disturbed(self) -> bool:
        """As :attr:`Slowing.is_disturbed`."""
        return Slowing(waited_share=self.waited_share).is_disturbed


@dataclass(frozen=True, slots=True)
class Slowing:
    """How others slowed what was done: ``by_host`` times, as the reference kernel beside it tells, and by the run-queue
    delay for ``waited_share`` of its time.
    """

    by_host: float = 1.0
    waited_share: float = 0.0

    @property
    def is_disturbed(self) -> bool:
        """Whether the process was kept from its core for so long that the rest tells nothing."""
        return self.waited_share > _MAX_WAITED

    @property
    def factor(self) -> float:
        """How many times as long as in the undisturbed state it took. The wait may be told to be longer than all of
        it."""
        return self.by_host / (1 - min(self.waited_share, _ALL_WAITED))


def level_of(readings: Sequence[int]) -> float:
    """The reference-kernel baseline among sorted readings, in their unit. Pure."""
    return float(readings[int(_QUANTILE * len(readings))])


def slowing(reference_kernel_ratio: float, waited_share: float) -> Slowing:
    """How a sample was slowed beside which the reference kernel took ``reference_kernel_ratio`` times as long as in the
    undisturbed state, and for ``waited_share`` of which the process waited for its core. Pure.
    """
    return Slowing(1 + GAIN * (reference_kernel_ratio - 1), waited_share)


def together(pieces: Sequence[tuple[Slowing, float]]) -> Slowing:
    """How all of what was done in pieces was slowed, each of which took so long. Pure."""
    whole = sum(lasted for _, lasted in pieces)
    if not whole:
        return Slowing()
    worked = [(one.by_host, lasted * (1 - min(one.waited_share, 1.0))) for one, lasted in pieces]
    undisturbed = sum(lasted / by_host for by_host, lasted in worked)
    waited_share = 1 - sum(lasted for _, lasted in worked) / whole
    return Slowing(sum(lasted for _, lasted in worked) / undisturbed if undisturbed else 1.0, waited_share)


class MemoryWatch:
    """What samples left in the shared cache of a buffer that was there when they began: the memory kernel is executed
    before a sample, and timed after it. As far as a share of the time of samples pays for both, and for one sample of
    each trial at least. Without a ``reader`` nothing is known.
    """

    def __init__(self, reader: Reader | None, clock: Clock, run_delay_ns: Callable[[], int | None]) -> None:
        self._reader = reader
        self._clock = clock
        self._run_delay_ns = run_delay_ns
        self._sorted: list[int] = []
        self._of_trial: list[int] = []
        self._is_first = True
        self._is_primed = False
        self._primed_ns = 0
        self._cost_ns = 0
        self._balance_ns = 0.0
        self._spent_ns = 0

    def begin_trial(self) -> None:
        """What :meth:`facts` tells is of the time from now on."""
        self._of_trial = []
        self._is_first = True
        self._spent_ns = 0

    @property
    def spent_ns(self) -> int:
        """What readings cost since the trial began."""
        return self._spent_ns

    def before(self) -> None:
        """A sample begins now."""
        self._is_primed = self._is_first or self._balance_ns >= self._cost_ns
        self._is_first = False
        if self._is_primed and self._reader is not None:
            self._primed_ns = self._timed(self._reader)[1]

    def after(self, lasted_ns: int) -> None:
        """The sample is over."""
        self._balance_ns = min(self._balance_ns + _MEMORY_SHARE * lasted_ns, _SAVED * self._cost_ns)
        if self._is_primed and self._reader is not None:
            delay_ns = self._run_delay_ns()
            reading, elapsed_ns = self._timed(self._reader)
            if self._run_delay_ns() == delay_ns:  # else it is mostly the run-queue delay
                self._of_trial.append(reading)
                insort(self._sorted, reading)
            self._cost_ns = self._primed_ns + elapsed_ns
            self._balance_ns -= self._cost_ns
            self._spent_ns += self._cost_ns

    def facts(self) -> dict[str, float]:
        """Of the trial: which kernel it was, its time (s, the median), by how many times that is longer than the
        shortest times of this process, and what readings cost (s). Nothing without readings.
        """
        if not self._of_trial:
            return {}
        middle = median(self._of_trial)
        return {
            "memory_kernel": float(MEMORY_KERNEL),
            "memory_kernel_s": middle / 1e9,
            "memory_slowdown": middle / level_of(self._sorted),
            "memory_cost_s": self._spent_ns / 1e9,
        }

    def _timed(self, reader: Reader) -> tuple[int, int]:
        """A reading, and what it cost."""
        start = self._clock.now_ns()
        reading = reader.read_ns()
        return reading, self._clock.now_ns() - start


class Gate:
    """Tells by how much samples were slowed; without a ``reader`` nothing is known, and all count as they are."""

    def __init__(
        self,
        reader: Reader | None = None,
        clock: Clock | None = None,
        run_delay_ns: Callable[[], int | None] = cpu_steal.run_delay_ns,
        memory: Reader | None = None,
    ) -> None:
        self._reader = reader
        self._clock = clock or MonotonicClock()
        self._run_delay_ns = run_delay_ns
        self._memory = MemoryWatch(memory, self._clock, run_delay_ns)
        self._readings: list[int] = []
        self._sorted: list[int] = []
        self._known_ns: float | None = None
        self._last_ns = 0
        self._cost_ns = 0
        self._balance_ns = 0.0
        self._first = 0
        self._spent_ns = 0

    @property
    def baseline_ns(self) -> float | None:
        """The reference-kernel baseline, as far as it is known."""
        if not self._sorted:
            return self._known_ns
        own = level_of(self._sorted)
        return own if self._known_ns is None else min(own, self._known_ns)

    def begin_trial(self, known_ns: float | None) -> None:
        """What :meth:`facts` tells is of the time from now on. ``known_ns`` is the reference-kernel baseline that
        others found."""
        self._known_ns = known_ns
        self._memory.begin_trial()
        self._first, self._spent_ns = len(self._readings), 0

    @property
    def spent_ns(self) -> int:
        """What readings cost since the trial began."""
        return self._spent_ns + self._memory.spent_ns

    def before(self, reads_memory: bool = True) -> Begun:
        """A sample begins now; the memory kernel is beside it where that ``reads_memory``."""
        if self._reader is None:
            return Begun(-1, None)
        if reads_memory:
            self._memory.before()
        is_stale = self._clock.now_ns() - self._last_ns > _STALE_NS
        if len(self._readings) == self._first or (is_stale and self._is_affordable):
            self._read(self._reader)
        return Begun(len(self._readings) - 1, self._run_delay_ns(), reads_memory)

    def after(self, begun: Begun, lasted_ns: int) -> Around:
        """A sample that was begun is over."""
        if self._reader is None:
            return Around(-1)
        delay_ns = self._run_delay_ns()
        waited_ns = 0 if delay_ns is None or begun.delay_ns is None else delay_ns - begun.delay_ns
        self._balance_ns = min(self._balance_ns + _SHARE * lasted_ns, _SAVED * self._cost_ns)
        if self._is_affordable:
            self._read(self._reader)
        if begun.reads_memory:
            self._memory.after(lasted_ns)  # last, since it fills the core's caches
        return Around(begun.reading, waited_ns / max(1, lasted_ns))

    def settle(self) -> None:
        """No sample follows for now: those after the last reading get one."""
        if self._reader is not None and len(self._readings) > self._first:
            self._read(self._reader)

    def slowdowns(self, arounds: Sequence[Around]) -> list[float | None]:
        """How many times as long as in the undisturbed state each sample took, by what is known now of the reference
        kernel beside it and of the run-queue delay; ``None`` where nobody knows.
        """
        return [None if one.is_disturbed else one.factor for one in map(self.slowing, arounds)]

    def slowing(self, around: Around) -> Slowing:
        """How a sample was slowed, by what is known now."""
        level = self.baseline_ns
        if level is None:
            return Slowing()
        beside = self._readings[around.reading : around.reading + 2]
        return slowing(fmean(beside) / level, around.waited_share)

    def facts(self) -> dict[str, float]:
        """Of the trial: which reference kernel it was, how much more than it samples are taken to be slowed, its time
        in the undisturbed state, to which times are corrected (s), its spread, how many readings and what they cost
        (s); and :meth:`MemoryWatch.facts`. Nothing where nothing is known.
        """
        readings, level = sorted(self._readings[self._first :]), self.baseline_ns
        if not readings or level is None:
            return {}
        return {
            "reference_kernel_version": float(KERNEL),
            "reference_kernel_gain": GAIN,
            "reference_kernel_s": level / 1e9,
            "reference_kernel_spread": readings[int(0.9 * (len(readings) - 1))] / level - 1,
            "reference_kernel_readings": float(len(readings)),
            "reference_kernel_cost_s": self._spent_ns / 1e9,
            **self._memory.facts(),
        }

    @property
    def _is_affordable(self) -> bool:
        return self._balance_ns >= self._cost_ns

    def _read(self, reader: Reader) -> None:
        start = self._clock.now_ns()
        reading = reader.read_ns()
        self._readings.append(reading)
        insort(self._sorted, reading)
        self._last_ns = self._clock.now_ns()
        self._cost_ns = self._last_ns - start
        self._balance_ns -= self._cost_ns
        self._spent_ns += self._cost_ns


def counts(samples: Iterable[Sample]) -> dict[str, float]:
    """Of a trial: its timed samples, those of them that are undisturbed, its phases without a sample that counts, and
    by how much those that count were slowed, in the median. Pure.
    """
    phases: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample.metric == "time" and not sample.is_warmup:
            phases.setdefault(sample.phase, []).append(sample)
    timed = [sample for of_phase in phases.values() for sample in of_phase]
    counted = [sample.slowdown for sample in timed if not sample.is_disturbed]
    totals = {
        "timed_samples": float(len(timed)),
        "undisturbed_samples": float(sum(slowdown <= TOLERANCE for slowdown in counted)),
        "disturbed_phases": float(sum(all(s.is_disturbed for s in items) for items in phases.values())),
    }
    return totals | ({"slowdown": median(counted)} if counted else {})
