"""A database that the first edition made is brought to this one with nothing lost and equal figures.

``earlier/database.sql.gz`` is what pg_dump wrote of a database that the first edition had recorded a small run of all
experiments to, and a made-up one; ``earlier/figures.json.gz`` what its views said.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from processes import PATIENCE_S

from ciphermark_core.case_keys import FIRST_WORDS
from ciphermark_db.gateway import Database
from ciphermark_db.migrate import migrations

EARLIER = Path(__file__).parent / "earlier"
FIGURES = json.loads(gzip.decompress((EARLIER / "figures.json.gz").read_bytes()))
WORDS = {first: now for now, first in FIRST_WORDS.items()}
RENAMED = ("experiment", "operation")
VIEWS = {"ratio": "ranking", "ratio_any_security": "ranking_any_security", "depth": "depths"}
COUNTS = "select (select count(*) from trial), (select count(*) from sample), (select sum(value::numeric) from sample)"


@pytest.fixture
def earlier(empty_url: Callable[[], str]) -> str:
    """URL of a database as the first edition left it."""
    url = empty_url()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(gzip.decompress((EARLIER / "database.sql.gz").read_bytes()))
    return url


def in_words_of_today(view: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row of a view with the names of columns, experiments and operations that changed since."""
    columns = WORDS if view == "depth" else {**WORDS, "depth": "chain_depth"}
    renamed = {columns.get(name, name): value for name, value in row.items()}
    return {name: WORDS.get(value, value) if name in RENAMED else value for name, value in renamed.items()}


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def test_every_view_says_what_it_said(earlier: str) -> None:
    with Database.open(earlier) as database:
        before = database.query(COUNTS).rows
        database.migrate()
        assert database.query(COUNTS).rows == before
        for view, rows in FIGURES.items():
            expected = [in_words_of_today(view, row) for row in rows]
            assert expected, view
            asked = f"select to_jsonb(v) from {VIEWS.get(view, view)} as v"
            found = [row[0] for row in database.query(asked).rows]
            kept = [{name: row[name] for name in expected[0]} for row in found]
            assert in_order(kept) == in_order(expected), view


def test_what_was_a_text_or_a_column_of_its_own_is_found_in_its_place(earlier: str) -> None:
    with Database.open(earlier) as database:
        database.migrate()
        assert database.query(
            "select distinct experiment from case_ where dimensions ? 'repetitions'"
        ).rows == [("repetition",)]
        places = database.query("select distinct stage, party, step from series where stage = 'infer'").rows
        assert {("infer", None, None), ("infer", "client", None), ("infer", None, "encrypt")} <= set(places)
        assert database.query(
            "select distinct dimensions ->> 'data_set' from case_ where size = 6578"
        ).rows == [("boston",)]


def test_parameter_sets_tell_how_keys_were_switched_then(earlier: str) -> None:
    with Database.open(earlier) as database:
        database.migrate()
        found = database.query(
            "select distinct cardinality(special_moduli) > 0, key_switching, digits = cardinality(moduli), encryption "
            "from parameter_set"
        ).rows
        assert (True, "hybrid", True, "public key") in found
        assert set(found) <= {(True, "hybrid", True, "public key"), (False, None, None, "public key")}
        told = database.query(
            "select distinct b.library, p.scheme, p.scaling, p.secret_distribution from parameter_set as p "
            "join trial as t on t.parameter_set_id = p.id join build as b on b.id = t.build_id"
        ).rows
        assert ("TenSEAL", "ckks", "exact", "uniform ternary") in told
        assert {row[2] for row in told if row[:2] == ("OpenFHE", "ckks")} <= {"fixed"}
        assert database.query("select distinct division from case_").rows == [("equal",)]


def test_it_is_recorded_to_and_read_as_any_other(earlier: str, make) -> None:
    with Database.open(earlier) as database:
        database.migrate()
        run = make.run(id="new")
        database.record_run(run)
        database.record_outcome(make.outcome(run, samples=make.times([1.0, 2.0])))
        assert database.query("select median from results where run_id = 'new'").rows == [(1.5,)]


MIGRATING = """
import sys
from ciphermark_db.gateway import Database
with Database.open(sys.argv[1]) as database:
    print("ready", flush=True)
    database.migrate()
"""


def test_a_migration_that_is_killed_leaves_the_database_as_it_was(earlier: str) -> None:
    """Another connection holds a lock that a late step needs; the process is killed while it waits for that."""
    versions = "select max(version) from schema_migration"
    with psycopg.connect(earlier) as holder, psycopg.connect(earlier, autocommit=True) as watcher:
        holder.execute("lock table published in share row exclusive mode")
        process = subprocess.Popen([sys.executable, "-c", MIGRATING, earlier], stdout=subprocess.PIPE)
        waiting = "select count(*) from pg_locks where not granted and relation = 'published'::regclass"
        deadline = time.monotonic() + PATIENCE_S
        while watcher.execute(waiting).fetchone() == (0,):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        holder.rollback()
        (before,) = watcher.execute(versions).fetchone()
        assert before < len(migrations())
        rows = watcher.execute("select count(*) from results").fetchone()
        assert rows == (len(FIGURES["results"]),)
        assert watcher.execute("select count(*) from sample where phase = 'operation'").fetchone() > (0,)
    with Database.open(earlier) as database:
        database.migrate()
        assert database.query(versions).rows == [(len(migrations()),)]
