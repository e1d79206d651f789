"""Server-sent events of runs: one look at the database for all listeners of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import structlog

from ciphermark_benchmark.jobs.store import AWAY, Row, Store
from ciphermark_web.broadcast import Broadcast, Broadcasts

MOST_LISTENERS = 2_000
_LOOK_S = 0.4
_OPEN = ("queued", "running")
_TOLD = ("state", "reason", "host", "attempts", "trials")
_log = structlog.get_logger()


class Watches:
    """The runs that somebody listens to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._broadcasts = Broadcasts()

    @property
    def listeners(self) -> int:
        """How many listen, to all runs together."""
        return self._broadcasts.listeners

    def listen(self, run_id: str, after: int) -> AsyncIterator[bytes]:
        """The events of a run behind number ``after``, until it has ended; the state whenever it changes, and last."""
        return self._broadcasts.listen(run_id, after, lambda broadcast: self._look(run_id, broadcast))

    async def _look(self, run_id: str, broadcast: Broadcast) -> None:
        while not broadcast.is_over:
            try:
                await self._refresh(run_id, broadcast)
            except AWAY as error:
                _log.warning("cannot look for events", run_id=run_id, error=str(error).strip())
            await asyncio.sleep(_LOOK_S)

    async def _refresh(self, run_id: str, broadcast: Broadcast) -> None:
        # The state first: what is recorded by then is seen afterwards.
        (run,) = await self._store.rows("runs", {"id": run_id, "before": None, "limit": 1})
        found = await self._store.rows("events", {"id": run_id, "after": broadcast.last})
        is_open = run["state"] in _OPEN
        is_over = not is_open and not found
        state = encoded("state", {name: run[name] for name in _TOLD}) if is_open or is_over else None
        events = [(row["sequence"], encoded("trial", row, row["sequence"])) for row in found]
        broadcast.add(events, state, is_over)


def encoded(kind: str, row: Row, number: int | None = None) -> bytes:
    """One event as the wire has it. Pure."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(row)}\n\n".encode()
