"""Recording a job: comparison by comparison, each as a whole or not at all.

A host may die in the middle of a comparison, and another one goes on with the job. What is recorded of a comparison
must come from one host and one round of turns: outcomes wait in the journal until all of theirs are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic, sleep

from ciphermark_benchmark.journal import Journal
from ciphermark_benchmark.plan import Plan
from ciphermark_core.model import Outcome
from ciphermark_db.errors import DatabaseUnavailable
from ciphermark_db.gateway import Database
from ciphermark_db.sql import blocks

_LEAST_WAIT_S = 2.0

Members = Mapping[str, tuple[str, ...]]


def members(plan: Plan) -> dict[str, tuple[str, ...]]:
    """For every trial of a plan the trials of its comparison; an unsupported one stands alone. Pure."""
    found: dict[str, tuple[str, ...]] = {trial.id: (trial.id,) for trial, _ in plan.unsupported}
    for block in plan.blocks:
        for comparison in block.comparisons:
            own = tuple(trial.id for trial in comparison.trials)
            found |= dict.fromkeys(own, own)
    return found


def whole(outcomes: Iterable[Outcome], of: Members, known: set[str]) -> list[list[Outcome]]:
    """The comparisons that are complete and not known yet, each with the latest outcome of every trial. Pure.

    A trial that is in no comparison (an earlier version of Ciphermark planned it) stands alone.
    """
    latest = {outcome.trial.id: outcome for outcome in outcomes}
    found = []
    for own in dict.fromkeys(of.get(name, (name,)) for name in latest):
        if all(name in latest for name in own) and not known.intersection(own):
            found.append([latest[name] for name in own])
    return found


@dataclass(frozen=True, slots=True)
class Job:
    """What is recorded: the journal of this host's run, for a job whose comparisons are ``of``."""

    id: str
    journal: Journal
    of: Members


class JobRecorder:
    """Keeps every outcome in the journal, then records whole comparisons; while the database is away they wait."""

    def __init__(self, job: Job, connect: Callable[[], Database]) -> None:
        self._job = job
        self._connect = connect
        self._database: Database | None = None
        self._waiting: dict[str, Outcome] = {}
        self._is_behind = True
        self._next_try = 0.0

    def recorded(self) -> set[str]:
        """The trials of the job that are recorded, whichever host executed them."""
        if self._database is None:
            self._database = self._connect()
        return recorded(self._database, self._job.id)

    def report(self, outcome: Outcome) -> None:
        """Keep an outcome for good; record its comparison when it is the last one of it."""
        self._job.journal.append(outcome)
        self._waiting[outcome.trial.id] = outcome
        own = self._job.of[outcome.trial.id]
        if not all(name in self._waiting for name in own):
            return
        complete = [self._waiting.pop(name) for name in own]
        if not self._is_behind:
            self._attempt(lambda database: database.record_outcomes(complete))
        elif monotonic() >= self._next_try:
            self.catch_up()

    def catch_up(self) -> bool:
        """Record what is whole in the journal; False while the database is away."""
        return self._attempt(lambda database: record_journal(database, self._job))

    def finish(self) -> None:
        """Record everything, however long the database is away."""
        while not self.catch_up():
            sleep(_LEAST_WAIT_S)

    def analyze(self) -> None:
        """Let PostgreSQL learn what was recorded, if it is there; it would do so by itself later."""
        self._attempt(lambda database: database.analyze())

    def close(self) -> None:
        """Give the connection back."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _attempt(self, action: Callable[[Database], None]) -> bool:
        try:
            if self._database is None:
                self._database = self._connect()
            action(self._database)
        except DatabaseUnavailable:
            self.close()
            self._next_try = monotonic() + _LEAST_WAIT_S
            self._is_behind = True
            return False
        self._is_behind = False
        return True


def record_journal(database: Database, job: Job) -> None:
    """Record what is whole in a job's journal and not recorded yet."""
    for complete in whole(job.journal.outcomes(), job.of, recorded(database, job.id)):
        database.record_outcomes(complete)


def recorded(database: Database, job_id: str) -> set[str]:
    """The trials of a job that are recorded, whichever host executed them."""
    return {row[0] for row in database.query(blocks("jobs")["job_trials"].decode(), {"id": job_id}).rows}
