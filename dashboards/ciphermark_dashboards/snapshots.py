"""Answers of the database, cached until something is recorded, deleted or renamed."""

from __future__ import annotations

from typing import Protocol

from ciphermark_dashboards.rendering import Kept
from ciphermark_dashboards.store import Store, blocks
from ciphermark_present.query import Answer, Query, Row

_KEPT_ROWS = 100_000


class Reader(Protocol):
    """A source of answers."""

    def ask(self, block: str, params: Row) -> Answer:
        """The answer to a block of ``sql/*.sql``."""

    def answer(self, query: Query) -> Answer:
        """The answer to a query."""

    def run(self, name: str) -> Row:
        """The run that a name refers to."""


class Snapshots:
    """Caches the answers to queries about many runs, which take longest."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._answers: Kept[Answer] = Kept(_KEPT_ROWS, lambda answer: 1 + len(answer.rows))

    def now(self) -> Snapshot:
        """The database as it is now."""
        return Snapshot(self._store, self._answers)


class Snapshot:
    """The database at one time, a :class:`Reader`."""

    def __init__(self, store: Store, answers: Kept[Answer]) -> None:
        self._store = store
        self._answers = answers
        (self._version,) = store.ask("version", {}).rows

    def ask(self, block: str, params: Row) -> Answer:
        """The answer to a block of ``sql/*.sql``."""
        return self.answer(Query(blocks()[block], params))

    def answer(self, query: Query) -> Answer:
        """The answer to a query."""
        key = (self._version, query.text, repr(query.parameters), query.is_uncorrected)
        return self._answers.get(key, lambda: self._store.answer(query))

    def run(self, name: str) -> Row:
        """The run that a name refers to."""
        return self._store.run(name)
