"""The right to measure on a machine is a lease: a worker that says nothing loses it, whatever keeps its session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable

from ciphermark_benchmark.jobs.machine import Machine

LEASE_S = 1.0


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    while not await condition():
        await asyncio.sleep(LEASE_S / 20)


async def lent(url: str) -> None:
    first, second = (Machine(url, "boot id", name, LEASE_S) for name in ("alpha", "beta"))
    assert await first.is_ours()
    keeping = asyncio.create_task(first.kept())
    for _ in range(4):  # for twice as long as the lease
        await asyncio.sleep(LEASE_S / 2)
        assert not await second.is_ours()
    assert second.waits_for is not None
    assert second.waits_for.startswith(
        f"the machine, which another worker has: ciphermark worker {os.getpid()} on alpha, connected since 2"
    )
    keeping.cancel()  # as one that was cut off, whose connection a proxy keeps open
    await asyncio.wait_for(until(second.is_ours), 60)
    assert second.waits_for is None
    assert not await first.is_ours()
    assert "on beta" in str(first.waits_for)
    await second.release()
    assert await first.is_ours()
    await first.release()


def test_a_worker_that_says_nothing_loses_the_machine(url: str) -> None:
    asyncio.run(lent(url))
