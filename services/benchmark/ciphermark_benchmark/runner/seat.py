"""A variant's seat in a block: always a worker with keys behind it, a new one where the last one died."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from time import monotonic, perf_counter_ns

from ciphermark_adapters import registry
from ciphermark_benchmark.runner.processes import Confinement, WorkerDied, WorkerProcess, require_one_clock
from ciphermark_contract.keys import KeyRequest
from ciphermark_core.model import Outcome, ParameterSpec, Sample, Trial
from ciphermark_measure import protocol
from ciphermark_measure.experiments import KINDS, keys_of


@dataclass(frozen=True, slots=True)
class WorkerNeeds:
    """What a worker must be started and prepared with."""

    variant: str
    parameters: ParameterSpec
    keys: KeyRequest
    confinement: Confinement
    timeout_s: float

    @property
    def request(self) -> protocol.Prepare:
        """The first request to the worker: keys for all its operations."""
        return protocol.Prepare(
            variant=self.variant,
            parameters=self.parameters,
            keys=self.keys,
        )


class _Failed(Exception):
    """The trial is over; ``reply`` says how."""

    def __init__(self, reply: protocol.Refused) -> None:
        super().__init__(reply.error)
        self.reply = reply


class Seat:
    """Serves one trial at a time; every failure ends the trial, none ends the seat."""

    def __init__(self, needs: WorkerNeeds) -> None:
        self._needs = needs
        self._worker: WorkerProcess | None = None
        self._prepared: protocol.Prepared | None = None
        self._known: protocol.Prepared | None = None  # outlives the worker
        self._refusal: protocol.Refused | None = None
        self._trial: Trial | None = None
        self._started_at = ""
        self._used_s = 0.0
        self._failure: protocol.Refused | None = None
        self._is_abandoned = False

    def start(self) -> None:
        """Start a worker process; it greets while others start."""
        if self._worker is None:
            interpreter = registry.interpreter(self._needs.variant)
            self._worker = WorkerProcess(self._needs.confinement, interpreter)

    def leave(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.end()
        self._worker = self._prepared = None

    def abandon(self) -> None:
        """From another thread: whatever is asked of this seat fails, what was asked of its worker included."""
        self._is_abandoned = True
        if self._worker is not None:
            self._worker.kill()

    def open(self, trial: Trial) -> bool:
        """Begin a trial; False when it is over already and waits to be closed."""
        self._trial, self._failure, self._used_s = trial, None, 0.0
        self._started_at = datetime.now(timezone.utc).isoformat()
        return self._tried(protocol.Open(trial)) is not None

    def turn(self) -> bool:
        """Let the open trial take a turn; True when it needs no more, or is over."""
        reply = self._tried(protocol.Turn())
        return not isinstance(reply, protocol.Turned) or reply.is_done

    def close(self) -> Outcome:
        """End the trial and tell its outcome."""
        assert self._trial is not None
        if self._failure is None:
            asked_ns = perf_counter_ns()
            reply = self._tried(protocol.Close())
            if isinstance(reply, protocol.Closed):
                return self._checked(reply, asked_ns)
        assert self._failure is not None
        known = self._known
        return Outcome(
            trial=self._trial,
            status=self._failure.status,
            started_at=self._started_at,
            duration_s=self._used_s,
            parameters=known.parameters if known else None,
            library=known.library if known else None,
            error=self._failure.error,
        )

    def memory(self, trial: Trial) -> tuple[Sample, ...]:
        """Peak memory of the trial's phases; nothing where they fail, since timing will tell why."""
        self._trial, self._failure, self._used_s = trial, None, 0.0
        if KINDS[trial.case.experiment].has_memory_worker:
            return self._footprint(trial)
        reply = self._tried(protocol.Memory(trial))
        if not isinstance(reply, protocol.Peaks) or self._prepared is None:
            return ()
        return self._prepared.samples + reply.samples

    def _footprint(self, trial: Trial) -> tuple[Sample, ...]:
        """The same by a fresh worker, for this trial's operation alone."""
        keys = keys_of([trial])
        request = protocol.Footprint(trial, keys)
        self.leave()
        self.start()
        try:
            reply = self._asked(request)
        except (_Failed, WorkerDied):
            return ()
        finally:
            self.leave()
        return reply.samples if isinstance(reply, protocol.Peaks) else ()

    def _tried(self, request: protocol.Request) -> protocol.Reply | None:
        """The reply to a request within the trial's time; ``None`` when it failed, and why is kept."""
        try:
            self._prepare()
            return self._asked(request)
        except _Failed as failed:
            self._failure = failed.reply
        except WorkerDied as death:
            self._failure = protocol.Refused(death.status, self._explained(death))
            self.leave()
        return None

    def _explained(self, death: WorkerDied) -> str:
        if death.status == "timed_out" and self._used_s >= self._needs.timeout_s:
            return f"the trial took longer than the {self._needs.timeout_s:g} s that budget.timeout_s allows"
        return str(death)

    def _prepare(self) -> None:
        """Have a worker with keys, or fail as the last attempt with these parameters did."""
        if self._prepared is not None:
            return
        self._require_interest()
        if self._refusal is not None:
            raise _Failed(self._refusal)
        self.start()
        try:
            reply = self._asked(self._needs.request)
        except _Failed as failed:
            self._refusal = failed.reply
            raise
        except WorkerDied as death:
            if death.status == "timed_out":  # a second attempt would take as long
                self._refusal = protocol.Refused(death.status, self._explained(death))
            raise
        assert isinstance(reply, protocol.Prepared)
        self._prepared = self._known = reply

    def _asked(self, request: protocol.Request) -> protocol.Reply:
        assert self._worker is not None
        self._require_interest()  # after the worker is there for abandon() to kill
        start = monotonic()
        try:
            reply = self._worker.ask(request, self._needs.timeout_s - self._used_s)
        finally:
            self._used_s += monotonic() - start
        if isinstance(reply, protocol.Refused):
            raise _Failed(reply)
        return reply

    def _require_interest(self) -> None:
        if self._is_abandoned:
            raise _Failed(protocol.Refused("cancelled", "the run was interrupted"))

    def _checked(self, closed: protocol.Closed, asked_ns: int) -> Outcome:
        """The worker's outcome with the facts of its preparation, provided that its clock is ours."""
        assert self._prepared is not None
        assert self._worker is not None
        try:
            require_one_clock(closed.monotonic_ns, asked_ns)
        except WorkerDied as death:
            return replace(closed.outcome, status=death.status, error=str(death))
        facts = self._prepared.facts | closed.outcome.facts | {"is_pinned": float(self._worker.is_pinned)}
        return replace(closed.outcome, facts=facts)
