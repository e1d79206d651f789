"""Journal first, database second: outcomes reach PostgreSQL now or when it is back, each exactly once.

A comparison group is recorded as a whole or not at all. If a host dies during a group and another host continues the
job, the group's records must come from one host and one round of turns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ciphermark_benchmark import storage
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner.journal import Journal
from ciphermark_benchmark.runner.patience import Patience, PatientSink, Sink
from ciphermark_core.controls import visible
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome
from ciphermark_db.database import ContentRefused, Database, DatabaseUnavailable

if TYPE_CHECKING:  # slow to load, and not needed to record pending journals
    from ciphermark_benchmark.runner.two_parties import Advance
    from ciphermark_benchmark.suite.plan import Plan

Connect = Callable[[], Sink]
Members = Mapping[str, tuple[str, ...]]

# While the database is away, the run continues: attempts to reconnect take at most this fraction (1/N) of its time.
_ATTEMPT_SHARE = 20
_MIN_WAIT_S = 5.0
# Limits of the wait for one answer of the database: between trials, and before and after a run.
PATIENCE_S = 10.0
PATIENCE_AT_REST_S = 60.0
_BETWEEN_STAGES_S = 5.0  # that are recorded as progress


@dataclass(frozen=True, slots=True)
class Record:
    """The recorded content: the journal of this host's run, for a job of which other hosts may execute parts.

    ``members`` maps every trial to the trials recorded together with it. A trial without an entry stands alone, as do
    all trials that an earlier process of this host left in the journal.
    """

    job_id: str
    journal: Journal
    members: Members = field(default_factory=dict)

    def together(self, trial_id: str) -> tuple[str, ...]:
        """The trials that are recorded together with a trial, itself included."""
        return self.members.get(trial_id, (trial_id,))


def members(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The comparison group of every trial of a plan; an unsupported trial stands alone. Pure."""
    together: dict[str, tuple[str, ...]] = {trial.id: (trial.id,) for trial, *_ in plan.unsupported}
    for block in plan.blocks:
        for comparison_group in block.comparison_groups:
            own = tuple(trial.id for trial in comparison_group.trials)
            together |= dict.fromkeys(own, own)
    return together


def whole(
    outcomes: Iterable[Outcome], together: Callable[[str], tuple[str, ...]], recorded: set[str]
) -> list[list[Outcome]]:
    """The complete groups that are not recorded yet, with the latest outcome of every trial. Pure."""
    latest = {outcome.trial.id: outcome for outcome in outcomes}
    return [
        [latest[name] for name in own]
        for own in dict.fromkeys(map(together, latest))
        if latest.keys() >= set(own) and not recorded.intersection(own)
    ]


class Recorder:
    """Records the outcomes of one run. While the database does not answer, or refuses, outcomes wait in the journal.

    The limit for an answer is ``patience_s`` between trials, and ``at_rest_s`` before and after a run.
    """

    def __init__(
        self,
        record: Record,
        connect: Connect,
        patience_s: float = PATIENCE_S,
        at_rest_s: float = PATIENCE_AT_REST_S,
    ) -> None:
        self._record = record
        self._connect = connect
        self._between_trials, self._at_rest = Patience(patience_s), Patience(at_rest_s)
        self._database: PatientSink | None = None
        self._waiting: dict[str, Outcome] = {}
        self._is_behind = True
        self._has_samples = False
        self._next_try = 0.0
        self._has_progress = False
        self._next_progress = monotonic() + _BETWEEN_STAGES_S
        self.last_error: str | None = None
        self.is_refused = False  # refused by a database that answers

    def begin(self) -> None:
        """Record the journal's outcomes. Raises ``UserError`` if the database refuses writes: a run that has not begun
        can wait for a remedy.
        """
        self._attempt(self._record_journal, self._at_rest, (DatabaseUnavailable,))

    def done(self) -> set[str]:
        """The completed trials: those in the database, from any host, and complete groups in the journal. Incomplete
        groups are discarded and executed again.
        """
        self._waiting.clear()
        complete = whole(self._record.journal.outcomes(), self._record.together, set())
        trials = {outcome.trial.id for outcomes in complete for outcome in outcomes}
        self._attempt(
            lambda database: trials.update(database.recorded_trials(self._record.job_id)),
            self._between_trials,
        )
        return trials

    def report(self, outcome: Outcome) -> None:
        """Append an outcome to the journal; try to record its group once the group is complete."""
        self._record.journal.append(outcome)
        self._forget_progress()
        self._has_samples |= bool(outcome.samples)
        self._waiting[outcome.trial.id] = outcome
        own = self._record.together(outcome.trial.id)
        if not self._waiting.keys() >= set(own):
            return
        complete = [self._waiting.pop(name) for name in own]
        if not self._is_behind:
            self._attempt(lambda database: _record_whole(database, complete), self._between_trials)
        elif monotonic() >= self._next_try:
            self._attempt(self._record_journal, self._between_trials)

    def advance(self, advance: Advance) -> None:
        """Record how far a trial is, at intervals, unless outcomes wait; the end of a trial clears it."""
        if monotonic() >= self._next_progress and not self._is_behind:
            self._next_progress = monotonic() + _BETWEEN_STAGES_S
            self._record_progress(advance.facts)

    def catch_up(self) -> bool:
        """Record complete groups of the journal that the database lacks; false while the database is away."""
        return self._attempt(self._record_journal, self._at_rest)

    def finish(self) -> bool:
        """Record the rest of a finished run; false while the database is away, or refuses."""
        if not self.catch_up():
            return False
        return not self._has_samples or self._attempt(lambda database: database.analyze(), self._at_rest)

    def close(self) -> None:
        """Clear the progress, and close the connection."""
        self._forget_progress()
        self._disconnect()

    def _disconnect(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _forget_progress(self) -> None:
        if self._has_progress and not self._is_behind:
            self._record_progress(None)

    def _record_progress(self, progress: Mapping[str, str | float] | None) -> None:
        run_id = self._record.job_id  # also the id of its first run, whose page shows the progress
        if self._attempt(lambda database: database.record_progress(run_id, progress), self._between_trials):
            self._has_progress = progress is not None

    def _record_journal(self, database: Sink) -> None:
        record_journal(database, self._record)

    def _attempt(
        self,
        action: Callable[[Sink], None],
        patience: Patience,
        harmless: tuple[type[Exception], ...] = (DatabaseUnavailable, UserError),
    ) -> bool:
        start = monotonic()
        try:
            if self._database is None:
                self._database = PatientSink(self._connect, patience)
            self._database.patience = patience
            action(self._database)
        except harmless as error:
            self._disconnect()
            self.last_error, self.is_refused = str(error), isinstance(error, UserError)
            now = monotonic()
            self._next_try = now + max(_MIN_WAIT_S, _ATTEMPT_SHARE * (now - start))
            self._is_behind = True
            return False
        self._is_behind = False
        self.last_error, self.is_refused = None, False
        return True


def record_journal(database: Sink, record: Record) -> None:
    """Record a journal's run, and its complete groups that the database lacks."""
    database.record_run(record.journal.header.run)
    recorded = database.recorded_trials(record.job_id)
    for complete in whole(record.journal.outcomes(), record.together, recorded):
        _record_whole(database, complete)
    database.update_host_state(record.journal.header.run.id)


def _record_whole(database: Sink, complete: list[Outcome]) -> None:
    """Record a complete group. If the database rejects it, record the refusal with its reason, so that it does not
    block others.
    """
    try:
        database.record_outcomes(complete)
    except ContentRefused as refusal:
        database.record_refusals(complete, str(refusal))


def record_pending(data_directory: DataDirectory, database: Database) -> dict[Path, str]:
    """Record pending journals of the command line; returns those that cannot be recorded, with the reasons. A failed
    journal does not block the others.
    """
    refused: dict[Path, str] = {}
    for path in sorted(data_directory.pending.glob("*.jsonl")):
        try:
            journal = Journal.read(path)
            record_journal(database, Record(journal.header.run.id, journal))
        except FileNotFoundError:
            continue  # its run has ended and recorded it meanwhile
        except (UserError, ValueError) as error:
            refused[path] = str(error)
    return refused


def caught_up(data_directory: DataDirectory, is_to_record: bool = False) -> Database:
    """A connection to the migrated database, with pending journals recorded. Failures are printed to standard error.
    ``is_to_record`` is as for :func:`storage.connected`.
    """
    database = storage.connected(data_directory, is_to_record or any(data_directory.pending.glob("*.jsonl")))
    for path, reason in record_pending(data_directory, database).items():
        print(f"Note: {path} is not recorded yet: {visible(reason)}", file=sys.stderr)
    return database
