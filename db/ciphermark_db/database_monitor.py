"""Monitors PostgreSQL: reports within seconds that the server is away or back.

A stopped server refuses connections; a frozen one accepts them and never answers. The monitor's own query is trivial,
so that a slow query does not look like an absent server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psycopg

AWAY = "PostgreSQL does not answer"
READ_ONLY = "PostgreSQL can be read, and not written"
_PATIENCE_S = 2.0
_LOOK_S = 0.5
_AGAIN_S = 0.2
_ASK = b"select current_setting('transaction_read_only')"


class DatabaseMonitor:
    """The state of the server at ``url``; ``reason`` is ``None`` while it answers and can write."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.AsyncConnection[tuple[object, ...]] | None = None
        self.reason: str | None = None
        self._gone = asyncio.Event()

    @property
    def is_away(self) -> bool:
        """Whether the server does not answer."""
        return self._gone.is_set()

    async def until_away(self) -> None:
        """Return once the server does not answer."""
        await self._gone.wait()

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Monitor the server within the context."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError, psycopg.Error):
                await asyncio.wait({watching}, timeout=_PATIENCE_S)

    async def _watch(self) -> None:
        while True:
            task = asyncio.create_task(self._ask())
            try:
                # Not cancelled after the timeout: psycopg would wait for the server to confirm it.
                done, _ = await asyncio.wait({task}, timeout=_PATIENCE_S)
                if not done:
                    self._conclude(AWAY)
                    await asyncio.wait({task})
            finally:
                task.cancel()
            self._conclude(AWAY if task.cancelled() or task.exception() else task.result())
            await asyncio.sleep(_AGAIN_S if self.is_away else _LOOK_S)

    async def _ask(self) -> str | None:
        try:
            if self._connection is None:
                self._connection = await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, application_name="ciphermark"
                )
            cursor = await self._connection.execute(_ASK)
            return READ_ONLY if await cursor.fetchone() == ("on",) else None
        except psycopg.Error:
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()
            raise

    def _conclude(self, reason: str | None) -> None:
        self.reason = reason
        if reason == AWAY:
            self._gone.set()
        else:
            self._gone.clear()
