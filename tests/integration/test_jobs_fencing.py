"""A worker that was taken for dead goes on: whatever it says then, in whatever order, the job is its successor's."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from jobs import Jobs, suite_text
from procrastinate.exceptions import JobAborted
from procrastinate.jobs import Status
from procrastinate.utils import utcnow

from ciphermark_benchmark.jobs import worker
from ciphermark_benchmark.jobs.decisions import MAX_DEATHS, Claim, End
from ciphermark_benchmark.jobs.store import Entry, Store, queue_application
from ciphermark_benchmark.jobs.worker import Execution, Retry, rescued

Step = Callable[[], Awaitable[object]]
RESET = """
update queue.procrastinate_jobs set status = 'todo', worker_id = null, abort_requested = false, scheduled_at = null;
update job set
    state = 'queued', reason = null, attempts = 0, deaths = %(deaths)s, trials = null, ended_at = null, hostname = null
"""
LOOK = """
select to_jsonb(j) as job, to_jsonb(q) as entry
from job as j join queue.procrastinate_jobs as q on q.id = j.queue_job_id
"""
ENDS = {
    "done": End("done"),
    "died": End("died", "exit code -9"),
    "refused": End("refused", "no suite"),
    "interrupted": None,
}


class Hand:
    """One worker's steps, as its task and procrastinate take them."""

    def __init__(self, scene: Scene, worker_id: int, end: End | None = ENDS["done"]) -> None:
        self._scene = scene
        self._worker_id = worker_id
        self._end = end
        self._entry: Entry | None = None
        self.claim: Claim | None = None
        self._outcome: Exception | None = None

    async def fetch(self) -> None:
        job = await self._scene.manager.fetch_job(None, self._worker_id)
        self._entry = None if job is None else Entry(job.id, self._worker_id)

    async def begin(self) -> None:
        if self._entry is not None:
            self.claim = await self._scene.store.begin(
                self._entry, self._scene.job_id, f"host {self._worker_id}"
            )

    async def tell(self) -> None:
        """As an attempt's process does."""
        if self.claim is not None:
            own = {"id": self.claim.job_id, "attempt": self.claim.attempt}
            await self._scene.store.rows("tell_wait", own | {"reason": f"worker {self._worker_id} waits"})
            await self._scene.store.rows("count_job_trials", own | {"trials": self._worker_id})

    async def conclude(self) -> None:
        if self.claim is None:
            return
        execution = Execution(SimpleNamespace(retry=Retry()), self._scene.store)  # type: ignore[arg-type]
        context: Any = SimpleNamespace(abort_reason=lambda: None, job=self._scene.entry_of(self._entry))
        try:
            if self._end is None:
                await execution._concluded_early(context, self.claim)
            else:
                await execution._concluded(self.claim, self._end)
        except (JobAborted, worker._Again, worker._Refused, worker._Lost) as outcome:
            self._outcome = outcome

    async def settle(self) -> None:
        """What procrastinate does about the outcome."""
        if self._entry is None:
            return
        if isinstance(self._outcome, worker._Again):
            await self._scene.store.retry(self._entry, utcnow())
        else:
            status = Status.SUCCEEDED if self._outcome is None else Status.FAILED
            await self._scene.store.finish(self._entry, status)

    async def rescue(self, other: Hand) -> None:
        assert other._entry is not None
        await rescued(self._scene.store, other._entry)


class Scene:
    """One job, executed again and again."""

    def __init__(self, job_id: str, app: Any) -> None:
        self.job_id = job_id
        self.manager = app.job_manager
        self.store = Store(app.connector.pool)

    @staticmethod
    def entry_of(entry: Entry | None) -> SimpleNamespace:
        assert entry is not None
        return SimpleNamespace(id=entry.queue_job_id, worker_id=entry.worker_id)

    async def looked(self) -> dict[str, Any]:
        async with self.store._pool.connection() as connection:
            cursor = await connection.execute(LOOK)
            row = await cursor.fetchone()
        assert row is not None
        return {"job": row[0], "entry": row[1]}

    async def reset(self, deaths: int) -> None:
        async with self.store._pool.connection() as connection:
            cursor = psycopg.AsyncClientCursor(connection)
            await cursor.execute(RESET, {"deaths": deaths})

    async def cancel(self) -> None:
        (job,) = await self.store.rows("job", {"id": self.job_id})
        await self.store.cancel(self.manager, job, "a test")


def interleaved(late: list[str], others: list[str]) -> Iterator[list[tuple[bool, str]]]:
    """All orders of two sequences, each in its own; a late worker's steps are marked."""
    for places in itertools.combinations(range(len(late) + len(others)), len(late)):
        first, second = iter(late), iter(others)
        yield [
            (place in places, next(first if place in places else second))
            for place in range(len(late) + len(others))
        ]


@pytest.mark.parametrize("others", ["successor", "cancelled"])
@pytest.mark.parametrize("end", ENDS)
def test_a_worker_that_lost_its_job_changes_nothing_of_it(jobs: Jobs, end: str, others: str) -> None:
    steps = ["rescue", "fetch", "begin", "conclude", "settle"]
    if others == "cancelled":
        steps = ["cancel", "rescue", "fetch"]

    (job_id,) = jobs.submit(suite_text(["cleartext"], ["add"]))

    async def played() -> None:
        app = queue_application(jobs.url)
        async with app.open_async():
            scene = Scene(job_id, app)
            ids = [await app.job_manager.register_worker() for _ in range(2)]
            for order in interleaved(["tell", "conclude", "settle"], steps):
                await play(scene, ids, ENDS[end], order)

    asyncio.run(played())


async def play(scene: Scene, ids: list[int], end: End | None, order: list[tuple[bool, str]]) -> None:
    deaths = MAX_DEATHS - 2
    await scene.reset(deaths)
    late, successor = Hand(scene, ids[0], end), Hand(scene, ids[1])
    await late.fetch()
    await late.begin()
    steps: dict[str, Step] = {"rescue": lambda: successor.rescue(late), "cancel": scene.cancel}
    for is_late, name in order:
        before = await scene.looked()
        await (getattr(late, name)() if is_late else steps.get(name, getattr(successor, name, None))())
        after = await scene.looked()
        if is_late and successor.claim is not None:
            assert after == before, (order, name)
        if before["job"]["ended_at"] is not None:
            assert after["job"] == before["job"], (order, name)
    job = (await scene.looked())["job"]
    assert job["deaths"] <= deaths + 1, order
    if successor.claim is not None:
        assert (job["state"], job["attempts"]) == ("done", 2), order
