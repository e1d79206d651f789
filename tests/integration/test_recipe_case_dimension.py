"""The recipe for a dimension of all cases, followed on a copy: declaration, migration, use, and this test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from copies import copied, touched
from test_recipe_metric_dimension import follow

import ciphermark_core
import ciphermark_db

CORE, DB = (Path(package.__file__).parent for package in (ciphermark_core, ciphermark_db))
USE = (
    "    @property\n    def special_primes(self)",
    "    @property\n    def data_primes(self) -> int:\n        return len(self.moduli)\n\n"
    "    @property\n    def special_primes(self)",
)
DECLARATION = (
    'CAP = register(Dimension("cap"',
    'register(Dimension("data_primes", int, "Primes of Q", ("parameters.data_primes",), unit="number", '
    'label="Data primes", origin="result"))\nCAP = register(Dimension("cap"',
)
MIGRATION = "alter table case_info add column data_primes integer;\n"
RECORDING = """
import json, sys
from conftest import Maker
from ciphermark_core.descriptor import columns
from ciphermark_db.database import Database
make = Maker()
with Database.open(sys.argv[1]) as database:
    database.migrate()
    run = make.run()
    database.record_run(run)
    database.record_outcome(make.outcome(run, samples=make.times([1.0, 2.0])))
    views = ("results", "ranking", "trials", "samples", "security")
    asked = {view: database.query(f"select distinct data_primes from {view}").rows for view in views}
    comment = (
        "select col_description(attrelid, attnum) from pg_attribute "
        "where attname = 'data_primes' and attrelid = 'results'::regclass"
    )
    print(json.dumps([asked, database.query(comment).rows, columns()[-1].heading]))
"""


def test_a_dimension_of_all_cases_takes_four_files(tmp_path: Path, new_url: Callable[[], str]) -> None:
    core, db = copied(CORE, tmp_path), copied(DB, tmp_path)
    follow(core, "model.py", USE)
    follow(core, "descriptor.py", DECLARATION)
    (db / "migrations" / "0002_data_primes.sql").write_text(MIGRATION)
    here = Path(__file__).parent
    path = os.pathsep.join([str(tmp_path), str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    recorded = subprocess.run(
        [sys.executable, "-c", RECORDING, new_url()],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert recorded.returncode == 0, recorded.stderr
    asked, comment, heading = json.loads(recorded.stdout)
    assert asked == {view: [[2]] for view in ("results", "ranking", "trials", "samples", "security")}
    assert (comment, heading) == ([["Primes of Q [number]"]], "Data primes")
    assert touched(CORE, core) == {"model.py", "descriptor.py"}
    assert touched(DB, db) == {"migrations/0002_data_primes.sql"}
