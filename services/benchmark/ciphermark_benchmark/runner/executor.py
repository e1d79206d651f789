"""Executes a plan: blocks of workers, comparisons in turns, one outcome per trial whatever happens."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.parties.local import NOTHING_OWN, Own
from ciphermark_benchmark.processes import Confinement, WorkerNeeds
from ciphermark_benchmark.runner import in_worker, two_parties
from ciphermark_benchmark.runner.memory_pass import MemoryPass, Peaks
from ciphermark_benchmark.runner.quiet_level import QuietLevel
from ciphermark_benchmark.runner.trial_runner import TrialRunner
from ciphermark_benchmark.suite.plan import Block, Comparison, Plan
from ciphermark_core.model import Outcome, Status, Trial
from ciphermark_measure.experiments import keys_of

Report = Callable[[Outcome], None]


class Executor:
    """Executes plans on this host.

    ``report`` is called once per trial, as soon as its outcome is known. Workers of one block share the same
    CPUs, so that the CPU is no difference between variants; only one of them works at a time. ``own`` is where data
    sets and workloads are that are not shipped, ``level`` what is known of the quiet host, and learns.
    """

    def __init__(
        self,
        report: Report,
        is_pinned: bool = True,
        own: Own = NOTHING_OWN,
        level: QuietLevel | None = None,
    ) -> None:
        self._report = report
        self._allowed_cpus = tuple(sorted(os.sched_getaffinity(0)))
        self._is_pinned = is_pinned
        self._parties = http_party.chosen(os.environ, own)
        self._level = level or QuietLevel()

    def execute(self, plan: Plan, seed: int) -> None:
        """Execute everything; the impossible is reported first."""
        for refused in plan.unsupported:
            self._report(without_worker(*refused))
        turns = random.Random(seed)
        with MemoryPass(len(self._allowed_cpus)) as memory:
            for block in plan.blocks:
                self._execute_block(block, memory, turns)

    def _execute_block(self, block: Block, memory: MemoryPass, turns: random.Random) -> None:
        trials = [trial for comparison in block.comparisons for trial in comparison.trials]
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
                runner.ready()  # they share their CPUs: the keys of one are timed
            for comparison in block.comparisons:
                self._execute_comparison(comparison, runners, peaks, turns)
        finally:
            for runner in runners.values():
                runner.leave()

    def _execute_comparison(
        self,
        comparison: Comparison,
        runners: dict[str, TrialRunner],
        peaks: Peaks,
        turns: random.Random,
    ) -> None:
        """Open all, let them take turns in an order shuffled every round, close each when it has enough."""
        open_trials = [trial for trial in comparison.trials if self._opened(trial, runners, peaks)]
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
        extra = peaks.get(outcome.trial.id, ())
        self._report(replace(outcome, samples=outcome.samples + extra))

    def _runner(self, block: Block, needs: WorkerNeeds) -> TrialRunner:
        if block.has_workloads:
            return two_parties.runner(needs, self._parties)
        return in_worker.runner(needs, self._level)

    def _needs(self, block: Block, trials: Sequence[Trial]) -> WorkerNeeds:
        variant, budget = trials[0].case.variant, trials[0].budget
        cpus = self._allowed_cpus[-block.threads :] if self._is_pinned else ()
        return WorkerNeeds(
            variant=variant,
            parameters=block.parameters,
            keys=keys_of(trials),
            confinement=Confinement(cpus, block.threads, budget.memory_mb),
            timeout_s=budget.timeout_s,
        )


def without_worker(trial: Trial, reason: str, status: Status = "unsupported") -> Outcome:
    """The outcome of a trial that cannot be executed here."""
    now = datetime.now(timezone.utc).isoformat()
    return Outcome(trial=trial, status=status, started_at=now, duration_s=0.0, error=reason)
