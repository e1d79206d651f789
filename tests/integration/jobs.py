"""Jobs and benchmark workers as their users have them: real processes against a real PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
import warm
from command import CHEAP, PLANTED, PROGRAM, REPOSITORY, TINY, Running
from processes import PATIENCE_S, command_line, environment, wait_until
from psycopg.rows import dict_row

from ciphermark_benchmark.jobs.needs import needs_of
from ciphermark_benchmark.jobs.store import Store, Submission, install_queue, queue_application
from ciphermark_benchmark.suite import files
from ciphermark_db.database import Database

STALLED_S = 8  # machines that test are busy, and their disks
# What Python's multiprocessing prints where a worker is killed while it starts a process.
ORPHANED = re.compile(
    r'^Traceback \(most recent call last\):\n  File "\S+/multiprocessing/forkserver\.py"(?:.*\n)(?:  .*\n)+'
    r"EOFError: Ran out of input\n",
    re.MULTILINE,
)


def suite_text(variants: Sequence[str], operations: Sequence[str], **budget: object) -> str:
    """A suite that costs next to nothing (JSON is YAML)."""
    experiment = TINY | {"variants": list(variants), "operations": list(operations)}
    return json.dumps({"name": "job", "budget": CHEAP | budget, "experiments": [experiment]})


class Jobs:
    """Submits jobs to a database, and looks at what became of them."""

    def __init__(self, url: str) -> None:
        self.url = url
        with Database.open(url) as database:
            database.migrate()
        install_queue(url)

    def submit(
        self,
        text: str,
        count: int = 1,
        isa: Sequence[str] = (),
        memory_mb: int = 0,
        chosen: Sequence[str] = (),
    ) -> list[str]:
        suite = files.parse(text, "test")
        needs = needs_of(suite, chosen, isa, memory_mb)
        jobs = [Submission(str(uuid.uuid4()), suite.name, text, tuple(chosen), needs) for _ in range(count)]

        async def submitted() -> None:
            app = queue_application(self.url)
            async with app.open_async():
                for job in jobs:
                    await Store(app.connector.pool).submit(app, job, "a test")

        asyncio.run(submitted())
        return [job.id for job in jobs]

    def cancel(self, job_id: str) -> None:
        async def cancelled() -> None:
            app = queue_application(self.url)
            async with app.open_async():
                await Store(app.connector.pool).cancel(app.job_manager, self.job(job_id), "a test")

        asyncio.run(cancelled())

    def rows(self, query: str, params: Sequence[object] = ()) -> list[dict[str, object]]:
        with psycopg.connect(self.url, row_factory=dict_row, autocommit=True) as connection:
            return connection.execute(query, params).fetchall()

    def job(self, job_id: str) -> dict[str, object]:
        (row,) = self.rows("select * from job where id = %s", [job_id])
        return row

    def wait(self, job_id: str, state: str, timeout_s: float = PATIENCE_S) -> dict[str, object]:
        wait_until(lambda: self.job(job_id)["state"] == state, f"the job is {state}", timeout_s)
        return self.job(job_id)

    def parts(self, job_id: str) -> list[dict[str, object]]:
        """The job's runs, with host and trials."""
        return self.rows(
            "select r.id, r.continues, h.hostname, count(t.id) as trials from run r join host h on h.id = r.host_id "
            "left join trial t on t.run_id = r.id where r.id = %(id)s or r.continues = %(id)s "
            "group by r.id, h.hostname order by r.continues nulls first",
            {"id": job_id},
        )

    def assert_exactly_once(self, job_id: str, trials: int) -> None:
        """Every case of the job is recorded once, with its samples once, and every comparison group on one host."""
        found = self.rows(
            "select t.id, c.case_key, t.process, t.status, t.run_id, c.comparison_group from trial t "
            "join case_info c using (case_info_id) join run r on r.id = t.run_id "
            "where r.id = %(id)s or r.continues = %(id)s",
            {"id": job_id},
        )
        assert len(found) == trials
        assert len({(row["case_key"], row["process"]) for row in found}) == trials
        assert {row["status"] for row in found} == {"ok"}
        runs_of: dict[object, set[object]] = {}
        for row in found:
            runs_of.setdefault(row["comparison_group"], set()).add(row["run_id"])
        assert all(len(runs) == 1 for runs in runs_of.values())
        counts = self.rows(
            "select trial_id, phase, metric, ordinal, repetitions, is_warmup, count(*) as n from samples "
            "where trial_id = any (%s) group by 1, 2, 3, 4, 5, 6",
            [[row["id"] for row in found]],
        )
        assert {row["trial_id"] for row in counts} == {row["id"] for row in found}
        assert {row["n"] for row in counts} == {1}


@dataclass
class Worker:
    """A benchmark worker process."""

    process: Running
    log: Path

    def measuring(self) -> list[psutil.Process]:
        """The processes below it that measure."""
        return [child for child in self.below() if "ciphermark_measure.worker" in command_line(child)]

    def below(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> None:
        """Kill it; everything below it must go with it."""
        below = self.below()
        self.process.kill()
        self.process.wait(PATIENCE_S)
        _, alive = psutil.wait_procs(below, timeout=PATIENCE_S)
        for orphan in alive:
            orphan.kill()
        assert alive == []

    def end(self) -> None:
        """End it politely; it must end well."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0, self.log.read_text()

    def said(self, event: str) -> bool:
        return f'"event": "{event}"' in self.log.read_text()


@dataclass
class Workers:
    """Starts workers, and ends what is left of them."""

    folder: Path
    started: list[Worker] = field(default_factory=list)

    def start(
        self, url: str, data_directory: str = "data", prefix: Sequence[str] = (), **extra: str
    ) -> Worker:
        variables = environment(
            CIPHERMARK_DATA=str(self.folder / data_directory),
            CIPHERMARK_ADAPTER_PATH=str(PLANTED),
            CIPHERMARK_DATABASE_URL=url,
        )
        variables |= extra
        command = ["worker", "--stalled-after", str(STALLED_S)]
        log = self.folder / f"worker-{len(self.started)}.log"
        with log.open("wb") as file:
            if not prefix:
                process: Running = warm.command(command, variables, REPOSITORY, file)
            else:
                process = subprocess.Popen(
                    [*prefix, str(PROGRAM), *command],
                    env=variables,
                    cwd=REPOSITORY,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=file,
                    start_new_session=True,
                )
        self.started.append(Worker(process, log))
        return self.started[-1]

    def end_all(self) -> None:
        for worker in self.started:
            if worker.process.poll() is None:
                worker.kill()
        for worker in self.started:
            assert "Traceback" not in ORPHANED.sub("", worker.log.read_text()), worker.log.read_text()
