"""Server-sent events of runs: one look at the database for all listeners of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

import structlog

from ciphermark_benchmark.jobs.retry import AWAY
from ciphermark_benchmark.jobs.store import Row, Store

MOST_LISTENERS = 2_000
_LOOK_S = 0.4
_SILENCE_S = 15.0  # then a comment keeps the connection alive
_OPEN = ("queued", "running")
_TOLD = ("state", "reason", "host", "attempts", "trials")
_log = structlog.get_logger()


@dataclass(slots=True)
class _Watch:
    """What is known of a run: the events so far, and whether there will be more."""

    listeners: int = 0
    events: list[tuple[int, bytes]] = field(default_factory=list)
    state: bytes = b""
    is_over: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Watches:
    """The runs that somebody listens to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._watches: dict[str, _Watch] = {}

    @property
    def listeners(self) -> int:
        """How many listen, to all runs together."""
        return sum(watch.listeners for watch in self._watches.values())

    async def listen(self, run_id: str, after: int) -> AsyncIterator[bytes]:
        """The events of a run behind number ``after``, until it has ended; the state whenever it changes, and last."""
        watch = self._watches.setdefault(run_id, _Watch())
        watch.listeners += 1
        if watch.task is None:
            watch.task = asyncio.create_task(self._look(run_id, watch))
        try:
            async for part in _told(watch, after):
                yield part
        finally:
            watch.listeners -= 1
            if watch.listeners == 0:
                watch.task.cancel()
                self._watches.pop(run_id, None)

    async def _look(self, run_id: str, watch: _Watch) -> None:
        while not watch.is_over:
            try:
                await self._refresh(run_id, watch)
            except AWAY as error:
                _log.warning("cannot look for events", run_id=run_id, error=str(error).strip())
            await asyncio.sleep(_LOOK_S)

    async def _refresh(self, run_id: str, watch: _Watch) -> None:
        # The state first: what is recorded by then is seen afterwards.
        (run,) = await self._store.rows("runs", {"id": run_id, "before": None, "limit": 1})
        after = watch.events[-1][0] if watch.events else 0
        found = await self._store.rows("events", {"id": run_id, "after": after})
        watch.events += [(row["sequence"], encoded("trial", row, row["sequence"])) for row in found]
        is_open = run["state"] in _OPEN
        is_over = not is_open and not found
        state = encoded("state", {name: run[name] for name in _TOLD}) if is_open or is_over else watch.state
        if found or state != watch.state or is_over:
            watch.state, watch.is_over = state, is_over
            watch.changed.set()
            watch.changed = asyncio.Event()


async def _told(watch: _Watch, after: int) -> AsyncIterator[bytes]:
    told_state, index = b"", 0
    while True:
        changed, is_over = watch.changed, watch.is_over
        fresh = [text for number, text in watch.events[index:] if number > after]
        index = len(watch.events)
        if fresh:
            yield b"".join(fresh)
        if watch.state != told_state:
            told_state = watch.state
            yield told_state
        if is_over:
            return
        if changed is watch.changed:
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), _SILENCE_S)
                continue
            yield b": nothing new\n\n"


def encoded(kind: str, row: Row, number: int | None = None) -> bytes:
    """One event as the wire has it. Pure."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(row)}\n\n".encode()
