"""How soon it is noticed that PostgreSQL is back: pauses do not grow with the time that it was away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ciphermark_benchmark.jobs.store import queue_connector
from ciphermark_dashboards.store import Store
from ciphermark_db.database_monitor import DatabaseMonitor

LONGEST_S = 1.0  # so that a service answers again within two seconds, on a host that has time for it
LOOKS = 200


def test_who_watches_looks_as_often_however_long_it_was_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses_s: list[float] = []
    enough = asyncio.Event()
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses_s.append(seconds)
        if len(pauses_s) >= LOOKS:
            enough.set()
        await sleep(0)

    async def watched() -> None:
        monitor = DatabaseMonitor(f"postgresql://nobody@/nothing?host={tmp_path}")
        async with monitor.kept():
            await enough.wait()
        assert monitor.is_away

    monkeypatch.setattr(asyncio, "sleep", noted)
    asyncio.run(watched())
    assert max(pauses_s) <= LONGEST_S


def test_pools_leave_no_request_to_pauses_that_grow(tmp_path: Path) -> None:
    """A pool pauses twice as long after each attempt, up to its ``reconnect_timeout``; then the next request tries."""
    url = f"postgresql://nobody@/nothing?host={tmp_path}"

    async def of_jobs() -> float:
        connector = queue_connector(url)
        return (await connector._create_pool(connector._pool_args)).reconnect_timeout

    for longest_s in (asyncio.run(of_jobs()), Store(url)._pool.reconnect_timeout):
        assert longest_s <= LONGEST_S
