"""The recipe for a dimension of all cases, followed on a copy: declaration, migration, use, and this test.

One that suites ask for, and one that libraries resolve. Everything else sees them: views, exports, columns and headings
of results, tooltips, and the filters of pages.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from copies import copied, follow, touched

import ciphermark_core
import ciphermark_db
from ciphermark_adapters import registry
from ciphermark_benchmark.suite import files, plan

CORE, DB = (Path(package.__file__).parent for package in (ciphermark_core, ciphermark_db))
FIELD = (
    "    bootstrapping: BootstrappingParameters | None = None\n\n    @property\n    def slots",
    "    bootstrapping: BootstrappingParameters | None = None\n"
    "    key_seed_bits: int | None = field(\n"
    '        default=None, metadata={"ge": 64, "description": "size of the seed of keys", "examples": [128]}\n'
    "    )\n\n    @property\n    def slots",
)
USE = (
    "    @property\n    def special_primes(self)",
    "    @property\n    def primes(self) -> int:\n        return len(self.moduli)\n\n"
    "    @property\n    def special_primes(self)",
)
DECLARATION = (
    "bootstrapping_bits,tuple,",
    "key_seed_bits,int,bits,,spec:key_seed_bits,Key seed,,,seed of {} bits,yes,yes,Seed asked for\n"
    "primes,int,number,result,parameters:primes,Primes,,,{} primes used,,,Primes of Q as used\n"
    "bootstrapping_bits,tuple,",
)
MIGRATION = "alter table case_info add column key_seed_bits integer, add column primes integer;\n"
VIEWS = ("results", "ranking", "trials", "samples")
SUITE = """
name: seeds
experiments:
  - kind: arithmetic
    variants: [seal]
    schemes: [bfv]
    ring_dimension: [4096]
    operations: [mul]
"""
RECORDING = """
import json, sys
from conftest import Maker
from starlette.testclient import TestClient
from ciphermark_adapters import registry
from ciphermark_benchmark.cli import _result_tables, suite
from ciphermark_benchmark.suite import files, plan
from ciphermark_dashboards import app
from ciphermark_dashboards.settings import Settings
from ciphermark_db.database import Database
from ciphermark_parties.api import ParametersAsked
from ciphermark_present.printed import Wanted

make, url, SUITE = Maker(), sys.argv[1], sys.argv[2]
explained = []
with Database.open(url) as database:
    database.migrate()
    run = make.run()
    database.record_run(run)
    for bits in (64, 128, None):
        (planned,) = plan.cases(
            files.parse(SUITE + (f"    key_seed_bits: {bits}" if bits else ""), "suite.yaml"),
            {"seal": registry.Availability(registry.declaration("seal"))},
        )
        case = planned.case
        explained.append(planned)
        assert case.parameters.key_seed_bits == bits
        database.record_outcome(make.outcome(run, case, samples=make.times([1.0, 2.0])))
    views = {
        view: database.query(f"select distinct key_seed_bits from {view} order by 1").rows for view in sys.argv[3:]
    }
    comment = (
        "select col_description(attrelid, attnum) from pg_attribute "
        "where attname = 'key_seed_bits' and attrelid = 'results'::regclass"
    )
    comment = database.query(comment).rows
    resolved = database.query("select distinct primes from security").rows
    headings = [table.title for table in _result_tables.of_run(database, run.id, Wanted())]
with TestClient(app.made(Settings(url)), base_url="http://127.0.0.1") as client:
    def asked(path, **filters):
        return client.get(path, params={"run": run.id} | filters)
    chart = asked("/figures/latency.json").json()
    print(json.dumps({
        "views": views,
        "unset": case.key,
        "explained": [
            dict(zip([head.text for head in table.heads], row))
            for table in [suite.as_table(explained)]
            for row in table.rows
        ],
        "asked": ParametersAsked.model_json_schema()["properties"]["key_seed_bits"],
        "comment": comment,
        "resolved": resolved,
        "headings": headings,
        "export": asked("/figures/latency.csv").text,
        "chosen": asked("/figures/latency.csv", key_seed_bits=64).text,
        "page": asked("/operations").text,
        "tooltips": [row["told"] for row in chart["data"]["values"]],
    }))
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, new_url: Callable[[], str]) -> dict[str, Any]:
    """What a run of cases that differ in the new dimension alone looks like."""
    folder = tmp_path_factory.mktemp("copy")
    core, db = copied(CORE, folder), copied(DB, folder)
    follow(core, "model.py", FIELD, USE)
    follow(core, "dimensions.csv", DECLARATION)
    (db / "migrations" / "9999_seeds.sql").write_text(MIGRATION)
    here = Path(__file__).parent
    path = os.pathsep.join([str(folder), str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", RECORDING, new_url(), SUITE, *VIEWS],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"touched": touched(CORE, core) | touched(DB, db)}


def test_it_takes_four_files_with_its_test(recorded) -> None:
    assert recorded["touched"] == {"model.py", "dimensions.csv", "migrations/9999_seeds.sql"}


def test_views_have_it_with_its_meaning(recorded) -> None:
    assert recorded["views"] == {view: [[64], [128], [None]] for view in VIEWS}
    assert recorded["resolved"] == [[2]]
    assert recorded["comment"] == [["Seed asked for [bits]"]]


def test_suites_and_messages_offer_it(recorded) -> None:
    assert recorded["asked"]["description"] == "size of the seed of keys"
    assert recorded["asked"]["examples"] == [128]


def test_a_plan_lists_it(recorded) -> None:
    assert [row["key seed bits"] for row in recorded["explained"]] == ["64", "128", ""]


def test_cases_without_it_keep_their_key(recorded) -> None:
    (planned,) = plan.cases(
        files.parse(SUITE, "suite.yaml"), {"seal": registry.Availability(registry.declaration("seal"))}
    )
    assert recorded["unset"] == planned.case.key


def test_results_are_told_apart_by_it(recorded) -> None:
    for text in ("seed of 64 bits", "seed of 128 bits"):
        assert [heading for heading in recorded["headings"] if text in heading]
        assert [tooltip for tooltip in recorded["tooltips"] if text in tooltip]
    assert all("2 primes used" in tooltip for tooltip in recorded["tooltips"])


def test_exports_and_tables_of_pages_have_it(recorded) -> None:
    head, *lines = recorded["export"].splitlines()
    assert "key_seed_bits" in head.split(",")
    assert len(lines) == 3
    assert re.search('<th scope="col" class="number"><a [^>]*>Key seed</a>', recorded["page"])


def test_readers_choose_by_it(recorded) -> None:
    assert "<legend>Key seed</legend>" in recorded["page"]
    assert 'name="key_seed_bits" value="64"' in recorded["page"]
    assert len(recorded["chosen"].splitlines()) == 2
