"""A database of the first schema is brought to the last one with nothing lost and equal values.

``baseline/database.sql.gz`` is what pg_dump wrote of the rows of such a database, with a small run of all experiments,
and a made-up one; ``baseline/figures.json.gz`` what views said of them.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from processes import wait_until

from ciphermark_db.database import Database
from ciphermark_db.schema import migrations
from ciphermark_db.sql import blocks

BASELINE = Path(__file__).parent / "baseline"
# Words of that time, and those that took their place.
NAMES = {
    "ranking_any_security": "ranking_across_security_levels",
    "division": "tuning",
    "size": "vector_length",
    "cap": "max_repetitions",
    "batch": "inputs_per_pass",
    "is_capped": "is_at_max_repetitions",
    "is_composed": "is_composite",
    "wrong_slots": "incorrect_slots",
    "loops_operation": "loops_evaluate",
    "half_width_operation": "half_width_evaluate",
    "comparison_key": "comparison_group",
    "digits": "decomposition_digits",
    "fastest_digits": "fastest_decomposition_digits",
    "figure": "result",
    "floor": "threshold",
    "floor_kind": "threshold_kind",
    "quiet_share": "undisturbed_share",
    "slow_down": "slowdown",
    "anchor_s": "reference_kernel_s",
    "anchor_spread": "reference_kernel_spread",
    "anchor_cost": "reference_kernel_cost",
    "anchor_gains": "reference_kernel_gains",
}
VALUES = {
    "tuning": {"equal": "matched", "best": "recommended"},
    "data_pattern": {"same": "constant"},
    "status": {"wrong": "incorrect", "exhausted": "budget_exhausted", "timed_out": "timeout"},
    "metric": {"is_capped": "is_at_max_repetitions"},
    "phase": {"operation": "evaluate", "keys": "keygen", "prepare.keys": "prepare.keygen"},
    "stage": {"operation": "evaluate", "keys": "keygen"},
    "step": {"keys": "keygen"},
}


def in_words_of_today(value: Any, name: str = "") -> Any:
    if isinstance(value, list):
        return [in_words_of_today(item) for item in value]
    if isinstance(value, dict):
        fields = ((NAMES.get(first, first), item) for first, item in value.items())
        return {now: in_words_of_today(item, now) for now, item in fields}
    return VALUES.get(name, {}).get(value, value)


FIGURES = in_words_of_today(json.loads(gzip.decompress((BASELINE / "figures.json.gz").read_bytes())))
OF_METRICS = {"threshold"}  # what the program declares, and not what was recorded
COUNTS = "select (select count(*) from trial), (select count(*) from sample), (select sum(value::numeric) from sample)"


@pytest.fixture
def old_database(empty_url: Callable[[], str]) -> str:
    """URL of a database with the first schema, without views."""
    url = empty_url()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(blocks("migrate")["create_schema_migration"])
        connection.execute(migrations()[0].text)
        connection.execute(gzip.decompress((BASELINE / "database.sql.gz").read_bytes()))
    return url


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(rounded(row), sort_keys=True) for row in rows)


def rounded(value: Any) -> Any:
    """Numbers to 12 digits: sums may be added up in another order."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return float(f"{value:.11e}") if isinstance(value, float) else value


@pytest.mark.parametrize("times", [1, 2])
def test_every_view_says_what_it_said(old_database: str, times: int) -> None:
    """As migrated, and as computed again."""
    with Database.open(old_database) as database:
        before = database.query(COUNTS).rows
        database.migrate()
        if times > 1:
            assert database.rebuild(database.run_ids())
        assert database.query(COUNTS).rows == before
        for view, rows in FIGURES.items():
            found = [row[0] for row in database.query(f"select to_jsonb(v) from {view} as v").rows]
            names = (rows[0] if rows else {}).keys() - OF_METRICS
            expected, values = (
                [{name: row[name] for name in names} for row in each] for each in (rows, found)
            )
            assert in_order(values) == in_order(expected), view


def test_words_that_its_runs_did_not_use_are_those_of_today(old_database: str) -> None:
    changes = (
        "update case_info set division = 'best', data_pattern = 'same', dimensions = '{\"batch\": 2}', "
        "status = 'timed_out' where case_key = %s",
        "update case_request set request = jsonb_set(request, '{parameters,division}', '\"best\"') "
        '|| \'{"data_pattern": "same", "dimensions": {"batch": 2}}\' where key = %s',
    )
    with psycopg.connect(old_database) as connection:
        key = connection.execute("select min(case_key) from case_info").fetchone()
        for change in changes:
            connection.execute(change, key)
    asked = "select status, tuning, data_pattern, dimensions from case_info where case_key = %s"
    with Database.open(old_database) as database:
        database.migrate()
        words = ("timeout", "recommended", "constant", {"inputs_per_pass": 2})
        assert set(map(str, database.query(asked, key).rows)) == {str(words)}
        ((request,),) = database.query("select request from case_request where key = %s", key).rows
        found = (request["parameters"]["tuning"], request["data_pattern"], request["dimensions"])
        assert found == words[1:]
        assert {"division", "size"}.isdisjoint({*request, *request["parameters"]})
        ((budget,),) = database.query("select distinct budget from trial limit 1").rows
        assert "min_samples" in budget


def test_it_is_recorded_to_and_read_as_any_other(old_database: str, make) -> None:
    with Database.open(old_database) as database:
        database.migrate()
        run = make.run(id="new")
        database.record_run(run)
        database.record_outcome(make.outcome(run, samples=make.times([1.0, 2.0])))
        assert database.query("select median from results where run_id = 'new'").rows == [(1.5,)]


def test_its_schema_is_that_of_a_new_database(old_database: str, new_url: Callable[[], str]) -> None:
    columns = (
        "select table_schema, table_name, column_name, data_type, is_nullable from information_schema.columns "
        "where table_schema not in ('pg_catalog', 'information_schema') order by 1, 2, 3"
    )
    indexes = "select indexname, indexdef from pg_indexes where schemaname not like 'pg_%' order by 1"
    with Database.open(old_database) as upgraded, Database.open(new_url()) as new:
        upgraded.migrate()
        for query in (columns, indexes):
            assert upgraded.query(query).rows == new.query(query).rows


MIGRATING = """
import sys
from ciphermark_db.database import Database
with Database.open(sys.argv[1]) as database:
    print("ready", flush=True)
    database.migrate()
"""


def test_a_migration_that_is_killed_leaves_the_database_as_it_was(old_database: str) -> None:
    """Another connection holds a lock that a late step needs; the process is killed while it waits for that."""
    versions = "select max(version) from schema_migration"
    with (
        psycopg.connect(old_database) as holder,
        psycopg.connect(old_database, autocommit=True) as watcher,
    ):
        holder.execute("lock table published in share row exclusive mode")
        process = subprocess.Popen([sys.executable, "-c", MIGRATING, old_database], stdout=subprocess.PIPE)
        waiting = "select count(*) from pg_locks where not granted and relation = 'published'::regclass"
        wait_until(
            lambda: process.poll() is not None or watcher.execute(waiting).fetchone() != (0,), "it waits"
        )
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        holder.rollback()
        assert watcher.execute(versions).fetchone() == (1,)
    with Database.open(old_database) as database:
        database.migrate()
        assert database.query(versions).rows == [(len(migrations()),)]
