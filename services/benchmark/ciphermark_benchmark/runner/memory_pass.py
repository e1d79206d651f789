"""Peak memory of trials, by workers in which nothing is timed: one of each variant for the whole run, which forks.

A worker that has loaded its library and nothing else forks for each parameter set; the fork makes the keys, and forks
for each trial. So every set of keys finds the memory of a new process, and every trial that of one with its keys alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import TypeVar

from ciphermark_adapters import registry
from ciphermark_benchmark.processes import Confinement, WorkerDied, WorkerNeeds, WorkerProcess
from ciphermark_benchmark.runner.trial_runner import Requests, TrialFailed
from ciphermark_benchmark.suite.process_limit import MEMORY_WORKERS_PER_CORE
from ciphermark_core.model import Sample, Trial
from ciphermark_measure import protocol
from ciphermark_measure.experiments import KINDS, keys_of

Peaks = dict[str, tuple[Sample, ...]]
R = TypeVar("R")
_Key = tuple[str, Confinement]
_JOINING_S = 10.0  # a process ends within milliseconds, one that frees gigabytes within a second


class _Stem:
    """One worker, started when it is needed, and again where it died."""

    def __init__(self, variant: str, confinement: Confinement) -> None:
        self._confinement = confinement
        self._interpreter = registry.interpreter(variant)
        self._worker: WorkerProcess | None = None

    def started(self) -> WorkerProcess:
        if self._worker is None:
            self._worker = WorkerProcess(self._confinement, self._interpreter)
        return self._worker

    def end(self) -> None:
        if self._worker is not None:
            self._worker.end()
        self._worker = None

    def kill(self) -> None:
        """From another thread: whoever waits for a reply gets ``WorkerDied``."""
        if self._worker is not None:
            self._worker.kill()


class _Measuring:
    """The peaks of one variant's trials with one parameter set."""

    def __init__(self, needs: WorkerNeeds, stem: _Stem) -> None:
        self._needs = needs
        self._stem = stem
        self._requests = Requests(needs.timeout_s)
        self._branched: protocol.Branched | None = None
        self._has_asked = False  # for a branch, which is there even where it refused
        self._keys: tuple[Sample, ...] = ()
        self._refusal: protocol.Refused | None = None

    def peaks(self, trial: Trial) -> tuple[Sample, ...]:
        """Peak memory of the trial's phases; nothing where they fail, since timing will tell why."""
        kind = KINDS[trial.case.experiment]
        self._requests.begin()
        try:
            if kind.has_memory_worker:
                return self._footprint(trial)
            return self._in_branch(trial) if kind.has_phases_alone else self._of_keys()
        except (TrialFailed, WorkerDied):
            return ()

    def leave(self) -> None:
        """End the fork with its keys; the worker remains where it can."""
        if not self._has_asked:
            return
        self._branched, self._has_asked = None, False
        with suppress(WorkerDied):
            if isinstance(self._stem.started().ask(protocol.Join(), _JOINING_S), protocol.Joined):
                return
        self._stem.end()

    def abandon(self) -> None:
        """From another thread: whatever is asked fails, what was asked already included."""
        self._requests.is_abandoned = True
        self._stem.kill()

    def _of_keys(self) -> tuple[Sample, ...]:
        """Those of any fork with these keys: the trial has no phases beside, and leaves it as it is."""
        return self._keys or self._require_branch().samples

    def _in_branch(self, trial: Trial) -> tuple[Sample, ...]:
        branched = self._require_branch()
        try:
            return branched.samples + self._asked(protocol.Memory(trial), protocol.Peaks).samples
        finally:
            if not branched.forks:  # libraries keep memory: the next trial needs a process that has had none
                self.leave()

    def _footprint(self, trial: Trial) -> tuple[Sample, ...]:
        """The same by a fresh worker, for this trial's operation alone."""
        self._end()
        try:
            return self._asked(protocol.Footprint(trial, keys_of([trial])), protocol.Peaks).samples
        finally:
            self._end()

    def _require_branch(self) -> protocol.Branched:
        """Have a fork with keys, or fail as the last attempt with these parameters did."""
        if self._branched is not None:
            return self._branched
        if self._refusal is not None:
            raise TrialFailed(self._refusal)
        self._requests.require_interest()
        self._has_asked = True
        try:
            self._branched = self._asked(protocol.Branch(self._needs.request), protocol.Branched)
        except TrialFailed as failed:
            self._refusal = failed.reply
            raise
        except WorkerDied as death:
            if death.status == "timed_out":  # a second attempt would take as long
                self._refusal = protocol.Refused(death.status, str(death))
            raise
        self._keys = self._branched.samples
        return self._branched

    def _asked(self, request: protocol.Request, kind: type[R]) -> R:
        try:
            return self._requests.ask(self._stem.started(), request, kind)
        except WorkerDied:  # nothing is to be asked of it any more
            self._end()
            raise

    def _end(self) -> None:
        self._stem.end()
        self._branched, self._has_asked = None, False


class MemoryPass:
    """Measures peak memory throughout a run, until it is left; variants in parallel, since nothing is timed.

    ``most`` workers are at work at a time. One is kept for each variant, number of threads and limit of memory, as long
    as not too many wait: then those that a parameter set has no use for are ended, else the one that is done.
    """

    def __init__(self, most: int) -> None:
        # Workers end with the thread that started them, so threads are kept as long.
        self._pool = ThreadPoolExecutor(most)
        self._most_idle = (MEMORY_WORKERS_PER_CORE - 1) * most
        self._stems: dict[_Key, _Stem] = {}
        self._idle: list[_Key] = []

    def __enter__(self) -> MemoryPass:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()
        for stem in self._stems.values():
            stem.end()

    def peaks(self, needs: Mapping[str, WorkerNeeds], by_variant: Mapping[str, Sequence[Trial]]) -> Peaks:
        """Peaks of every trial, by its id: all trials of a variant have its needs."""
        keys = {variant: _key(needs[variant]) for variant in by_variant}
        measuring = {variant: _Measuring(needs[variant], self._taken(key)) for variant, key in keys.items()}

        def measure(variant: str) -> Peaks:
            own = measuring[variant]
            try:
                return {trial.id: own.peaks(trial) for trial in by_variant[variant]}
            finally:
                own.leave()

        found: Peaks = {}
        try:
            for variant, peaks in zip(by_variant, self._pool.map(measure, by_variant), strict=True):
                found |= peaks
                self._rest(keys[variant], keys.values())
        except BaseException:  # Ctrl-C: the threads wait for workers that may take their time
            for own in measuring.values():
                own.abandon()
            raise
        return found

    def _taken(self, key: _Key) -> _Stem:
        if key in self._idle:
            self._idle.remove(key)
        return self._stems.setdefault(key, _Stem(*key))

    def _rest(self, key: _Key, used: Collection[_Key]) -> None:
        """Keep a worker for the next parameter set, in place of one that this one does not use; else end it."""
        self._idle.append(key)
        if len(self._idle) > self._most_idle:
            surplus = next((other for other in self._idle if other not in used), key)
            self._idle.remove(surplus)
            self._stems.pop(surplus).end()


def _key(needs: WorkerNeeds) -> _Key:
    """What tells one worker from another. It is free to use any CPU."""
    return needs.variant, replace(needs.confinement, cpus=())
