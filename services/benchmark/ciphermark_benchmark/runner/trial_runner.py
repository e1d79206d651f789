"""Executes the trials of one variant one after another: opened, sampled interleaved, closed, with exactly one outcome
each.

This module has the common part of all trials: deadline, deaths of processes, refusals, abandonment. Subclasses of
:class:`TrialRunner` execute a trial in a worker, or by two parties.
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from time import monotonic, perf_counter_ns
from typing import Any, Protocol, TypeVar

from ciphermark_adapters import registry
from ciphermark_benchmark.processes import WorkerNeeds, WorkerProcess
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_benchmark.runner.substitute import with_substitute
from ciphermark_benchmark.runner.workload_profile import profiled
from ciphermark_core.model import Outcome, Status, Trial
from ciphermark_measure import protocol
from ciphermark_measure.parties.blobs import DiskFull
from ciphermark_measure.processes import WorkerDied, require_one_clock

R = TypeVar("R")


class TrialFailed(Exception):
    """The trial is over; ``reply`` has the reason."""

    def __init__(self, reply: protocol.Refused) -> None:
        super().__init__(reply.error)
        self.reply = reply


class Answering(Protocol):
    """The recipient of requests: a worker, or a party."""

    def ask(self, request: Any, timeout_s: float) -> object:
        """The reply to a request, ``Refused`` included; raises ``WorkerDied`` if there is none."""


class Requests:
    """The requests of successive trials, each within its trial's remaining time."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._used_s = 0.0
        self.is_abandoned = False

    def begin(self) -> None:
        """Reset the time limit for the next trial."""
        self._used_s = 0.0

    def ask(self, whom: Answering, request: object, kind: type[R]) -> R:
        """A reply of type ``kind``. Raises :class:`TrialFailed` for a refusal or a reply of another type, and
        ``WorkerDied`` if there is no reply in time. A full disk raises ``OSError``, as our own writes do, since it says
        nothing about the trial.
        """
        self.require_interest()  # the recipient exists, so that abandoning the trial can end it
        start = monotonic()
        try:
            reply = whom.ask(request, self._timeout_s - self._used_s)
        finally:
            self._used_s += monotonic() - start
        if isinstance(reply, protocol.Refused):
            if reply.cause == DiskFull.__name__:
                raise OSError(errno.ENOSPC, protocol.plain_text(reply))
            raise TrialFailed(reply)
        if not isinstance(reply, kind):
            text = f"a process answers with {type(reply).__name__}, not {kind.__name__}"
            raise TrialFailed(protocol.Refused("crashed", text))
        return reply

    def require_interest(self) -> None:
        """Raise :class:`TrialFailed` if the trial was abandoned."""
        if self.is_abandoned:
            raise TrialFailed(protocol.Refused("cancelled", "the run was interrupted"))

    def explained(self, death: WorkerDied) -> str:
        """The cause of a recipient's death, as in the outcome."""
        text = str(death)
        if death.status == "timeout" and self._used_s >= self._timeout_s:
            text = f"the trial took longer than the {self._timeout_s:g} s that budget.timeout_s allows"
        return f"{death.place}: {text}" if death.place else text


@dataclass(slots=True)
class _Open:
    """A trial under way."""

    trial: Trial
    started_at: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat())
    started_s: float = field(default_factory=monotonic)
    failure: protocol.Refused | None = None


class TrialRunner(ABC):
    """Executes one trial at a time. A failure ends the trial, never the runner. Subclasses execute trials: their hooks
    raise :class:`TrialFailed` or ``WorkerDied`` if the trial is over.
    """

    def __init__(self, timeout_s: float) -> None:
        self.requests = Requests(timeout_s)
        self._open: _Open | None = None

    @abstractmethod
    def start(self) -> None:
        """Start missing processes. Returns at once; they greet while others start."""

    @abstractmethod
    def ready(self) -> None:
        """Wait until the started processes are ready or have ended, since a starting process disturbs timing."""

    @abstractmethod
    def leave(self) -> None:
        """End the processes."""

    @abstractmethod
    def _kill(self) -> None:
        """Called from another thread: end the processes; a pending request raises ``WorkerDied``."""

    @abstractmethod
    def _begin(self, trial: Trial) -> None:
        """Begin a trial, up to its first turn."""

    @abstractmethod
    def _take_turn(self) -> bool:
        """Let the trial take a turn; true if it needs no more."""

    @abstractmethod
    def _completed(self, outcome: Outcome) -> Outcome:
        """The outcome of a completed trial, with all its results."""

    @abstractmethod
    def _failed(self, outcome: Outcome) -> Outcome:
        """The outcome of a failed trial, with the facts that are known."""

    def abandon(self) -> None:
        """Called from another thread: fail all pending and further requests of this runner."""
        self.requests.is_abandoned = True
        self._kill()

    def open(self, trial: Trial) -> bool:
        """Begin a trial; false if it is already over and has to be closed."""
        self._open = _Open(trial)
        self.requests.begin()
        self._tried(lambda: self._begin(trial))
        return self._now.failure is None

    def turn(self) -> bool:
        """Let the open trial take a turn; true if it needs no more or is over."""
        return self._tried(self._take_turn) is not False

    def close(self) -> Outcome:
        """End the trial and return its outcome."""
        if self._now.failure is None:
            outcome = self._tried(lambda: self._completed(self._outcome("ok", None)))
            if outcome is not None:
                return outcome
        failure = self._now.failure
        assert failure is not None
        return self._failed(self._outcome(failure.status, failure.error))

    @property
    def _now(self) -> _Open:
        assert self._open is not None
        return self._open

    def _tried(self, action: Callable[[], R]) -> R | None:
        """The result of an action for the open trial; ``None`` if it failed, with the reason stored."""
        try:
            return action()
        except TrialFailed as failed:
            self._now.failure = failed.reply
        except WorkerDied as death:
            self._now.failure = protocol.Refused(death.status, self.requests.explained(death))
            self.leave()
        return None

    def _outcome(self, status: Status, error: str | None) -> Outcome:
        """The runner's own part of the outcome."""
        now = self._now
        return Outcome(
            trial=now.trial,
            status=status,
            started_at=now.started_at,
            duration_s=monotonic() - now.started_s,
            error=error,
        )


class InWorker(TrialRunner):
    """Executes the trials of a variant in a worker. Other workers measure their memory: see
    :class:`~ciphermark_benchmark.runner.executor.MemoryPass`. ``level`` is the run's reference-kernel baseline.
    """

    def __init__(self, needs: WorkerNeeds, level: ReferenceKernelBaseline) -> None:
        super().__init__(needs.timeout_s)
        self._needs = needs
        self._level = level
        self._worker: WorkerProcess | None = None
        self._prepared: protocol.Prepared | None = None
        self._last_prepared: protocol.Prepared | None = None  # kept after the worker's end
        self._refusal: protocol.Refused | None = None

    def start(self) -> None:
        if self._worker is None:
            variant = self._needs.variant
            self._worker = WorkerProcess(self._needs.confinement, registry.interpreter(variant), variant)

    def ready(self) -> None:
        """See :meth:`TrialRunner.ready`. If this worker died, the trial starts another one, and reports that one's
        death.
        """
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
        """The worker's outcome with the facts of its preparation; a failure if worker and runner do
        not share a clock.
        """
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
        return self._profiled(_declared(replace(closed.outcome, facts=facts)))

    def _profiled(self, outcome: Outcome) -> Outcome:
        """The outcome with the probes that its suite asks for, within a trial's time of their own: whatever becomes of
        them, the trial counts.
        """
        names = outcome.trial.budget.probes
        if not names or outcome.status != "ok":
            return outcome
        self.requests.begin()
        try:
            profile = self._asked(protocol.Profile(), protocol.Profiled)
            return profiled(outcome, with_substitute(profile, outcome.trial.case))
        except TrialFailed as failed:
            reason = failed.reply.error
        except WorkerDied as death:
            reason = self.requests.explained(death)
            self.leave()
        return profiled(outcome, protocol.Profiled(unmeasured=dict.fromkeys(names, reason)))

    def _failed(self, outcome: Outcome) -> Outcome:
        if self._last_prepared is None:
            return _declared(outcome)
        return _declared(
            replace(outcome, parameters=self._last_prepared.parameters, library=self._last_prepared.library)
        )

    def _require_prepared(self) -> protocol.Prepared:
        """The preparation of the worker, started if needed. Fails as the last attempt with these parameters did."""
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
            if death.status == "timeout":  # a second attempt would take as long
                self._refusal = protocol.Refused(death.status, self.requests.explained(death))
            raise
        return self._prepared

    def _asked(self, request: protocol.Request, kind: type[R]) -> R:
        assert self._worker is not None
        return self.requests.ask(self._worker, request, kind)


def _declared(outcome: Outcome) -> Outcome:
    """The outcome with the fact whether its operation is composite; composite operations are ranked apart."""
    case = outcome.trial.case
    is_composite = registry.declaration(case.variant).is_composite(case.operation)
    return replace(outcome, facts=outcome.facts | {"is_composite": float(is_composite)})
