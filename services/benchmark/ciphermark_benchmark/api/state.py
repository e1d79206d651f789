"""What the routes share while the service runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fastapi import Request
from procrastinate import App

from ciphermark_benchmark.api.answers import Answers, Recent
from ciphermark_benchmark.api.events import Watches
from ciphermark_benchmark.api.libraries import Libraries
from ciphermark_benchmark.api.suites import Catalogue
from ciphermark_benchmark.jobs.store import Row, Store
from ciphermark_db.database import Database
from ciphermark_web.problems import Problem

# Less than what lies between the last record of a run and the moment that it is told to be done.
_RECENT_S = 0.02
Connect = Callable[[], Database]


@dataclass(slots=True)
class State:
    """The store of jobs, the queue, and what is kept in memory: answers, libraries, and what is recorded of runs."""

    store: Store
    queue: App
    watches: Watches
    connect: Connect
    stalled_s: float
    answers: Answers = field(default_factory=Answers)
    libraries: Libraries = field(default_factory=Libraries)
    catalogue: Catalogue = field(default_factory=Catalogue)
    recent: Recent[Recorded] = field(default_factory=lambda: Recent(_RECENT_S))
    predicting: asyncio.Lock = field(default_factory=asyncio.Lock)  # one image at a time

    async def run(self, run_id: str) -> Row:
        """A run's line; raises ``Problem`` for one that is not there."""
        found = await self.store.rows("runs", {"id": run_id, "before": None, "limit": 1})
        if not found:
            raise Problem("not-found", "there is no run with this id; GET /v1/runs lists them")
        return found[0]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is recorded of a run: its parts, and the number of the last trial. Equal ones have equal results."""

    parts: tuple[str, ...]
    last: int


async def state_of(request: Request) -> State:
    """The state of the application that answers a request; asynchronous, so that it costs no change of threads."""
    found: State = request.app.state.benchmark
    return found


@contextmanager
def connected(state: State) -> Iterator[Database]:
    """A connection for a computation in a thread."""
    with state.connect() as database:
        yield database
