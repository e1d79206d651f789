"""State that the routes share in memory: answers, listeners, installed libraries."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

import structlog
from fastapi import Request
from procrastinate import App

from ciphermark_adapters import added, interpreters, registry
from ciphermark_benchmark.api.suites import Catalogue
from ciphermark_benchmark.jobs.store import AWAY, Row, Store
from ciphermark_core.errors import UserError
from ciphermark_db.database import Database
from ciphermark_model.advice import Candidate
from ciphermark_web.broadcast import Broadcast, Broadcasts
from ciphermark_web.problems import Problem

MAX_LISTENERS = 2_000
_MAX_AT_ONCE = 2  # computing an answer loads a CPU and the database
_MOST_RECENT = 1_000
# Less than the time between a run's last record and the recording of its end.
_RECENT_S = 0.02
_LOOK_S = 0.4
_ADVICE_S, _MOST_ADVICE = 600.0, 20  # that candidates of advice are cached, and how many requests' candidates
_OPEN = ("queued", "running")
_IN_EVENTS = ("state", "reason", "host", "attempts", "trials", "progress")
_COMMAND = (sys.executable, "-m", "ciphermark_benchmark.cli.main", "adapters", "--format", "json")

T = TypeVar("T")
Installation = tuple[tuple[str, int], ...]
Advisable = tuple[Sequence[Candidate], Sequence[str]]  # candidates of advice, and notes on their cost tables
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Answer:
    """A body and its entity tag."""

    body: bytes
    etag: str


class Answers:
    """A cache of the latest expensive answers that do not change, up to a number of bytes. Concurrent requests for one
    key wait for a single computation.
    """

    def __init__(self, max_bytes: int = 64 << 20) -> None:
        self._max_bytes = max_bytes
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._size_bytes = 0
        self._under_way: dict[Hashable, asyncio.Task[Answer]] = {}
        self._turns = asyncio.Semaphore(_MAX_AT_ONCE)

    async def get(self, key: Hashable, compute: Callable[[], bytes]) -> Answer:
        """The answer for a key. If it is not cached, ``compute`` runs in a thread, and may raise."""
        if key in self._answers:
            self._answers.move_to_end(key)
            return self._answers[key]
        if key not in self._under_way:
            self._under_way[key] = asyncio.create_task(self._computed(key, compute))
        return await asyncio.shield(self._under_way[key])

    async def _computed(self, key: Hashable, compute: Callable[[], bytes]) -> Answer:
        try:
            async with self._turns:
                body = await asyncio.to_thread(compute)
            answer = Answer(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
            self._answers[key] = answer
            self._size_bytes += len(body)
            while self._size_bytes > self._max_bytes:
                _, dropped = self._answers.popitem(last=False)
                self._size_bytes -= len(dropped.body)
            return answer
        finally:
            del self._under_way[key]


class Recent(Generic[T]):
    """Shares a recent answer among all callers instead of asking again."""

    def __init__(self, for_s: float, most: int = _MOST_RECENT) -> None:
        self._for_s = for_s
        self._most = most
        self._asked: OrderedDict[Hashable, tuple[float, asyncio.Task[T]]] = OrderedDict()

    async def get(self, key: Hashable, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer, at most ``for_s`` seconds old. An exception of ``ask`` reaches every waiting caller."""
        asked_at, task = self._asked.get(key, (0.0, None))
        if task is None or asked_at + self._for_s < monotonic() or (task.done() and task.exception()):
            task = asyncio.create_task(ask())
            self._asked[key] = monotonic(), task
            self._asked.move_to_end(key)
            while len(self._asked) > self._most:
                self._asked.popitem(last=False)
        return await asyncio.shield(task)


class Watches:
    """Server-sent events of runs with listeners: one query serves all listeners of a run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._broadcasts = Broadcasts()

    @property
    def listeners(self) -> int:
        """The number of listeners, of all runs together."""
        return self._broadcasts.listeners

    def listen(self, run_id: str, after: int) -> AsyncIterator[bytes]:
        """The events of a run after number ``after``, until it has ended; the state at every change, and at the end."""
        return self._broadcasts.listen(run_id, after, lambda broadcast: self._look(run_id, broadcast))

    async def _look(self, run_id: str, broadcast: Broadcast) -> None:
        while not broadcast.is_over:
            try:
                await self._refresh(run_id, broadcast)
            except AWAY as error:
                _log.warning("cannot look for events", run_id=run_id, error=str(error).strip())
            await asyncio.sleep(_LOOK_S)

    async def _refresh(self, run_id: str, broadcast: Broadcast) -> None:
        # The state first: trials recorded before it are then included.
        (run,) = await self._store.rows("runs", {"id": run_id, "before": None, "limit": 1})
        trials = await self._store.rows("events", {"id": run_id, "after": broadcast.last})
        is_open = run["state"] in _OPEN
        is_over = not is_open and not trials
        state = encoded("state", {name: run[name] for name in _IN_EVENTS}) if is_open or is_over else None
        events = [(row["sequence"], encoded("trial", row, row["sequence"])) for row in trials]
        broadcast.add(events, state, is_over)


def encoded(kind: str, row: Row, number: int | None = None) -> bytes:
    """One event in wire format. Pure."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(row)}\n\n".encode()


class Libraries:
    """The output of ``ciphermark adapters``, from a separate process, since loading all libraries takes long; cached
    until a library or adapter is installed or removed.
    """

    def __init__(self) -> None:
        self._of: Installation | None = None
        self._answer: asyncio.Task[bytes] | None = None

    async def answer(self) -> bytes:
        """The answer as JSON. Raises ``UserError`` for an unreadable declaration."""
        return await asyncio.shield(self.begun())

    def begun(self) -> asyncio.Task[bytes]:
        """Begin to ask, unless the answer is cached or pending."""
        now = installation()
        if self._answer is None or self._of != now or _has_failed(self._answer):
            self._of, self._answer = now, asyncio.create_task(_asked())
        return self._answer

    async def close(self) -> None:
        """Cancel pending requests."""
        if self._answer is not None:
            self._answer.cancel()
            await asyncio.wait({self._answer})


def installation() -> Installation:
    """The time of the last change of each folder with libraries or adapters."""
    environments = {item.environment for item in registry.declarations().values()} - {None}
    folders = {Path(entry) for entry in sys.path if entry}
    for name in environments:
        folders.update(interpreters.folder(str(name)).glob("lib/python3.*/site-packages"))
    changes = [(str(path), path.stat().st_mtime_ns) for path in sorted(folders) if path.is_dir()]
    return (*changes, *added.state())


def _has_failed(task: asyncio.Task[bytes]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _asked() -> bytes:
    process = await asyncio.create_subprocess_exec(
        *_COMMAND, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()  # its pipes have to be closed before the loop
        raise
    if process.returncode != 0:
        raise UserError(f"the adapters cannot be described: {err.decode(errors='replace').strip()}")
    return out


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded extent of a run: its parts and the number of the last trial. Equal values have equal results."""

    parts: tuple[str, ...]
    last: int


@dataclass(slots=True)
class State:
    """The store of jobs, the queue and the caches; ``connect`` is for computations in threads."""

    store: Store
    queue: App
    watches: Watches
    connect: Callable[[], Database]
    stalled_s: float
    answers: Answers = field(default_factory=Answers)
    libraries: Libraries = field(default_factory=Libraries)
    catalogue: Catalogue = field(default_factory=Catalogue)
    recent: Recent[Recorded] = field(default_factory=lambda: Recent(_RECENT_S))
    classifying: asyncio.Lock = field(default_factory=asyncio.Lock)  # one image at a time
    advisable: Recent[Advisable] = field(default_factory=lambda: Recent(_ADVICE_S, _MOST_ADVICE))
    advising: asyncio.Lock = field(default_factory=asyncio.Lock)  # the candidates of one request at a time

    async def run(self, run_id: str) -> Row:
        """A run's row; raises ``Problem`` for an unknown run."""
        rows = await self.store.rows("runs", {"id": run_id, "before": None, "limit": 1})
        if not rows:
            raise Problem("not-found", "there is no run with this id; GET /v1/runs lists them")
        return rows[0]


async def state_of(request: Request) -> State:
    """The state of the application of a request; asynchronous, to avoid a change of threads."""
    state: State = request.app.state.benchmark
    return state
