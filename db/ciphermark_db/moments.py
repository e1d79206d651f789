"""Times that Python has no number for, such as ``infinity`` and the year 10000: they are read as the end of its range.

One such row, which nothing but SQL writes, would otherwise fail every query that lists it.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.types.datetime import TimestamptzLoader

_EARLIEST = datetime.min.replace(tzinfo=timezone.utc) + timedelta(
    days=1
)  # there is room for any offset from UTC
_LATEST = datetime.max.replace(tzinfo=timezone.utc) - timedelta(days=1)


class _Bounded(TimestamptzLoader):
    def load(self, data: Buffer) -> Any:
        try:
            return super().load(data)
        except psycopg.DataError:
            text = bytes(data)
            return _EARLIEST if text.startswith(b"-") or text.endswith(b"BC") else _LATEST


def register() -> None:
    """Read times so on every connection that is made from now on."""
    psycopg.adapters.register_loader("timestamptz", _Bounded)
