"""A variant's seat for workloads: every trial has two parties of its own, with keys of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from time import monotonic, perf_counter, sleep
from typing import TypeVar

from ciphermark_benchmark.learning import stage_costs
from ciphermark_benchmark.learning.local import LocalParties
from ciphermark_benchmark.learning.party import NoPlace, Parties, Party
from ciphermark_benchmark.runner.seat import WorkerNeeds
from ciphermark_core.dimensions import DATA_SET
from ciphermark_core.model import Accuracy, Outcome, Sample, Trial
from ciphermark_measure import protocol
from ciphermark_measure.parties import messages
from ciphermark_measure.processes import WorkerDied
from ciphermark_workloads.options import BATCH
from ciphermark_workloads.options import of_case as options_of

R = TypeVar("R")
_SEEDS = 1 << 32  # as many as the client service takes


class _Failed(Exception):
    """The trial is over; ``reply`` says how."""

    def __init__(self, reply: protocol.Refused) -> None:
        super().__init__(reply.error)
        self.reply = reply


@dataclass(slots=True)
class _Open:
    """A trial in progress."""

    trial: Trial
    started_at: str
    started_s: float = field(default_factory=monotonic)
    used_s: float = 0.0
    made: messages.KeysMade | None = None
    samples: list[Sample] = field(default_factory=list)
    passes: int = 0
    sampled_s: float = 0.0
    accuracy: Accuracy | None = None
    complaint: str | None = None
    failure: protocol.Refused | None = None

    @property
    def source(self) -> messages.Source:
        """What the input is made of: by the trial's seed, which all variants of a comparison share."""
        data_set = DATA_SET.of(self.trial.case.dimensions)
        return messages.Source(self.trial.seed % _SEEDS, data_set)

    @property
    def is_done(self) -> bool:
        """Whether the count and the minimum time are both reached."""
        budget = self.trial.budget
        return self.passes >= budget.samples and self.sampled_s >= budget.min_time_s


class LearningSeat:
    """Serves one trial at a time, with the face of :class:`~ciphermark_benchmark.runner.seat.Seat`; but the pass that
    opens a trial tells the peaks of memory, so that no other seat has to.

    The parties are never at work at the same time: each is asked when the other has answered.
    """

    def __init__(self, needs: WorkerNeeds, made: Callable[[WorkerNeeds], Parties] = LocalParties) -> None:
        self._needs = needs
        self._made = made
        self._parties: Parties | None = None
        self._open: _Open | None = None
        self._is_abandoned = False

    def start(self) -> None:
        """Start the parties of the next trial; they greet while others start."""
        if self._parties is None:
            self._parties = self._made(self._needs)

    def leave(self) -> None:
        """End the parties."""
        if self._parties is not None:
            self._parties.end()
        self._parties = None

    def abandon(self) -> None:
        """From another thread: whatever is asked of this seat fails, what was asked of its parties included."""
        self._is_abandoned = True
        if self._parties is not None:
            self._parties.kill()

    def open(self, trial: Trial) -> bool:
        """Make keys, load them, and see one pass through that counts for nothing but correctness and memory.

        False when the trial is over already and waits to be closed.
        """
        self._open = _Open(trial, datetime.now(timezone.utc).isoformat())
        return self._tried(self._opened)

    def turn(self) -> bool:
        """One pass of the open trial, with fresh encryptions; True when it needs no more, or is over."""
        return not self._tried(self._sampled) or self._trial.is_done

    def close(self) -> Outcome:
        """End the trial and its parties, and tell its outcome."""
        found = self._trial
        failure, made = found.failure, found.made
        facts = _facts(self._parties)
        self.leave()
        return Outcome(
            trial=found.trial,
            status=failure.status if failure else "ok",
            started_at=found.started_at,
            duration_s=monotonic() - found.started_s,
            samples=tuple(found.samples),
            accuracy=found.accuracy,
            parameters=made.parameters if made else None,
            library=made.library if made else None,
            error=failure.error if failure else None,
            facts=facts,
        )

    @property
    def _trial(self) -> _Open:
        assert self._open is not None
        return self._open

    def _tried(self, action: Callable[[], None]) -> bool:
        """Do something for the open trial; False when it failed, and why is kept."""
        found = self._trial
        try:
            action()
            return True
        except _Failed as failed:
            found.failure = failed.reply
        except WorkerDied as death:
            found.failure = protocol.Refused(death.status, self._explained(death))
            self.leave()
        return False

    def _explained(self, death: WorkerDied) -> str:
        if death.status == "timed_out" and self._trial.used_s >= self._needs.timeout_s:
            return f"the trial took longer than the {self._needs.timeout_s:g} s that budget.timeout_s allows"
        return str(death)

    def _opened(self) -> None:
        found = self._trial
        found.samples += self._prepared_in_time()
        for ordinal in range(max(1, found.trial.budget.warmups)):
            samples = self._passed()
            found.samples += stage_costs.repeated(samples, ordinal, is_warmup=True)
            if ordinal == 0:
                found.samples += stage_costs.first(samples)
            self._require_agreement()

    def _sampled(self) -> None:
        found = self._trial
        samples = self._passed()
        found.samples += stage_costs.repeated(samples, found.passes, is_warmup=False)
        found.sampled_s += stage_costs.elapsed_s(samples)
        found.passes += 1
        self._require_agreement()

    def _prepared_in_time(self) -> list[Sample]:
        """:meth:`_prepared`, once both parties have a place for the trial. Whoever waits holds none himself, and begins
        anew: no time tells of the waiting, which may take as long as a trial may.
        """
        deadline_s = monotonic() + self._needs.timeout_s
        while True:
            self._require_interest()
            self.start()
            assert self._parties is not None
            self._parties.meet(self._trial.trial)
            try:
                return self._prepared()
            except NoPlace as refusal:
                if refusal.after_s is None or monotonic() + refusal.after_s > deadline_s:
                    raise
                self.leave()
                self._trial.used_s = 0.0
                sleep(refusal.after_s)

    def _prepared(self) -> list[Sample]:
        """Keys at the client, and an evaluator at the server."""
        assert self._parties is not None
        found, client, server = self._trial, self._parties.client, self._parties.server
        case = found.trial.case
        options, batch = options_of(case.dimensions), BATCH.of(case.dimensions) or 1
        keys = messages.MakeKeys(
            case.variant,
            case.operation,
            case.parameters,
            options=options,
            batch=batch,
            source=found.source,
            threads=case.threads,
        )
        start = perf_counter()
        made = self._asked(client, keys, messages.KeysMade)
        found.made = made
        load = messages.Load(case.variant, case.operation, made.material, options, batch, case.threads)
        loaded = self._asked(server, load, messages.Loaded)
        elapsed_s = perf_counter() - start
        self._parties.tidy()
        material = Sample("size", float(made.material.size_bytes), messages.PREPARE)
        return [
            *stage_costs.stage_samples(messages.PREPARE, elapsed_s, made.samples + loaded.samples),
            material,
        ]

    def _passed(self) -> list[Sample]:
        """All stages of the workload once: encrypt, evaluate, and in the end decrypt and judge."""
        assert self._parties is not None
        found, client, server = self._trial, self._parties.client, self._parties.server
        samples: list[Sample] = []
        assert found.made is not None
        for stage in filter(lambda stage: stage.has_server, found.made.stages):
            start = perf_counter()
            sent = self._asked(client, messages.Encrypt(stage.name, found.source), messages.Encrypted)
            back = self._asked(
                server, messages.Evaluate(stage.name, sent.inputs, sent.public), messages.Evaluated
            )
            told = sent.samples + back.samples
            if stage.returns == "result":
                scored = self._asked(client, messages.Score(back.outputs, found.source), messages.Scored)
                told += scored.samples
            samples += stage_costs.stage_samples(stage.name, perf_counter() - start, told)
            samples += stage_costs.size_samples(stage.name, sent.inputs, back.outputs, sent.plaintext_bytes)
        self._parties.tidy()
        found.accuracy, found.complaint = scored.accuracy, scored.complaint
        return samples

    def _require_agreement(self) -> None:
        """A pass whose rows do not agree with the plaintext run ends the trial; its samples are kept."""
        if self._trial.complaint is not None:
            raise _Failed(protocol.Refused("wrong", self._trial.complaint))

    def _asked(self, party: Party, request: messages.Request, kind: type[R]) -> R:
        self._require_interest()  # after the parties are there for abandon() to kill
        found = self._trial
        start = monotonic()
        try:
            reply = party.ask(request, self._needs.timeout_s - found.used_s)
        finally:
            found.used_s += monotonic() - start
        if isinstance(reply, protocol.Refused):
            raise _Failed(reply)
        if not isinstance(reply, kind):
            raise _Failed(
                protocol.Refused(
                    "crashed", f"a party answers with {type(reply).__name__}, not {kind.__name__}"
                )
            )
        return reply

    def _require_interest(self) -> None:
        if self._is_abandoned:
            raise _Failed(protocol.Refused("cancelled", "the run was interrupted"))


def _facts(parties: Parties | None) -> dict[str, float]:
    """What is known of the parties, as facts of an outcome."""
    if parties is None:
        return {}
    found = {"is_pinned": parties.is_pinned, "is_elsewhere": parties.is_elsewhere}
    return {name: float(value) for name, value in found.items() if value is not None}
