"""The recipe of CONTRIBUTING.md, followed on a copy: a figure takes a view and a figure, and no other file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from copies import copied, touched

from ciphermark_core.model import Sample
from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "libs" / "present" / "ciphermark_present"
VIEW = """\
select run_id, experiment, operation, variant, ring_dimension, median as cpu_s, comparison_key
from results
where metric = 'cpu_time' and phase = 'operation'
"""
FIGURE = '''\
"""CPU time of operations."""

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import OPERATION, VARIANT, N
from ciphermark_present.figure import Column, Figure


def draw(rows):
    """A point for each variant and operation."""
    import altair as alt

    from ciphermark_present import charting

    if not rows:
        return None
    return alt.Chart(charting.data(rows, "operation", "cpu_s")).mark_point().encode(x="cpu_s:Q", y="operation:N")


CPU = Figure(
    name="cpu",
    title="CPU time",
    lead="What all threads worked.",
    page="/operations",
    view="cpu",
    subject=subject.OPERATION,
    narrowed_by=("operation", "variant"),
    order="operation, variant",
    chart=draw,
    columns=(OPERATION, N, VARIANT, Column("cpu_s", "CPU time", formats.seconds, is_number=True)),
)
'''
ASKED = """\
import sys
from starlette.testclient import TestClient
import ciphermark_present
from ciphermark_dashboards import app
from ciphermark_dashboards.settings import Settings

url, run_id, copy = sys.argv[1:]
assert ciphermark_present.__file__.startswith(copy)
with TestClient(app.made(Settings(url)), base_url="http://127.0.0.1") as client:
    page = client.get("/operations", params={"run": run_id})
    assert "What all threads worked." in page.text and "750 ms" in page.text
    answers = [client.get(f"/figures/cpu.{kind}", params={"run": run_id}) for kind in ("csv", "sql", "svg", "json")]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert "0.75" in answers[0].text
"""


def test_a_figure_is_a_view_and_a_figure(tmp_path: Path, new_url, make: Maker) -> None:
    copy = copied(PACKAGE, tmp_path)
    (copy / "views" / "cpu.sql").write_text(VIEW)
    (copy / "catalogue" / "cpu.py").write_text(FIGURE)
    assert touched(PACKAGE, copy) == {"views/cpu.sql", "catalogue/cpu.py"}
    url, run = new_url(), make.run()
    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        samples = (*make.times([0.5] * 6), Sample("cpu_time", 0.75, "operation"))
        database.record_outcome(make.outcome(run, make.case("seal"), samples))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", ASKED, url, run.id, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
