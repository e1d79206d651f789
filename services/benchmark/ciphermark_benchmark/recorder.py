"""Journal first, database second: outcomes reach PostgreSQL now or when it is back, each exactly once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from ciphermark_benchmark.home import Home
from ciphermark_benchmark.journal import Journal
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome, Run
from ciphermark_db.errors import DatabaseUnavailable
from ciphermark_db.gateway import Database

Connect = Callable[[], Database]

# While the database is away the run goes on: attempts may take at most one part in so many of its time.
_ATTEMPT_SHARE = 20
_LEAST_WAIT_S = 5.0


class Recorder:
    """Records one run's outcomes. While the database is away, or refuses, they wait in the journal."""

    def __init__(self, journal: Journal, connect: Connect) -> None:
        self._journal = journal
        self._connect = connect
        self._database: Database | None = None
        self._is_behind = True
        self._next_try = 0.0
        self.last_error: str | None = None

    def begin(self) -> None:
        """Record what the journal holds. Raises ``UserError`` where the database refuses to be written: a run that
        has not begun can wait for a remedy.
        """
        self._attempt(lambda database: record_journal(database, self._journal), (DatabaseUnavailable,))

    def report(self, outcome: Outcome) -> None:
        """Keep an outcome for good, then try to record it."""
        self._journal.append(outcome)
        if self._is_behind:
            if monotonic() >= self._next_try:
                self.catch_up()
        else:
            self._attempt(lambda database: database.record_outcome(outcome))

    def catch_up(self) -> bool:
        """Record whatever the journal holds and the database does not; False while it is away."""
        return self._attempt(lambda database: record_journal(database, self._journal))

    def finish(self) -> bool:
        """Record what is left of a run that is over; False while the database is away."""
        return self.catch_up() and self._attempt(lambda database: database.analyze())

    def close(self) -> None:
        """Give the connection back."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _attempt(
        self,
        action: Callable[[Database], None],
        harmless: tuple[type[Exception], ...] = (DatabaseUnavailable, UserError),
    ) -> bool:
        start = monotonic()
        try:
            if self._database is None:
                self._database = self._connect()
            action(self._database)
        except harmless as error:
            self.close()
            self.last_error = str(error)
            now = monotonic()
            self._next_try = now + max(_LEAST_WAIT_S, _ATTEMPT_SHARE * (now - start))
            self._is_behind = True
            return False
        self._is_behind = False
        self.last_error = None
        return True


def record_journal(database: Database, journal: Journal) -> None:
    """Record the run and the outcomes of a journal that the database lacks."""
    run: Run = journal.header.run
    database.record_run(run)
    known = database.recorded_trials(run.id)
    for outcome in journal.outcomes():
        if outcome.trial.id not in known:
            database.record_outcome(outcome)


def record_pending(home: Home, database: Database) -> int:
    """Record the journals of earlier runs that the database may lack; returns how many there were."""
    paths = sorted(home.pending.glob("*.jsonl"))
    for path in paths:
        with suppress(FileNotFoundError):  # its run ended meanwhile, and recorded it
            record_journal(database, Journal.read(path))
    return len(paths)
