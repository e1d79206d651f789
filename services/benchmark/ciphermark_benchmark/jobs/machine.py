"""One worker measures on a machine at a time, whatever containers divide it."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection, Error

from ciphermark_db.sql import blocks


class Machine:
    """A lock in the database that is held as long as the connection lasts."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._connection: AsyncConnection[Any] | None = None

    async def is_ours(self) -> bool:
        """Whether this worker has the machine, now or from now on. Raises psycopg's errors."""
        if self._connection is not None:
            try:
                await self._connection.execute("select 1")
                return True
            except Error:
                await self.release()
        connection = await AsyncConnection.connect(self._url, autocommit=True, application_name="ciphermark")
        cursor = await connection.execute(blocks("jobs")["lock_machine"], {"machine": self._name})
        found = await cursor.fetchone()
        if found is None or not found[0]:
            await connection.close()
            return False
        self._connection = connection
        return True

    async def release(self) -> None:
        """Let another worker have it."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None
