"""The recipes of CONTRIBUTING.md, followed on a copy: a figure is a query and a figure; a family's page its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from copies import copied, touched

from ciphermark_core.model import Sample
from ciphermark_db.database import Database

if TYPE_CHECKING:  # tests/unit has a module of that name, too
    from conftest import Maker

LIBS = Path(__file__).parents[2] / "libs"
PRESENT = LIBS / "present" / "ciphermark_present"
WORKLOADS = LIBS / "workloads" / "ciphermark_workloads"
VIEW = """\
select *, median as cpu_s
from results
where metric = 'cpu_time' and phase = 'evaluate'
"""
DRAW = '''
def draw(rows):
    """A point for each variant and operation."""
    import altair as alt

    from ciphermark_present import charting

    if not rows:
        return None
    return alt.Chart(charting.data(rows, "operation", "cpu_s")).mark_point().encode(x="cpu_s:Q", y="operation:N")

'''
FIGURE = f'''\
"""CPU time of operations."""

from ciphermark_present import formats, subject
from ciphermark_present.catalogue.columns import OPERATION, VARIANT, N
from ciphermark_present.figure import Column, Figure

{DRAW}
CPU = Figure(
    name="cpu",
    title="CPU time",
    lead="What all threads worked.",
    page="/operations",
    view="cpu",
    subject=subject.OPERATION,
    order="operation, variant",
    chart=draw,
    columns=(OPERATION, N, VARIANT, Column("cpu_s", "CPU time", formats.seconds, is_number=True)),
)
'''
FAMILY = f'''\
"""What the family sorting presents."""

from ciphermark_present import formats, page
from ciphermark_present.catalogue.columns import VARIANT, WORKLOAD, N
from ciphermark_present.figure import Column, Figure
from ciphermark_present.page import Page
from ciphermark_present.subject import Subject

SUBJECT = Subject(("sorting",))
CPU_TIME = Column("cpu_s", "CPU time", formats.seconds, is_number=True)

{DRAW}
SORTS = Figure(
    name="cpu",
    title="CPU time",
    lead="What all threads worked.",
    view="sorts",
    subject=SUBJECT,
    order="operation, variant",
    chart=draw,
    columns=(WORKLOAD, N, VARIANT, CPU_TIME),
)
PAGE = Page(
    "/sorting",
    "Sorting",
    "Encrypted numbers in their order.",
    (page.WORKLOAD, page.VARIANT),
    (SORTS,),
)
'''
WORKLOAD = '''\
"""A workload that orders nothing yet."""

WORKLOADS = ()
'''
ASKED = """\
import sys
from importlib import import_module
from starlette.testclient import TestClient
from ciphermark_dashboards import app, report
from ciphermark_dashboards.settings import Settings
from ciphermark_dashboards.store import Store

url, run_id, copy, package, path = sys.argv[1:]
assert import_module(package).__file__.startswith(copy)
with TestClient(app.made(Settings(url)), base_url="http://127.0.0.1") as client:
    page = client.get(path, params={"run": run_id})
    assert "What all threads worked." in page.text and "750 ms" in page.text, page.text
    answers = [client.get(f"/figures/cpu.{kind}", params={"run": run_id}) for kind in ("csv", "sql", "svg", "json")]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert "0.75" in answers[0].text
with Store(url) as store:
    assert "What all threads worked." in report.FORMATS["md"](report.made(store, run_id)).decode()
"""
PRINTED = """\
import sys
from ciphermark_benchmark.cli.main import main
sys.argv = ["ciphermark", "results", sys.argv[1]]
main()
"""


def _followed(tmp_path: Path, script: str, *arguments: str, url: str = "") -> str:
    """What a script prints where the copy in ``tmp_path`` is the package that is installed."""
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path),
        "CIPHERMARK_DATA": str(tmp_path / "data"),
        "CIPHERMARK_DATABASE_URL": url,
    }
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _recorded(url: str, make: Maker, experiment: str) -> str:
    run = make.run()
    with Database.open(url) as database:
        database.migrate()
        database.record_run(run)
        samples = (*make.times([0.5] * 6), Sample("cpu_time", 0.75, "evaluate"))
        case = make.case("seal", experiment=experiment)
        database.record_outcome(make.outcome(run, case, samples))
    return run.id


@pytest.mark.extended  # a family brings a figure and its query as well
def test_a_figure_is_a_query_and_a_figure(tmp_path: Path, new_url, make: Maker) -> None:
    copy = copied(PRESENT, tmp_path)
    (copy / "views" / "cpu.sql").write_text(VIEW)
    (copy / "catalogue" / "cpu.py").write_text(FIGURE)
    assert touched(PRESENT, copy) == {"views/cpu.sql", "catalogue/cpu.py"}
    url = new_url()
    run_id = _recorded(url, make, "arithmetic")
    _followed(tmp_path, ASKED, url, run_id, str(tmp_path), "ciphermark_present", "/operations")
    _assert_printed(_followed(tmp_path, PRINTED, run_id, url=url), "operation")


def test_a_family_with_a_page_is_its_folder(tmp_path: Path, new_url, make: Maker) -> None:
    copy = copied(WORKLOADS, tmp_path)
    files = {
        "__init__.py": '"""Sorting."""\n',
        "bubbles.py": WORKLOAD,
        "figures.py": FAMILY,
        "sorts.sql": VIEW,
    }
    (copy / "sorting").mkdir()
    for name, text in files.items():
        (copy / "sorting" / name).write_text(text)
    assert touched(WORKLOADS, copy) == {f"sorting/{name}" for name in files}
    url = new_url()
    run_id = _recorded(url, make, "sorting")
    _followed(tmp_path, ASKED, url, run_id, str(tmp_path), "ciphermark_workloads", "/sorting")
    _assert_printed(_followed(tmp_path, PRINTED, run_id, url=url), "workload")


def _assert_printed(text: str, what: str) -> None:
    """The figure stands in the results of the run, with no word about how."""
    _, title, table = text.partition("\nCPU time. BFV, N = ")
    assert title
    *_, heads, row = table.split("\n\n")[0].splitlines()
    assert heads.split() == [what, "variant", "CPU", "time"]
    assert row.split() == ["add", "seal", "750", "ms"]
