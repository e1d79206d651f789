"""The exclusive right of one worker to measure on a machine."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import Any

import structlog
from psycopg import AsyncConnection, Error

from ciphermark_db.database import settings
from ciphermark_db.sql import blocks

CONNECT_TIMEOUT_S = 5
_log = structlog.get_logger()


class Machine:
    """A session lock in the database, held as a lease: the server ends a session that is silent for ``lease_s``, even
    if its connection stays open. :meth:`kept` renews it while a job is executed.

    ``waits_for`` names the current holder while another worker has the machine.
    """

    def __init__(self, url: str, name: str, hostname: str, lease_s: float) -> None:
        self._url = url
        self._name = name
        self._hostname = hostname
        self._lease_s = lease_s
        self._connection: AsyncConnection[Any] | None = None
        self._alone = asyncio.Lock()  # serializes renewals and requests for jobs
        self.waits_for: str | None = None

    async def is_ours(self) -> bool:
        """Whether this worker has the machine; acquires it if it is free. Raises psycopg's errors."""
        async with self._alone:
            holder = await self._holder()
        if holder != self.waits_for:
            _log.info("the worker stands by" if holder else "the worker has the machine", waits_for=holder)
        self.waits_for = holder
        return holder is None

    async def kept(self) -> None:
        """Renew the lease until cancelled, even while the database is away."""
        while True:
            with suppress(Error):
                await self.is_ours()
            await asyncio.sleep(self._lease_s / 4)

    async def release(self) -> None:
        """Release the machine."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _holder(self) -> str | None:
        """The other worker that has the machine; ``None`` if this worker has it."""
        if self._connection is not None:
            try:
                await self._connection.execute("select 1")
                return None
            except Error:
                await self.release()
        lease = f"idle_session_timeout={round(self._lease_s * 1000)}"
        own = settings(self._url, lease) | {
            "application_name": f"ciphermark worker {os.getpid()} on {self._hostname}",
            "connect_timeout": CONNECT_TIMEOUT_S,
        }
        connection = await AsyncConnection.connect(self._url, autocommit=True, **own)
        try:
            cursor = await connection.execute(blocks("jobs")["lock_machine"], {"machine": self._name})
            if await cursor.fetchone() == (True,):
                self._connection = connection
                return None
            cursor = await connection.execute(blocks("jobs")["machine_holder"], {"machine": self._name})
            row = await cursor.fetchone()
            return "the machine, which another worker has" + (f": {row[0]}" if row else "")
        finally:
            if self._connection is not connection:
                await connection.close()
