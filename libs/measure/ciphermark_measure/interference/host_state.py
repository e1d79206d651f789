"""The state of the host around samples: how much other work on the core slowed them.

A :class:`~.reference_kernel.ReferenceKernel` is read before and after a sample, where the budget allows: it takes at
most 3% of the time of samples, and the memory kernel 1%. The slowdown of a sample is the mean of the readings around it
over the reference-kernel baseline. Its time is divided by the slowdown. Where the process waited for its core, the
kernel reports the duration, and the time is divided by that as well. A sample that mostly waited is disturbed: too
little of it remains. The baseline is a low quantile of all readings of this process, or the one found by another worker
of the run, if that is lower. A worker that begins on a slow host thus learns the baseline later, and its earlier
samples are corrected by it.

The memory kernel corrects nothing: the dependence of operations on the shared cache ranges from none to full
(docs/decisions/0083). Its median is a fact of the trial, which widens the intervals of comparisons between runs.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Protocol

from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Sample
from ciphermark_measure.clock import Clock, MonotonicClock
from ciphermark_measure.interference import cpu_steal
from ciphermark_measure.interference.reference_kernel import KERNEL, MEMORY_KERNEL

# A sample is undisturbed below this slowdown, which shows no difference between results either.
TOLERANCE = SIGNIFICANCE_THRESHOLD
_QUANTILE = 0.05  # readings err only upwards: the baseline is low among them, but no single outlier
_SHARE = 0.03  # of the time of samples, for readings
_MEMORY_SHARE = 0.01  # likewise, of the memory kernel
_SAVED = 4  # readings that may be saved up for
_STALE_NS = 5_000_000  # another worker's turn may lie between
_MAX_WAITED = 0.5  # of a sample
_ALL_WAITED = 0.99
# Samples are slowed by this multiple of the reference kernel's slowdown: a third of the kernel is hardly slowed, and a
# reading is the fastest of three counts (docs/decisions/0045).
GAIN = 1.25


class Reader(Protocol):
    """An object that executes the fixed work."""

    def read_ns(self) -> int:
        """Execute the work; returns its time in nanoseconds."""
        ...


@dataclass(frozen=True, slots=True)
class Begun:
    """A sample in progress: the number of the last reading before it, the run-queue delay by then, and whether the
    memory kernel is read around it.
    """

    reading: int
    delay_ns: int | None
    reads_memory: bool = True


@dataclass(frozen=True, slots=True)
class Around:
    """The position of a sample: the number of the last reading before it (the next is the first after it), the share of
    its time that the process waited for its core, and whether a garbage collection fell into it.
    """

    reading: int
    waited_share: float = 0.0
    is_collected: bool = False

    @property
    def is_disturbed(self) -> bool:
        """Whether a collection fell into it (see :func:`own_collections_kept`), or as :attr:`Slowing.is_disturbed`."""
        return self.is_collected or Slowing(waited_share=self.waited_share).is_disturbed


def own_collections_kept(arounds: Sequence[Around]) -> list[Around]:
    """The positions of all samples of some work. A collection in every one of them belongs to the work, and disturbs
    none. Pure.
    """
    if not all(around.is_collected for around in arounds):
        return [*arounds]
    return [replace(around, is_collected=False) for around in arounds]


@dataclass(frozen=True, slots=True)
class Slowing:
    """The slowdown of some work: ``by_host`` times, as the reference kernel around it shows, and by the run-queue delay
    for ``waited_share`` of its time.
    """

    by_host: float = 1.0
    waited_share: float = 0.0

    @property
    def is_disturbed(self) -> bool:
        """Whether the process lacked its core for so long that the remaining time is meaningless."""
        return self.waited_share > _MAX_WAITED

    @property
    def factor(self) -> float:
        """The slowdown relative to the undisturbed state. The reported wait may exceed the whole time."""
        return self.by_host / (1 - min(self.waited_share, _ALL_WAITED))


def level_of(readings: Sequence[int]) -> float:
    """The reference-kernel baseline among sorted readings, in their unit. Pure."""
    return float(readings[int(_QUANTILE * len(readings))])


def slowing(reference_kernel_ratio: float, waited_share: float) -> Slowing:
    """The slowdown of a sample around which the reference kernel took ``reference_kernel_ratio`` times its baseline.
    The process waited for its core for ``waited_share`` of the time. Pure.
    """
    return Slowing(1 + GAIN * (reference_kernel_ratio - 1), waited_share)


def together(pieces: Sequence[tuple[Slowing, float]]) -> Slowing:
    """The slowdown of work done in pieces, each with its duration. Pure."""
    whole = sum(lasted for _, lasted in pieces)
    if not whole:
        return Slowing()
    worked = [(one.by_host, lasted * (1 - min(one.waited_share, 1.0))) for one, lasted in pieces]
    undisturbed = sum(lasted / by_host for by_host, lasted in worked)
    waited_share = 1 - sum(lasted for _, lasted in worked) / whole
    return Slowing(sum(lasted for _, lasted in worked) / undisturbed if undisturbed else 1.0, waited_share)


class MemoryWatch:
    """Measures how much of a buffer samples leave in the shared cache: the memory kernel is executed before a sample,
    and timed after it. Readings stay within a share of the time of samples, but each trial has at least one. Without a
    ``reader`` nothing is measured.
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
        """Start a trial: :meth:`facts` covers the time from now on."""
        self._of_trial = []
        self._is_first = True
        self._spent_ns = 0

    @property
    def spent_ns(self) -> int:
        """Nanoseconds spent on readings since the trial began."""
        return self._spent_ns

    def before(self) -> None:
        """Note the beginning of a sample."""
        self._is_primed = self._is_first or self._balance_ns >= self._cost_ns
        self._is_first = False
        if self._is_primed and self._reader is not None:
            self._primed_ns = self._timed(self._reader)[1]

    def after(self, lasted_ns: int) -> None:
        """Note the end of a sample, which lasted for ``lasted_ns``."""
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
        """Facts of the trial: the kernel's version, its median time (s), the ratio of that to the shortest times of
        this process, and the cost of readings (s). Empty without readings.
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
        """A reading and its cost in nanoseconds."""
        start = self._clock.now_ns()
        reading = reader.read_ns()
        return reading, self._clock.now_ns() - start


class Gate:
    """Determines the slowdown of samples. Without a ``reader`` it is unknown, and all samples count unchanged."""

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
        """The reference-kernel baseline in nanoseconds, as far as it is known."""
        if not self._sorted:
            return self._known_ns
        own = level_of(self._sorted)
        return own if self._known_ns is None else min(own, self._known_ns)

    def run_delay_ns(self) -> int:
        """How long the process has waited for its core, in nanoseconds; always 0 where that is unreadable."""
        return self._run_delay_ns() or 0

    def begin_trial(self, known_ns: float | None) -> None:
        """Start a trial: :meth:`facts` covers the time from now on. ``known_ns`` is the reference-kernel baseline found
        by other workers.
        """
        self._known_ns = known_ns
        self._memory.begin_trial()
        self._first, self._spent_ns = len(self._readings), 0

    @property
    def spent_ns(self) -> int:
        """Nanoseconds spent on readings since the trial began."""
        return self._spent_ns + self._memory.spent_ns

    def before(self, reads_memory: bool = True) -> Begun:
        """Note the beginning of a sample; ``reads_memory`` adds a reading of the memory kernel."""
        if self._reader is None:
            return Begun(-1, None)
        if reads_memory:
            self._memory.before()
        is_stale = self._clock.now_ns() - self._last_ns > _STALE_NS
        if len(self._readings) == self._first or (is_stale and self._is_affordable):
            self._read(self._reader)
        return Begun(len(self._readings) - 1, self._run_delay_ns(), reads_memory)

    def after(self, begun: Begun, lasted_ns: int) -> Around:
        """Note the end of a sample."""
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
        """Take a final reading for samples after the last one, since no sample follows for now."""
        if self._reader is not None and len(self._readings) > self._first:
            self._read(self._reader)

    def slowdowns(self, arounds: Sequence[Around]) -> list[float | None]:
        """The slowdown of each sample relative to the undisturbed state, by current knowledge of the reference kernel
        and the run-queue delay; ``None`` where it is unknown.
        """
        return [None if one.is_disturbed else self.slowing(one).factor for one in arounds]

    def slowing(self, around: Around) -> Slowing:
        """The slowdown of a sample by current knowledge."""
        level = self.baseline_ns
        if level is None:
            return Slowing()
        beside = self._readings[around.reading : around.reading + 2]
        return slowing(fmean(beside) / level, around.waited_share)

    def facts(self) -> dict[str, float]:
        """Facts of the trial: the reference kernel's version, the ratio of samples' slowdown to the kernel's, its time
        in the undisturbed state (s), to which times are corrected, its spread, and the number and cost (s) of readings;
        and :meth:`MemoryWatch.facts`. Empty where nothing is known.
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
    """Counts of a trial: its timed samples, the undisturbed ones, the phases without a sample that counts, and the
    median slowdown of the samples that count. Pure.
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
