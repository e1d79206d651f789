"""What :mod:`tests.kills.ledger` judges, read from the database and the journals of a data directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg

from kills.ledger import Found, Job, Trial, Written

_JOBS = """
select id, suite, state, reason, extract(epoch from started_at)::float8, extract(epoch from ended_at)::float8 from job
"""
_TRIALS = """
select
    t.id, coalesce(r.continues, r.id), c.case_key, t.process, c.comparison_group, t.status,
    count(x.value), coalesce(sum(x.value), 0)
from trial as t
join run as r on r.id = t.run_id
join case_info as c on c.case_info_id = t.case_info_id
left join series as s on s.trial_id = t.id
left join sample as x on x.series_id = s.id
group by t.id, r.continues, r.id, c.case_key, t.process, c.comparison_group, t.status
"""


def found(url: str, data_directory: Path) -> Found:
    """Everything that is there now."""
    with psycopg.connect(url, autocommit=True) as connection:
        jobs = [Job(*row) for row in connection.execute(_JOBS)]
        trials = [
            Trial(name, job, (case, process), *rest)
            for name, job, case, process, *rest in connection.execute(_TRIALS)
        ]
    return Found(jobs, trials, list(_written(data_directory)))


def _written(data_directory: Path) -> Iterator[Written]:
    for path in sorted((data_directory / "service" / "journal").glob("*/*.jsonl")):
        _, *lines = path.read_bytes().splitlines(keepends=True)
        for line in lines:
            if line.endswith(b"\n"):
                outcome = json.loads(line)
                values = [sample["value"] for sample in outcome["samples"]]
                yield Written(outcome["trial"]["id"], outcome["status"], len(values), sum(values))
