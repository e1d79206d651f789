"""Jobs whose workers died: put back to the queue, or ended."""

from __future__ import annotations

from typing import Any

import structlog
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.utils import utcnow
from procrastinate.worker import Worker

from ciphermark_benchmark.jobs.attempts import MOST_DEATHS
from ciphermark_benchmark.jobs.retry import is_away
from ciphermark_benchmark.jobs.store import Store
from ciphermark_db.sql import blocks

_log = structlog.get_logger()


class Rescue:
    """Looks after jobs whose workers died; one worker at a time does."""

    def __init__(self, worker: Worker, store: Store, stalled_s: float) -> None:
        self._worker = worker
        self._manager = worker.app.job_manager
        self._connector: Any = worker.app.connector
        self._store = store
        self._stalled_s = stalled_s

    async def once(self) -> None:
        """Put jobs of dead workers back to the queue, or end them."""
        async with self._connector.pool.connection() as connection, connection.transaction():
            cursor = await connection.execute(blocks("jobs")["lock_sweep"])
            (is_mine,) = await cursor.fetchone()
            if not is_mine:
                return
            for job in await self._manager.get_stalled_jobs(seconds_since_heartbeat=self._stalled_s):
                if job.worker_id == self._worker.worker_id:
                    continue  # whose heart beats late, but does
                try:
                    await self._rescue(job, str(job.task_kwargs["job_id"]))
                except ConnectorException as error:
                    if is_away(error):
                        raise
                    _log.info("a job needed no rescue", queue_job_id=job.id)  # its worker came back
            await self._store.rows("end_orphans")

    async def _rescue(self, job: Job, job_id: str) -> None:
        assert job.id is not None
        if await self._store.is_abort_requested(job.id):
            await self._store.end(job_id, "cancelled", "cancelled; its worker died meanwhile")
            await self._manager.finish_job_by_id_async(job.id, Status.ABORTED, delete_job=False)
            return
        deaths = await self._store.count_death(job_id)
        if deaths is None:  # it had ended, and its worker died before it told the queue
            await self._manager.finish_job_by_id_async(job.id, Status.SUCCEEDED, delete_job=False)
        elif deaths >= MOST_DEATHS:
            await self._store.end(job_id, "failed", f"its worker died {deaths} times")
            await self._manager.finish_job_by_id_async(job.id, Status.FAILED, delete_job=False)
        else:
            _log.warning("a worker died; its job goes back to the queue", job_id=job_id)
            await self._store.requeue(job_id, "its worker died")
            await self._manager.retry_job_by_id_async(job.id, retry_at=utcnow())
