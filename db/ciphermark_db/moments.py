"""Reads times outside Python's range, such as ``infinity`` and the year 10000, as the end of that range.

Only SQL can write such a row; without this, every query that lists it fails.
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
    """Apply this to every connection made afterwards."""
    psycopg.adapters.register_loader("timestamptz", _Bounded)
