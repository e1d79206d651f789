"""Trials in a worker: always one with keys behind the trials of a block, a new one where the last one died."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter_ns
from typing import TypeVar

from ciphermark_adapters import registry
from ciphermark_benchmark.processes import WorkerNeeds, WorkerProcess
from ciphermark_benchmark.runner.quiet_level import QuietLevel
from ciphermark_benchmark.runner.trial_runner import TrialFailed, TrialRunner
from ciphermark_core.model import Outcome, Trial
from ciphermark_measure import protocol
from ciphermark_measure.processes import WorkerDied, require_one_clock

R = TypeVar("R")


class InWorker(TrialRunner):
    """A worker serves one trial of a variant after another; their memory is measured elsewhere: see
    :class:`~ciphermark_benchmark.runner.executor.MemoryPass`. ``level`` is that of the run.
    """

    def __init__(self, needs: WorkerNeeds, level: QuietLevel) -> None:
        super().__init__(needs.timeout_s)
        self._needs = needs
        self._level = level
        self._worker: WorkerProcess | None = None
        self._prepared: protocol.Prepared | None = None
        self._last_prepared: protocol.Prepared | None = None  # outlives the worker
        self._refusal: protocol.Refused | None = None

    def start(self) -> None:
        if self._worker is None:
            variant = self._needs.variant
            self._worker = WorkerProcess(self._needs.confinement, registry.interpreter(variant), variant)

    def ready(self) -> None:
        """See :meth:`TrialRunner.ready`. The trial starts another one where this one died, and tells how that dies."""
        if self._worker is None:
            return
        try:
            self._worker.meet()
        except WorkerDied:
            self.leave()

    def leave(self) -> None:
        if self._worker is not None:
            self._worker.end()
        self._worker = self._prepared = None

    def _kill(self) -> None:
        if self._worker is not None:
            self._worker.kill()

    def _begin(self, trial: Trial) -> None:
        self._require_prepared()
        self._asked(protocol.Open(trial, self._level.ns), protocol.Turned)

    def _take_turn(self) -> bool:
        self._require_prepared()
        return self._asked(protocol.Turn(), protocol.Turned).is_done

    def _completed(self, outcome: Outcome) -> Outcome:
        """The worker's outcome with the facts of its preparation, provided that its clock is ours."""
        prepared, worker = self._require_prepared(), self._worker
        assert worker is not None
        asked_ns = perf_counter_ns()
        closed = self._asked(protocol.Close(), protocol.Closed)
        try:
            require_one_clock(closed.monotonic_ns, asked_ns)
        except WorkerDied as death:
            return replace(closed.outcome, status=death.status, error=str(death))
        self._level.learn(closed.outcome.facts)
        facts = prepared.facts | closed.outcome.facts | {"is_pinned": float(worker.is_pinned)}
        return _declared(replace(closed.outcome, facts=facts))

    def _failed(self, outcome: Outcome) -> Outcome:
        if self._last_prepared is None:
            return _declared(outcome)
        return _declared(
            replace(outcome, parameters=self._last_prepared.parameters, library=self._last_prepared.library)
        )

    def _require_prepared(self) -> protocol.Prepared:
        """Have a worker with keys, or fail as the last attempt with these parameters did."""
        if self._prepared is not None:
            return self._prepared
        self.requests.require_interest()
        if self._refusal is not None:
            raise TrialFailed(self._refusal)
        self.start()
        try:
            self._prepared = self._last_prepared = self._asked(self._needs.request, protocol.Prepared)
        except TrialFailed as failed:
            self._refusal = failed.reply
            raise
        except WorkerDied as death:
            if death.status == "timed_out":  # a second attempt would take as long
                self._refusal = protocol.Refused(death.status, self.requests.explained(death))
            raise
        return self._prepared

    def _asked(self, request: protocol.Request, kind: type[R]) -> R:
        assert self._worker is not None
        return self.requests.ask(self._worker, request, kind)


def _declared(outcome: Outcome) -> Outcome:
    """The outcome with the fact whether its operation is composed: such are ranked apart."""
    case = outcome.trial.case
    is_composed = registry.declaration(case.variant).composes(case.operation)
    return replace(outcome, facts=outcome.facts | {"is_composed": float(is_composed)})
