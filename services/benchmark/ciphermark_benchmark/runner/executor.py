"""Executes a plan: blocks of workers, comparisons in turns, one outcome per trial whatever happens."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from ciphermark_benchmark.learning import http_party
from ciphermark_benchmark.learning.seat import LearningSeat
from ciphermark_benchmark.plan import Block, Comparison, Plan
from ciphermark_benchmark.runner.processes import Confinement
from ciphermark_benchmark.runner.seat import Seat, WorkerNeeds
from ciphermark_core.model import Outcome, Sample, Trial
from ciphermark_measure.experiments import keys_of

Report = Callable[[Outcome], None]
AnySeat = Seat | LearningSeat


class Executor:
    """Executes plans on this host.

    ``report`` is called once per trial, as soon as its outcome is known. Workers of one block share the same
    CPUs, so that the CPU is no difference between variants; only one of them works at a time. ``data_sets`` is the
    folder of those that are not shipped.
    """

    def __init__(self, report: Report, is_pinned: bool = True, data_sets: Path | None = None) -> None:
        self._report = report
        self._allowed_cpus = tuple(sorted(os.sched_getaffinity(0)))
        self._is_pinned = is_pinned
        self._parties = http_party.chosen(os.environ, data_sets)

    def execute(self, plan: Plan, seed: int) -> None:
        """Execute everything; the impossible is reported first."""
        for trial, reason in plan.unsupported:
            self._report(without_worker(trial, reason))
        turns = random.Random(seed)
        for block in plan.blocks:
            self._execute_block(block, turns)

    def _execute_block(self, block: Block, turns: random.Random) -> None:
        trials = [trial for comparison in block.comparisons for trial in comparison.trials]
        by_variant: dict[str, list[Trial]] = {}
        for trial in trials:
            by_variant.setdefault(trial.case.variant, []).append(trial)
        needs = {variant: self._needs(block, own) for variant, own in by_variant.items()}
        seats = {variant: self._seat(block, needs[variant]) for variant in by_variant}
        try:
            for seat in seats.values():
                seat.start()
            peaks = {} if block.is_learning else self._memory_pass(needs, by_variant)  # while workers start
            for comparison in block.comparisons:
                self._execute_comparison(comparison, seats, peaks, turns)
        finally:
            for seat in seats.values():
                seat.leave()

    def _memory_pass(
        self, needs: dict[str, WorkerNeeds], by_variant: dict[str, list[Trial]]
    ) -> dict[str, tuple[Sample, ...]]:
        """Peak memory of every trial, by workers of their own; variants in parallel, since nothing is timed."""
        seats = {variant: Seat(unpinned(needs[variant])) for variant in by_variant}

        def measure(variant: str) -> dict[str, tuple[Sample, ...]]:
            seat = seats[variant]
            try:
                return {trial.id: seat.memory(trial) for trial in by_variant[variant]}
            finally:
                seat.leave()

        found: dict[str, tuple[Sample, ...]] = {}
        with ThreadPoolExecutor(len(self._allowed_cpus)) as pool:
            try:
                for peaks in pool.map(measure, by_variant):
                    found |= peaks
            except BaseException:  # Ctrl-C: the threads wait for workers that may take their time
                for seat in seats.values():
                    seat.abandon()
                raise
        return found

    def _execute_comparison(
        self,
        comparison: Comparison,
        seats: dict[str, AnySeat],
        peaks: dict[str, tuple[Sample, ...]],
        turns: random.Random,
    ) -> None:
        """Open all, let them take turns in an order shuffled every round, close each when it has enough."""
        sitting = [trial for trial in comparison.trials if self._opened(trial, seats, peaks)]
        while sitting:
            turns.shuffle(sitting)
            for trial in list(sitting):
                seat = seats[trial.case.variant]
                if seat.turn():
                    sitting.remove(trial)
                    self._finish(seat, peaks)

    def _opened(self, trial: Trial, seats: dict[str, AnySeat], peaks: dict[str, tuple[Sample, ...]]) -> bool:
        seat = seats[trial.case.variant]
        if seat.open(trial):
            return True
        self._finish(seat, peaks)
        return False

    def _finish(self, seat: AnySeat, peaks: dict[str, tuple[Sample, ...]]) -> None:
        outcome = seat.close()
        extra = peaks.get(outcome.trial.id, ())
        self._report(replace(outcome, samples=outcome.samples + extra))

    def _seat(self, block: Block, needs: WorkerNeeds) -> AnySeat:
        return LearningSeat(needs, self._parties) if block.is_learning else Seat(needs)

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


def unpinned(needs: WorkerNeeds) -> WorkerNeeds:
    """The same worker, free to use any CPU."""
    return replace(needs, confinement=replace(needs.confinement, cpus=()))


def without_worker(trial: Trial, reason: str) -> Outcome:
    """The outcome of a trial that cannot be executed here."""
    now = datetime.now(timezone.utc).isoformat()
    return Outcome(trial=trial, status="unsupported", started_at=now, duration_s=0.0, error=reason)
