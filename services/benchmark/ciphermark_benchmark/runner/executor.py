"""Executes a plan: blocks of workers, interleaved comparison groups, exactly one outcome per trial. Peak memory is
measured by workers that time nothing.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from types import TracebackType
from typing import TypeVar

from ciphermark_adapters import registry
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.processes import WorkerNeeds, WorkerProcess
from ciphermark_benchmark.runner.checkpoints import Checkpoints
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.trial_runner import InWorker, Requests, TrialFailed, TrialRunner
from ciphermark_benchmark.runner.two_parties import OnStage, TwoParties
from ciphermark_benchmark.runner.workload_profile import with_profile
from ciphermark_benchmark.suite.capacity import MEMORY_WORKERS_PER_CORE
from ciphermark_benchmark.suite.plan import Block, ComparisonGroup, Plan
from ciphermark_core.model import Outcome, Sample, Status, Trial
from ciphermark_measure import protocol
from ciphermark_measure.experiments import KINDS, keys_of
from ciphermark_measure.processes import Confinement, WorkerDied
from ciphermark_workloads import user_workloads

Report = Callable[[Outcome], None]
Peaks = dict[str, tuple[Sample, ...]]
R = TypeVar("R")
_Key = tuple[str, Confinement]
_JOINING_S = 10.0  # a process ends within milliseconds, or within a second if it frees gigabytes


class Executor:
    """Executes plans on this host.

    ``report`` is called once per trial, as soon as its outcome is known. Workers of one block share the same CPUs, so
    that variants do not differ by CPU; one of them works at a time. ``data_directory`` has the data sets and workloads
    that are not shipped. ``level`` is the reference-kernel baseline, which trials refine. ``on_stage`` is called after
    every stage of a workload.
    """

    def __init__(
        self,
        report: Report,
        data_directory: DataDirectory | None = None,
        level: ReferenceKernelBaseline | None = None,
        on_stage: OnStage = lambda _: None,
    ) -> None:
        self._report = report
        self._on_stage = on_stage
        self._allowed_cpus = tuple(sorted(os.sched_getaffinity(0)))
        self._data_directory = data_directory
        self._parties = http_party.chosen(os.environ, data_directory)
        self._level = level or ReferenceKernelBaseline()

    def execute(self, plan: Plan, seed: int) -> None:
        """Execute the plan; unsupported trials are reported first."""
        for refused in plan.unsupported:
            self._report(without_worker(*refused))
        turns = random.Random(seed)
        with MemoryPass(len(self._allowed_cpus)) as memory:
            for block in plan.blocks:
                self._execute_block(block, memory, turns)

    def _execute_block(self, block: Block, memory: MemoryPass, turns: random.Random) -> None:
        trials = [trial for comparison_group in block.comparison_groups for trial in comparison_group.trials]
        by_variant: dict[str, list[Trial]] = {}
        for trial in trials:
            by_variant.setdefault(trial.case.variant, []).append(trial)
        needs = {variant: self._needs(block, own) for variant, own in by_variant.items()}
        runners = {variant: self._runner(block, needs[variant]) for variant in by_variant}
        try:
            for runner in runners.values():
                runner.start()
            peaks = {} if block.has_workloads else memory.peaks(needs, by_variant)  # while workers start
            for runner in runners.values():
                runner.ready()  # workers share CPUs, and the making of keys is timed
            for comparison_group in block.comparison_groups:
                self._execute_comparison_group(comparison_group, runners, peaks, turns)
        finally:
            for runner in runners.values():
                runner.leave()

    def _execute_comparison_group(
        self,
        comparison_group: ComparisonGroup,
        runners: dict[str, TrialRunner],
        peaks: Peaks,
        turns: random.Random,
    ) -> None:
        """Open all trials, interleave their turns in an order shuffled every round, and close each trial when it is
        done.
        """
        open_trials = [trial for trial in comparison_group.trials if self._opened(trial, runners, peaks)]
        while open_trials:
            turns.shuffle(open_trials)
            for trial in list(open_trials):
                runner = runners[trial.case.variant]
                if runner.turn():
                    open_trials.remove(trial)
                    self._finish(runner, peaks)

    def _opened(self, trial: Trial, runners: dict[str, TrialRunner], peaks: Peaks) -> bool:
        runner = runners[trial.case.variant]
        if runner.open(trial):
            return True
        self._finish(runner, peaks)
        return False

    def _finish(self, runner: TrialRunner, peaks: Peaks) -> None:
        outcome = runner.close()
        if isinstance(runner, TwoParties) and outcome.trial.budget.probes and outcome.status == "ok":
            outcome = with_profile(outcome, runner.needs, self._data_directory)
        extra = peaks.get(outcome.trial.id, ())
        self._report(replace(outcome, samples=outcome.samples + extra))

    def _runner(self, block: Block, needs: WorkerNeeds) -> TrialRunner:
        if block.has_workloads:
            checkpoints = Checkpoints(self._data_directory) if self._data_directory is not None else None
            return TwoParties(needs, self._parties, self._level, self._on_stage, checkpoints)
        return InWorker(needs, self._level)

    def _needs(self, block: Block, trials: Sequence[Trial]) -> WorkerNeeds:
        variant, budget = trials[0].case.variant, trials[0].budget
        cpus = self._allowed_cpus[-block.threads :]
        return WorkerNeeds(
            variant=variant,
            parameters=block.parameters,
            keys=keys_of(trials),
            confinement=Confinement(cpus, block.threads, budget.memory_mb),
            timeout_s=budget.timeout_s,
            is_led=any(user_workloads.is_copy(trial.case.operation) for trial in trials),
        )


def without_worker(trial: Trial, reason: str, status: Status = "unsupported") -> Outcome:
    """The outcome of a trial that cannot be executed here."""
    now = datetime.now(timezone.utc).isoformat()
    return Outcome(trial=trial, status=status, started_at=now, duration_s=0.0, error=reason)


class _Stem:
    """A worker that is started on demand, and restarted if it died."""

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
        """Called from another thread: end the worker; a pending request raises ``WorkerDied``."""
        if self._worker is not None:
            self._worker.kill()


class _Measuring:
    """Measures the peaks of one variant's trials with one parameter set."""

    def __init__(self, needs: WorkerNeeds, stem: _Stem) -> None:
        self._needs = needs
        self._stem = stem
        self._requests = Requests(needs.timeout_s)
        self._branched: protocol.Branched | None = None
        self._has_asked = False  # for a branch, which exists even after a refusal
        self._keys: tuple[Sample, ...] = ()
        self._refusal: protocol.Refused | None = None

    def peaks(self, trial: Trial) -> tuple[Sample, ...]:
        """Peak memory of the trial's phases; empty on failure, whose reason timing will report."""
        kind = KINDS[trial.case.experiment]
        self._requests.begin()
        try:
            if kind.has_memory_worker:
                return self._footprint(trial)
            return self._in_branch(trial) if kind.has_phases_alone(trial.case) else self._of_keys()
        except (TrialFailed, WorkerDied):
            return ()

    def leave(self) -> None:
        """End the fork with its keys; the worker remains if possible. A worker that was starting when the trial was
        abandoned could not be killed, and is ended, since it would load its library before it answers.
        """
        if not self._has_asked:
            return
        self._branched, self._has_asked = None, False
        if not self._requests.is_abandoned:
            with suppress(WorkerDied):
                if isinstance(self._stem.started().ask(protocol.Join(), _JOINING_S), protocol.Joined):
                    return
        self._stem.end()

    def abandon(self) -> None:
        """Called from another thread: fail all pending and further requests."""
        self._requests.is_abandoned = True
        self._stem.kill()

    def _of_keys(self) -> tuple[Sample, ...]:
        """The peaks of any fork with these keys, for a trial without phases of its own; the fork stays unchanged."""
        return self._keys or self._require_branch().samples

    def _in_branch(self, trial: Trial) -> tuple[Sample, ...]:
        branched = self._require_branch()
        try:
            return branched.samples + self._asked(protocol.Memory(trial), protocol.Peaks).samples
        finally:
            if not branched.forks:  # libraries keep memory: the next trial needs a fresh process
                self.leave()

    def _footprint(self, trial: Trial) -> tuple[Sample, ...]:
        """The peaks of a fresh worker with the keys of this trial's operation only."""
        self._end()
        try:
            return self._asked(protocol.Footprint(trial, keys_of([trial])), protocol.Peaks).samples
        finally:
            self._end()

    def _require_branch(self) -> protocol.Branched:
        """The fork with keys, created if needed. Fails as the last attempt with these parameters did."""
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
            if death.status == "timeout":  # a second attempt would take as long
                self._refusal = protocol.Refused(death.status, str(death))
            raise
        self._keys = self._branched.samples
        return self._branched

    def _asked(self, request: protocol.Request, kind: type[R]) -> R:
        try:
            return self._requests.ask(self._stem.started(), request, kind)
        except WorkerDied:  # the worker accepts no further requests
            self._end()
            raise

    def _end(self) -> None:
        self._stem.end()
        self._branched, self._has_asked = None, False


class MemoryPass:
    """Measures peak memory during a run, until the context ends; variants in parallel, since nothing is timed.

    A worker that has only loaded its library forks for each parameter set. The fork makes the keys, and forks for each
    trial. So every set of keys starts in the memory of a new process, and every trial in that of a process with its
    keys only.

    At most ``most`` workers are at work at a time. One worker is kept for each variant, number of threads and memory
    limit. If too many wait, the workers that the parameter set does not use are ended first, else the one that has
    finished.
    """

    def __init__(self, most: int) -> None:
        # Workers end with the thread that started them, so the threads live as long.
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
        """The peaks of every trial, by its id. All trials of a variant share its needs."""
        keys = {variant: _key(needs[variant]) for variant in by_variant}
        measuring = {variant: _Measuring(needs[variant], self._taken(key)) for variant, key in keys.items()}

        def measure(variant: str) -> Peaks:
            own = measuring[variant]
            try:
                return {trial.id: own.peaks(trial) for trial in by_variant[variant]}
            finally:
                own.leave()

        of_all: Peaks = {}
        try:
            for variant, peaks in zip(by_variant, self._pool.map(measure, by_variant), strict=True):
                of_all |= peaks
                self._rest(keys[variant], keys.values())
        except BaseException:  # Ctrl-C: the threads wait for workers that may be slow
            for own in measuring.values():
                own.abandon()
            raise
        return of_all

    def _taken(self, key: _Key) -> _Stem:
        if key in self._idle:
            self._idle.remove(key)
        return self._stems.setdefault(key, _Stem(*key))

    def _rest(self, key: _Key, used: Collection[_Key]) -> None:
        """Keep a worker for the next parameter set in place of one that the current set does not use; else end it."""
        self._idle.append(key)
        if len(self._idle) > self._most_idle:
            surplus = next((other for other in self._idle if other not in used), key)
            self._idle.remove(surplus)
            self._stems.pop(surplus).end()


def _key(needs: WorkerNeeds) -> _Key:
    """The key that distinguishes workers. A worker may use any CPU."""
    return needs.variant, replace(needs.confinement, cpus=())
